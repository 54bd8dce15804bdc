"""The restarts that runs measured (steps/instances/measured.py), as the ledger has them."""

from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.runs.restarts import EarlierRestart, Restart
from kstreams_runbooks.steps.run.run import Run

# The ledger's entry for a measured restart, with the sentence about it.
MEASURED = "restart measured"
# That of a restart by a person, from the wait for it (steps/instances/by_person.py).
BY_PERSON = "restarted by a person"
# The newest restarts of an application from which a plan forecasts.
_NEWEST = 20


def say_restarts(run: Run) -> None:
    """Log each measured restart of the application in this run; one that caused a rebalance is a warning."""
    for one in run.ledger.evidence(run.key, kind="note", name=MEASURED):
        if one.payload["restart"]["application"] == run.record.application:
            (run.say if one.payload["expected"] else run.warn)(one.payload["sentence"])


def earlier_restarts(run: Run) -> list[EarlierRestart]:
    """The newest restarts of the application that other runs of it measured, oldest first.

    Restarts by a person count where a person restarts the instances, and those by a run where the run does. One whose
    agent did not answer for a while does not count: how long the instance was away is not known.
    """
    kept = run.ledger.evidence_of(*run.about, kind="note", name=MEASURED, newest=_NEWEST)
    found = [EarlierRestart(one.run_key, decode(Restart, one.payload["restart"])) for one in kept]
    acts = run.deployer.abilities.act
    return [
        one
        for one in found
        if one.restart.application == run.record.application
        and one.run_key != run.key
        and one.restart.by_person is not acts
        and one.restart.is_measured
    ]
