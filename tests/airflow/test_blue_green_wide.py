"""A second application starts next to the first on topics with more partitions, and goes again.

A second shipped copier fills these topics by key from the control topics. The first application runs all the time.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from kill.moments import Moment, Target, strike
from kstreams_runbooks.observe import ClusterReader
from lab import kafka
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed
from lab.copier import COPIES, TRAFFIC, declared
from lab.judge import judged
from lab.shipped_copier import NAME, shipped_copier
from lab.stack import Stack
from world.endings import DRY_RUN, NOTHING_CHANGED, begun_other, completed, ended
from world.given import declared_as
from world.going_on import followed
from world.greening import DAG, GREEN, INSTANCE, OUTPUTS, green_deployed, topics_of
from world.grown import rate
from world.runs import approve, evidence, failed, finished, log_of, mark_run, question, reached, trigger_other
from world.widening import COPIER, PARTITIONS, WIDE, declared_otherwise, entry_of, widening
from world.widening import INSTANCE as COPIES_BY_KEY

pytestmark = pytest.mark.long

_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2, "max_reading_age_s": 120}
_BLUE = Deployed(release=TO_RELEASE)
_PASSING = ("orders-passing-1",)
# The history of some minutes is longer than the grace of the windows, which are not compared here.
_LATE = {"accept_late_loss": "windows of the history are not compared in this test"}


@pytest.fixture(scope="module")
def behind(stack: Stack) -> Iterator[Stack]:
    """The first application behind a copier; the second, and the copier of its inputs, are deployed and down."""
    afresh(stack, _BLUE)
    controls = list(COPIES.values())
    with (
        declared_as(stack, limits=_SHORT, control=controls),
        shipped_copier(stack, _PASSING),
        widening(stack) as wide,
    ):
        stack.supervisor.start(TRAFFIC)
        with green_deployed(stack, wide, **_SHORT):
            yield stack


def begun(stack: Stack, **conf: object) -> str:
    """A run that its team has approved, to which the copier belongs too."""
    form = {"partitions": PARTITIONS, **_LATE, **conf}
    run_id = trigger_other(stack, DAG, application=GREEN, **form)
    approve(stack, run_id, "approve_plan")
    return run_id


def by_key(stack: Stack, topic: str) -> dict[bytes | None, list[bytes | None]]:
    """The values of each key, in their order."""
    found = defaultdict(list)
    for one in sorted(kafka.records(stack.lab.bootstrap, topic), key=lambda one: (one.partition(), one.offset())):
        found[one.key()].append(one.value())
    return dict(found)


def sums(stack: Stack, topic: str) -> dict[bytes | None, tuple[int, int, int]]:
    """By key: how many results there are, and the last count and sum."""
    last = {key: (len(values), json.loads(values[-1] or b"{}")) for key, values in by_key(stack, topic).items()}
    return {key: (results, value["count"], value["sum"]) for key, (results, value) in last.items()}


def emitted(stack: Stack, topic: str) -> Counter[bytes | None]:
    """How often each window was emitted."""
    return Counter(one.key() for one in kafka.records(stack.lab.bootstrap, topic))


def left(stack: Stack) -> set[str]:
    """Topics of the second application and of its copier."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        return topics_of(stack) | (reader.topic_names() & {*WIDE.values()})


