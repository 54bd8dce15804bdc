"""The class of an output, from facts of real programs: tests/apps/topologies/outputs/Outputs.java builds them.

Covers decide/outputs/flows, and decide/outputs/classes.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import yaml
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.outputs.classes import class_of_both, output_classes
from kstreams_runbooks.model.output_classes import KINDS, OutputClass, OutputKind, OutputSemantics
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredOperator, DeclaredStore
from kstreams_runbooks.model.topology.topology import Node, Processor, Sink, Source, Subtopology, Topology
from kstreams_runbooks.terminal.change.inputs import SideFiles, read_side
from lab.settings import CHECKOUT

FOLDER = CHECKOUT / "tests" / "apps" / "topologies" / "outputs"
DEMO = CHECKOUT / "tests" / "apps" / "orders" / "src" / "test" / "resources" / "topology.txt"
DECLARED = CHECKOUT / "config" / "applications"
# None: code alone decides the order of records, so an owner has to declare it.
CLASSES: dict[str, tuple[OutputKind | None, OutputKind]] = {
    "stream-as-it-comes": ("exact", "exact"),
    "stream-peeked": ("exact", "exact"),
    "table-filtered": ("exact", "exact"),
    "count-of-each-key": ("exact", "exact"),
    "count-regrouped": ("exact", "exact"),
    "count-of-merged-streams": ("exact", "exact"),
    "count-of-wall-clock": ("exact", "exact"),
    "aggregate-in-order": ("exact", "exact"),
    "table-regrouped-count": ("exact", "exact"),
    "tables-joined": ("exact", "exact"),
    "tables-joined-by-foreign-key": ("exact", "exact"),
    "count-next-to-window": ("exact", "exact"),
    "processor-in-other-branch": ("exact", "exact"),
    "named-count": ("exact", "exact"),
    "named-aggregate-in-order": ("exact", "exact"),
    "named-table-regrouped-count": ("exact", "exact"),
    "named-tables-joined": ("exact", "exact"),
    "named-tables-joined-by-foreign-key": ("exact", "exact"),
    "stream-with-new-key": (None, "exact"),
    "streams-merged": (None, "exact"),
    "topics-of-one-source": (None, "exact"),
    "two-sinks-of-one-topic": (None, "exact"),
    "pattern-of-topics": (None, "exact"),
    "aggregate-regrouped": (None, "exact"),
    "aggregate-of-merged-streams": (None, "exact"),
    "reduce-regrouped": (None, "exact"),
    "cogrouped": (None, "exact"),
    "table-of-regrouped-stream": (None, "exact"),
    "table-regrouped-aggregate": (None, "exact"),
    "table-regrouped-without-name": (None, "exact"),
    "count-with-new-key": (None, "exact"),
    "named-count-with-new-key": (None, "exact"),
    "named-new-key": (None, "exact"),
    "named-aggregate-regrouped": (None, "exact"),
    "named-updates-counted": (None, "exact"),
    "window-count": ("late_sensitive", "late_sensitive"),
    "window-count-in-order": ("late_sensitive", "late_sensitive"),
    "window-count-suppressed": ("late_sensitive", "late_sensitive"),
    "count-suppressed-for-a-time": ("late_sensitive", "late_sensitive"),
    "session-count": ("late_sensitive", "late_sensitive"),
    "sliding-count": ("late_sensitive", "late_sensitive"),
    "streams-joined": ("late_sensitive", "late_sensitive"),
    "named-streams-joined": ("late_sensitive", "late_sensitive"),
    "versioned-table": ("late_sensitive", "late_sensitive"),
    "table-joined-by-stream": ("late_sensitive", "late_sensitive"),
    "table-left-joined-by-stream": ("late_sensitive", "late_sensitive"),
    "named-lookup": ("late_sensitive", "late_sensitive"),
    "window-count-with-new-key": (None, "late_sensitive"),
    "count-behind-window": (None, "late_sensitive"),
    "updates-of-lookup": (None, "late_sensitive"),
    "streams-left-joined": ("wall_clock", "wall_clock"),
    "streams-outer-joined": ("wall_clock", "wall_clock"),
    "named-streams-left-joined": ("wall_clock", "wall_clock"),
    "window-emitted-on-close": ("wall_clock", "wall_clock"),
    "window-of-wall-clock": ("wall_clock", "wall_clock"),
    "global-table-joined": ("wall_clock", "wall_clock"),
    "named-global-lookup": ("wall_clock", "wall_clock"),
    "processor": ("not_comparable", "exact"),
    "processor-of-fixed-key": ("not_comparable", "exact"),
    "processor-before-count": ("not_comparable", "exact"),
    "named-processor": ("not_comparable", "exact"),
    "table-transformed": ("not_comparable", "exact"),
    "named-table-transformed": ("not_comparable", "exact"),
    "count-in-lru-map": ("not_comparable", "not_comparable"),
}


@cache
def program(name: str) -> Side:
    """A program by the facts that were read of it."""
    return read_side(SideFiles(FOLDER / f"{name}.facts.yaml"))


def classes(side: Side, *declared: OutputSemantics, punctuators: tuple[str, ...] = ()) -> dict[str, OutputClass]:
    """By output."""
    found = output_classes(side, {one.topic: one for one in declared}, punctuators)
    return {one.topic: one for one in found}


def out(name: str, **declared: Any) -> OutputClass:
    """The class of the output `out` of a program, with what is declared of it."""
    return classes(program(name), OutputSemantics("out", **declared))["out"]


def test_every_program_has_its_class() -> None:
    """None is left out."""
    assert {file.name.removesuffix(".facts.yaml") for file in FOLDER.glob("*.facts.yaml")} == CLASSES.keys()


@pytest.mark.parametrize("name", CLASSES)
def test_facts_decide_the_class(name: str) -> None:
    """A class that is not exact has its reason, and one that is not known the field that decides it."""
    found, (kind, at_least) = out(name), CLASSES[name]
    assert (found.kind, found.at_least) == (kind, at_least), found.reasons
    assert bool(found.reasons) is (found.kind != "exact")
    assert bool(found.asked) is (kind is None or (kind, at_least) == ("not_comparable", "exact"))
    assert found.refused == ()


@pytest.mark.parametrize("name", CLASSES)
def test_a_description_alone_is_never_exact(name: str) -> None:
    """Whatever its names show, and whatever an owner says of the part that facts decide."""
    bare = Side(program(name).topology)
    for topic, found in classes(bare).items():
        assert found.kind in {None, "late_sensitive", "wall_clock", "not_comparable"}, topic
        assert found.kind is not None or found.asked, topic


@pytest.mark.parametrize("name", [name for name, (kind, _) in CLASSES.items() if kind is None])
def test_what_code_decides_can_be_declared(name: str) -> None:
    """A class as good as the facts allow, with its reason; or the fields that are not compared."""
    at_least = CLASSES[name][1]
    declared = out(name, kind=at_least, because="the code adds numbers")
    assert (declared.kind, declared.refused) == (at_least, ())
    assert declared.reasons[-1] == f"declared {at_least}: the code adds numbers"
    ignoring = out(name, ignore=("$.event",))
    assert ignoring.kind == max(at_least, "exact_without_fields", key=KINDS.index)
    assert ignoring.ignore == ("$.event",)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_declared_class_never_promises_more_than_facts(name: str, kind: OutputKind) -> None:
    """It is refused then; a class that promises less is taken."""
    at_least = CLASSES[name][1]
    found = out(name, kind=kind, because="so")
    assert bool(found.refused) is (KINDS.index(kind) < KINDS.index(at_least))
    assert found.kind == max(kind, at_least, key=KINDS.index)
    if found.refused:
        assert f"output out: output_semantics declares {kind} (at least {at_least}: " in found.refused[0]


def test_own_code_is_comparable_as_declared() -> None:
    """The class of the rest of its program stays the least."""
    assert out("processor", kind="exact", because="it drops nothing and adds nothing").kind == "exact"
    assert out("processor-before-count", ignore=("$.event",)).kind == "not_comparable"


def test_windows_are_compared_where_each_comes_once() -> None:
    """Suppressed until they close, or emitted then; declared of anything else, it is refused."""
    once = {name for name in CLASSES if out(name).compare == "windows"}
    assert once == {"window-count-suppressed", "window-emitted-on-close"}
    assert out("window-count-suppressed", compare="latest").compare == "latest"
    assert "no window before it is written once" in out("window-count", compare="windows").refused[0]
    assert out("count-suppressed-for-a-time", compare="windows").refused
    # A regrouped count takes each window's updates, and is no window any more.
    assert out("count-behind-window").compare == "latest"


def test_a_punctuator_may_write_only_by_code_of_the_program() -> None:
    """The fleet entry names it; an output without such code is not paced by it."""
    named = ("flush",)
    code = classes(program("processor"), OutputSemantics("out", kind="exact", because="so"), punctuators=named)["out"]
    assert (code.kind, code.at_least) == ("wall_clock", "wall_clock")
    assert "punctuator flush is declared" in code.refused[0]
    assert classes(program("count-regrouped"), punctuators=named)["out"].kind == "exact"
    both = classes(program("processor-in-other-branch"), punctuators=named)
    assert (both["out"].kind, both["processed"].at_least) == ("exact", "wall_clock")


@pytest.mark.parametrize(
    ("name", "store", "changes", "asked"),
    [
        ("window-count", "KSTREAM-AGGREGATE-STATE-STORE-0000000002", {"window": None}, "window"),
        ("count-regrouped", "KSTREAM-AGGREGATE-STATE-STORE-0000000002", {"kind": None}, "kind"),
        ("versioned-table", "versions", {"history_retention_ms": None}, "history_retention_ms"),
        ("named-count", "counts", {"aggregation": None, "aggregate": None}, "aggregate"),
    ],
)
def test_a_fact_that_was_not_read_is_asked_for(name: str, store: str, changes: Mapping[str, Any], asked: str) -> None:
    """No declared class and no ignored field takes its place."""
    side = program(name)
    known = side.declared.stores[store]
    stores = {**side.declared.stores, store: replace(known, source_table=None, **changes)}
    lacking = Side(side.topology, replace(side.declared, stores=stores))
    for declared in (OutputSemantics("out"), OutputSemantics("out", ignore=("$.a",), kind="exact", because="so")):
        found = classes(lacking, declared)["out"]
        assert found.kind is None, found
        assert f"stores.{store}.{asked}" in found.asked


def test_a_join_of_streams_that_was_not_read_is_not_known() -> None:
    """It may be a left one; its window makes it late-sensitive at least."""
    side = program("streams-joined")
    lacking = Side(side.topology, replace(side.declared, operators={}))
    found = classes(lacking)["out"]
    assert (found.kind, found.at_least) == (None, "late_sensitive")
    assert any(one.endswith(".join") for one in found.asked)


def test_names_alone_do_not_show_who_looks_into_a_table() -> None:
    """Of a hand-written declaration, without the join of the operator, the floor is asked for."""
    side = program("named-lookup")
    declared = Declaration(stores={"others": DeclaredStore(kind="key_value", source_table=True)})
    found = classes(Side(side.topology, declared), OutputSemantics("out", kind="exact", because="so"))["out"]
    assert found.kind in {None, "late_sensitive"}
    joined = replace(declared, operators={"looked-up": DeclaredOperator(join="inner")})
    assert classes(Side(side.topology, joined))["out"].at_least == "late_sensitive"


def test_the_demo_has_a_class_for_each_output() -> None:
    """With its declaration file and its fleet entry, as docs/compare_outputs.md has them."""
    entry = yaml.safe_load((DECLARED / "orders.yaml").read_text("utf-8"))["output_semantics"]
    declared = [
        OutputSemantics(topic, one.get("compare"), tuple(one.get("ignore", ())), one["class"], one["because"])
        for topic, one in entry.items()
    ]
    found = classes(read_side(SideFiles(DEMO, DECLARED / "orders" / "4.3.1.yaml")), *declared)
    assert {topic: (one.kind, one.compare, one.ignore) for topic, one in found.items()} == {
        "orders-running": ("exact_without_fields", "latest", ("$.event", "$.amount")),
        "orders-windowed": ("late_sensitive", "windows", ()),
        "orders-enriched": ("exact", "latest", ()),
        "orders-per-customer": ("exact", "latest", ()),
    }
    assert not any(one.refused for one in found.values())


def test_both_versions_promise_what_the_weaker_one_does() -> None:
    """Another version of the program writes the other side."""
    exact, late = out("count-regrouped"), out("window-count")
    both = class_of_both(exact, replace(late, topic="green", ignore=("$.a",)))
    assert (both.topic, both.kind, both.at_least, both.ignore) == ("out", "late_sensitive", "late_sensitive", ("$.a",))
    assert both.reasons == late.reasons
    assert class_of_both(late, exact).kind == "late_sensitive"
    unknown = class_of_both(exact, out("streams-merged"))
    assert (unknown.kind, unknown.asked) == (None, ("output_semantics.out",))
    windows = class_of_both(late, out("window-count-suppressed"))
    assert "is compared by latest, and out by windows" in windows.refused[0]


def test_a_long_program_is_no_chain_of_calls() -> None:
    """Nor is a circle of topics: an output of it is not known."""
    names = [f"step-{number}" for number in range(4_000)]
    steps = [
        Processor(name, frozenset(), frozenset({behind}))
        for name, behind in zip(names, [*names[1:], "written"], strict=True)
    ]
    read = Source("read", frozenset({"in"}), None, frozenset({names[0]}))
    chain = Topology((Subtopology(0, (read, *steps, Sink("written", "out", None))),))
    was_read = Declaration(not_read={"topics.in.partitions": "they are those of the cluster"})
    assert classes(Side(chain, was_read))["out"].kind is None
    back = Source("back", frozenset({"in", "back-repartition"}), None, frozenset({names[0]}))
    circle: tuple[Node, ...] = (back, *steps[:-1], replace(steps[-1], successors=frozenset({"written", "again"})))
    sinks = (Sink("written", "out", None), Sink("again", "back-repartition", None))
    round_trip = Topology((Subtopology(0, (*circle, *sinks)),))
    found = classes(Side(round_trip, was_read))["out"]
    assert found.kind is None
    assert any("is in a circle of topics" in why for why in found.reasons)
