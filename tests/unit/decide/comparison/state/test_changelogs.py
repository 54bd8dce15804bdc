"""Changelogs that keep their records for a shorter time than the stores which they restore."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.change.rules import fired
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.changelogs import windowed_changelogs, with_logs
from kstreams_runbooks.decide.comparison.state.persistent import stores
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import RestoringLog
from kstreams_runbooks.model.times import DAY_MS, HOUR_MS, MINUTE_MS
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, Window, WindowKind
from kstreams_runbooks.rules import topology_change_rules

_TEXT = """Topologies:
   Sub-topology: 0
    Source: reads-in (topics: [reads])
      --> count
    Processor: count (stores: [{store}])
      --> none
      <-- reads-in"""
_RULE, _OF_TOPIC = "changelog-keeps-less", "source-topic-keeps-less"
_ADDITIONAL = "windowstore.changelog.additional.retention.ms"


def _side(store: DeclaredStore, name: str = "reads-store", **config: str) -> Side:
    given = {"application.id": "meter", **config}
    return Side(parse_topology(_TEXT.format(store=name)), Declaration({name: store}, config=given))


def _found(before: Side, after: Side, rule: str = _RULE) -> list[tuple[str, str]]:
    compared = Compared(before, after)
    return [
        (one.severity, one.message)
        for one in fired(stores(compared), topology_change_rules()).findings
        if one.id == rule
    ]


def _windows(kind: WindowKind, size_ms: int, grace_ms: int, *, memory: bool = True) -> DeclaredStore:
    of_store = {"session": "session", "join": "join"}.get(kind, "window")
    return DeclaredStore(of_store, Window(kind, size_ms, grace_ms), logging=True, in_memory=memory)  # type: ignore[arg-type] # a kind


@pytest.mark.parametrize("kind", ["tumbling", "sliding", "session", "join"])
@pytest.mark.parametrize(("memory", "severity"), [(True, "danger"), (False, "warning")])
def test_a_grace_that_the_topic_does_not_cover(kind: WindowKind, memory: bool, severity: str) -> None:
    """The library set the topic to size, grace and a day, and never alters it; near: one that a day covers."""
    old = _windows(kind, HOUR_MS, 2 * HOUR_MS, memory=memory)
    new = _windows(kind, HOUR_MS, 72 * HOUR_MS, memory=memory)
    [(found, message)] = _found(_side(old), _side(new))
    both_ways = HOUR_MS if kind in {"sliding", "join"} else 0
    had, wanted = 27 * HOUR_MS + both_ways, 97 * HOUR_MS + both_ways
    assert found == severity
    assert f"(retention.ms={had})" in message
    assert f"--entity-name meter-reads-store-changelog --add-config retention.ms={wanted}" in message
    assert _found(_side(old), _side(_windows(kind, HOUR_MS, 20 * HOUR_MS, memory=memory))) == []


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        # exactly what the topic keeps, and a minute more
        (HOUR_MS, HOUR_MS + DAY_MS, 0),
        (HOUR_MS, HOUR_MS + DAY_MS + 1, 1),
        (3 * DAY_MS, HOUR_MS, 0),
        (3 * DAY_MS, 3 * DAY_MS, 0),
    ],
)
def test_a_retention_of_the_program(old: int, new: int, count: int) -> None:
    """Longer, shorter, and the same."""
    kept = [DeclaredStore("window", retention_ms=one, logging=True, in_memory=True) for one in (old, new)]
    assert len(_found(_side(kept[0]), _side(kept[1]))) == count


def test_a_history_longer_than_the_compaction_lag() -> None:
    """Of a versioned store the changelog keeps each version for the history and a day."""
    old = DeclaredStore("versioned", history_retention_ms=HOUR_MS, logging=True)
    [(severity, message)] = _found(_side(old), _side(replace(old, history_retention_ms=72 * HOUR_MS)))
    assert severity == "warning"
    assert f"(min.compaction.lag.ms={25 * HOUR_MS})" in message
    assert f"--add-config min.compaction.lag.ms={96 * HOUR_MS}" in message
    assert _found(_side(old), _side(replace(old, history_retention_ms=2 * HOUR_MS))) == []
    set_by_program = replace(old, logging_config={"min.compaction.lag.ms": str(30 * DAY_MS)})
    assert _found(_side(set_by_program), _side(replace(old, history_retention_ms=72 * HOUR_MS))) == []


def test_settings_that_keep_the_topic_longer_or_shorter() -> None:
    """The setting for what is kept in addition, what the program sets of the topic, and what is declared of it."""
    old, new = _windows("tumbling", HOUR_MS, 2 * HOUR_MS), _windows("tumbling", HOUR_MS, 72 * HOUR_MS)
    assert _found(_side(old, **{_ADDITIONAL: str(70 * HOUR_MS)}), _side(new)) == []
    near = replace(new, window=Window("tumbling", HOUR_MS, 3 * HOUR_MS))
    assert len(_found(_side(old, **{_ADDITIONAL: "0"}), _side(near))) == 1
    for kept in (
        {"logging_config": {"retention.ms": str(80 * HOUR_MS)}},
        {"logging_config": {"retention.ms": "-1"}},
        {"logging_config": {"cleanup.policy": "compact"}},
        {"changelog_keeps_ms": 73 * HOUR_MS},
    ):
        assert _found(_side(replace(old, **kept)), _side(new)) == []
    assert _found(_side(old, **{"topic.cleanup.policy": "compact"}), _side(new)) == []
    assert len(_found(_side(replace(old, logging_config={"retention.ms": str(HOUR_MS)})), _side(near))) == 1


def test_stores_in_memory_by_the_setting() -> None:
    """A program that chooses no type has that of the setting, which the declaration does not repeat."""
    old, new = (replace(_windows("tumbling", HOUR_MS, one * HOUR_MS), in_memory=None) for one in (2, 72))
    for setting in ({"default.dsl.store": "in_memory"}, {"dsl.store.suppliers.class": "a.B$InMemoryDslStoreSuppliers"}):
        assert [severity for severity, _ in _found(_side(old), _side(new, **setting))] == ["danger"]
    assert [severity for severity, _ in _found(_side(old), _side(new))] == ["warning"]


@pytest.mark.parametrize("name", ["join-outer-shared-join-store", "KSTREAM-OUTERSHARED-0000000004-store"])
def test_the_store_of_an_outer_join_without_a_match_is_compacted_alone(name: str) -> None:
    """Its changelog has no retention."""
    old, new = _windows("join", HOUR_MS, 2 * HOUR_MS), _windows("join", HOUR_MS, 72 * HOUR_MS)
    assert _found(_side(old, name), _side(new, name)) == []


def test_a_store_without_a_changelog_of_its_own() -> None:
    """What restores nothing keeps nothing; the topic of a read-only store is its owner's."""
    old, new = _windows("tumbling", HOUR_MS, 2 * HOUR_MS), _windows("tumbling", HOUR_MS, 72 * HOUR_MS)
    for other in ({"logging": False}, {"changelog": "reads"}):
        before, after = (_side(replace(one, **other)) for one in (old, new))
        assert _found(before, after) == []


