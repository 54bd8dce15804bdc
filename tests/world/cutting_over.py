"""Both sides of the orders application behind a copier under traffic, and cutovers between them."""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Final

import psutil
from kill.moments import Moment, Target, strike
from lab import kafka
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed
from lab.copier import COPIES, TRAFFIC
from lab.shipped_copier import NAME as COPIER
from lab.shipped_copier import shipped_copier
from lab.stack import Stack
from lab.supervise import until

from world.downstream import NAME, counts_of, declare, downstream, missing_and_doubled, reads, written_down
from world.endings import completed, held_by
from world.given import declared_as
from world.greening import DAG as START
from world.greening import GREEN, INSTANCE, OUTPUTS, green_deployed
from world.runs import approve, approved_by_both, evidence, failed, finished, log_of, reached, states, trigger_other
from world.widening import PARTITIONS, chain_of, widening

DAG: Final = "blue_green_cutover"
BLUE: Final = "orders"
OLD, NEW = "orders-running", OUTPUTS["orders-running"]
_WINDOWS = ("orders-windowed", OUTPUTS["orders-windowed"])
_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2, "max_reading_age_s": 240, "max_lag": 50_000}
# The application dates its records itself: the old side may be behind by half of the grace (docs/blue_green.md), and a
# cutover on a busy machine takes a minute.
_GRACE_MS = 180_000
_GRACE = {"window.grace.ms": str(_GRACE_MS)}
DEPLOYED = Deployed(release=TO_RELEASE, settings=_GRACE)
INSTANCES: Final = ("orders-passing-1",)
# More customers: an update of one reaches fewer orders, and two sides do the work of one machine.
CUSTOMERS: Final = 10_000
_LATE = {"accept_late_loss": "the holds of a test are shorter than the grace"}
FORTH: Final = {"application": BLUE, "green": GREEN, "copier": COPIER, **_LATE}
BACK: Final = {"application": GREEN, "green": BLUE, "copier": COPIER, **_LATE}
COMPARED_S: Final = 300
READ_S: Final = 120
_HISTORY_S = 15
# Until the first windows close.
_CLOSED_S = 300


@contextmanager
def both_sides(stack: Stack, *, is_wide: bool = False) -> Iterator[None]:
    """Both sides behind a copier that copies traffic, the second one caught up; a group reads the first one.

    With `is_wide` the second one reads topics with three times the partitions, which a second copier fills.
    """
    declaration = stack.lab.config / "applications" / BLUE / f"{TO_RELEASE}.yaml"
    before = declaration.read_text(encoding="utf-8")
    declaration.write_text(before.replace("grace_ms: 120000", f"grace_ms: {_GRACE_MS}"), encoding="utf-8")
    afresh(stack, DEPLOYED)
    controls = list(COPIES.values())
    with declared_as(stack, limits=_SHORT, control=controls), shipped_copier(stack, INSTANCES):
        # A history that is shorter than the grace of the windows: caught up unpaced, it drops nothing.
        stack.supervisor.start(TRAFFIC)
        time.sleep(_HISTORY_S)
        stack.supervisor.stop(TRAFFIC)
        form = {"partitions": PARTITIONS} if is_wide else {}
        with ExitStack() as deployed:
            wide = deployed.enter_context(widening(stack)) if is_wide else {}
            deployed.enter_context(green_deployed(stack, {**_GRACE, **wide}, **_SHORT))
            run_id = trigger_other(stack, START, application=GREEN, **form, **_LATE)
            approve(stack, run_id, "approve_plan")
            assert finished(stack, run_id) == "success", evidence(stack, run_id)["run"]["outcome_sentence"]
            stack.supervisor.start(TRAFFIC)
            with downstream(stack, OLD):
                until(lambda: all(map(partial(closed, stack), _WINDOWS)), _CLOSED_S, "windows are closed", poll_s=5)
                yield


def closed(stack: Stack, topic: str) -> bool:
    """Whether a window has closed: without one there is nothing to compare."""
    return next(iter(kafka.records(stack.lab.bootstrap, topic)), None) is not None


