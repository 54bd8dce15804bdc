"""A second application starts next to the first only if neither touches the other, and if it lacks no record."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.greenable import (
    effects_of,
    may_cancel_green,
    may_start_green,
    not_moved,
    without_member,
)
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.readings.green import (
    GreenChain,
    GreenHistory,
    GreenInput,
    GreenOutput,
    GreenReading,
    GreenRemains,
    WideTopic,
)
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, Taken
from kstreams_runbooks.model.topology.declaration import (
    Declaration,
    DeclaredOperator,
    DeclaredStore,
    DeclaredSuppression,
)
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import member

THERE = tuple(GreenHistory(number, "there", 1_000) for number in range(2))
INPUT = GreenInput("orders-control", "orders-control", "orders", "orders-copier", THERE)
OUTPUT = GreenOutput("totals-green", "totals", 2, exists=False)
GOOD = GreenReading(
    application="orders-v2",
    group_id="orders-v2",
    blue="orders",
    blue_id="orders",
    group_type="",
    protocol="",
    up=(),
    offsets=(),
    inputs=(INPUT,),
    patterns=(),
    outputs=(OUTPUT,),
    extractors=(),
    blue_outputs=("totals",),
    internal=("orders-v2-counts-changelog", "orders-v2-by-customer-repartition"),
    blue_internal=("orders-counts-changelog", "orders-by-customer-repartition"),
    left=(),
    strange=(),
    shared=(),
    by_person=(),
    effects=(),
    accepted="",
    late=(),
    late_accepted="",
)
REMAINS = GreenRemains("orders-v2", "orders-v2", ("orders-v2-counts-changelog", "totals-green"), ())


def started(**changes: Any) -> Verdict:
    """The decision about a good reading with changes."""
    return may_start_green(replace(GOOD, **changes))


def refused(verdict: Verdict, said: str) -> None:
    """A refusal with exactly this sentence."""
    assert verdict.outcome is Outcome.REFUSE
    assert len(verdict.reasons) == 1, verdict.reasons
    assert said in verdict.reasons[0]


def test_an_application_next_to_another_with_a_longer_id() -> None:
    """One id begins the other: names in full are compared, so neither has a topic of the other."""
    verdict = started()
    assert verdict.outcome is Outcome.PROCEED
    assert verdict.reasons == (
        "orders-v2 reads orders-control from their beginning and writes totals-green (for totals) alone",
    )
    assert [one.id for one in verdict.findings] == ["green-patterns-not-seen"]


def test_one_internal_topic_of_both() -> None:
    """A store `v2-counts` of orders has the changelog that `counts` of orders-v2 has."""
    refused(
        started(blue_internal=("orders-v2-counts-changelog",)),
        "internal topic orders-v2-counts-changelog: orders-v2 and orders both make a topic of this name",
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"group_id": "orders"}, "application_id orders: is that of orders too"),
        ({"group_type": "streams"}, "group orders-v2: a streams group (expected classic)"),
        ({"protocol": "STREAMS"}, "group orders-v2: a streams group (expected classic)"),
        ({"up": ("green-1",)}, "green-1: runs (expected: no instance of orders-v2)"),
        ({"offsets": ("orders-control",)}, "group orders-v2: has offsets on orders-control (expected none"),
        (
            {"left": ("orders-v2-counts-changelog",)},
            "internal topic orders-v2-counts-changelog: exists before the first",
        ),
        ({"strange": ("internal topic x: billing declares it",)}, "billing declares it"),
        ({"shared": ("green-1: directory /srv/a is that of orders-1",)}, "directory /srv/a"),
        ({"patterns": ("orders-.*",)}, "source pattern orders-.*"),
        ({"extractors": ("route",)}, "sink route: chooses its topics record by record"),
        ({"by_person": ("copier orders-copier",)}, "copier orders-copier: a person deploys it"),
        ({"effects": ("send-mail",)}, "add to its fleet entry: effects_twice: accepted, because …"),
        ({"late": ("store windows: drops",)}, "give accept_late_loss a reason"),
        ({"lacks": ("Topic totals-green: login User:green lacks Write",)}, "lacks Write"),
        ({"inputs": ()}, "reads no topic"),
        ({"outputs": ()}, "writes no topic"),
    ],
)
def test_what_could_touch_the_first_or_lack_records(changes: dict[str, Any], said: str) -> None:
    """Each is one sentence with what helps."""
    refused(started(**changes), said)


WIDE = WideTopic("orders-wide", "orders-control", 2, exists=False)
CHAINED = GreenChain("widening", "orders-widening", True, (WIDE,), (), ())


def widened(copier: GreenChain = CHAINED, **changes: Any) -> Verdict:
    """The decision about one that reads a topic with six partitions, filled from a control topic with two."""
    of = {"inputs": (replace(INPUT, topic="orders-wide"),), "chain": (copier,), "wanted": 6}
    return started(**{**of, **changes})


def test_a_copier_fills_wider_topics() -> None:
    """From a control topic that begins where its input begins; green reads what the copier writes."""
    assert widened().outcome is Outcome.PROCEED
    assert "growth-merges-partitions" not in {one.id for one in widened().findings}
    uneven = widened(wanted=5, uneven=True)
    assert uneven.outcome is Outcome.PROCEED
    [merges] = [one for one in uneven.findings if one.id == "growth-merges-partitions"]
    assert merges.severity == "danger"
    assert "orders-wide gets 5 partitions from 2 of orders-control: not a multiple" in merges.message
    absent = (replace(THERE[0], begins="absent"), THERE[1])
    refused(
        widened(inputs=(replace(INPUT, topic="orders-wide", partitions=absent),)),
        "control topic orders-control: the first records of orders",
    )


@pytest.mark.parametrize(
    ("chain", "changes", "said"),
    [
        ({}, {"chain": (), "inputs": (INPUT,)}, "partitions 6: orders-v2 reads no topic that a copier copies from"),
        ({}, {"chain": (CHAINED, replace(CHAINED, copier="other"))}, "copiers widening, other: both are in front"),
        ({"shipped": False}, {}, "copier widening: a team's own program"),
        ({}, {"wanted": 0}, "partitions: nothing (expected the partitions of orders-wide, which copier widening fills"),
        ({}, {"wanted": 0}, "trigger a new run with --param partitions=4, or another multiple"),
        ({"up": ("widening-1",)}, {}, "widening-1: runs (expected: copier widening is down"),
        ({"offsets": ("orders-control",)}, {}, "group orders-widening: has offsets on orders-control"),
        ({"topics": (WIDE, replace(WIDE, topic="idle"))}, {}, "writes idle, which orders-v2 does not read"),
        ({"topics": (replace(WIDE, exists=True),)}, {}, "topic orders-wide: exists (expected: the run creates it"),
        ({"topics": (replace(WIDE, before=0),)}, {}, "control topic orders-control: does not exist"),
        ({}, {"wanted": 2}, "has 2 (expected more); trigger a new run with --param partitions=4, or let orders-v2"),
        ({}, {"wanted": 5}, "trigger a new run with --param partitions=6, or accept that (uneven)"),
        (
            {},
            {"inputs": (replace(INPUT, topic="orders-wide", source="", copier="", partitions=()),)},
            "is copied from orders-control, which no copier of orders writes",
        ),
    ],
)
def test_what_keeps_a_copier_from_filling_them(chain: dict[str, Any], changes: dict[str, Any], said: str) -> None:
    """Each is one sentence, before a topic is created."""
    refused(widened(replace(CHAINED, **chain), **changes), said)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (replace(OUTPUT, topic="totals"), "output totals: orders writes it too"),
        (replace(OUTPUT, stands_for=""), "green_outputs: {totals-green: OUTPUT}"),
        (replace(OUTPUT, partitions=0), "stands for totals, which does not exist"),
        (replace(OUTPUT, exists=True), "output totals-green: exists (expected: the run creates it like totals)"),
        (replace(OUTPUT, used_by=("audit reads it",)), "output totals-green: audit reads it"),
    ],
)
def test_outputs_of_its_own(output: GreenOutput, said: str) -> None:
    """Green writes topics that nothing reads yet, each for one of blue's."""
    refused(started(outputs=(output,)), said)


