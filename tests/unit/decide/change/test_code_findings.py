"""The findings that name what code shows: one of what is proven, one for each set of methods, one for each library."""

from kstreams_runbooks.decide.change.code_findings import code_findings
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.change import Subject
from kstreams_runbooks.model.topology.code import Code
from kstreams_runbooks.model.topology.declaration import Declaration

TOPOLOGY = parse_topology(
    "Topologies:\n   Sub-topology: 0\n    Source: a (topics: [in])\n      --> b\n"
    "    Processor: b (stores: [kept])\n      --> none\n      <-- a\n"
)


def _code(digest: str, library: str) -> Code:
    return Code(digest, frozenset({f"App.b {digest}"}), frozenset({("json", library, library)}), frozenset({61}))


def _compared(old: Code, new: Code) -> Compared:
    places = ("operators.b.code", "stores.kept.value_serde", "topics.in.value_serde")
    before, after = (Side(TOPOLOGY, Declaration(code=dict.fromkeys(places, one))) for one in (old, new))
    return Compared(before, after)


def test_one_set_of_methods_is_one_finding_with_every_place() -> None:
    """A reviewer reads the methods once."""
    [found] = code_findings(_compared(_code("1", "1.0"), _code("2", "1.0")), ())
    assert (found.id, found.severity, found.object) == ("other-code", "info", "App.b")
    assert found.message.endswith("behind operator b, value_serde of store kept, value_serde of topic in")


def test_a_library_of_a_stored_format_is_one_warning() -> None:
    """Under equal code alone: other code is for a person to compare anyway."""
    [found] = code_findings(_compared(_code("1", "1.0"), _code("1", "1.1")), ())
    assert (found.id, found.severity, found.object, found.runbooks) == (
        "library-of-code-changed",
        "warning",
        "json",
        ("rolling_bounce",),
    )
    assert found.message.startswith("json 1.0 → 1.1: ")


def test_a_library_of_the_same_version_with_other_classes_is_named_so() -> None:
    """A snapshot is built again under its name."""
    old, new = (
        Code("1", libraries=frozenset({("json", "1.0", digest)}), java=frozenset({61})) for digest in ("a", "b")
    )
    [found] = code_findings(_compared(old, new), ())
    assert "json 1.0 → 1.0 (other classes)" in found.message


def test_what_is_proven_is_one_finding_by_field() -> None:
    """With the first names of each."""
    subjects = [Subject("store", name, {}, {"proven": "key, value_serde"}) for name in ("a", "b")]
    equal = _compared(_code("1", "1.0"), _code("1", "1.0"))
    [found] = code_findings(equal, subjects)
    assert found.message == "both versions have the same code, by its digest: key of a, b; value_serde of a, b"
    assert list(code_findings(equal, [Subject("store", "a", {}, {"proven": ""})])) == []