def begun(stack: Stack, **conf: Any) -> str:
    """A run whose plan both teams have approved."""
    run_id = trigger_other(stack, DAG, **conf)
    approved_by_both(stack, DAG, run_id, "approve_plan")
    return run_id


def approved(stack: Stack, run_id: str) -> None:
    """The comparison at the point is approved by both."""

    def compared() -> bool:
        now = states(stack, run_id)
        assert "failed" not in now.values(), evidence(stack, run_id)["run"]["outcome_sentence"]
        return now["compare_outputs"] == "success"

    until(compared, COMPARED_S, "the outputs are compared", poll_s=0.5)
    approved_by_both(stack, DAG, run_id, "approve_cutover")


def cut_over(stack: Stack, form: dict[str, Any], now_reads: str) -> None:
    """One cutover to its end; then its team has changed the entry of the group."""
    run_id = begun(stack, **form)
    approved(stack, run_id)
    completed(stack, run_id)
    assert reads(stack) == now_reads
    declare(stack, now_reads)
    held = ", ".join(f"{seconds:.1f}" for seconds in held_s(evidence(stack, run_id)))
    print(f"{run_id}: the group reads {now_reads}; inputs held for {held} s")
    for task, what in (
        ("compare_at_seam", "↔"),
        ("compare_at_seam", "closed"),
        ("verify", "apart"),
        ("verify", "down"),
    ):
        print(*(line[:400] for line in log_of(stack, run_id, task).splitlines() if what in line), sep="\n")


def held_s(document: Mapping[str, Any]) -> list[float]:
    """For how long each hold of a run kept its inputs back: from the request to the copier until it had started."""
    writes = [(one["name"], one["payload"]) for one in document["writes"]]
    stops = [one["requested_ms"] for name, one in writes if name == "stop" and {*one["instances"]} == {*INSTANCES}]
    starts = [one["times"]["started_ms"] for name, one in writes if name == "restart" and one["instance"] in INSTANCES]
    return [(started - asked) / 1000 for asked, started in zip(stops, starts, strict=False)]


@contextmanager
def paused(stack: Stack) -> Iterator[None]:
    """Nothing is sent while the body runs; then what was due meanwhile is sent, with its own times.

    A generator that starts again sends each customer first, and each is joined with all of its orders.
    """
    pid = stack.supervisor.pid(TRAFFIC)
    assert pid is not None, "the generator runs"
    generator = psutil.Process(pid)
    generator.suspend()
    try:
        yield
    finally:
        generator.resume()


def read_once(stack: Stack) -> int:
    """At rest: the group has read each result of each record that was sent exactly once, in whichever topic.

    Returns how many that are.
    """
    with paused(stack):
        for group in (COPIER, *chain_of(stack), BLUE, GREEN):
            kafka.wait_drained(stack.lab.bootstrap, group)
        sent = sum(1 for _ in kafka.records(stack.lab.bootstrap, "sent-orders"))
        # By records: its offsets stay before the marker at the end of each partition, which no consumer gets.
        until(lambda: len(written_down(stack)) >= sent, READ_S, f"{NAME} has read {sent:,} records", poll_s=5)
        seen = written_down(stack)
        counts = counts_of(seen)
        print(f"{len(seen):,} records read by {NAME} of {sent:,} sent, {len(counts):,} customers")
        assert missing_and_doubled(counts) == (0, 0)
        assert sum(len(one) for one in counts.values()) == sent
    return sent


def all_run(stack: Stack) -> None:
    """Both sides, the copier and the group run, and nothing is held."""
    names = (*DEPLOYED.names, INSTANCE, *INSTANCES, NAME)
    assert None not in [stack.supervisor.pid(name) for name in names]
    assert held_by(stack) == ()


def killed(stack: Stack, run_id: str, task: str, moment: Moment, touched: tuple[str, ...]) -> None:
    """The process of a task is killed in its middle; the task is cleared."""
    strike(Target(stack, DAG, run_id, task, touched), moment, 0)
    reached(stack, run_id, task, "failed")
    # Airflow's scheduler may not survive a clear before that.
    failed(stack, run_id)
    stack.api().clear(DAG, run_id, task)
