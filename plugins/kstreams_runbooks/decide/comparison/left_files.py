"""Local state that a change leaves or deletes, and the stores that begin empty: nothing else has their content."""

from collections.abc import Iterator
from dataclasses import dataclass

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.content import buffer_of, contents, keeps_files, prefix
from kstreams_runbooks.decide.comparison.segments import segments_changed
from kstreams_runbooks.decide.comparison.setting_facts import (
    DEFAULTS,
    STORE_TYPES,
    aged_at_start,
    is_exactly_once,
    same_directory,
    store_suppliers,
)
from kstreams_runbooks.decide.comparison.state.makers import loses_files
from kstreams_runbooks.model.topology.declaration import DEFAULT, DeclaredStore

# Neither of the two kinds reads the files of the other.
_FORMATS = {"key_value", "versioned"}
_IN_MEMORY = "in_memory"


@dataclass(frozen=True, slots=True)
class Emptied:
    """A store whose files of before are not used, and whose content no topic has: it begins empty.

    `asks` are the fields that decide it (`stores.orders.logging`), empty if it is certain.
    """

    store: str
    why: str
    asks: tuple[str, ...] = ()


def left_files(compared: Compared) -> dict[str, str]:
    """The stores that both versions have, and whose files of before the new one does not use; each with the reason.

    A store in memory has no files, and a suppress buffer is in memory.
    """
    before, after = compared.before, compared.after
    if prefix(before) != prefix(after):
        # Another group: it has neither directories nor changelogs, and has read nothing.
        return {}
    reformatted, other_type = places_in_another_format(compared), _other_store_type(compared)
    moved, wiped, aged = _moves_directory(compared), _wiped(compared), aged_at_start(compared)
    found = {}
    for store, now in after.store_places.items():
        was = before.store_places.get(store)
        old, new = (side.declared.stores.get(store, DeclaredStore()) for side in (before, after))
        if was is None or not keeps_files(before, store, old) or buffer_of(before, store) is not None:
            continue
        reasons = (
            (was != now, f"moves from subtopology {was} to {now}"),
            (moved, "state.dir is another one"),
            (compared.state_cleared or now in reformatted, "its task directories are deleted"),
            (
                now in wiped,
                f"no offset of the topic that restores {wiped.get(now)} is known, so exactly once deletes the files of "
                "its tasks at the start",
            ),
            (
                not keeps_files(after, store, new),
                "it is in memory now, where each restart of an instance loses it again",
            ),
            (
                other_type and {old.supplier, new.supplier} <= {None, DEFAULT},
                "a store of another type does not read its files",
            ),
            (bool(aged), aged),
        )
        if why := next((reason for applies, reason in reasons if applies), ""):
            found[store] = why
    return found


def emptied(compared: Compared) -> Iterator[Emptied]:
    """The stores that lose what they hold, or may: their files are left, and no topic has the same."""
    old, new = contents(compared.before), contents(compared.after)
    same = "logging" in compared.after.declared.unchanged
    yield from _renamed(compared)
    for store, why in sorted(left_files(compared).items()):
        was, now = old[store], new[store]
        if same and "unknown" in {was.place, now.place}:
            was, now = (now, now) if was.place == "unknown" else (was, was)
        if now.restores is False or (was.place == "disk" and now.place == "changelog"):
            yield Emptied(store, why)
        elif now.place == "unknown" or (was.place == "unknown" and now.place == "changelog"):
            yield Emptied(store, why, tuple(dict.fromkeys((*was.asks, *now.asks))))


def _renamed(compared: Compared) -> Iterator[Emptied]:
    """Stores that get another name, and whose content only the files of the old one have."""
    held, names = contents(compared.before), compared.before.store_places
    if prefix(compared.before) != prefix(compared.after):
        return
    for was, now in sorted(compared.stores.renamed):
        if now not in names and held[was].place == "disk":
            yield Emptied(now, f"it was called {was}, whose files it does not open")


def places_in_another_format(compared: Compared) -> frozenset[str]:
    """Subtopologies of a store that stays where it is, and has other files: versions, timestamps, headers, segments.

    Or another name, and a topic that is read for its changelog: the checkpoint of that topic, which belongs to no
    store, would be taken for the new files, and nothing restored.
    """
    before, after = compared.before, compared.after
    held = contents(before)
    found = [
        after.store_places[new]
        for old, new in compared.stores.renamed
        if held[old].place == "input"
        and before.declared.stores.get(old, DeclaredStore()).on_disk
        and after.store_places[new] == before.store_places[old]
    ]
    for store in before.store_places.keys() & after.store_places.keys():
        place = after.store_places[store]
        # A setting also changes the files of stores that are not declared.
        old, new = (side.declared.stores.get(store, DeclaredStore()) for side in (before, after))
        kinds = {old.kind, new.kind}
        differs = kinds == _FORMATS or segments_changed(old, new) or loses_files(compared, old, new)
        if differs and place == before.store_places[store]:
            found.append(place)
    return frozenset(found)


def _wiped(compared: Compared) -> dict[str, str]:
    """Subtopologies whose files exactly once deletes at the start, each with a store that a new topic restores.

    The task has files, and no offset of that topic: it counts as corrupted. A store in memory has no files to check.
    Source: ProcessorStateManager#initializeStoreOffsetsFromCheckpoint; tests/long/test_store_formats.py.
    """
    if not is_exactly_once(compared.after):
        return {}
    before, after = compared.before, compared.after
    old, new = contents(before), contents(after)
    return {
        place: store
        for store, place in sorted(after.store_places.items(), reverse=True)
        if new[store].topic
        and new[store].place != "unknown"
        and keeps_files(after, store, after.declared.stores.get(store, DeclaredStore()))
        and buffer_of(after, store) is None
        and not (store in old and before.store_places[store] == place and old[store].topic == new[store].topic)
    }


def _other_store_type(compared: Compared) -> bool:
    """Whether a setting chooses another type for the stores for which the program chooses none, and they had files."""
    both = (compared.before, compared.after)
    if not all(map(_is_given, both)):
        return False
    was, now = (store_suppliers(side.declared) for side in both)
    types = [_value(side, STORE_TYPES[0]).lower() for side in both]
    shown = all(side.declared.was_read for side in both)
    # Only code shows whether the program gives StreamsBuilder the first of the two.
    return was != now or (not shown and types[0] != types[1] and types[0] != _IN_MEMORY)


def _moves_directory(compared: Compared) -> bool:
    """Whether both versions give their settings, and other directories for local state."""
    both = (compared.before, compared.after)
    return all(map(_is_given, both)) and not same_directory(*(_value(side, "state.dir") for side in both))


def _is_given(side: Side) -> bool:
    return side.declared.config is not None


def _value(side: Side, name: str) -> str:
    return (side.declared.config or {}).get(name) or DEFAULTS[name]
