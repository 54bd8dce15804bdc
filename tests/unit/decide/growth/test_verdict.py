"""Whether more partitions are possible, which way, and what a growth in place needs.

Covers decide/growth/in_place
"""

import json
from dataclasses import replace

import pytest
from kstreams_runbooks.decide.growth.in_place import MOST_NEW_PARTITIONS
from kstreams_runbooks.decide.growth.verdict import may_grow, may_grow_in_place
from kstreams_runbooks.ledger.codec import call_again, encode_call
from kstreams_runbooks.model.readings.growth import ForecastReading, KeyShare
from kstreams_runbooks.model.readings.partitioning import PlacedKey
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import DeclaredOperator
from kstreams_runbooks.model.topology.growth import GrowthSeen, WriterSeen
from kstreams_runbooks.model.verdicts import Outcome
from world.growing import JOINED, STATELESS, TABLE_COUNTED, accepting, facts, forecast, growing
from world.sides import COUNTS

REFUSE, PROCEED, INCONCLUSIVE = Outcome.REFUSE, Outcome.PROCEED, Outcome.INCONCLUSIVE


def ready(text: str = COUNTS) -> GrowthSeen:
    """An application that accepts the loss of its keys."""
    return growing(text, declares=accepting(text))


def test_state_that_is_kept_leads_to_blue_green() -> None:
    """The growth is possible, and not in place."""
    verdict = may_grow(growing(), forecast(growing()))
    assert verdict.outcome is PROCEED
    assert verdict.reasons[0] == "3 topics grow together to 12 partitions: 8 → 24 tasks"
    assert verdict.reasons[1] == (
        "topic orders: 653 of 1,000 keys move (65.3 %), with 75.0 % of the records and 50.0 % of the bytes"
    )
    assert "not in place: store counts: keeps content by key" in verdict.reasons[-1]
    refused = may_grow_in_place(growing(), forecast(growing()))
    assert refused.outcome is REFUSE
    assert refused.reasons[-1].startswith("to accept that, set loss_acceptable of each of these stores")


def test_an_accepted_loss_goes_in_place_and_the_approver_reads_it() -> None:
    verdict = may_grow_in_place(ready(), forecast(ready()))
    assert verdict.outcome is PROCEED
    [finding] = verdict.findings
    assert (finding.id, finding.severity, finding.object) == ("growth-moved-keys", "danger", "counts")
    assert may_grow(ready(), forecast(ready())).reasons[-1].startswith("in place: kstreams-runbooks trigger")


def test_an_application_without_a_store_goes_in_place() -> None:
    seen = growing(STATELESS)
    assert may_grow_in_place(seen, forecast(seen)).outcome is PROCEED
    assert may_grow_in_place(seen, forecast(seen)).findings == ()


def test_a_table_behind_which_something_is_counted_has_a_danger_of_its_own() -> None:
    """A stream that is counted by another key has none."""
    seen = ready(TABLE_COUNTED)
    findings = {(one.id, one.object) for one in may_grow_in_place(seen, forecast(seen)).findings}
    assert ("growth-earlier-values", "by-user-repartition") in findings
    assert {one.id for one in may_grow_in_place(ready(), forecast(ready())).findings} == {"growth-moved-keys"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"group_type": "streams"}, "group orders: a streams group"),
        ({"group_type": Missing("the group is hidden")}, "the group is hidden"),
        ({"writers": {}}, "input orders: written by producers that the fleet does not have"),
        ({"writers": {"orders": (WriterSeen("shop"),)}}, "input orders: written by shop (expected: a control topic"),
        (
            {"writers": {"orders": (WriterSeen("copier", (("sent", "orders"),)), WriterSeen("shop"))}},
            "written by copier, shop",
        ),
        ({"control": ()}, "input orders: written by copier (expected: a control topic"),
        (
            {"writers": {"orders": (WriterSeen("copier", (("sent", "orders"), ("a", "b"))),)}},
            "copier copier: also writes b, which does not grow",
        ),
        ({"readers": {"orders": ("billing",)}}, "topic orders: billing reads it too"),
        ({"groups": {"orders": ("adhoc",)}}, "group adhoc reads it too"),
        ({"groups": {"orders-by-customer-repartition": ("adhoc",)}}, "group adhoc reads it too"),
        ({"groups": Missing("may not list every group")}, "may not list every group"),
    ],
)
def test_what_keeps_a_growth_from_being_in_place(changes: dict[str, object], reason: str) -> None:
    """Each is refused with the topic, and named by the answer that the terminal prints."""
    seen = replace(ready(), **changes)  # type: ignore[arg-type]
    verdict = may_grow_in_place(seen, forecast(ready()))
    assert verdict.outcome is REFUSE
    assert reason in verdict.text
    assert reason in may_grow(seen, forecast(ready())).text


def test_somebody_elses_topic_names_the_way_to_a_copier() -> None:
    seen = replace(ready(), writers={})
    assert "trigger adopt_control_topic with --param copier=COPIER" in may_grow_in_place(seen, forecast(ready())).text


def test_a_group_that_only_reads_an_output_is_no_reader_of_a_grown_topic() -> None:
    seen = replace(ready(), groups={"counted": ("adhoc",)}, readers={"counted": ("billing",)})
    assert may_grow_in_place(seen, forecast(ready())).outcome is PROCEED


