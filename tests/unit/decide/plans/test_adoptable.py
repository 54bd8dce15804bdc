"""Control topics come in front of an application only if nothing but its source topics changes with them."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.adoptable import may_abandon, may_adopt
from kstreams_runbooks.model.readings.adoption import AdoptedInput, AdoptReading
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Outcome, Verdict

_TEXT = """Topologies:
   Sub-topology: 0
    Source: orders-source (topics: [{orders}])
      --> join
    Processor: join (stores: [])
      --> out
      <-- orders-source
    Source: table-source (topics: [{customers}])
      --> table
    Processor: table (stores: [{store}])
      --> none
      <-- table-source
    Sink: out (topic: {out})
      <-- join
"""
_ORDERS = AdoptedInput("orders", "orders-control", ("topic.orders",), 4)
_CUSTOMERS = AdoptedInput("customers", "customers-control", ("topic.customers",), 2)


def described(orders: str, customers: str, store: str = "customers", out: str = "joined") -> Described:
    """A version that joins a stream with a table."""
    text = _TEXT.format(orders=orders, customers=customers, store=store, out=out)
    return Described("4.3.1", "4.3.1", "topology command of 4.3.1", text)


GOOD = AdoptReading(
    application="shop",
    group_id="shop-id",
    group_type="classic",
    copier="shop-copier",
    copier_group="shop-copier-id",
    copier_type="classic",
    sources=("customers", "orders"),
    patterns=(),
    tables=(),
    globals=(),
    stateful=("customers",),
    inputs=(_ORDERS, _CUSTOMERS),
    copier_up=(),
    copier_offsets=(),
    uncommitted=(),
    reset="earliest",
    guarantee="exactly_once_v2",
)
BEFORE, AFTER = described("orders", "customers"), described("orders-control", "customers-control")
BACK = replace(
    GOOD,
    sources=("customers-control", "orders-control"),
    inputs=tuple(replace(one, control_partitions=one.partitions) for one in GOOD.inputs),
    copier_up=("shop-copier-1",),
    copier_offsets=("customers", "orders"),
)


def adopted(before: Described = BEFORE, after: Described | Missing = AFTER, **changes: Any) -> Verdict:
    """The decision about a good reading with changes."""
    return may_adopt(replace(GOOD, **changes), before, after)


def refused(verdict: Verdict, *said: str) -> None:
    """A refusal with exactly these sentences."""
    assert verdict.outcome is Outcome.REFUSE
    assert len(verdict.reasons) == len(said)
    for sentence, part in zip(verdict.reasons, said, strict=True):
        assert part in sentence


def test_only_source_topics_change() -> None:
    """Each input becomes its control topic; exactly once, nothing has to be said."""
    verdict = adopted()
    assert verdict.outcome is Outcome.PROCEED
    assert "orders → orders-control, customers → customers-control" in verdict.reasons[0]
    assert [one.id for one in verdict.findings] == ["adopt-topic-names"]


def test_the_way_back_is_judged_in_the_same_way() -> None:
    """The copier runs, and its control topics exist: both are needed there, and refuse in front."""
    assert may_abandon(BACK, AFTER, BEFORE).outcome is Outcome.PROCEED
    refused(may_abandon(BACK, AFTER, described("orders", "customers", out="elsewhere")), "in more than its source")


def test_a_store_that_is_named_after_its_topic_would_begin_empty() -> None:
    """The sentence has the name to set, which keeps the store and its changelog."""
    named = "{}-STATE-STORE-0000000003"
    before = described("orders", "customers", named.format("customers"))
    after = described("orders-control", "customers-control", named.format("customers-control"))
    refused(
        adopted(before, after),
        'builder.table("customers", Materialized.as("customers-STATE-STORE-0000000003"))',
    )
    # A store of that name that a person has chosen stays.
    chosen = named.format("customers")
    kept = adopted(before, described("orders-control", "customers-control", chosen))
    assert kept.outcome is Outcome.PROCEED


def test_a_name_that_has_the_topic_in_it_need_not_be_a_tables() -> None:
    """Such as a suppression that is named by the setting: there is no table to name."""
    before = described("orders", "customers", "customers-held-store")
    after = described("orders-control", "customers-control", "customers-control-held-store")
    refused(adopted(before, after), "store customers-held-store: its name has the input customers in it, and it would")


_GLOBAL = """Topologies:
   Sub-topology: 0 for global store (will not generate tasks)
    Source: KSTREAM-SOURCE-0000000001 (topics: [{customers}])
      --> KTABLE-SOURCE-0000000002
    Processor: KTABLE-SOURCE-0000000002 (stores: [{store}-STATE-STORE-0000000000])
      --> none
      <-- KSTREAM-SOURCE-0000000001
  Sub-topology: 1
    Source: KSTREAM-SOURCE-0000000003 (topics: [{orders}])
      --> KSTREAM-SINK-0000000005
    Sink: KSTREAM-SINK-0000000005 (topic: out)
      <-- KSTREAM-SOURCE-0000000003
