"""The end of a run, as every test of a live run asserts it: its colour, the writes done, the remaining holds."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.ledger import Ledger
from lab import report
from lab.application import Deployed
from lab.stack import Stack
from lab.supervise import until

from world.runs import dag_of, evidence, finished, trigger, trigger_other

NOTHING_CHANGED = "refused or rejected, nothing changed"
STOPPED = "stopped, changed"
INCONCLUSIVE = "inconclusive"
COMPLETED = "completed"
DRY_RUN = "dry run"

_ENDED_S = 240
# A process that has just been started has not printed its settings yet.
_PRINTED_S = 30


@dataclass(frozen=True)
class Trial:
    """One run, and how often each instance had started before it."""

    stack: Stack
    run_id: str
    starts: Mapping[str, int]


def begun(stack: Stack, **conf: Any) -> Trial:
    """Trigger a library bump, remembering what runs."""
    starts = _starts(stack)
    return Trial(stack, trigger(stack, **conf), starts)


def completed(stack: Stack, run_id: str) -> None:
    """The run ends well, each of its decisions can be made again, and it holds nothing."""
    state = finished(stack, run_id)
    document = evidence(stack, run_id)
    assert (state, document["run"]["outcome"]) == ("success", COMPLETED), document["run"]["outcome_sentence"]
    assert document["recheck"]["different"] == []
    assert held_by(stack) == ()


def begun_other(stack: Stack, dag_id: str, **conf: Any) -> Trial:
    """Trigger any runbook, remembering what runs."""
    starts = _starts(stack)
    return Trial(stack, trigger_other(stack, dag_id, **conf), starts)


def ended(
    trial: Trial,
    *,
    state: str,
    outcome: str | None,
    restarted: tuple[tuple[int, str], ...] = (),
    cards: tuple[tuple[int, str], ...] | None = None,
    holds: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Wait for the end of a run and assert it; returns the run's evidence.

    `state` is its colour in Airflow, `outcome` what `conclude` wrote (None: it did not run). `restarted` are bounce and
    instance of every restart in their order, as the ledger has them and as the instances' own logs do; `cards` those of
    the undo cards where a restart was broken off. `holds` are the runs that hold anything, of all runs.
    """
    stack = trial.stack
    found = stack.api().wait_finished(dag_of(trial.run_id), trial.run_id, _ENDED_S)
    document = evidence(stack, trial.run_id)
    assert found == state, f"{trial.run_id} is {found}: {document['run']['outcome_sentence']}"
    assert document["run"]["outcome"] == outcome, document["run"]["outcome_sentence"]
    writes = [write["payload"] for write in document["writes"] if write["name"] == "restart"]
    assert tuple((write["bounce"], write["instance"]) for write in writes) == restarted
    written = tuple((card["facts"]["bounce"], card["object"]) for card in document["cards"])
    assert written == (restarted if cards is None else cards)
    assert _started(trial, restarted) == {name: [one for _, one in restarted].count(name) for name in trial.starts}
    assert held_by(stack) == holds
    return document


def held_by(stack: Stack) -> tuple[str, ...]:
    """Ids of the runs that hold anything."""
    ledger = Ledger.open(stack.environment()["KSTREAMS_RUNBOOKS_LEDGER"])
    return tuple(dict.fromkeys(hold.run_key.partition("/")[2] for hold in ledger.holds()))


def _started(trial: Trial, restarted: tuple[tuple[int, str], ...]) -> dict[str, int]:
    """How often each instance has started since the run was triggered, by its own log."""

    def since() -> dict[str, int]:
        return {name: number - trial.starts[name] for name, number in _starts(trial.stack).items()}

    # If one is missing, the comparison shows more.
    with suppress(Unreachable):
        until(lambda: sum(since().values()) >= len(restarted), _PRINTED_S, "every start is printed", poll_s=0.5)
    return since()


def _starts(stack: Stack) -> dict[str, int]:
    logs = {name: stack.lab.logs / f"{name}.log" for name in Deployed().names}
    return {name: len(report.starts_in(log.read_text(encoding="utf-8"))) for name, log in logs.items()}
