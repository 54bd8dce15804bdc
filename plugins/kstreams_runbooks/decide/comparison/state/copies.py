"""The copies of a store's content: facts about those that a change leaves, and the words for what restores it."""

from collections.abc import Mapping

from kstreams_runbooks.decide.comparison.compared import Compared, Side, fillers
from kstreams_runbooks.decide.comparison.content import Content, contents
from kstreams_runbooks.decide.comparison.facts import DeclaredFacts, sides
from kstreams_runbooks.decide.comparison.left_files import emptied, places_in_another_format
from kstreams_runbooks.decide.comparison.setting_facts import (
    DEFAULTS,
    EXTRACTOR,
    GUARANTEE,
    REUSE,
    cleaned_sooner_by,
    is_exactly_once,
    moved_by,
    optimized,
    protocol_of,
)
from kstreams_runbooks.decide.comparison.state.kinds import is_join_buffer
from kstreams_runbooks.decide.comparison.whole import disagrees
from kstreams_runbooks.decide.topology.partitions import task_counts
from kstreams_runbooks.model.topology.change import Fact, Undeclared
from kstreams_runbooks.model.topology.declaration import DEFAULT, Declaration, DeclaredTopic

_KEEP = {
    "state.cleanup": "leave state.cleanup.dir.max.age.ms out",
    "moves": "keep the subtopologies in their order",
    "state.dir": "move the directory on every instance while it is down, or keep state.dir",
}
_INSTANCE = "group.instance.id"
# What decides about a record that cannot be read, and the class that ends the application; the class that leaves a
# record without a time out.
_HANDLERS = ("deserialization.exception.handler", "default.deserialization.exception.handler")
_FAILS = "LogAndFailExceptionHandler"
_SKIPS = "LogAndSkipOnInvalidTimestamp"
# Extractors of the library that give a record its own time, if it has one.
_KEEPS_TIMES = (_SKIPS, "FailOnInvalidTimestamp", "UsePartitionTimeOnInvalidTimestamp")
_LEAVE_OUT = "leave that change out"
_RUN_EMPTY = "let it run empty first: pause the inputs, and advance stream time past the grace in each partition"
_WRITE_ONCE = (
    "switch logging on first, under at_least_once (exactly once would delete its files then), and let every key be "
    "written once"
)