def is_gone(stack: Stack) -> bool:
    """Whether nothing of either runs, is committed or is left."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        committed = reader.committed([GREEN, COPIER])
    return not (
        left(stack) or any(committed.values()) or stack.supervisor.pid(INSTANCE) or stack.supervisor.pid(COPIES_BY_KEY)
    )


def test_a_dry_run_shows_every_stage(behind: Stack) -> None:
    """What would be created, committed and started; nothing is changed."""
    trial = begun_other(behind, DAG, application=GREEN, dry_run=True, partitions=PARTITIONS, **_LATE)
    ended(trial, state="success", outcome=DRY_RUN)
    assert f"would create topic {WIDE['orders']}" in log_of(behind, trial.run_id, "create_topics")
    assert "the copy takes" in log_of(behind, trial.run_id, "plan")
    assert is_gone(behind)


@pytest.mark.parametrize(
    ("task", "struck", "moment"),
    [
        ("set_offsets", INSTANCE, Moment.WORKING),
        ("start_application", COPIES_BY_KEY, Moment.STARTING),
    ],
)
def test_undo_before_its_start_leaves_nothing(behind: Stack, task: str, struck: str, moment: Moment) -> None:
    """The run is given up: the topics and offsets of both are gone, and nothing of them runs."""
    stack = behind
    run_id = begun(stack)
    strike(Target(stack, DAG, run_id, task, (struck,)), moment, 0)
    # As long as it has not ended, it holds the application.
    failed(stack, run_id)
    undo = trigger_other(stack, "undo", application=GREEN, run=run_id)
    assert finished(stack, undo) == "success", evidence(stack, undo)["run"]["outcome_sentence"]
    assert is_gone(stack)


@pytest.mark.parametrize("wanted", [PARTITIONS, 6])
def test_each_key_keeps_its_order_and_its_state(behind: Stack, wanted: int) -> None:
    """At rest each key has its records in their order, and both sides have the same results; then it goes again.

    Six are not a multiple of four: the question names what is merged, and windows may be emitted twice or never.
    """
    stack, uneven = behind, bool(wanted % kafka.PARTITIONS)
    before = [stack.supervisor.pid(name) for name in _BLUE.names]
    run_id = trigger_other(stack, DAG, application=GREEN, partitions=wanted, uneven=uneven, **_LATE)
    asked = question(stack, run_id)["body"]
    assert ("growth-merges-partitions" in log_of(stack, run_id, "plan")) is uneven
    assert ("windows at the seam of a cutover may come twice or never" in asked) is uneven
    approve(stack, run_id, "approve_plan")
    strike(Target(stack, DAG, run_id, "start_application", (INSTANCE,)), Moment.STARTING, 0)
    failed(stack, run_id)
    stack.api().clear(DAG, run_id, "start_application")
    completed(stack, run_id)
    assert [stack.supervisor.pid(name) for name in _BLUE.names] == before
    sent = rate(stack)
    stack.supervisor.stop(TRAFFIC)
    for group in (NAME, COPIER, GREEN):
        kafka.wait_drained(stack.lab.bootstrap, group)
    judgement = judged(stack)
    assert (judgement.code, judgement.faults()) == (0, {})
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        assert {one.partitions for one in reader.topics(WIDE.values())} == {wanted}
    for control, wide in WIDE.items():
        keys = by_key(stack, control)
        assert keys == by_key(stack, wide)
        print(f"{wide}: {sum(map(len, keys.values())):,} records of {len(keys):,} keys in their order")
    assert sums(stack, "orders-running") == sums(stack, OUTPUTS["orders-running"])
    last = [by_key(stack, one) for one in ("orders-per-customer", OUTPUTS["orders-per-customer"])]
    assert len({json.dumps({str(key): str(one[key][-1]) for key in sorted(one, key=str)}) for one in last}) == 1
    blue, green = (emitted(stack, one) for one in ("orders-windowed", OUTPUTS["orders-windowed"]))
    print(
        f"{sent:,.0f} records a second; windows: {len(blue & green):,} emitted by both, {len(blue - green):,} by blue "
        f"alone, {len(green - blue):,} by green alone"
    )
    stack.supervisor.start(TRAFFIC)
    completed(stack, begun(stack, mode="cancel", partitions=None))
    assert is_gone(stack)
    assert [stack.supervisor.pid(name) for name in _BLUE.names] == before


def refused(stack: Stack, *said: str, **conf: object) -> str:
    """A dry run that is refused with these words before anything is changed; its id."""
    form = {"partitions": PARTITIONS, **_LATE, **conf}
    trial = begun_other(stack, DAG, application=GREEN, dry_run=True, **form)
    sentence = ended(trial, state="failed", outcome=NOTHING_CHANGED)["run"]["outcome_sentence"]
    for words in said:
        assert words in sentence, sentence
    return trial.run_id


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (None, f"partitions: nothing (expected the partitions of {WIDE['customers']}"),
        (4, "control topic orders has 4 (expected more)"),
        (6, "is not a multiple of the 4 of orders"),
    ],
)
def test_go_on_of_a_refused_number_has_one_that_is_taken(behind: Stack, wanted: int | None, said: str) -> None:
    """Its dry run shows every stage."""
    run_id = refused(behind, said, partitions=wanted)
    assert "--param partitions=8" in log_of(behind, run_id, "conclude")
    code, shown = followed(behind, run_id)
    assert code == 0, shown


def as_declared(stack: Stack, **fields: Any) -> dict[str, Any]:
    """The entry of the copier with other fields."""
    entry: dict[str, Any] = yaml.safe_load(entry_of(stack).read_text(encoding="utf-8"))
    return entry | fields


def undeclared(_: Stack) -> dict[str, Any]:
    """No entry."""
    return {}


def own_program(stack: Stack) -> dict[str, Any]:
    """A program of a team, which copies one topic."""
    entry = declared(stack, COPIER, (COPIES_BY_KEY,), "exactly_once")
    return entry | {"inputs": ["orders"], "outputs": [WIDE["orders"]]}


def idle_route(stack: Stack) -> dict[str, Any]:
    """It copies a topic more."""
    return as_declared(stack, routes={**WIDE, "sent-orders": "idle"})


def absent_control_topic(stack: Stack) -> dict[str, Any]:
    """One of its routes begins at a topic that is not there."""
    return as_declared(stack, routes={"orders-absent": WIDE["orders"], "customers": WIDE["customers"]})


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (undeclared, "reads no topic that a copier copies from a control topic of orders"),
        (own_program, f"copier {COPIER}: a team's own program"),
        (idle_route, f"copier {COPIER}: writes idle, which {GREEN} does not read"),
        (absent_control_topic, "control topic orders-absent: does not exist"),
    ],
)
def test_go_on_of_a_refused_copier_reads_its_corrected_entry(
    behind: Stack, entry: Callable[[Stack], dict[str, Any]], said: str
) -> None:
    """Once the entry is corrected, the command reads it again, and the run completes."""
    with declared_otherwise(behind, entry(behind)):
        run_id = refused(behind, said)
    code, shown = followed(behind, run_id)
    assert code == 0, shown


def test_go_on_of_two_copiers_reads_the_one_that_has_all_routes(behind: Stack) -> None:
    """Both are in front of the second application, and would stop one after the other."""
    both = [as_declared(behind, routes={one: WIDE[one]}) for one in WIDE]
    other = entry_of(behind).with_name("orders-widening-too.yaml")
    other.write_text(yaml.safe_dump(both[1] | {"application_id": "orders-widening-too"}), encoding="utf-8")
    try:
        with declared_otherwise(behind, both[0]):
            run_id = refused(behind, "both are in front of")
    finally:
        other.unlink()
    code, shown = followed(behind, run_id)
    assert code == 0, shown


def test_go_on_of_an_abandoned_start_takes_it_away(behind: Stack) -> None:
    """Both run, have offsets and topics: the command is that of mode cancel; after it a start is planned again."""
    stack = behind
    abandoned = begun(stack)
    reached(stack, abandoned, "start_application", "success", 240)
    mark_run(stack, abandoned, "failed")
    run_id = refused(
        stack,
        f"{COPIES_BY_KEY}: runs (expected: copier {COPIER} is down",
        f"group {COPIER}: has offsets on customers",
        f"topic {WIDE['orders']}: exists",
    )
    code, shown = followed(stack, run_id)
    assert code == 0, shown
    completed(stack, begun(stack, mode="cancel"))
    assert is_gone(stack)
    ended(
        begun_other(stack, DAG, application=GREEN, dry_run=True, partitions=PARTITIONS, **_LATE),
        state="success",
        outcome=DRY_RUN,
    )