"""


def test_a_global_table_is_named_after_its_topic_and_built_from_it() -> None:
    """As the real library prints an unnamed one; another name that only begins alike is another store."""
    before, after, other = (
        Described(
            "4.3.1",
            "4.3.1",
            "topology command of 4.3.1",
            _GLOBAL.format(orders=names[0], customers=names[1], store=store),
        )
        for names, store in (
            (("orders", "customers"), "customers"),
            (("orders-control", "customers-control"), "customers-control"),
            (("orders-control", "customers-control"), "customers-other"),
        )
    )
    assert adopted(before, after).outcome is Outcome.PROCEED
    assert may_abandon(BACK, after, before).outcome is Outcome.PROCEED
    assert adopted(before, other).outcome is Outcome.REFUSE


_REPARTITIONED = """Topologies:
   Sub-topology: 0
    Source: orders-source (topics: [{orders}])
      --> again
    Sink: again (topic: {orders}-repartition)
      <-- orders-source
  Sub-topology: 1
    Source: again-source (topics: [{orders}-repartition])
      --> out
    Sink: out (topic: joined)
      <-- again-source
    Source: table-source (topics: [{customers}])
      --> table
    Processor: table (stores: [customers])
      --> none
      <-- table-source
"""


def test_a_repartition_topic_that_is_named_after_an_input_is_told() -> None:
    """It is a topic of the code, and no setting of inputs would mend it."""
    before, after = (
        Described(
            "4.3.1", "4.3.1", "topology command of 4.3.1", _REPARTITIONED.format(orders=orders, customers=customers)
        )
        for orders, customers in (("orders", "customers"), ("orders-control", "customers-control"))
    )
    refused(adopted(before, after), "has other repartition topics (orders-control-repartition, ")


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (described("orders-control", "customers-control", "other"), "store customers: it is not in the topology with"),
        (described("orders-control", "customers"), "does not read customers-control (expected"),
        (described("orders-control", "customers-control", out="elsewhere"), "differs in more than its source topics"),
    ],
)
def test_settings_that_change_more_than_topics_are_refused(after: Described, said: str) -> None:
    """Another store, an input that another setting names, an output that the same setting names."""
    refused(adopted(after=after), said)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sources": ("customers", "orders", "rates")}, "input rates of shop: copier shop-copier has no route of it"),
        ({"sources": ("orders",)}, "shop does not read customers (expected: its inputs alone)"),
        ({"tables": ("customers",)}, "input customers: a store restores from it"),
        ({"patterns": ("orders-.*",)}, "source pattern orders-.*: the application reads by a pattern"),
        ({"group_type": "streams"}, "group shop-id of application shop: a streams group (expected classic)"),
        ({"copier_type": "Streams"}, "group shop-copier-id of copier shop-copier: a streams group"),
        ({"copier_up": ("shop-copier-1",)}, "copier shop-copier: shop-copier-1 runs (expected: no instance"),
        ({"copier_offsets": ("orders",)}, "has offsets on orders (expected none, it would begin there)"),
        ({"inputs": (_ORDERS, replace(_CUSTOMERS, settings=()))}, "input customers: no setting names it"),
        ({"inputs": (_ORDERS, replace(_CUSTOMERS, partitions=0))}, "input customers: the topic does not exist"),
        (
            {"inputs": (_ORDERS, replace(_CUSTOMERS, control_partitions=2))},
            "control topic customers-control: it exists (expected: the run creates it like customers)",
        ),
        ({"history": False}, "input customers: a table is built from it (expected: streams alone"),
    ],
)
def test_what_would_lose_double_or_fail_is_refused(changes: dict[str, Any], said: str) -> None:
    """One sentence each, with the remedy."""
    refused(adopted(**changes), said)


def test_no_input_at_all_is_refused() -> None:
    """An application whose topology names none was not read."""
    verdict = adopted(sources=())
    assert verdict.outcome is Outcome.REFUSE
    assert "no input was found" in verdict.reasons[0]


def test_streams_alone_may_begin_without_history_which_is_said() -> None:
    """A global table counts as a table, a stream does not."""
    verdict = adopted(stateful=(), history=False)
    assert verdict.outcome is Outcome.PROCEED
    assert [one.id for one in verdict.findings] == ["adopt-topic-names", "adopt-without-history"]
    refused(adopted(stateful=(), globals=("customers",), history=False), "input customers: a table is built from it")


@pytest.mark.parametrize("guarantee", ["at_least_once", "unknown"])
def test_what_may_come_twice_is_said(guarantee: str) -> None:
    """An application that is not known to process exactly once."""
    verdict = adopted(guarantee=guarantee)
    assert verdict.outcome is Outcome.PROCEED
    _, finding = verdict.findings
    assert finding.id == "adopt-may-repeat"
    assert guarantee in finding.message


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"after": Missing("the topology command failed")}, "is not known: the topology command failed"),
        ({"inputs": (_ORDERS, replace(_CUSTOMERS, compacted=None))}, "whether it is compacted is not known"),
        ({"inputs": (_ORDERS, replace(_CUSTOMERS, compacted=True))}, "its delete.retention.ms is not known"),
        ({"uncommitted": ("orders-1",), "reset": ""}, "orders-1: records and no committed offset"),
    ],
)
def test_what_is_not_known_is_never_fine(changes: dict[str, Any], said: str) -> None:
    """Inconclusive, unless something else refuses for certain."""
    verdict = adopted(**changes)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert said in verdict.reasons[0]
    assert adopted(**changes, tables=("customers",)).outcome is Outcome.REFUSE


def test_a_compacted_input_with_its_retention_may_be_copied() -> None:
    """Its time limit is that of the copy (decide/drain/copied.py)."""
    inputs = (_ORDERS, replace(_CUSTOMERS, compacted=True, delete_retention_ms=86_400_000))
    assert adopted(inputs=inputs).outcome is Outcome.PROCEED


@pytest.mark.parametrize("reset", ["earliest", "latest"])
def test_a_partition_without_an_offset_needs_a_known_beginning(reset: str) -> None:
    """The run commits it, as a flush does."""
    assert adopted(uncommitted=("orders-1",), reset=reset).outcome is Outcome.PROCEED


def test_a_copy_that_can_never_be_in_time_is_refused_at_the_plan() -> None:
    """Not only while the application is down."""
    inputs = (_ORDERS, replace(_CUSTOMERS, compacted=True, delete_retention_ms=0))
    refused(adopted(inputs=inputs), "input customers: its delete.retention.ms is 0")


@pytest.mark.parametrize("limit", [8_000_000, None])
def test_a_limit_of_bytes_is_named(limit: int | None) -> None:
    """Seen: equal limits, and the copy had a fifth of the records."""
    warning, _ = adopted(inputs=(_ORDERS, replace(_CUSTOMERS, retention_bytes=limit))).findings
    assert (warning.id, warning.object) == ("adopt-retention-bytes", "customers-control")


def test_topics_that_code_chooses_are_a_danger_by_the_name_of_the_sink() -> None:
    """Seen with the library: by the record's topic, each output record goes to a topic that nobody reads."""
    verdict = adopted(chooses=("KSTREAM-SINK-0000000003",))
    assert verdict.outcome is Outcome.PROCEED
    danger, _ = verdict.findings
    assert (danger.id, danger.severity, danger.object) == ("adopt-chosen-topics", "danger", "KSTREAM-SINK-0000000003")


def test_a_copy_that_nothing_compares_is_in_the_approval() -> None:
    """With the person's reason."""
    _, finding = adopted(unproven="no Spark, OPS-7").findings
    assert finding.id == "adopt-without-proof"
    assert "no Spark, OPS-7" in finding.message
