"""The fate of suppress operators: declared ones, those with generated names, and possible ones."""

from collections.abc import Iterator
from dataclasses import replace

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.facts import changed, closes_later, closing_words, duration, sides
from kstreams_runbooks.decide.comparison.state.held_tables import bypassing, table_change
from kstreams_runbooks.decide.comparison.state.order import RowsHeld, rows_held
from kstreams_runbooks.decide.topology.names import is_generated, is_suppression
from kstreams_runbooks.decide.topology.upstream import between_store_and, store_before
from kstreams_runbooks.model.topology.change import Fact, Subject, Undeclared
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, DeclaredSuppression, Window
from kstreams_runbooks.model.topology.topology import Processor, Topology

# In addition to key and value each record keeps its timestamp and offset (8 bytes each), its partition (4), the name
# of its topic and its headers. Source: ProcessorRecordContext#residentMemorySizeEstimate (Apache Kafka).
METADATA_BYTES = 64
# StreamsConfig: cache.max.bytes.buffering, from 3.4 on statestore.cache.max.bytes; 10 MiB by default.
_CACHE_SETTINGS = ("statestore.cache.max.bytes", "cache.max.bytes.buffering")
_CACHE_BYTES = 10 * 1024 * 1024
_MIB = 1024 * 1024


def buffer_bytes(one: DeclaredSuppression) -> int | None:
    """The most that one buffer holds on one instance, None if number or size of its keys are not declared.

    The newest value of each key seen while results are held back, and the value before it, which is kept to
    forward a change. Source: J. Roesler, Kafka Streams' Take on Watermarks and Triggers (Confluent);
    BufferValue (Apache Kafka).
    """
    if one.max_bytes is not None:
        return one.max_bytes
    if one.key_bytes is None or one.value_bytes is None:
        return None
    records = one.keys if one.max_records is None else min(one.max_records, one.keys or one.max_records)
    if records is None:
        return None
    return records * (one.key_bytes + 2 * one.value_bytes + METADATA_BYTES)


def needed_bytes(declared: Declaration, topology: Topology) -> int | None:
    """All buffers and the record cache of one instance, with the tasks of a stopped one; None if unknown."""
    sizes = [buffer_bytes(one) for name, one in declared.suppressions.items() if name in topology.operators]
    if declared.memory is None or any(size is None for size in sizes):
        return None
    moved = sum(size or 0 for size in sizes) * declared.memory.instances // max(1, declared.memory.instances - 1)
    return moved + _cache_bytes(declared)


def fits(declared: Declaration, topology: Topology) -> bool | None:
    """Whether the heap has room for it; None if unknown."""
    needed = needed_bytes(declared, topology)
    return None if needed is None or declared.memory is None else needed <= declared.memory.heap_bytes


def estimate(declared: Declaration, topology: Topology) -> str:
    """The estimate in words, or what to declare for one."""
    needed = needed_bytes(declared, topology)
    if needed is None or declared.memory is None:
        return (
            "not estimated: declare keys, key_bytes and value_bytes of every suppression, and memory (heap_bytes and "
            "instances)"
        )
    return (
        f"about {_mib(needed)} for all buffers with those of a stopped instance and the record cache, of a heap of "
        f"{_mib(declared.memory.heap_bytes)}"
    )


def factor(declared: Declaration) -> str:
    """The factor by which the buffers of an instance grow while another is down."""
    instances = declared.memory.instances if declared.memory else 0
    return f"{instances / (instances - 1):.2f} times" if instances > 1 else "by what the stopped one held"


def _cache_bytes(declared: Declaration) -> int:
    values = [(declared.config or {}).get(name) for name in _CACHE_SETTINGS]
    return next((int(value) for value in values if value and value.isdigit()), _CACHE_BYTES)


def _mib(size: int) -> str:
    return f"{size / _MIB:,.1f} MiB"


_FINAL = "until_window_closes"


def suppressions(compared: Compared) -> Iterator[Subject]:
    """Each suppress operator; a renamed one stays, and its buffer does not."""
    old, new = candidates(compared.before), candidates(compared.after)
    kept = dict(compared.operators.pairs)
    rows = rows_held(compared, {now for was, now in kept.items() if was == now and old.get(was) and now in new})
    for was, sure in old.items():
        now = kept.get(was)
        if now is None or now not in new:
            yield _one_side(compared, was, sure=sure, removed=True)
        else:
            yield _with_rows(_stays(compared, was, now, sure=sure or new[now]), rows)
    for name in sorted(new.keys() - {kept.get(was) for was in old}):
        yield _one_side(compared, name, sure=new[name], removed=False)


