"""What the code of both versions answers, and what it leaves to a person."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.change.reading import ChangeReading, read_change
from kstreams_runbooks.decide.comparison.code import CodeChange, code_changes, obfuscated, reviewed_code
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.code import Code
from kstreams_runbooks.model.topology.declaration import (
    Declaration,
    DeclaredOperator,
    DeclaredStore,
    DeclaredTopic,
    Serde,
)
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from world.pairs import compared

TEXT = """\
Topologies:
   Sub-topology: 0
    Source: in-source (topics: [in])
      --> cleaned
    Processor: cleaned (stores: [])
      --> sum
      <-- in-source
    Processor: sum (stores: [totals])
      --> shown
      <-- cleaned
    Processor: shown (stores: [])
      --> out
      <-- sum
    Sink: out (topic: totals-out)
      <-- shown
"""
OWN = Serde("com.acme.Total", is_class=True)
JAVA = frozenset({61})
PLACES = (
    "stores.totals.key",
    "stores.totals.value_serde",
    "stores.totals.aggregate",
    "topics.in.value_serde",
    "topics.totals-out.value_serde",
    "topics.totals-out.key",
    "operators.cleaned.code",
    "operators.sum.code",
    "operators.shown.code",
    "operators.out.partitioner",
    "operators.in-source.timestamp_extractor",
)


def code(digest: str, *methods: str, library: str = "2.15.2", java: frozenset[int] = JAVA) -> Code:
    """Code with a digest, methods and one library."""
    return Code(digest, frozenset(methods), frozenset({("jackson", library, library)}), java)


SAME = dict.fromkeys(PLACES, code("1", "App.sum 1"))


def side(code_of_it: dict[str, Code], library: str = "4.3.1", **more: object) -> Side:
    """A program whose store, topics and operators a reader read; its format is a class, its key and aggregate code."""
    declared = Declaration(
        stores={
            "totals": DeclaredStore(
                kind="key_value",
                key_serde=Serde("string"),
                value_serde=OWN,
                aggregation="aggregate",
                logging=True,
                supplier="default",
                timestamped=True,
                source_table=False,
            )
        },
        topics={
            "in": DeclaredTopic(1, None, Serde("string"), OWN, key_of=None, timestamp_extractor="com.acme.Time"),
            "totals-out": DeclaredTopic(1, None, Serde("string"), OWN),
        },
        operators={"out": DeclaredOperator(partitioner="com.acme.By"), "in-source": DeclaredOperator()},
        config={},
        library=Release.parse(library),
        not_read={"stores.totals.key_of": "its code", "stores.totals.aggregate": "its code"},
        code=code_of_it,
    )
    return Side(parse_topology(TEXT), replace(declared, **more))  # type: ignore[arg-type]


def read(before: Side, after: Side) -> ChangeReading:
    """The plan."""
    return read_change(before, after, topology_change_rules(), upgrade_path_rules())


def asked(reading: ChangeReading) -> set[str]:
    """The fields that the plan asks for."""
    heavy = [one for one in reading.undecided if one.severity != "info"]
    return {f"{missing.where}.{missing.field}" for one in heavy for missing in one.asked}


def test_without_code_a_person_is_asked() -> None:
    """As before: equal names of classes prove nothing."""
    found = read(side({}), side({}))
    assert found.plan.verdict is Outcome.INCONCLUSIVE
    assert {"stores.totals.key", "stores.totals.value_serde", "stores.totals.aggregate"} <= asked(found)


def test_equal_code_answers_every_field_that_it_is_behind() -> None:
    """And the plan names by what: the digests."""
    found = read(side(SAME), side(SAME))
    assert (found.plan.verdict, asked(found)) == (Outcome.PROCEED, set())
    [proven] = [one for one in found.findings if one.id == "same-code"]
    assert "aggregate of totals; key of totals" in proven.message


@pytest.mark.parametrize("place", ["stores.totals.key", "stores.totals.value_serde", "stores.totals.aggregate"])
def test_other_code_of_one_field_is_asked_for_alone_with_its_methods(place: str) -> None:
    """Each other field stays proven."""
    found = read(side(SAME), side({**SAME, place: code("2", "App.sum 2", "App.new 3")}))
    assert asked(found) == {place}
    reasons = {missing.reason for one in found.undecided for missing in one.asked if missing.reason}
    assert reasons == {"its code changed: App.new, App.sum"}
    [other] = [one for one in found.findings if one.id == "other-code"]
    assert other.object == "App.new, App.sum"


def test_code_that_is_not_provable_on_one_side_is_not_known() -> None:
    """Never equal, also if the other side has a digest or the reasons are the same."""
    hidden = Code(not_provable="method App.sum uses java.lang.System.getenv")
    for before, after in ((SAME["stores.totals.key"], hidden), (hidden, SAME["stores.totals.key"]), (hidden, hidden)):
        found = read(side({**SAME, "stores.totals.key": before}), side({**SAME, "stores.totals.key": after}))
        assert asked(found) == {"stores.totals.key"}


def test_code_of_one_version_alone_is_not_known() -> None:
    """The other file was printed without it."""
    without = {place: one for place, one in SAME.items() if place != "stores.totals.aggregate"}
    assert asked(read(side(without), side(SAME))) == {"stores.totals.aggregate"}
    assert asked(read(side(SAME), side(without))) == {"stores.totals.aggregate"}


def test_digests_of_two_sets_of_rules_are_not_compared() -> None:
    """An older jar has left out what a later one reads: its digests prove less, and differ without a change."""
    older = {place: replace(one, rules=1) for place, one in SAME.items()}
    assert {one.state for one in _changes(older, SAME)} == {"unknown"}
    assert {one.reason.partition(":")[0] for one in _changes(older, SAME)} == {
        "the two documents have digests of other rules"
    }


def test_values_that_differ_between_two_releases_of_the_jvm_are_not_known() -> None:
    """Objects of the JDK keep other values there. Other instructions are the program's."""
    newer = replace(code("2", "App.sum 1"), jvm=25)
    place = "stores.totals.key"
    for after, state in ((newer, "unknown"), (replace(newer, methods=frozenset({"App.sum 2"})), "other")):
        changes = _changes(SAME, {**SAME, place: after})
        assert [one.state for one in changes if f"{one.where}.{one.field}" == place] == [state]