def test_more_new_partitions_than_the_controller_takes_in_one_call() -> None:
    """Three topics: just below the limit, and above it."""
    for wanted, outcome in ((4 + MOST_NEW_PARTITIONS // 3, PROCEED), (8 + MOST_NEW_PARTITIONS // 3, REFUSE)):
        seen = replace(ready(), wanted=wanted - wanted % 4)
        assert may_grow_in_place(seen, forecast(seen)).outcome is outcome


def test_a_number_that_is_no_multiple_has_to_be_wanted() -> None:
    """The refusal names a multiple; wanted, the approver still reads what it costs."""
    seen = replace(ready(), wanted=6)
    verdict = may_grow(seen, forecast(seen))
    assert verdict.outcome is REFUSE
    assert "8 is one: give another one (partitions), or accept that (uneven)" in verdict.text
    wanted = replace(seen, uneven=True)
    assert may_grow(wanted, forecast(wanted)).outcome is PROCEED
    assert "may come twice or never" in may_grow(wanted, forecast(wanted)).text
    assert may_grow_in_place(wanted, forecast(wanted)).findings[0].id == "growth-merges-partitions"
    named = replace(wanted, topics=("orders",))
    assert may_grow(named, forecast(named)).reasons[-1] == (
        "in place: kstreams-runbooks trigger partition_increase --application orders --param partitions=6 --param "
        "copier=copier --param topics=orders --param uneven=true"
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"several": 2, "examples": {"several": (PlacedKey("c-1", (0, 3), ()),)}},
            "2 of 1,000 keys are in more than one partition (limit 0): key c-1 is in partition 0 and 3",
        ),
        (
            {"misplaced": 724, "examples": {"misplaced": (PlacedKey("c-1", (3,), ()),)}},
            "724 of 1,000 keys are not where Kafka's default partitioner (murmur2) puts them today",
        ),
        ({"short": 1}, "1 rows have a key that is too short"),
    ],
)
def test_keys_that_are_not_at_home_are_refused(changes: dict[str, object], reason: str) -> None:
    verdict = may_grow(ready(), forecast(ready(), **changes))
    assert verdict.outcome is REFUSE
    assert reason in verdict.text


def test_null_keys_are_named_and_not_refused() -> None:
    verdict = may_grow(ready(), forecast(ready(), null_keys=KeyShare(0, 5, 50)))
    assert verdict.outcome is PROCEED
    assert "5 records have no key" in verdict.text


@pytest.mark.parametrize(
    ("reading", "reason"),
    [
        (None, "the keys were not forecast (expected an answer of Spark)"),
        (replace(forecast(ready()), topics=Missing("above the limit")), "above the limit"),
        (replace(forecast(ready()), topics=()), "input orders: its keys were not forecast"),
        (forecast(replace(ready(), wanted=8)), "the forecast is not about this growth"),
        (forecast(ready(), kept=KeyShare(), moved=KeyShare()), "input orders: has no record to read"),
    ],
)
def test_keys_that_were_not_read_are_not_known(reading: ForecastReading | None, reason: str) -> None:
    for verdict in (may_grow(ready(), reading), may_grow_in_place(ready(), reading)):
        assert verdict.outcome is INCONCLUSIVE
        assert reason in verdict.text


@pytest.mark.parametrize(
    ("partitioner", "outcome"), [("com.acme.ByRegion", INCONCLUSIVE), (None, INCONCLUSIVE), ("default", PROCEED)]
)
def test_a_partitioner_of_the_program_is_not_forecast(partitioner: str | None, outcome: Outcome) -> None:
    """The declared default is murmur2, and one that is not known is not; that of an output decides nothing."""
    operators = {
        "by-customer-sink": DeclaredOperator(partitioner=partitioner),
        "out": DeclaredOperator(partitioner="x"),
    }
    seen = growing(declares=replace(accepting(COUNTS), operators=operators))
    assert may_grow(seen, forecast(seen)).outcome is outcome


def test_state_that_no_forecast_reads_is_named() -> None:
    seen = growing(JOINED)
    assert (
        "state of KSTREAM-JOINOTHER-0000000005-store, KSTREAM-JOINTHIS-0000000004-store: not forecast"
        in may_grow(seen, forecast(seen)).text
    )


def test_deleted_and_open_records_are_named() -> None:
    found = forecast(ready())
    asked = (replace(found.asked[0], deleted=7, open=2), *found.asked[1:])
    text = may_grow(ready(), replace(found, asked=asked)).text
    assert "7 offsets before its log start are deleted" in text
    assert "2 offsets behind an open transaction" in text


def test_one_store_that_does_not_accept_it_is_enough() -> None:
    own = accepting(TABLE_COUNTED)
    stores = {**own.stores, "counts": facts(TABLE_COUNTED).stores["counts"]}
    seen = growing(TABLE_COUNTED, declares=replace(own, stores=stores))
    assert "store counts: keeps content by key" in may_grow_in_place(seen, forecast(seen)).text


@pytest.mark.parametrize("reading", [None, forecast(ready()), replace(forecast(ready()), topics=Missing("limit"))])
@pytest.mark.parametrize("groups", [{}, {"orders": ("adhoc",)}, Missing("hidden")])
def test_evidence_decides_it_again(
    reading: ForecastReading | None, groups: dict[str, tuple[str, ...]] | Missing
) -> None:
    """From the inputs as they are kept, also the ones that could not be read."""
    inputs = {"seen": replace(ready(), groups=groups), "forecast": reading}
    kept = json.loads(json.dumps(encode_call(may_grow_in_place, inputs, may_grow_in_place(**inputs))))  # type: ignore[arg-type]
    assert call_again(may_grow_in_place, kept) == kept["result"]