def _with_rows(subject: Subject, rows: RowsHeld) -> Subject:
    """The subject with the operators in front of it by which it misses that a row goes."""
    stored, filtered = rows.stored.get(subject.name, ""), rows.filtered.get(subject.name, "")
    facts = {**subject.facts, "rows_stored": bool(stored), "rows_filtered": bool(filtered)}
    return replace(subject, facts=facts, said={**subject.said, "stored": stored, "filtered": filtered})


def candidates(side: Side) -> dict[str, bool]:
    """Operators that are a suppression (True), or may be: with one store named after them, of no declared kind."""
    found: dict[str, bool] = {}
    for name, node in side.nodes.items():
        if name in side.declared.suppressions or is_suppression(name):
            found[name] = True
        elif isinstance(node, Processor) and node.stores == {f"{name}-store"}:
            store = side.declared.stores.get(f"{name}-store")
            if store is None or store.kind is None:
                found[name] = False
    return dict(sorted(found.items()))


def _one_side(compared: Compared, name: str, *, sure: bool, removed: bool) -> Subject:
    """One that comes or goes; for a possible suppression the subject names the field to declare."""
    side = compared.before if removed else compared.after
    name_of_side = "old" if removed else "new"
    one = side.declared.suppressions.get(name)
    facts: dict[str, Fact] = {
        "renamed": False,
        "added": not removed if sure or removed else None,
        "removed": removed if sure or not removed else None,
        "stays": False,
        "generated": is_generated(name),
        "mode_changed": False,
        "buffer_changed": False,
        "buffer_smaller": False,
        "full_ends_now": False,
        "serde_changed": False,
        "logging_changed": False,
        "memory_alone": False,
        "table_changed": False,
        "bypassed": False,
        "results_again": False,
        "becomes_final": False,
        "rows_stored": False,
        "rows_filtered": False,
        "was_final": False,
        "logged": None,
        "disabled": removed and _disabled(one),
        **_of_the_new(compared, name, None if removed else one, sure=sure and not removed),
    }
    what = (Undeclared(f"suppressions.{name}, or stores.{name}-store.kind where it is none", "", name_of_side),)
    return Subject("suppression", name, facts, _said(compared, name, one), {"added": what, "removed": what})


def _stays(compared: Compared, was: str, name: str, *, sure: bool) -> Subject:
    old, new = compared.before.declared.suppressions.get(was), compared.after.declared.suppressions.get(name)
    # A buffer under another name starts empty.
    table = table_change(compared, name, old, new) if was == name and sure else (False, (), "")
    past = bypassing(compared, was, name) if sure else ()
    windows = _window_before(compared.before, was), _window_before(compared.after, name)
    facts: dict[str, Fact] = {
        "renamed": was != name and not (is_generated(was) and is_generated(name)) if sure else False,
        "added": False,
        "removed": False,
        "stays": True,
        "generated": is_generated(name),
        "disabled": False,
        "serde_changed": _serde_changed(compared, was, name, old, new),
        "mode_changed": changed(old and (old.mode, old.time_limit_ms), new and (new.mode, new.time_limit_ms)),
        "buffer_changed": changed(old and _buffer(old), new and _buffer(new)),
        "full_ends_now": old is not None and new is not None and _is_bounded(old) and _ends_now(old, new),
        "buffer_smaller": was == name and old is not None and new is not None and _is_lower(old, new),
        "logging_changed": _logging_changed(compared, old, new),
        "memory_alone": new is not None
        and new.logging is False
        and not (old is not None and old.logging)
        and not _may_begin_empty(compared.after, name),
        "table_changed": table[0],
        "bypassed": bool(past) and not _disabled(old),
        "becomes_final": was == name and sure and _is_early(old) and _is_final(new),
        "was_final": _is_final(old),
        "results_again": sure and _is_final(old) and _is_final(new) and closes_later(*windows),
        "logged": None if new is None else new.logging,
        **_of_the_new(compared, name, new, sure=sure),
    }
    other = "" if sure else f", or stores.{name}-store.kind where it is none"
    what = (Undeclared(f"suppressions.{name}{other}", "", sides(old, new)),)
    serde = (Undeclared(f"suppressions.{name}", "value_serde", "old, new"),)
    logging = (Undeclared(f"suppressions.{name}", "logging", sides(old and old.logging, new and new.logging)),)
    asked = {"mode_changed": what, "buffer_changed": what, "serde_changed": serde, "table_changed": table[1]}
    asked |= {"logging_changed": logging, "logged": logging}
    said = {**_said(compared, name, new), "before": was, "tables": table[2], "past": ", ".join(past)}
    said |= {"limit_before": _limit(old), "limit": _limit(new), **closing_words(*windows)}
    said["time_limit"] = duration(new.time_limit_ms or 0) if new is not None else ""
    return Subject("suppression", name, facts, said, asked)


