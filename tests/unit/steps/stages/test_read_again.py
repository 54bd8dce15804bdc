"""What a stage reads right before its write is read again if nothing answers: one miss ends no run."""

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks import patience
from kstreams_runbooks.errors import Inconclusive, Refused, RunbookError, Unreachable
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.steps.plan import recreated, releases
from kstreams_runbooks.steps.reset.gone_trigger import gone_trigger
from kstreams_runbooks.steps.run import run as run_module
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages import rest, retired, targets, topics
from world.samples import NEW, declared, reading

AWAY, READ = Unreachable("Kafka at here: no answer"), Refused("it was read")
Act = Callable[[Run, Plan], Any]


@pytest.fixture
def step(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A step whose readings are repeated at once, without a cluster."""
    monkeypatch.setattr(patience, "_FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(Run, "limit", lambda *_: 1.0)
    monkeypatch.setattr(Run, "read", lambda *_, **__: reading())
    monkeypatch.setattr(targets, "_planned", lambda _: ())
    made = replace(run, patient=True)
    vars(made).update(application=SimpleNamespace(application_id="orders"), declared=declared(), kafka={})
    made.ledger.remember(made.key, rest._NOTED, {"t-0": 1})
    return made


def answers(*errors: RunbookError) -> Callable[..., Any]:
    """What raises one error after another."""
    left = list(errors)

    def answer(*_: Any, **__: Any) -> Any:
        raise left.pop(0)

    return answer


_STAGE = SimpleNamespace(targets=(("in", "earliest"),), most_lost=0, topics=("t",))


@pytest.mark.parametrize(
    ("module", "reads", "act"),
    [
        (targets, "read_inputs_now", lambda run, _: targets._rows(run, _STAGE)),  # type: ignore[arg-type]
        (topics, "read_emptying", lambda run, _: topics.delete_certified_records(run, _STAGE, None)),  # type: ignore[arg-type]
        (retired, "read_retire", lambda run, _: retired.judged_retirement(run, "orphans")),
        (rest, "read_rest", lambda run, _: rest.require_at_rest(run, ["t"])),
        (recreated, "read_recreated", recreated.require_state_kept),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_it_is_read_again(
    step: Run,
    plan: Plan,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    module: ModuleType,
    reads: str,
    act: Act,
) -> None:
    """With a line in the log of the step; the second answer counts."""
    caplog.set_level("INFO")
    monkeypatch.setattr(module, reads, answers(AWAY, READ))
    with pytest.raises(Refused, match="it was read"):
        act(step, plan)
    assert caplog.messages[-1] == f"[orders @ demo] reads again (0 of 30 s): {AWAY}"


def test_a_topology_command_without_an_answer_is_run_again(step: Run) -> None:
    """A JVM on a busy machine."""
    vars(step)["deployer"] = SimpleNamespace(topology=answers(AWAY, READ))
    with pytest.raises(Inconclusive, match="it was read"):
        releases.topology_of(step, Target(NEW))


def test_the_last_look_at_deleted_topics_is_taken_again(step: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look in between is not: the wait itself goes on."""
    again: list[bool] = []

    def reader(*_: Any, **options: Any) -> Any:
        again.append(options["again"] is not None)
        raise AWAY

    monkeypatch.setattr(run_module, "ClusterReader", reader)
    monkeypatch.setattr(Run, "kafka", {})
    waiting = replace(step, patient=False)
    trigger = gone_trigger(waiting, {"t": "id"})
    trigger._look(waiting, SimpleNamespace(is_over=lambda: False, waited="1 of 300 s"))  # type: ignore[arg-type] # no more is used
    with pytest.raises(Unreachable):
        trigger._look(waiting, SimpleNamespace(is_over=lambda: True, waited="300 of 300 s"))  # type: ignore[arg-type] # as above
    assert again == [False, True]
