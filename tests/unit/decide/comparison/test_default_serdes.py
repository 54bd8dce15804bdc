"""Serdes that a program leaves to its settings: what lacks one dies at its first task, and nothing shows it before."""

import pytest
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.default_serdes import serde_facts
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, DeclaredTopic, Serde

_TEXT = """Topologies:
   Sub-topology: 0
    Source: clicks-in (topics: [clicks])
      --> count
    Processor: count (stores: [clicks-store])
      --> out
      <-- clicks-in
    Sink: out (topic: clicks-counted)
      <-- count"""
_KEY, _VALUE = "default.key.serde", "default.value.serde"
_BOTH = {_KEY: "StringSerde", _VALUE: "StringSerde"}
_READ = {"topics.clicks.partitions": "it is that of the cluster"}
_STRING = Serde("string")


def _read(of: dict[str, set[str]], config: dict[str, str] | None, library: str | None = "3.9.1") -> Side:
    """A side whose facts were read: the serdes that it takes from these settings."""
    declared = Declaration(
        config=config,
        library=None if library is None else Release(library),
        not_read=_READ,
        of_settings={where: frozenset(settings) for where, settings in of.items()},
    )
    return Side(parse_topology(_TEXT), declared)


def _missing(before: Side, after: Side) -> tuple[object, str, str, list[str]]:
    facts, asked, said = serde_facts(Compared(before, after))
    return facts["serde_missing"], said["without_serde"], said["serde_settings"], list(map(str, asked["serde_missing"]))


@pytest.mark.parametrize(
    ("where", "settings", "named"),
    [
        ("operators.out.value_serde", {_VALUE}, "sink out has no value serde"),
        ("operators.clicks-in.key_serde", {_KEY}, "source clicks-in has no key serde"),
        ("operators.count.value_serde", {_VALUE}, "operator count has no value serde"),
        ("stores.clicks-store.key_serde", {_KEY}, "store clicks-store has no key serde"),
        ("stores.clicks.store.value_serde", {_KEY, _VALUE}, "store clicks.store has no value serde"),
        ("suppressions.late.value_serde", {_VALUE}, "suppression late has no value serde"),
    ],
)
def test_what_no_setting_gives_any_more(where: str, settings: set[str], named: str) -> None:
    """By the facts of the program; near: the setting stays, and it is set under its older name."""
    of, left = {where: settings}, {name: one for name, one in _BOTH.items() if name not in settings}
    missing, said, lacks, asked = _missing(_read(of, _BOTH), _read(of, left))
    assert (missing, said, lacks, asked) == (True, named, " and ".join(sorted(settings)), [])
    assert _missing(_read(of, _BOTH), _read(of, _BOTH))[0] is False
    older = {name.removeprefix("default."): "StringSerde" for name in _BOTH}
    assert _missing(_read(of, _BOTH), _read(of, older))[0] is False


def test_a_default_that_nothing_uses() -> None:
    """Each operator has a serde of its own, or inherits one."""
    assert _missing(_read({}, _BOTH), _read({}, {}))[0] is False


def test_what_runs_without_has_it_from_elsewhere() -> None:
    """The settings that were read are not all of those that the application gets."""
    of = {"operators.out.value_serde": {_VALUE}}
    assert _missing(_read(of, {}), _read(of, {}))[0] is False
    more = {**of, "operators.clicks-in.key_serde": {_KEY}}
    assert _missing(_read(of, {}), _read(more, {}))[1] == "source clicks-in has no key serde"


def test_the_release_decides_whether_there_is_a_default() -> None:
    """Until 2.8 it is that of bytes: an upgrade past it is refused, and a change below it is another format."""
    of = {"operators.out.value_serde": {_VALUE}}
    assert _missing(_read(of, {}, "2.8.2"), _read(of, {}, "3.0.0"))[0] is True
    old = Compared(_read(of, _BOTH, "2.8.2"), _read(of, {}, "2.8.2"))
    facts, _, said = serde_facts(old)
    assert (facts["serde_missing"], facts["serde_becomes_bytes"]) == (False, True)
    assert said["removed_defaults"] == f"{_KEY} and {_VALUE}"
    unused = Compared(_read(of, {_KEY: "a.B", _VALUE: "a.B"}, "2.8.2"), _read(of, {_VALUE: "a.B"}, "2.8.2"))
    assert serde_facts(unused)[0]["serde_becomes_bytes"] is False
    newer = Compared(_read(of, _BOTH), _read(of, {}))
    assert serde_facts(newer)[0]["serde_becomes_bytes"] is False


