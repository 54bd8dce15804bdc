"""Task directories that have to go before a changed version starts, and what restores afterwards."""

from collections.abc import Iterator

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.global_stores import left_behind
from kstreams_runbooks.decide.comparison.left_files import places_in_another_format
from kstreams_runbooks.decide.comparison.prediction import changelog_topics, predicted
from kstreams_runbooks.model.local_state import GLOBAL, TaskDirectories


def directories_to_delete(compared: Compared) -> TaskDirectories:
    """Directories that fit no task of the new version, and those of a store that it keeps in another format.

    Kafka Streams 4.3.1 does not start on the first (tests/long/test_left_directories.py). A versioned store cannot read
    what a plain one left, and a store with other segments finds a part of its own. The directory of the global stores
    goes if one of them has another topic, another name or no place (tests/long/test_global_tables.py). Stores that move
    restore in any case: their changelogs are among the topics.
    """
    found = predicted(compared)
    names = {*found.stale_directories, *(f"{place}_" for place in places_in_another_format(compared))}
    names |= {GLOBAL} if left_behind(compared) else set()
    topics = {restore.changelog for restore in found.restores} | set(changelogs_in(compared.after, names))
    return TaskDirectories(tuple(sorted(names)), tuple(sorted(topics)))


def directories_to_undo(compared: Compared, deleted: set[str]) -> TaskDirectories:
    """The same for the way back from the new version, once the directories `deleted` are gone.

    A store that the new version keeps in the directory of the old one is there again: it does not restore.
    """
    before, places = compared.before, compared.after.store_places
    back = directories_to_delete(Compared(compared.after, before))
    moved = {store: place for store, place in before.store_places.items() if places.get(store) != place}
    topics = changelog_topics(before)
    gone = (topics[store] for store, place in moved.items() if f"{place}_" in deleted and store in topics)
    return back.joined(TaskDirectories(changelogs=tuple(gone)))


def changelogs_in(side: Side, names: set[str]) -> Iterator[str]:
    """Topics of the stores that a version keeps in task directories; one partition of a store is enough."""
    subtopologies = {name.rpartition("_")[0] for name in names}
    topics = changelog_topics(side)
    return (topics[store] for store, place in side.store_places.items() if place in subtopologies and store in topics)