class Copies:
    """The place of each store's content in both versions, and the stores that begin empty."""

    def __init__(self, compared: Compared) -> None:
        self._compared = compared
        self._both = (compared.before, compared.after)
        self._old, self._new = contents(compared.before), contents(compared.after)
        self._emptied = {one.store: one for one in emptied(compared)}
        self._counts = [task_counts(side.topology, side.counts) for side in (compared.before, compared.after)]
        self._reformatted = places_in_another_format(compared)
        settings = [side.declared.config or {} for side in (compared.before, compared.after)]
        self._moved_by = moved_by(compared)
        self._cleaned_by = cleaned_sooner_by(compared)
        self._switched = REUSE in optimized(settings[0]) ^ optimized(settings[1])
        self._tables = {
            store
            for side in (compared.before, compared.after)
            for store, of in fillers(side).items()
            if _is_table(side, store, of)
        }

    def facts(self, was: str, name: str, *, stays: bool) -> DeclaredFacts:
        """Facts of a store, called `was` before and `name` now; what to declare if one is unknown."""
        old, new = self._old.get(was), self._new.get(name)
        left = self._emptied.get(name) if stays and (was == name or was not in self._new) else None
        facts: dict[str, Fact] = {
            "only_copy_left": left is not None and (None if left.asks and not self._is_accepted(name) else True),
            "files_deleted": self._compared.after.store_places.get(name) in self._reformatted,
            "tasks_changed": stays and was == name and left is None and self._in_other_tasks(name),
            "files_outlast_logging": _is_in(old, "disk") and is_exactly_once(self._compared.after) is False,
            "memory_alone": stays and _is_in(old, "memory") and _is_in(new, "memory"),
            "copies": _copies(old),
            "goes_alone": not stays and self._goes_alone(was),
            "wiped_at_crash": stays and self._switches_to_exactly_once() and _is_on_disks(old, new),
            "deleted_sooner": stays and bool(self._cleaned_by) and _is_on_disks(old, new),
            "may_move": stays and bool(self._moved_by) and _is_on_disks(old, new),
            "moves_in_a_roll": stays and was == name and self._moves_in_a_roll(old, new),
            "moves_in_a_stop": stays and was == name and self._moves_in_a_stop(old, new),
            "from_topic_now": stays and was == name and not _is_in(old, "input") and _is_in(new, "input"),
            "copies_skipped": not _is_in(old, "input") and self._copies_skipped(new),
            "copies_times": not _is_in(old, "input") and bool(self._extractor(new)),
            "as_in_topic": self._stores_as_in_topic(name),
            "from_topic_before": stays and was == name and _is_in(old, "input") and not _is_in(new, "input"),
        }
        if self._switched and name in self._tables:
            # The optimization has a finding of its own.
            facts |= {"from_topic_now": False, "from_topic_before": False}
        asked = tuple(_undeclared(one, self._compared) for one in (left.asks if left else ()))
        unlogged = tuple(
            _undeclared(f"stores.{name}.logging", self._compared) for one in (old, new) if _is_in(one, "unknown")
        )
        lacking = tuple(dict.fromkeys(unlogged))
        members = (Undeclared("config", _INSTANCE, sides(*(side.declared.config for side in self._both))),)
        return facts, {
            "only_copy_left": asked,
            "wiped_at_crash": lacking,
            "may_move": lacking,
            "deleted_sooner": lacking,
            "moves_in_a_roll": members,
        }

    def _moves_in_a_roll(self, old: Content | None, new: Content | None) -> bool | None:
        """Whether a restarted instance loses its tasks, and with them files that are known to be the only copy.

        A static member keeps them. Whether a store has a changelog may be unknown: a run judges that
        (decide/plans/only_copy.py).
        """
        known = [side.declared.config for side in self._both]
        alone = any(side.declared.instances == 1 for side in self._both)
        if alone or not _is_on_disks(old, new) or all(config and config.get(_INSTANCE) for config in known):
            return False
        return None if None in known else True

    def _moves_in_a_stop(self, old: Content | None, new: Content | None) -> bool:
        """Whether the change needs every instance down, and files of static members are the only copy.

        Those of other members move in a roll already.
        """
        stops = disagrees(self._compared) or len({protocol_of(side.declared) for side in self._both}) > 1
        on_disks = _is_on_disks(old, new) is True
        alone = any(side.declared.instances == 1 for side in self._both)
        return stops and on_disks and not alone and self._moves_in_a_roll(old, new) is False

    def _switches_to_exactly_once(self) -> bool:
        """Whether both versions give their settings, and the guarantee becomes exactly once."""
        settings = [side.declared.config for side in (self._compared.before, self._compared.after)]
        if None in settings:
            return False
        was, now = ((one or {}).get(GUARANTEE, DEFAULTS[GUARANTEE]) for one in settings)
        return was == DEFAULTS[GUARANTEE] != now

    def _stores_as_in_topic(self, name: str) -> bool:
        """Whether a store is known to have records as they come, by a table or by `aggregate: none`."""
        declared = self._compared.after.declared.stores.get(name)
        return declared is not None and (bool(declared.source_table) or declared.aggregate == "none")

    def _copies_skipped(self, content: Content | None) -> bool:
        """Whether a topic restores a store whose program goes on after records of it that do not reach the store."""
        if content is None or content.place != "input":
            return False
        config = self._compared.after.declared.config or {}
        handlers = [value for name in _HANDLERS if (value := config.get(name))]
        skips = any(not one.endswith(_FAILS) for one in handlers)
        return skips or self._chosen_extractor(content).endswith(_SKIPS)

    def _chosen_extractor(self, content: Content) -> str:
        """The extractor of the topic that restores a store, empty for that of the library."""
        declared = self._compared.after.declared
        topic = declared.topics.get(content.topic, DeclaredTopic())
        own = topic.timestamp_extractor not in {None, DEFAULT}
        return (topic.timestamp_extractor if own else (declared.config or {}).get(EXTRACTOR)) or ""

    def _extractor(self, content: Content | None) -> str:
        """One that may give a record of a topic that restores a store another time than its own; else empty."""
        if content is None or content.place != "input":
            return ""
        chosen = self._chosen_extractor(content)
        return "" if chosen.endswith(_KEEPS_TIMES) else chosen

    def _goes_alone(self, was: str) -> bool:
        """Whether files are known to be the only copy of a store of the old version, and its loss is not accepted."""
        declared, old = self._compared.before.declared.stores.get(was), self._old.get(was)
        accepted = declared is not None and declared.loss_acceptable
        return old is not None and old.is_on_disks_alone is True and not accepted

    def _is_accepted(self, name: str) -> bool:
        """Whether a store may begin empty: then nothing depends on whether it does."""
        declared = self._compared.after.declared.stores.get(name)
        return declared is not None and declared.loss_acceptable

    def _in_other_tasks(self, name: str) -> bool:
        """Whether the keys of a store get other tasks, and no changelog with the old count refuses the start."""
        old, new = self._tasks(name)
        refuses = bool(self._old[name].topic and self._new[name].topic)
        return not refuses and None not in {old, new} and old != new

    def _tasks(self, name: str) -> tuple[int | None, int | None]:
        """The number of tasks of a store in both versions, None if it is not known."""
        sides = (self._compared.before, self._compared.after)
        return (self._counts[0].get(sides[0].store_places[name]), self._counts[1].get(sides[1].store_places[name]))

    def words(self, was: str, name: str) -> dict[str, str]:
        """What restores the store, what that costs, and what would keep its content."""
        old, new, left = self._old.get(was), self._new.get(name), self._emptied.get(name)
        why = "" if left is None else left.why
        return {
            "restores": "" if new is None else _restores(new),
            "restored_by": f"topic {new.topic}" if new is not None and new.place == "input" else "its changelog",
            "tasks": " → ".join(map(str, self._tasks(name))) if name in self._old and name in self._new else "",
            "left_why": why,
            "emptied": (
                f"may be on local disks alone ({' and '.join(left.asks)} not declared), and then begins empty"
                if left and left.asks
                else "is on local disks alone, and it begins empty"
            ),
            "instead": next((keep for begins, keep in _KEEP.items() if why.startswith(begins)), _LEAVE_OUT),
            "write_once": _RUN_EMPTY if is_join_buffer(self._compared.after, name) else _WRITE_ONCE,
            "moved_by": " and ".join(self._moved_by),
            "cleaned_by": " and ".join(self._cleaned_by),
            "leaves": _left(old),
            "topic_before": "" if old is None else old.topic,
            "topic": "" if new is None else new.topic,
            "extractor": self._extractor(new),
        }