def test_an_input_without_a_copier() -> None:
    """The command puts one in front of the other application, which GO ON of this run cannot."""
    verdict = started(inputs=(replace(INPUT, source="", copier="", partitions=()),))
    refused(verdict, "kstreams-runbooks trigger adopt_control_topic --application orders --param mode=adopt")
    assert "no copier writes it" in verdict.reasons[0]


def test_a_control_topic_that_begins_later_than_its_input() -> None:
    """Retention has deleted its first records, or it was adopted without history; a fill is not built yet."""
    later = (THERE[0], replace(THERE[1], begins="absent"))
    verdict = started(inputs=(replace(INPUT, partitions=later),))
    refused(
        verdict, "control topic orders-control: the first records of orders (1970-01-01 00:00:01 UTC) are not in it"
    )
    assert "(1 of 2 partitions)" in verdict.reasons[0]
    assert "--param mode=abandon --param copier=orders-copier" in verdict.reasons[0]


def test_an_empty_input_has_nothing_that_could_be_lacking() -> None:
    """A partition without a record."""
    assert started(inputs=(replace(INPUT, partitions=(GreenHistory(0, "empty"),)),)).outcome is Outcome.PROCEED


@pytest.mark.parametrize(
    "changes",
    [
        {"problems": ("whether other groups use these topics is not known",)},
        {"unknown_rights": ("Group orders-v2: whether this login has Read is not known",)},
        {"inputs": (replace(INPUT, partitions=(GreenHistory(0, Missing("no leader")),)),)},
    ],
)
def test_what_was_not_looked_at_is_not_safe(changes: dict[str, Any]) -> None:
    """Inconclusive; but a certain refusal comes first."""
    assert started(**changes).outcome is Outcome.INCONCLUSIVE
    assert started(**changes, up=("green-1",)).outcome is Outcome.REFUSE