def test_an_unknown_window_is_asked_for() -> None:
    """Whether the topic is long enough is not known then."""
    before, after = _side(_windows("tumbling", HOUR_MS, MINUTE_MS)), _side(DeclaredStore("window", logging=True))
    open_ = fired(stores(Compared(before, after)), topology_change_rules()).undecided
    asked = {str(missing) for one in open_ if one.id == _RULE for missing in one.asked}
    assert asked == {"stores.reads-store.retention_ms (new)"}


@pytest.mark.parametrize(
    ("log", "count"),
    [
        (RestoringLog("meter-reads-store-changelog", "compact,delete", 0, 73 * HOUR_MS), 0),
        (RestoringLog("meter-reads-store-changelog", "compact,delete", 0, 27 * HOUR_MS), 1),
        (RestoringLog("meter-reads-store-changelog", "delete", 0, None), 0),
        (RestoringLog("meter-reads-store-changelog", "compact", 0, HOUR_MS), 0),
        # what was not read stays as the library sets it
        (RestoringLog("meter-reads-store-changelog", "", 0, Missing("hidden")), 1),
        (RestoringLog("another", "delete", 0, None), 1),
    ],
)
def test_the_topic_of_the_cluster(log: RestoringLog, count: int) -> None:
    """One that was altered already is long enough."""
    running = _side(_windows("tumbling", HOUR_MS, 2 * HOUR_MS))
    changelogs = windowed_changelogs(running, "meter")
    assert changelogs == {"reads-store": "meter-reads-store-changelog"}
    seen = with_logs(running, changelogs, [log])
    assert len(_found(seen, _side(_windows("tumbling", HOUR_MS, 72 * HOUR_MS)))) == count


