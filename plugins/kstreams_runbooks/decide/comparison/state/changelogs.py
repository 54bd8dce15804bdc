"""How long the changelog of a store keeps its records, next to how long the store keeps them.

The library sets it when it creates the topic, by the retention of that time, and never alters a topic that is there. A
restore by a version whose store keeps more lacks what is older than the topic keeps. A store in memory is restored at
each start.
Source: Apache Kafka, WindowedChangelogTopicConfig, VersionedChangelogTopicConfig, InternalTopicManager.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.content import contents, prefix
from kstreams_runbooks.decide.comparison.facts import duration
from kstreams_runbooks.decide.comparison.segments import kept_in_segments_ms
from kstreams_runbooks.decide.comparison.setting_facts import STORE_TYPES
from kstreams_runbooks.decide.topology.names import stem
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import RestoringLog
from kstreams_runbooks.model.times import DAY_MS, MINUTE_MS
from kstreams_runbooks.model.topology.change import Fact
from kstreams_runbooks.model.topology.declaration import DeclaredStore

_RETENTION, _LAG, _POLICY = "retention.ms", "min.compaction.lag.ms", "cleanup.policy"
_SETTINGS = {"window": _RETENTION, "session": _RETENTION, "join": _RETENTION, "versioned": _LAG}
# What is kept beyond the retention: a setting for windows, whose default is a day, and a day for a history. Settings
# that are not given are a fact that the plan lists as not compared.
_ADDITIONAL = "windowstore.changelog.additional.retention.ms"
# The store of records without a match, which an outer or a left join keeps: its changelog is compacted alone.
_SHARED, _SHARED_NAMED = "KSTREAM-OUTERSHARED-", "-shared-join-store"
_APPLICATION_ID = "APPLICATION_ID-"
_FOR_EVER = 2**63 - 1


class Changelogs:
    """The changelogs of stores that both versions keep."""

    def __init__(self, compared: Compared) -> None:
        self._compared = compared
        self._old, self._new = contents(compared.before), contents(compared.after)

    def facts(self, was: str, name: str, *, stays: bool, retention_changed: Fact) -> dict[str, Fact]:
        """Whether the store keeps records for longer than its changelog, and whether it is in memory.

        None if it is not known whether the retention changes. A store whose kind is not known is asked for that first.
        """
        old, new = self._stores(was, name)
        short: bool | None = stays and was == name and {old.kind, new.kind} <= _SETTINGS.keys()
        short = short and self._has_changelog(name)
        if short:
            short = None if retention_changed is None else self._is_short(old, new)
        return {
            "changelog_short": short,
            "read_at_each_start": _in_memory(self._compared.after, new),
            "topic_short": self._topic_short(was, name),
        }

    def _topic_short(self, was: str, name: str) -> bool:
        """Whether a topic that is read restores the store, and nothing shows that it keeps what the store keeps.

        The library sets nothing of such a topic: a restore has what its owner keeps there. What restored the same store
        before, for as long, is not part of the change.
        """
        content, held = self._new.get(name), self._old.get(was)
        old, new = self._stores(was, name)
        if content is None or content.place != "input" or new.kind not in _SETTINGS:
            return False
        keeps, had = _kept_ms(new), new.changelog_keeps_ms
        if keeps is None or keeps <= 0:
            return False
        if held is not None and held.topic == content.topic and old.kind == new.kind:
            kept = _kept_ms(old)
            if kept is None or keeps - kept < MINUTE_MS:
                return False
            had = old.changelog_keeps_ms if had is None else had
        return had is None or had < keeps

    def deletes(self, name: str) -> bool:
        """Whether the program gives the changelog of a new store settings that delete what the store keeps."""
        _, store = self._stores("", name)
        policy, keeps = (store.logging_config or {}).get(_POLICY, ""), _kept_ms(store)
        if store.logging is False or store.kind is None:
            return False
        if keeps is None:
            return "delete" in policy
        had = _topic_ms(self._compared.after, store)
        return had is not None and 0 <= had < keeps

    def words(self, was: str, name: str) -> dict[str, str]:
        """How long both keep records, and what to alter; empty without a retention on both sides."""
        old, new = self._stores(was, name)
        had, needs = _topic_ms(self._compared.before, old), _kept_ms(new)
        wanted = _topic_ms(self._compared.after, replace(new, changelog_keeps_ms=None))
        if needs is None or wanted is None:
            return dict.fromkeys(("topic_keeps", "store_keeps", "topic_setting", "alter_changelog", "alter_topic"), "")
        setting, content = _SETTINGS[new.kind or "window"], self._new[name]
        changelog = f"{prefix(self._compared.after) or _APPLICATION_ID}{content.changelog}"
        return {
            "topic_keeps": "" if had is None else f"{duration(had)} ({setting}={had})",
            "store_keeps": duration(needs),
            "topic_setting": setting,
            "alter_changelog": _altering(changelog, setting, wanted),
            "alter_topic": _altering(content.topic, setting, wanted),
        }

    def _stores(self, was: str, name: str) -> tuple[DeclaredStore, DeclaredStore]:
        before, after = self._compared.before.declared.stores, self._compared.after.declared.stores
        return before.get(was, DeclaredStore()), after.get(name, DeclaredStore())

    def _has_changelog(self, name: str) -> bool:
        """Whether a changelog of its own restores the store in both versions, if its logging is on."""
        both = (self._old.get(name), self._new.get(name))
        compacted = stem(name).startswith(_SHARED) or name.endswith(_SHARED_NAMED)
        return not compacted and all(one is not None and one.changelog for one in both)

    def _is_short(self, old: DeclaredStore, new: DeclaredStore) -> bool:
        if old.kind != new.kind or _keeps_all(self._compared.before, old):
            return False
        kept, keeps, had = _kept_ms(old), _kept_ms(new), _topic_ms(self._compared.before, old)
        if kept is None or keeps is None or had is None:
            return False
        # A store drops records by segments of a minute at least: it keeps nothing more for a few milliseconds.
        return keeps - kept >= MINUTE_MS and had < keeps


def _altering(topic: str, setting: str, value: int) -> str:
    return f"kafka-configs.sh --alter --entity-type topics --entity-name {topic} --add-config {setting}={value}"


def windowed_changelogs(side: Side, application_id: str) -> dict[str, str]:
    """The stores that keep records for a time, each with the full name of the topic that restores it."""
    stores = side.declared.stores
    return {
        name: one.at(application_id).topic
        for name, one in contents(side).items()
        if one.topic and stores.get(name, DeclaredStore()).kind in _SETTINGS
    }


def with_logs(side: Side, changelogs: Mapping[str, str], logs: Iterable[RestoringLog]) -> Side:
    """The side with the time that each of these changelogs keeps its records on the cluster, as far as it was read."""
    stores = dict(side.declared.stores)
    read = {log.topic: log for log in logs}
    for name, topic in changelogs.items():
        kept = None if topic not in read else _keeps(stores[name], read[topic])
        stores[name] = replace(stores[name], changelog_keeps_ms=kept) if kept is not None else stores[name]
    return replace(side, declared=replace(side.declared, stores=stores))


def _keeps(store: DeclaredStore, log: RestoringLog) -> int | None:
    policy = log.policy.split(",")
    deletes, compacts = "delete" in policy, store.kind == "versioned" and policy != ["delete"]
    if (compacts and isinstance(log.lag_ms, Missing)) or isinstance(log.retention_ms, Missing) or not log.policy:
        return None
    retention = log.retention_ms if deletes and log.retention_ms is not None else _FOR_EVER
    return min(retention, log.lag_ms) if compacts and isinstance(log.lag_ms, int) else retention


def _kept_ms(store: DeclaredStore) -> int | None:
    return kept_in_segments_ms(store) if store.kind in _SETTINGS else None


def _topic_ms(side: Side, store: DeclaredStore) -> int | None:
    """What the changelog has: as declared, as the program sets it, else as the library computes it."""
    kept = _kept_ms(store)
    if kept is None or store.kind is None:
        return None
    if store.changelog_keeps_ms is not None:
        return store.changelog_keeps_ms
    setting = _SETTINGS[store.kind]
    own = (store.logging_config or {}).get(setting, "")
    if own.lstrip("-").isdigit():
        return int(own)
    return kept + (DAY_MS if setting == _LAG else _additional_ms(side.declared.config or {}))


def _additional_ms(config: Mapping[str, str]) -> int:
    given = config.get(_ADDITIONAL, "")
    return int(given) if given.isdigit() else DAY_MS


def _keeps_all(side: Side, store: DeclaredStore) -> bool:
    """Whether the topic of windows deletes nothing by time: it is only compacted, or has no limit."""
    if store.kind == "versioned":
        return False
    config, own = side.declared.config or {}, store.logging_config or {}
    policy = own.get(_POLICY, config.get(f"topic.{_POLICY}", "delete"))
    return "delete" not in policy or (_topic_ms(side, store) or 0) < 0


def _in_memory(side: Side, store: DeclaredStore) -> bool:
    """Whether a store is in memory, also by the setting for those that the program makes with the library's default."""
    if store.in_memory is not None:
        return store.in_memory
    config = side.declared.config or {}
    return any("inmemory" in config.get(name, "").lower().replace("_", "") for name in STORE_TYPES)