@pytest.mark.parametrize(("library", "lacks"), [("3.0.0", True), ("3.7.2", True), ("3.8.0", False), ("4.3.1", False)])
def test_a_sink_that_takes_one_serde_needs_both_settings_in_some_releases(library: str, lacks: bool) -> None:
    """WrappingNullableUtils asks for both; a store asks for its own in each release."""
    of, config = {"operators.out.value_serde": {_VALUE}}, {_VALUE: "StringSerde"}
    missing, _, settings, _ = _missing(_read(of, _BOTH, library), _read(of, config, library))
    assert (missing, settings) == (lacks, _KEY if lacks else "")
    of_store = {"stores.clicks-store.value_serde": {_VALUE}, "operators.count.value_serde": {_VALUE}}
    assert _missing(_read(of_store, _BOTH, library), _read(of_store, config, library))[0] is False


def test_settings_that_were_not_given_are_asked_for() -> None:
    """Of the new version alone: those that neither version gives are listed as not compared."""
    of = {"operators.out.value_serde": {_VALUE}}
    assert _missing(_read({}, _BOTH), _read(of, None))[3] == [f"config.{_VALUE} (new)"]
    assert _missing(_read({}, _BOTH), _read({}, None))[0] is False
    assert _missing(_read({}, None), _read(of, None))[0] is False


def _text(config: dict[str, str] | None, *, known: bool = False, by_default: bool = False) -> Side:
    store, topic = DeclaredStore("key_value"), DeclaredTopic()
    if known:
        store = DeclaredStore("key_value", key_serde=_STRING, value_serde=_STRING)
        topic = DeclaredTopic(key_serde=_STRING, value_serde=_STRING)
    topics = dict.fromkeys(("clicks", "clicks-counted"), topic)
    of = {"topics.clicks.value_serde": frozenset({_VALUE})} if by_default else {}
    return Side(
        parse_topology(_TEXT), Declaration({"clicks-store": store}, topics=topics, config=config, of_settings=of)
    )


def test_a_description_shows_no_serde() -> None:
    """Those of each store and topic that the default may have given are declared; `unchanged` does not answer it."""
    facts, asked, _ = serde_facts(Compared(_text(_BOTH), _text({_KEY: "StringSerde"})))
    assert facts["serde_missing"] is None
    assert [(one.where, one.field, one.value) for one in asked["serde_missing"]] == [
        ("stores.clicks-store", "value_serde", True),
        ("topics.clicks", "value_serde", True),
        ("topics.clicks-counted", "value_serde", True),
    ]
    assert serde_facts(Compared(_text(_BOTH), _text({}, known=True)))[0]["serde_missing"] is False


def test_a_declared_default_is_no_serde_of_its_own() -> None:
    """The default of a declaration file is that of the settings, which the new version does not have."""
    facts, asked, _ = serde_facts(Compared(_text(_BOTH), _text({}, known=True, by_default=True)))
    assert facts["serde_missing"] is None
    assert list(map(str, asked["serde_missing"])) == ["topics.clicks.value_serde (new)"]


@pytest.mark.parametrize(("before", "after"), [(_BOTH, _BOTH), ({}, {}), ({}, _BOTH), (None, {}), (_BOTH, None)])
def test_a_default_that_is_not_known_to_go_asks_nothing(
    before: dict[str, str] | None, after: dict[str, str] | None
) -> None:
    """It stays, comes, was not there, or the settings of one version are not known."""
    assert serde_facts(Compared(_text(before), _text(after)))[0] == {
        "serde_missing": False,
        "serde_becomes_bytes": False,
    }