def _is_table(side: Side, store: str, filled: Mapping[str, bool | None]) -> bool:
    """Whether a store is a table, and not one that a program fills itself from its topic (addReadOnlyStateStore)."""
    declared = side.declared.stores.get(store)
    return any(filled.values()) and (declared is None or declared.source_table is not False)


def _copies(old: Content | None) -> str:
    """What a store that goes, or gets another name, leaves on the cluster."""
    if old is None or not old.topic:
        return "none"
    return "input" if old.place == "input" else "changelog"


def _left(old: Content | None) -> str:
    if old is not None and old.place == "unknown":
        return "its changelog is left behind; without one, what it holds goes too (its logging is not declared)"
    said = {"none": "it has no changelog", "input": f"topic {old.topic if old else ''} that restored it stays"}
    return said.get(_copies(old), "its changelog is left behind")


def _is_in(content: Content | None, place: str) -> bool:
    return content is not None and content.place == place


def _is_on_disks(old: Content | None, new: Content | None) -> bool | None:
    """Whether files are the only copy of a store in both versions, None if that is not known."""
    known = [content.is_on_disks_alone for content in (old, new) if content is not None]
    return False if False in known else None if None in known else True


def _restores(new: Content) -> str:
    if new.place == "input":
        return f"restores in full from topic {new.topic}"
    if new.is_join_buffer:
        return "is not restored by its changelog and begins empty"
    if new.restores is False:
        return "has no changelog and begins empty"
    return "restores in full from its changelog" + (", if its logging is on" if new.restores is None else "")


def _undeclared(field: str, compared: Compared) -> Undeclared:
    """A field of a store or a suppression (`stores.a.b.logging`), with the sides that lack it."""
    where, _, name = field.rpartition(".")
    section, _, of = where.partition(".")
    values = [_value(side.declared, section, of, name) for side in (compared.before, compared.after)]
    return Undeclared(where, name, sides(*values), value=True)


def _value(declared: Declaration, section: str, of: str, name: str) -> object:
    held: Mapping[str, object] = getattr(declared, section)
    return getattr(held.get(of), name, None)