def _serde_changed(
    compared: Compared, was: str, name: str, old: DeclaredSuppression | None, new: DeclaredSuppression | None
) -> bool | None:
    """By the declarations; without them False if the operators between table and suppression are unchanged."""
    told = changed(old and old.value_serde, new and new.value_serde)
    if told is not None:
        return told
    before = between_store_and(compared.before.topology, was)
    return False if before == between_store_and(compared.after.topology, name) else None


def _logging_changed(
    compared: Compared, old: DeclaredSuppression | None, new: DeclaredSuppression | None
) -> bool | None:
    found = changed(old and old.logging, new and new.logging)
    return False if found is None and "logging" in compared.after.declared.unchanged else found


def _disabled(one: DeclaredSuppression | None) -> bool:
    return one is not None and one.mode != _FINAL and one.time_limit_ms == 0


def _is_early(one: DeclaredSuppression | None) -> bool:
    """Whether it holds results back by the time of their record, and not by the end of their window."""
    return one is not None and not _is_final(one) and not _disabled(one)


def _is_final(one: DeclaredSuppression | None) -> bool:
    return one is not None and one.mode == _FINAL


def _of_the_new(compared: Compared, name: str, one: DeclaredSuppression | None, *, sure: bool) -> dict[str, Fact]:
    """Whether the new version's suppression holds records, and by which grace; all false without one."""
    before = compared.before.declared.suppressions.get(name)
    return {
        "holds": sure and not _disabled(one),
        "too_large": fits(compared.after.declared, compared.after.topology) is False and one is not None,
        "default_grace": _default_grace(compared.after, name, one),
        "default_grace_before": bool(before) and bool(_default_grace(compared.before, name, before)),
    }


def _default_grace(side: Side, name: str, one: DeclaredSuppression | None) -> bool:
    window = _window_before(side, name)
    return one is not None and one.mode == _FINAL and window is not None and not window.grace_given


def _window_before(side: Side, operator: str) -> Window | None:
    """The declared window of the nearest store before a suppress operator, None without one."""
    store = store_before(side.topology, side.declared, operator)
    return None if store is None else store.window


def _said(compared: Compared, name: str, one: DeclaredSuppression | None) -> dict[str, str]:
    after = compared.after.declared
    window = _window_before(compared.after, name)
    return {
        "name": name,
        "before": name,
        "estimate": estimate(after, compared.after.topology),
        "factor": factor(after),
        "grace": "not known" if window is None else duration(window.grace_ms),
        "mode": "not declared" if one is None else one.mode.replace("_", " "),
    }


def _is_lower(old: DeclaredSuppression, new: DeclaredSuppression) -> bool:
    """Whether the old buffer may hold more than the new one, which restores it before the limit counts."""
    limits = ((old.max_records, new.max_records), (old.max_bytes, new.max_bytes))
    return new.ends_when_full and any(now is not None and (was is None or now < was) for was, now in limits)


def _is_bounded(one: DeclaredSuppression) -> bool:
    return one.max_records is not None or one.max_bytes is not None


def _ends_now(old: DeclaredSuppression, new: DeclaredSuppression) -> bool:
    return new.ends_when_full and not old.ends_when_full


def _limit(one: DeclaredSuppression | None) -> str:
    """The limits of a buffer in words."""
    if one is None:
        return "not declared"
    limits = [f"{count:,} {unit}" for count, unit in ((one.max_records, "records"), (one.max_bytes, "bytes")) if count]
    return " and ".join(limits) or "none"


def _buffer(one: DeclaredSuppression) -> object:
    return one.max_records, one.max_bytes, one.when_full


def _may_begin_empty(side: Side, name: str) -> bool:
    """Whether the store of a suppression is declared to be one that may be lost."""
    node = side.nodes.get(name)
    stores = node.stores if isinstance(node, Processor) else frozenset[str]()
    return any(side.declared.stores.get(store, DeclaredStore()).loss_acceptable for store in stores)