def test_the_same_code_with_a_library_more_or_less_is_not_known() -> None:
    """A library may find another one on the class path, such as a module of a format."""
    place = "stores.totals.value_serde"
    more = replace(SAME[place], libraries=SAME[place].libraries | {("jsr310", "2.15.2", "3")})
    for before, after in ((SAME[place], more), (more, SAME[place])):
        found = read(side({**SAME, place: before}), side({**SAME, place: after}))
        assert asked(found) == {place}


def test_classes_of_kafka_in_the_jar_of_the_program_are_compared_on_one_release() -> None:
    """A build may put classes of its own into the packages of Kafka. Another release has other classes."""
    inside = [
        {one: replace(of, libraries=frozenset({("kafka-inside", "unknown", digest)})) for one, of in SAME.items()}
        for digest in ("1", "2")
    ]
    for library, state in (("4.3.1", "unknown"), ("4.3.0", "same")):
        changes = code_changes(Compared(side(inside[0], library), side(inside[1])))
        assert {one.state for one in changes} == {state}


def test_the_same_name_of_a_class_with_other_code_is_a_change() -> None:
    """Of a partitioner and of a timestamp extractor, whose names alone were compared so far."""
    changed = code("2", "By.partitions 2")
    found = read(side(SAME), side({**SAME, "operators.out.partitioner": changed}))
    assert "partitioner-changed-in-output" in {one.id for one in found.findings}
    found = read(side(SAME), side({**SAME, "operators.in-source.timestamp_extractor": changed}))
    assert any(one.id.startswith("timestamp-extractor-changed") for one in found.findings)


def test_other_code_before_a_store_is_a_warning_and_behind_the_last_one_is_not() -> None:
    """The guide: what is processed may change; what is kept was made by the old code."""
    for operator, rule in (("cleaned", "processing-code-changed-before-store"), ("shown", "processing-code-changed")):
        found = read(side(SAME), side({**SAME, f"operators.{operator}.code": code("2", "App.shown 2")}))
        assert [one.object for one in found.findings if one.id == rule] == [operator]


def test_builds_for_two_releases_of_java_are_not_known_to_differ() -> None:
    """Another compiler writes other instructions of the same source; what is equal stays proven."""
    other = code("2", "App.sum 2", java=frozenset({65}))
    states = {
        one.field: one.state
        for one in _changes(SAME, {**SAME, "stores.totals.key": other})
        if one.where == "stores.totals"
    }
    assert (states["key"], states["aggregate"]) == ("unknown", "same")
    same = {place: replace(one, java=frozenset({65})) for place, one in SAME.items()}
    assert {one.state for one in _changes(SAME, same)} == {"same"}