def test_what_is_accepted_is_a_danger_for_the_approver() -> None:
    """With the reasons of the entry and of the form."""
    verdict = started(
        effects=("send-mail",),
        accepted="accepted, because it is idempotent",
        late=("store w: drops",),
        late_accepted="ok",
    )
    assert verdict.outcome is Outcome.PROCEED
    dangers = {one.id: one.message for one in verdict.findings if one.severity == "danger"}
    assert "send-mail; accepted, because it is idempotent" in dangers["green-effects-twice"]
    assert "accepted: ok" in dangers["green-drops-late"]


_TEXT = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders])
      --> {name}
    Processor: {name} (stores: [{stores}])
      --> KSTREAM-SINK-0000000002
      <-- KSTREAM-SOURCE-0000000000
    Sink: KSTREAM-SINK-0000000002 (topic: out)
      <-- {name}
"""


@pytest.mark.parametrize(
    ("name", "stores", "acts"),
    [
        ("KSTREAM-FOREACH-0000000001", "", True),
        ("KSTREAM-PEEK-0000000001", "", True),
        ("KSTREAM-PRINTER-0000000001", "", True),
        ("KSTREAM-PROCESSOR-0000000001", "seen", True),
        ("KSTREAM-TRANSFORMVALUES-0000000001", "", True),
        ("KTABLE-TRANSFORMVALUES-0000000001", "", True),
        ("KSTREAM-FILTER-0000000001", "", False),
        ("KSTREAM-MAPVALUES-0000000001", "", False),
        ("KSTREAM-AGGREGATE-0000000001", "counts", False),
        ("KSTREAM-PEEKS", "", True),
        ("send-mail", "", True),
        ("send-mail", "seen", True),
        ("joined", "", False),
        ("counted", "counts", False),
        ("counted", "counts, seen", True),
        ("held-back", "held-back-store", False),
    ],
)
def test_operators_that_may_act_outside_of_kafka(name: str, stores: str, *, acts: bool) -> None:
    """A generated name shows the kind; one with a name of its own is known by facts, or counts as one that may."""
    declared = Declaration(
        stores={"counts": DeclaredStore(aggregation="count"), "seen": DeclaredStore(kind="key_value")},
        operators={"joined": DeclaredOperator(join="left")},
        suppressions={"held-back": DeclaredSuppression("until_window_closes")},
    )
    found = effects_of(parse_topology(_TEXT.format(name=name, stores=stores)), declared)
    assert found == ((name,) if acts else ())


def test_green_goes_if_nothing_else_uses_its_topics() -> None:
    """The names of all that goes are in the approval."""
    verdict = may_cancel_green(replace(REMAINS, stays=("orders-v2-old-changelog",)))
    assert verdict.outcome is Outcome.PROCEED
    removed, stays = verdict.findings
    assert removed.severity == "danger"
    assert "orders-v2-counts-changelog, totals-green; group orders-v2" in removed.message
    assert "orders-v2-old-changelog" in stays.message


def test_green_that_serves_is_not_taken_away() -> None:
    """A group that has moved to its outputs, or another application of the fleet."""
    verdict = may_cancel_green(replace(REMAINS, used_by=(("totals-green", "group billing reads it"),)))
    refused(verdict, "topic totals-green: group billing reads it (expected: orders-v2 alone)")


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (None, "its readers have not moved to orders-v2 (there is none;"),
        (("orders-v2", "orders"), "(the newest one went from orders-v2 to orders; expected: a completed"),
    ],
)
def test_a_side_that_may_serve_is_not_retired(last: tuple[str, str] | None, said: str) -> None:
    """By the newest cutover between both."""
    reasons = tuple(not_moved("orders", "orders-v2", last))
    refused(may_cancel_green(replace(REMAINS, serves=reasons)), said)
    assert tuple(not_moved("orders", "orders-v2", ("orders", "orders-v2"))) == ()


def test_the_other_side_has_to_serve() -> None:
    """Its group has members."""
    group = GroupReading(Taken(1, "test"), "orders-v2", "classic", "Stable", (member("m"),))
    assert tuple(without_member("orders-v2", group)) == ()
    reasons = tuple(without_member("orders-v2", replace(group, members=())))
    refused(may_cancel_green(replace(REMAINS, serves=reasons)), "has no member (expected: it serves)")


def test_groups_that_cannot_be_read_may_use_its_topics() -> None:
    """Nothing is deleted then."""
    assert may_cancel_green(replace(REMAINS, not_listed=("not every group is listed",))).outcome is Outcome.INCONCLUSIVE
