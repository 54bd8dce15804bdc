"""Windows that drop records because their application was stopped for longer than the grace allows: refused before.

Each kind of stop: all at once, inputs that are held, local state that is restored, inputs that a person has paused.

The windowed count of the orders application is behind a repartition topic, so its tasks get the records of several
partitions, and stream time follows the foremost.
"""

import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pytest
from lab import started_over
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed
from lab.judge import judged
from lab.stack import Stack
from world.endings import COMPLETED, NOTHING_CHANGED, Trial, begun_other, ended
from world.flushing import ACCEPTED, SHORT
from world.given import declared_as
from world.runs import evidence, finished, log_of

pytestmark = pytest.mark.long

_WARM_S = 20
_LONG, _SHORT = 3_600_000, 10_000
_TWO_THREADS = {"settings": {"num.stream.threads": 2}}
_SWAP = {"switch": "swap", "without_key_check": True}


@contextmanager
def under_traffic(stack: Stack, grace_ms: int) -> Iterator[Stack]:
    """Two instances that run and declare this grace, with traffic that is at most two seconds out of order."""
    declaration = stack.lab.config / "applications" / "orders" / f"{TO_RELEASE}.yaml"
    before = declaration.read_text(encoding="utf-8")
    declaration.write_text(before.replace("grace_ms: 120000", f"grace_ms: {grace_ms}"), encoding="utf-8")
    afresh(stack, Deployed(release=TO_RELEASE, settings={"window.grace.ms": str(grace_ms)}))
    limits = {**SHORT, "bake_s": 1, "drain_ceiling_s": 120}
    try:
        with declared_as(stack, limits=limits):
            stack.start_traffic()
            time.sleep(_WARM_S)
            yield stack
    finally:
        declaration.write_text(before, encoding="utf-8")


def completed(stack: Stack, runbook: str, **form: Any) -> Trial:
    """A run to its end, its plan approved."""
    with declared_for(stack, runbook):
        trial = begun_other(stack, runbook, **form)
        finished(stack, trial.run_id)
    run = evidence(stack, trial.run_id)["run"]
    assert run["outcome"] == COMPLETED, run["outcome_sentence"]
    return trial


def declared_for(stack: Stack, runbook: str) -> AbstractContextManager[None]:
    """A reset judges stores by the facts that a topology command prints; the others go by the declared ones."""
    return declared_as(stack, **started_over.fields(stack.lab)) if runbook == "reset_and_cleanup" else nullcontext()


KINDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("stop_and_restart", _TWO_THREADS),
    ("control_topic_flush", _SWAP | {"settings": {"num.stream.threads": 1}}),
    ("reset_and_cleanup", {"mode": "state"}),
)


def test_a_stop_within_half_of_the_grace_asks_nothing_and_loses_nothing(stack: Stack) -> None:
    """An hour of grace: each kind of run goes through under traffic, and the judge finds every record."""
    with under_traffic(stack, _LONG):
        for runbook, form in KINDS:
            trial = completed(stack, runbook, **form)
            assert "late-after-stop" not in str(evidence(stack, trial.run_id)), runbook
            log = log_of(stack, trial.run_id, "verify")
            assert "have dropped since the start: 0; forecast: at most 0" in log, runbook
        stack.stop_traffic()
        completed(stack, "certify_drain", inputs_paused="the generator is stopped")
        assert judged(stack).faults() == {}


def test_a_stop_above_it_is_refused_and_goes_on_once_it_is_accepted(stack: Stack) -> None:
    """With 10 s of grace: each refusal has its bound, and what was dropped afterwards is within it, and is windows."""
    with under_traffic(stack, _SHORT):
        for runbook, form in KINDS:
            bound = refused(stack, runbook, "plan", **form)
            trial = completed(stack, runbook, **form, **ACCEPTED)
            shown = re.search(
                r"have dropped since the start: ([\d,]+); forecast", log_of(stack, trial.run_id, "verify")
            )
            assert shown, f"{runbook}: verify shows what the tasks of the store have dropped"
            assert 0 <= int(shown[1].replace(",", "")) <= bound
        stack.stop_traffic()
        paused = {"inputs_paused": "the generator is stopped"}
        assert refused(stack, "certify_drain", "certify", **paused) > 0
        completed(stack, "certify_drain", **paused, **ACCEPTED)
        assert judged(stack).faults().keys() <= {"windowed"}


def refused(stack: Stack, runbook: str, step: str, **form: Any) -> int:
    """A run that ends before anything is stopped; the most records that it says may be dropped."""
    with declared_for(stack, runbook):
        document = ended(begun_other(stack, runbook, **form), state="failed", outcome=NOTHING_CHANGED)
    sentence = document["run"]["outcome_sentence"]
    assert "drops records that come more than 10 s late, and " in sentence
    assert "give accept_late_loss a reason" in sentence
    assert step in {piece["task"] for piece in document["verdicts"] if piece["name"] == "may_stop"}
    return int(re.search(r"may drop up to ([\d,]+) records", sentence)[1].replace(",", ""))  # type: ignore[index]
