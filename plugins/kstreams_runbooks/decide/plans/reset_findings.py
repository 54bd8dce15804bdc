"""The findings of a reset: what its blast radius means for the person who approves it."""

from collections.abc import Iterator

from kstreams_runbooks.decide.catch_up.disorder import late_text
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import BlastRadius, CountedMove
from kstreams_runbooks.model.target import RunbookSettings
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.wording import first_of

_SOURCE = "Kafka Streams developer guide, Application Reset Tool; docs/blast_radius.md"
_LATE = "Kafka Streams developer guide, Windowing; docs/blast_radius.md"
_CLEAN_UP = "KafkaStreams#cleanUp (Javadoc); docs/reset_and_cleanup.md"
_MB = 1_000_000


def reset_findings(
    radius: BlastRadius,
    created: tuple[TopicShape, ...] | Missing | None,
    ceiling_s: float,
    clean_up: RunbookSettings = (),
) -> Iterator[Finding]:
    """Deleted topics, records that are read again or never, state that cannot be built again, and who sees results.

    `created` are the internal topics to create before the start, Missing if that is not known, None if the form leaves
    them to the application. `ceiling_s` is how long each gate waits. With `clean_up` the application deletes its state.
    """
    yield from _cleaned_up(radius, clean_up)
    yield from _topics(radius, created)
    yield from _offsets(radius)
    yield from _state(radius, ceiling_s)
    yield from _late(radius)
    yield from _readers(radius)


def _cleaned_up(radius: BlastRadius, clean_up: RunbookSettings) -> Iterator[Finding]:
    if not clean_up:
        return
    settings = ", ".join(f"{key}={value}" for key, value in clean_up)
    after = " after the topics are deleted," if radius.deleted else ""
    message = (
        f"the application deletes its local state itself, with {settings} for one start:{after} it is seen gone right "
        "after each start, not before; one instance starts after another, and if one keeps state, all are stopped"
    )
    yield Finding("reset-cleans-up-at-start", "warning", radius.application, message, _CLEAN_UP)


def _topics(radius: BlastRadius, created: tuple[TopicShape, ...] | Missing | None) -> Iterator[Finding]:
    if not radius.deleted:
        return
    sizes = [one.bytes for one in radius.deleted]
    known = [size for size in sizes if isinstance(size, int)]
    size = f"{sum(known) / _MB:,.1f} MB" if len(known) == len(sizes) else "an unknown size"
    names = [one.name for one in radius.deleted]
    topics = "internal topic is" if len(names) == 1 else "internal topics are"
    message = (
        f"{len(names):,} {topics} deleted with the records ({size}): {first_of(names)}; nothing brings that state back"
    )
    yield Finding("reset-deletes-topics", "danger", radius.application, message, _SOURCE)
    if isinstance(created, tuple):
        return
    why = created.missing if created else "the form leaves them to the application"
    yield Finding(
        "internal-topics-not-created",
        "warning",
        radius.application,
        f"internal topics are not created before the start: {why}; the application creates them in its first rebalance",
        "KIP-698; docs/internal_topics.md",
    )


def _offsets(radius: BlastRadius) -> Iterator[Finding]:
    counts = {(one.topic, one.partition): one for one in radius.counts}
    for topic in dict.fromkeys(one.topic for one in radius.offsets):
        rows = [one for one in radius.offsets if one.topic == topic]
        again = [counts.get((one.topic, one.partition)) for one in rows if one.again]
        skipped = [counts.get((one.topic, one.partition)) for one in rows if one.skipped]
        parts = [f"{_records(again)} are read again"] if again else []
        parts += [f"{_records(skipped)} are never read"] if skipped else []
        if outside := [one.name for one in rows if one.outside]:
            parts.append(f"the target of {first_of(outside)} is outside the log")
        if parts:
            message = f"{topic} to {rows[0].given}: {', '.join(parts)}"
            yield Finding("reset-moves-offsets", "warning", topic, message, _SOURCE)
    for keys in radius.missing_keys:
        if keys.count:
            count = keys.count.missing if isinstance(keys.count, Missing) else f"{keys.count:,}"
            message = f"table {keys.topic}: keys without a record after its target will be missing: {count}"
            yield Finding("reset-misses-keys", "danger", keys.topic, message, _SOURCE)