def test_the_compaction_lag_of_the_cluster() -> None:
    """That of a versioned store's changelog; a key-value store has no time."""
    running = _side(DeclaredStore("versioned", history_retention_ms=HOUR_MS, logging=True))
    changelogs = windowed_changelogs(running, "meter")
    new = _side(DeclaredStore("versioned", history_retention_ms=72 * HOUR_MS, logging=True))
    for lag, count in ((80 * HOUR_MS, 0), (HOUR_MS, 1), (Missing("hidden"), 1)):
        log = RestoringLog(changelogs["reads-store"], "compact", 0, None, lag)
        assert len(_found(with_logs(running, changelogs, [log]), new)) == count
    assert windowed_changelogs(_side(DeclaredStore("key_value", logging=True)), "meter") == {}


def test_a_topic_that_restores_keeps_what_its_owner_has_set() -> None:
    """The library sets nothing of it: what is declared or was read on the cluster decides, if the time has grown."""
    old = DeclaredStore("versioned", history_retention_ms=HOUR_MS, logging=True, changelog="reads")
    new, own = replace(old, history_retention_ms=6 * HOUR_MS), replace(old, changelog=None)
    [(severity, message)] = _found(_side(old), _side(new), _OF_TOPIC)
    assert severity == "danger"
    assert f"--entity-name reads --add-config min.compaction.lag.ms={30 * HOUR_MS}" in message
    assert len(_found(_side(own), _side(replace(own, changelog="reads")), _OF_TOPIC)) == 1
    assert _found(_side(old), _side(old), _OF_TOPIC) == _found(_side(new), _side(old), _OF_TOPIC) == []
    assert _found(_side(old), _side(replace(new, changelog_keeps_ms=6 * HOUR_MS)), _OF_TOPIC) == []
    assert len(_found(_side(old), _side(replace(new, changelog_keeps_ms=5 * HOUR_MS)), _OF_TOPIC)) == 1
    assert _found(_side(old), _side(new)) == []


@pytest.mark.parametrize(
    ("log", "count"),
    [
        (RestoringLog("reads", "compact", 0, None, 6 * HOUR_MS), 0),
        (RestoringLog("reads", "compact", 0, None, 0), 1),
        # a lag protects from compaction alone, and deletion by time goes on
        (RestoringLog("reads", "compact,delete", 0, 2 * HOUR_MS, 6 * HOUR_MS), 1),
        (RestoringLog("reads", "compact,delete", 0, 8 * HOUR_MS, 6 * HOUR_MS), 0),
        (RestoringLog("reads", "delete", 0, None, 0), 0),
        (RestoringLog("reads", "delete", 0, 2 * HOUR_MS, 8 * HOUR_MS), 1),
        (RestoringLog("reads", "compact", 0, None, Missing("hidden")), 1),
    ],
)
def test_a_topic_of_the_cluster_that_restores(log: RestoringLog, count: int) -> None:
    """Its own settings: the lag of compaction, and the retention if it deletes by time."""
    running = _side(DeclaredStore("versioned", history_retention_ms=HOUR_MS, logging=True, changelog="reads"))
    topics = windowed_changelogs(running, "meter")
    assert topics == {"reads-store": "reads"}
    new = _side(DeclaredStore("versioned", history_retention_ms=6 * HOUR_MS, logging=True, changelog="reads"))
    assert len(_found(with_logs(running, topics, [log]), new, _OF_TOPIC)) == count
