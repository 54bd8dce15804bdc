"""Global stores whose files on the disks do not fit the new version, and those that it restores in another way."""

from dataclasses import dataclass
from typing import NamedTuple

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.makers import loses_files
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.change import Undeclared
from kstreams_runbooks.model.topology.declaration import DeclaredStore
from kstreams_runbooks.model.topology.topology import Processor

# How the operator of a global table without a name begins, and what a store is that keeps records as they come.
_TABLE, _NONE = "KTABLE-SOURCE-", "none"
# From this release on a restore of a global store calls its processor (KAFKA-7663); before, it copies the records.
_PROCESSES = Release("3.8")


def left_behind(compared: Compared) -> dict[str, str]:
    """What becomes of each topic whose global store on the disk the new version does not have, or fills otherwise.

    Nothing is left behind if the new version has no global store, since it does not open their directory. A store in
    memory has no files, but the checkpoint of the files before counts for it.
    """
    before, after = compared.before.global_stores, compared.after.global_stores
    if not after:
        return {}
    readers = {store: topic for topic, stores in after.items() for store in stores}
    found = {}
    for topic, stores in before.items():
        stale = (one for one in stores if readers.get(one) != topic or not _on_disk(compared.after, one))
        gone = [one for one in stale if _on_disk(compared.before, one)]
        fates = [_fate(topic, store, readers.get(store), after.get(topic, ())) for store in gone]
        stays = [one for one in stores if readers.get(one) == topic and one not in gone]
        fates += [
            f"global store {store} of topic {topic} has files with timestamps or headers, and the new one opens none"
            for store in stays
            if loses_files(compared, *(_declared(side, store) for side in (compared.before, compared.after)))
        ]
        if fates:
            found[topic] = "; ".join(fates)
    return found


def _declared(side: Side, store: str) -> DeclaredStore:
    return side.declared.stores.get(store, DeclaredStore())


def _fate(topic: str, store: str, now: str | None, others: tuple[str, ...]) -> str:
    if now == topic:
        return f"global store {store} of topic {topic} is in memory now, and the checkpoint of its files counts for it"
    if now is not None:
        return f"global store {store} reads {now} instead of {topic}"
    if others:
        return f"the global store of topic {topic} is {', '.join(others)} instead of {store}"
    return f"global store {store} of topic {topic} is removed"


def _on_disk(side: Side, store: str) -> bool:
    declared = side.declared.stores.get(store)
    return declared is None or declared.on_disk


@dataclass(frozen=True, slots=True)
class RestoredGlobal:
    """What becomes of the content of one topic's global store with a processor of its own, at a restore.

    `copied`: the new version restores it past that processor and the old one did not. `processed`: the old one did, and
    the new one does not. None if that is not known: `asked` is what decides it. `store` and `processor` are names.
    """

    copied: bool | None = False
    processed: bool | None = False
    asked: tuple[Undeclared, ...] = ()
    store: str = ""
    processor: str = ""


def restored(compared: Compared, topic: str) -> RestoredGlobal:
    """Of the global store that a topic fills in the new version.

    A table stores each record as it comes: a copy of the topic is right. Without a release on either side the
    plan lists releases as not compared.
    """
    old, new = compared.before.declared.library, compared.after.declared.library
    stores = compared.after.global_stores.get(topic, ())
    if new is None or not stores:
        return RestoredGlobal()
    store = stores[0]
    before = _processor(compared.before, topic, store)
    after = _processor(compared.after, topic, store)
    if after is None:
        return RestoredGlobal()
    was_processed = None if old is None else old >= _PROCESSES
    if new >= _PROCESSES:
        copied: bool | None = False
        # Only a store that was there has what an earlier restore copied.
        processed = before is not None and was_processed is False
    else:
        copied = True if before is None or was_processed else was_processed
        processed = False
    fact = copied if copied is not False else processed
    if fact and not after.certain:
        question = Undeclared(f"stores.{store}", "aggregate", "new", value=True)
        return RestoredGlobal(copied and None, processed and None, (question,), store, after.name)
    question = Undeclared("library", "", "old", value=True)
    return RestoredGlobal(copied, processed, (question,) if fact is None else (), store, after.name)


class _Keeper(NamedTuple):
    """An operator of a global store that may change records, and whether it is known not to be that of a table."""

    name: str
    certain: bool


def _processor(side: Side, topic: str, store: str) -> _Keeper | None:
    """The operator that fills a global store unless it is a table's, or declared to keep records as they come."""
    if store not in side.global_stores.get(topic, ()):
        return None
    declared = side.declared.stores.get(store, DeclaredStore())
    if declared.source_table or _NONE in {declared.aggregate, declared.aggregation}:
        return None
    nodes = (node for sub in side.topology.subtopologies if sub.is_global for node in sub.nodes)
    keepers = [node.name for node in nodes if isinstance(node, Processor) and store in node.stores]
    if not keepers or any(name.startswith(_TABLE) for name in keepers):
        return None
    return _Keeper(min(keepers), declared.source_table is False or declared.aggregate is not None)