def _records(found: list[CountedMove | None]) -> str:
    known = [one for one in found if one is not None and isinstance(one.moved, int)]
    if len(known) < len(found):
        return "records, how many is not known,"
    least = "at least " if any(one.at_least for one in known) else ""
    return f"{least}{sum(one.moved for one in known if isinstance(one.moved, int)):,} records"


def _state(radius: BlastRadius, ceiling_s: float) -> Iterator[Finding]:
    if radius.mode == "state":
        topics = sorted({one.changelog for one in radius.stores if one.fate == "restored" and one.changelog})
        of = {one.name: one.bytes for one in radius.internal}
        sizes = [of.get(topic) for topic in topics]
        known = [size for size in sizes if isinstance(size, int)]
        size = f"up to {sum(known) / _MB:,.1f} MB" if len(known) == len(sizes) else "an unknown number of MB"
        restored = (
            f"{size} are restored from {first_of(topics)} before it goes on" if topics else "no topic restores it"
        )
        message = f"local state of every instance is deleted; {restored}"
        yield Finding("reset-clears-state", "warning", radius.application, message, _SOURCE)
    for store in radius.stores:
        given_up = radius.mode == "state" and store.fate == "unknown" and store.accepted
        if store.fate in {"partly", "lost"} or given_up:
            lost = "begins without what its files alone have" if store.in_part else "is lost"
            accepted = "may be lost, which is accepted" if given_up else f"{lost}, which is accepted"
            what = "is not built again in full" if store.fate == "partly" else accepted
            message = f"store {store.store} {what}: {store.why}"
            yield Finding("reset-loses-state", "danger", store.store, message, _SOURCE)
    records, seconds = radius.catch_up.records, radius.catch_up.seconds
    if radius.mode != "state" and records:
        count = records.missing if isinstance(records, Missing) else f"{records:,} records are left to read"
        if isinstance(seconds, Missing):
            pace = f"how long is not known ({seconds.missing})"
        else:
            pace = f"about {seconds:,.0f} s"
            if seconds > ceiling_s:
                pace += f" (a gate gives up after {ceiling_s:,.0f} s: set gate_ceiling_s of the form above that time)"
        message = f"until it has caught up: {count}, {pace}; results before that are incomplete"
        yield Finding("reset-catches-up", "warning", radius.application, message, _SOURCE)


def _late(radius: BlastRadius) -> Iterator[Finding]:
    unknown = []
    for one in (one for one in radius.late if not one.comparable):
        if isinstance(one.grace_ms, Missing):
            unknown.append(one)
            continue
        outputs = f"; {first_of(one.outputs)} may differ from what it was live" if one.outputs else ""
        yield Finding("reset-drops-late", "warning", one.store, f"store {one.store}: {late_text(one)}{outputs}", _LATE)
    if unknown:
        # One for all of them: a release without a declaration has as many as stores.
        stores = f"{'store' if len(unknown) == 1 else 'stores'} {first_of([one.store for one in unknown])}"
        yield Finding("reset-drops-late", "warning", radius.application, f"{stores}: {late_text(unknown[0])}", _LATE)


def _readers(radius: BlastRadius) -> Iterator[Finding]:
    if radius.mode == "state":
        return
    entries = {one.entry for one in radius.downstream}
    names = [f"{name} (fleet)" for name in sorted(entries)]
    names += [f"group {one.group_id}" for one in radius.readers if one.entry not in entries]
    if names:
        message = f"results are written again and seen by {first_of(names)}; tell their owners"
        yield Finding("reset-seen-downstream", "warning", radius.application, message, _SOURCE)