def test_across_releases_of_the_library_only_changed_methods_are_a_change() -> None:
    """The library keeps other objects around the program's in some of them."""
    place = "stores.totals.aggregate"
    before = side(SAME, "3.4.1")
    for after, state in ((code("2", "App.sum 1"), "unknown"), (code("2", "App.sum 2"), "other")):
        changes = code_changes(Compared(before, side({**SAME, place: after})))
        assert [one.state for one in changes if f"{one.where}.{one.field}" == place] == [state]


def test_across_3_9_other_code_of_a_stored_format_is_not_known() -> None:
    """Before it the store has the serializer and the deserializer, from it on the serde."""
    place = "stores.totals.value_serde"
    after = side({**SAME, place: code("2", "App.sum 2")})
    for library, state in (("3.8.0", "unknown"), ("3.9.1", "other")):
        changes = code_changes(Compared(side(SAME, library), after))
        assert [one.state for one in changes if f"{one.where}.{one.field}" == place] == [state]


def test_a_changed_library_below_the_format_of_a_store_is_a_warning_with_both_versions() -> None:
    """Below another part it is info."""
    for place, severity in (("stores.totals.value_serde", "warning"), ("operators.cleaned.code", "info")):
        found = read(side(SAME), side({**SAME, place: code("1", "App.sum 1", library="2.17.0")}))
        [library] = [one for one in found.findings if one.id == "library-of-code-changed"]
        assert (library.severity, library.object) == (severity, "jackson")
        assert "jackson 2.15.2 → 2.17.0" in library.message
        assert asked(found) == set()


def test_values_alone_are_named_as_such() -> None:
    """The methods are equal, and an object keeps another number."""
    changes = _changes(SAME, {**SAME, "operators.cleaned.code": code("2", "App.sum 1")})
    [change] = [one for one in changes if one.state == "other"]
    assert (change.methods, change.words) == ((), "the values that its objects keep")


def test_a_reviewer_sees_each_operator_once_with_the_stores_that_it_reaches() -> None:
    """Added, changed and removed methods; what is not provable is on the list."""
    changed = {
        **SAME,
        "operators.cleaned.code": code("2", "App.sum 2", "App.added 1"),
        "operators.shown.code": Code(not_provable="native"),
        "stores.totals.key": code("2", "App.sum 2"),
    }
    first, second = reviewed_code(Compared(side(SAME), side(changed)))
    assert (first.change.where, first.subtopology, first.stores) == ("operators.cleaned", "0", ("totals",))
    assert (first.change.added, first.change.altered, first.change.removed) == (("App.added",), ("App.sum",), ())
    assert (second.change.where, second.change.reason, second.stores) == ("operators.shown", "native", ())


def _changes(before: dict[str, Code], after: dict[str, Code]) -> tuple[CodeChange, ...]:
    return code_changes(Compared(side(before), side(after)))


def test_windows_of_a_class_of_the_program() -> None:
    """Other code is a change; for equal code a person answers, because a digest shows the objects of it in part."""
    case = compared("tumbling-window-in-other-unit/class-of-windows-stays")
    assert "stores.readings-store.window" not in asked(read(case.before, case.after))
    open_ = replace(case.after, declared=replace(case.after.declared, unchanged=frozenset()))
    assert "the program.other_code" in asked(read(case.before, open_))
    other = compared("tumbling-window-in-other-unit/class-of-windows-with-other-code")
    assert {"window-size-changed"} <= {one.id for one in read(other.before, other.after).findings}
    assert "supplier-changed" not in {one.id for one in read(other.before, other.after).findings}


@pytest.mark.parametrize(
    ("owner", "share", "expected"),
    [("a.b", 11, True), ("com.acme.aa", 11, True), ("com.acme.App", 11, False), ("a.b", 5, False)],
)
def test_an_obfuscated_program_is_told_as_such(owner: str, share: int, expected: bool) -> None:
    """If most digests differ and most classes have such names: each build has other ones."""
    old, new = (
        {
            place: code(f"{at}-{build}" if at < share else "1", f"{owner}.c {at}{build}")
            for at, place in enumerate(PLACES)
        }
        for build in "12"
    )
    found = read(side(old), side(new))
    assert [one.id for one in found.findings if one.id == "obfuscated-code"] == ["obfuscated-code"] * expected
    assert bool(obfuscated(Compared(side(old), side(new)))) is expected
