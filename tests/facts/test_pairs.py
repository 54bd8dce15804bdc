"""The facts of every program behind tests/apps/topologies, read by the real library, next to their declarations."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from kstreams_runbooks.decide.topology.text import parse_topology
from lab.topology_facts import SOURCES, class_path, document, java
from world.pairs import DECLARED, FIXTURES, described

# The oldest, one of each family of internals, the newest; the releases between them: make test-long.
RELEASES = [
    "2.4.1",
    "3.4.1",
    "4.3.1",
    *(pytest.param(one, marks=pytest.mark.long) for one in ("2.7.0", "2.8.2", "3.9.1")),
]
# What a person writes in a declaration and no code shows: keys in words, what may be lost, sizes, and serdes, which
# the pairs have none of: their declarations name others.
# Whether a store is in memory follows from its supplier, which the document has.
_BY_HAND = {
    "in_memory",
    "key",
    "key_serde",
    "value_serde",
    "loss_acceptable",
    "ttl_ms",
    "keys",
    "key_bytes",
    "value_bytes",
}
# The pairs of the release that are compared, at least: fewer, and the comparison has lost its subject.
_LEAST = {"2.4.1": 1200, "2.7.0": 1250, "2.8.2": 1250, "3.4.1": 1750, "3.9.1": 1750, "4.3.1": 1700}

# stream-made-table and two tables that become streams as tables: a chosen name hides which of them it is.
_HIDDEN_TABLES = 3

Side = tuple[str, str]


@cache
def facts(release: str) -> Mapping[Side, dict[str, Any]]:
    """The facts of each side of each pair that a release builds."""
    with TemporaryDirectory() as folder:
        ran = java(class_path(release), str(SOURCES / "PairFacts.java"), folder)
        assert ran.returncode == 0, ran.stderr
        files = sorted(Path(folder).glob("*/*.yaml"))
        return {(file.parent.name, file.stem): document(file.read_text(encoding="utf-8")) for file in files}


def _declared(pair: str, side: str) -> dict[str, Any]:
    file = DECLARED / pair / f"{side}.yaml"
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found


def _leaves(entry: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in entry.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*path, name))
        elif name not in _BY_HAND:
            yield (*path, name), value


def _unread(document: Mapping[str, Any]) -> set[tuple[str, ...]]:
    return {tuple(entry["fact"]) for entry in document["not_read"]}


@pytest.mark.parametrize("release", RELEASES)
def test_facts_are_those_of_the_declarations(release: str) -> None:
    """Of stores and suppressions: each fact that is declared manually is read as the same, or is not read."""
    compared, contradicted = 0, []
    for (pair, side), read in facts(release).items():
        unread = _unread(read)
        for kind in ("stores", "suppressions"):
            # A left join has its second store from 3.1 on: an older release builds the pair without it.
            subjects = {
                name: entry for name, entry in (_declared(pair, side).get(kind) or {}).items() if name in read[kind]
            }
            known = dict(_leaves(read[kind]))
            for path, value in _leaves({name: _without_serdes(entry) for name, entry in subjects.items()}):
                if (kind, *path) in unread:
                    continue
                compared += 1
                if known.get(path, "absent") != value:
                    contradicted.append((pair, side, path, value, known.get(path, "absent")))
    assert contradicted == []
    assert compared > _LEAST[release]


def _without_serdes(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in _BY_HAND}


@pytest.mark.parametrize("release", RELEASES)
def test_only_what_code_does_not_show_is_not_read(release: str) -> None:
    """The kinds of facts that are left for a person: a new one is an internal class that no reader knows."""
    kinds = Counter(
        (*entry["fact"][:1], entry["fact"][-1]) for read in facts(release).values() for entry in read["not_read"]
    )
    allowed = {
        ("stores", "aggregate"),  # a lambda
        ("stores", "aggregation"),  # of a processor
        ("stores", "timestamped"),  # of a stream-stream join
        ("stores", "key_of"),  # behind an operator that may give another key
        ("topics", "key_of"),
        ("stores", "value_serde"),  # a lambda, and the second store of a left join
        ("stores", "source_table"),  # a stream that becomes a table behind its source, by a chosen name
        ("stores", "window"),  # a window store of a processor
        ("suppressions", "memory_bytes"),  # without a limit in bytes
        ("topics", "partitions"),  # of the cluster
        ("topics", "value_serde"),
        ("operators", "value_serde"),
        ("operators", "punctuators"),
    }
    assert set(kinds) <= allowed
    assert kinds["stores", "source_table"] <= _HIDDEN_TABLES


@pytest.mark.parametrize(
    ("pair", "path", "before", "after"),
    [
        ("tumbling-window-made-smaller", ("stores", "readings-store", "window", "size_ms"), 3_600_000, 600_000),
        ("emit-on-window-close", ("stores", "trades-store", "window", "emit"), "on_window_update", "on_window_close"),
        ("emit-on-window-close", ("stores", "trades-store", "caching"), True, True),
        ("tumbling-window-to-session-window", ("stores", "readings-store", "kind"), "window", "session"),
    ],
)
@pytest.mark.parametrize("release", ["3.4.1", "4.3.1"])
def test_a_change_that_the_description_omits_is_read(
    release: str, pair: str, path: tuple[str, ...], before: Any, after: Any
) -> None:
    """The text of both sides is the same; the facts are not."""
    found = []
    for side in ("before", "after"):
        value: Any = facts(release)[pair, side]
        for name in path:
            value = value[name]
        found.append(value)
    assert found == [before, after]


@pytest.mark.parametrize(
    ("pair", "path", "key_of"),
    [
        ("tumbling-window-made-smaller", ("stores", "readings-store"), ["readings"]),
        ("tumbling-window-made-smaller", ("topics", "reading-counts"), ["readings (windowed)"]),
        ("foreign-key-computed-from-other-field", ("topics", "orders-of-customers"), ["orders"]),
        ("inner-join-to-left-join", ("topics", "viewed-and-bought"), ["purchases", "views"]),
    ],
)
@pytest.mark.parametrize("release", RELEASES)
def test_keys_are_followed_to_the_topics_that_have_them(
    release: str, pair: str, path: tuple[str, str], key_of: list[str]
) -> None:
    """Through operators that keep them, internal topics and joins; behind windows they have a window too."""
    section, name = path
    assert facts(release)[pair, "before"][section][name]["key_of"] == key_of


@pytest.mark.parametrize("release", RELEASES)
def test_behind_an_operator_that_may_give_another_key_no_key_is_read(release: str) -> None:
    """The reason names the operator."""
    read = facts(release)["group-by-computes-other-key", "before"]
    reasons = {tuple(entry["fact"]): entry["reason"] for entry in read["not_read"]}
    for path in (("stores", "visits-store"), ("topics", "by-page-repartition"), ("topics", "visit-counts")):
        assert reasons[*path, "key_of"].startswith("operator by-page may give each record another key")


@pytest.mark.parametrize("release", RELEASES)
def test_the_description_is_that_of_the_library(release: str) -> None:
    """As the committed texts of the pairs have it, if the release has none of its own."""
    pairs = ("tumbling-window-made-smaller", "group-by-computes-other-key")
    for pair in [pair for pair in pairs if not (FIXTURES / "releases" / release / pair).exists()]:
        before, after = described(pair)
        read = [parse_topology(facts(release)[pair, side]["topology"]) for side in ("before", "after")]
        assert read == [before, after]


@pytest.mark.parametrize("release", RELEASES)
def test_settings_and_release_are_those_of_the_library(release: str) -> None:
    """As it parsed them, by their own names."""
    for read in facts(release).values():
        assert read["library"] == release
        assert read["config"]["application.id"] == "pairs"
        assert read["default_key_serde"] == {"name": "string", "schema_version": None}


@pytest.mark.parametrize("release", RELEASES)
def test_a_format_around_a_default_names_the_default(release: str) -> None:
    """The library wraps serdes of the program; one that is not given is that of the settings."""
    topics = facts(release)["foreign-key-computed-from-other-field", "before"]["topics"]
    names = {entry["value_serde"]["name"] for entry in topics.values() if entry["internal"]}
    assert names == {"SubscriptionWrapper(primaryKey=string)", "SubscriptionResponseWrapper(inner=string)"}


@pytest.mark.parametrize("release", RELEASES)
def test_topics_are_those_of_the_declarations(release: str) -> None:
    """By name or pattern, with those that have to have as many partitions; a sink that chooses its topics has none."""
    compared, absent, differing = 0, set(), []
    for (pair, side), read in facts(release).items():
        for topic, entry in (_declared(pair, side).get("topics") or {}).items():
            found = read["topics"].get(topic)
            if found is None:
                absent.add(topic)
            elif "joined_with" in entry:
                compared += 1
                if sorted(entry["joined_with"]) != found["joined_with"]:
                    differing.append((pair, side, topic))
    assert (differing, compared >= 2) == ([], True)
    assert absent <= {"topologies.TopicPerCountry", "topologies.TopicPerMonth", "topologies.pairs.Structure$$Lambda"}
