"""Whether a start would read records of a repartition topic again, or skip them."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.fitting.uncommitted import (
    SKIPPED_AT_FIRST,
    offset_resets,
    resets_of,
    uncommitted_records,
    worst,
)
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.topics_seen import NO_REPARTITIONS, RepartitionsSeen
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import OLD, declared
from world.sides import COUNTS, described

TOPIC = "orders-by-customer-repartition"
LATEST = frozenset({"latest"})


def row(number: int = 0, *, start: int = 0, end: int = 7, records: int | None = None) -> PartitionLag:
    """A partition without a committed offset; all its offsets are records, if nothing else is given."""
    return PartitionLag(
        TOPIC,
        number,
        "repartition",
        "never_committed",
        topic_id="id",
        log_start_offset=start,
        last_stable_offset=end,
        log_end_offset=end,
        records=end - start if records is None else records,
        exact=True,
    )


def seen(
    *rows: PartitionLag, state: str | Missing = "Stable", held: tuple[int, ...] = (), **more: Any
) -> RepartitionsSeen:
    """The topic, with these partitions."""
    return RepartitionsSeen({TOPIC: "id"}, rows, state, frozenset(f"{TOPIC}-{number}" for number in held), **more)


def judged(
    now: RepartitionsSeen, planned: RepartitionsSeen | None = None, resets: frozenset[str] | None = frozenset()
) -> Verdict:
    """The verdict on a release that reads the topic; it is the same when it is made again."""
    inputs = {
        "wanted": (described(COUNTS),),
        "seen": now,
        "planned": planned,
        "resets": resets,
        "application": declared(),
    }
    verdict = uncommitted_records(**inputs)  # type: ignore[arg-type]
    assert call_again(uncommitted_records, encode_call(uncommitted_records, inputs, verdict)) == encode(verdict)
    return verdict


def test_records_that_the_group_forgot_are_refused_in_one_sentence() -> None:
    """Topic, records, partitions, group, what would happen, and the next action."""
    verdict = judged(seen(row(0, start=93, end=100), row(2), row(3, end=0)))
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons == (
        f"topic {TOPIC} has 14 records on partitions 0, 2 without a committed offset of group orders (expected none; "
        f"no member of the group reads it), and release {OLD} reads it: read again they double, under "
        "auto.offset.reset=latest they are lost; if they are proven read, empty the topic (kafka-delete-records, as "
        "control_topic_flush does), otherwise restore the offsets from the file that a run saved (docs/orphans.md)",
    )


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(seen(), id="every partition is committed"),
        pytest.param(seen(row(records=0)), id="markers alone"),
        pytest.param(seen(row(), held=(0,)), id="a member reads it by a position"),
        pytest.param(NO_REPARTITIONS, id="no such topic"),
    ],
)
def test_what_is_not_forgotten_is_not_refused(now: RepartitionsSeen) -> None:
    """Nothing that was processed would be read again."""
    assert judged(now).outcome is Outcome.PROCEED


def test_a_log_from_offset_0_proves_nothing_without_a_reader() -> None:
    """Streams purges every 30 seconds, and only if it may."""
    assert judged(seen(row(), state="Empty")).outcome is Outcome.REFUSE
    assert judged(seen(row(), state=Missing("group orders is known to no broker"))).outcome is Outcome.REFUSE
    assert "(expected none; the group is empty)" in judged(seen(row(), state="Empty")).sentence


def test_what_could_not_be_read_is_inconclusive() -> None:
    """Never taken for "no records"; and while members join, none is assigned anything."""
    assert judged(seen(unknown=("topic is hidden",))) == Verdict(Outcome.INCONCLUSIVE, ("topic is hidden",))
    joining = judged(seen(row(), state="PreparingRebalance"))
    assert joining.outcome is Outcome.INCONCLUSIVE
    assert "group orders is PreparingRebalance (expected Stable or Empty)" in joining.sentence


@pytest.mark.parametrize(
    "planned",
    [
        pytest.param(RepartitionsSeen({}, (), "Stable"), id="the run's start made the topic"),
        pytest.param(seen(row(end=0)), id="it was empty"),
        pytest.param(seen(row(), held=(0,)), id="what ran read it and had not committed"),
    ],
)
def test_records_of_the_first_start_of_this_run_are_read_for_the_first_time(planned: RepartitionsSeen) -> None:
    """It ended before its first commit. Under `latest` they would be skipped, which is refused too."""
    now = seen(row(end=9), state="Empty")
    assert judged(now, planned).outcome is Outcome.PROCEED
    verdict = judged(now, planned, LATEST)
    assert verdict.outcome is Outcome.REFUSE
    assert "skips them under auto.offset.reset=latest (expected earliest)" in verdict.sentence


@pytest.mark.parametrize(
    ("planned", "start"),
    [
        pytest.param(seen(), 0, id="its committed offset is gone since the plan"),
        pytest.param(seen(row(end=5, records=0)), 6, id="Streams purged what was committed since the plan"),
        pytest.param(RepartitionsSeen({}, (), "Stable"), 3, id="the same of a topic that is new"),
        pytest.param(seen(row()), 0, id="the plan did not allow it"),
        pytest.param(seen(row(end=0), unknown=("?",)), 0, id="the plan did not know"),
    ],
)
def test_what_was_committed_since_the_plan_is_refused(planned: RepartitionsSeen, start: int) -> None:
    """Whatever the plan saw."""
    assert judged(seen(row(start=start, end=9), state="Empty"), planned).outcome is Outcome.REFUSE


def test_records_of_an_emptied_topic_begin_at_its_end() -> None:
    """A flush emptied it up to 5; what comes behind that is new."""
    assert judged(seen(row(start=5, end=9), state="Empty"), seen(row(start=5, end=5))).outcome is Outcome.PROCEED


def test_a_topic_that_the_release_does_not_read_is_no_concern() -> None:
    """An orphan of another release stays where it is."""
    other = replace(row(), topic="orders-other-repartition")
    assert judged(seen(other)).outcome is Outcome.PROCEED


def test_offsets_too_many_to_count_are_named_as_such() -> None:
    """One record is proven, not how many there are."""
    assert "has at most 90,000 records on partition 0" in judged(seen(replace(row(end=90_000), exact=False))).sentence


def test_the_reset_of_the_main_consumer_counts() -> None:
    """Repartition topics follow it; settings of other consumers do not matter."""
    assert offset_resets([{"auto.offset.reset": "Latest"}, {}]) == {"latest"}
    both = {"auto.offset.reset": "latest", "main.consumer.auto.offset.reset": "earliest"}
    assert offset_resets([both, {"restore.consumer.auto.offset.reset": "latest"}]) == {"earliest"}


@pytest.mark.parametrize(
    ("now", "there"),
    [
        pytest.param(NO_REPARTITIONS, "does not exist", id="a new topic"),
        pytest.param(seen(row(end=0)), "has no record and no committed offset", id="an empty one that nothing reads"),
    ],
)
def test_what_a_start_writes_first_may_be_skipped_under_latest(now: RepartitionsSeen, there: str) -> None:
    """The library reads such a topic by the reset of the application; the approver is shown it, with a way out."""
    verdict = judged(now, resets=LATEST)
    assert verdict.outcome is Outcome.PROCEED
    [finding] = verdict.findings
    assert (finding.id, finding.severity, finding.object) == (SKIPPED_AT_FIRST, "danger", TOPIC)
    assert finding.message == (
        f"it {there}, and release {OLD} reads it by auto.offset.reset: latest (expected earliest); what orders "
        "writes to it before its first commit may be skipped, without an error; start it under earliest, or create the "
        "topic (`kstreams-runbooks internal-topics`) and change it with control_topic_flush, which commits its "
        "beginning"
    )
    [unknown] = judged(now, resets=None).findings
    assert (unknown.severity, "not known (expected earliest)" in unknown.message) == ("warning", True)
    assert unknown.message.endswith("declare `config` with all settings (docs/declaration.md)")


@pytest.mark.parametrize("resets", [frozenset(), frozenset({"earliest"})])
def test_a_new_topic_is_read_from_its_beginning_otherwise(resets: frozenset[str]) -> None:
    """The default of Kafka Streams; and a topic with offsets, or a position, is read from there in any case."""
    assert judged(NO_REPARTITIONS, resets=resets).findings == ()
    assert judged(seen(), resets=LATEST).findings == ()
    assert judged(seen(row(end=0), held=(0,)), resets=LATEST).findings == ()


def test_the_settings_of_a_plan_are_over_those_of_the_release() -> None:
    """Nothing is known of a release without a list of its settings, unless the plan sets the reset."""
    key = "auto.offset.reset"
    latest = described(COUNTS, declares=Declaration(config={key: "latest"}))
    default = described(COUNTS, declares=Declaration(config={}))
    assert resets_of((latest,)) == LATEST
    assert resets_of((latest,), [{key: "earliest"}]) == frozenset({"earliest"})
    assert resets_of((default,), [{key: "latest"}, {}]) == LATEST
    assert resets_of((default,)) == frozenset()
    assert resets_of((described(COUNTS), default)) is None
    assert resets_of((described(COUNTS),), [{key: "latest"}]) == LATEST
    assert resets_of((Missing("no topology command"),)) == frozenset()


def test_two_decisions_become_the_worse_one() -> None:
    """With the reasons of what is against the start alone."""
    good, bad = Verdict(Outcome.PROCEED, ("good",)), Verdict(Outcome.REFUSE, ("bad",))
    unknown = Verdict(Outcome.INCONCLUSIVE, ("?",))
    assert worst(good, good) == good
    assert worst(good, unknown) == unknown
    assert worst(unknown, bad) == Verdict(Outcome.REFUSE, ("?", "bad"))
