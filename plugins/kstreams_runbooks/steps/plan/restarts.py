"""The restarts that runs measured (steps/instances/measured.py), as the ledger has them."""

from kstreams_runbooks.model.runs.restarts import EarlierRestart
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.restarts import MEASURED, measured_restarts


def say_restarts(run: Run) -> None:
    """Log each measured restart of the application in this run; one that caused a rebalance is a warning."""
    for one in run.ledger.evidence(run.key, kind="note", name=MEASURED):
        if one.payload["restart"]["application"] == run.record.application:
            (run.say if one.payload["expected"] else run.warn)(one.payload["sentence"])


def earlier_restarts(run: Run) -> list[EarlierRestart]:
    """The newest restarts of the application that other runs of it measured, oldest first."""
    found = measured_restarts(run.ledger, *run.about, acts=run.deployer.abilities.act)
    return [one for one in found if one.run_key != run.key]
