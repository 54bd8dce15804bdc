"""Whether control topics may come in front of an application that runs: only the topics that it reads may change.

Each refusal prevents records that are lost or read twice, or a store that begins empty. A stream whose record is read
from a control topic while its table is read from an input would be joined with another state of that table, so every
input is adopted, or none.

Source: Apache Kafka documentation, "Log Compaction" (delete.retention.ms); Kafka Streams developer guide, "Naming
Operators"; KIP-295 (topics as changelogs); KIP-1071 (streams groups).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.partitions import repartition_topics
from kstreams_runbooks.model.readings.adoption import AdoptedInput, AdoptReading
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.topology.topology import Node, Processor, Source, Topology
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of

_SOURCE = "docs/adopt_control_topic.md"
_STREAMS = "streams"
# How Kafka Streams goes on after the topic in the name of a table's store.
_GENERATED = "STATE-STORE-"
_EXACTLY_ONCE = "exactly_once"
_RESETS = frozenset({"earliest", "latest"})


def may_adopt(reading: AdoptReading, before: Described, after: Described | Missing) -> Verdict:
    """Refuse control topics that would lose, double or fail; a certain refusal counts even if others are not known.

    `before` is the version that runs, `after` the one with the settings of its inputs changed. The findings are what a
    person has to know: what may come twice, and what a copy without history lacks.
    """
    refused = (*_of_both(reading), *_not_fresh(reading), *_history(reading), *_unlike(reading, before, after))
    return _judged(refused, reading, after)


def may_abandon(reading: AdoptReading, before: Described, after: Described | Missing) -> Verdict:
    """Refuse the way back to the inputs in the same way; the copier runs, and its control topics are there."""
    return _judged((*_of_both(reading), *_unlike(reading, before, after)), reading, after)


def _judged(refused: tuple[str, ...], reading: AdoptReading, described: Described | Missing) -> Verdict:
    if refused:
        return Verdict(Outcome.REFUSE, refused)
    if unknown := tuple(_unknown(reading, described)):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    routes = ", ".join(f"{one.input} → {one.control}" for one in reading.inputs)
    return Verdict(
        Outcome.PROCEED,
        (f"copier {reading.copier} ({routes}): with and without it, the topology differs in these topics alone",),
        tuple(_findings(reading)),
    )


def _of_both(reading: AdoptReading) -> Iterator[str]:
    yield from _groups(reading)
    yield from _all_or_none(reading)
    for topic in reading.tables:
        yield (
            f"input {topic}: a store restores from it (reuse.ktable.source.topics, or addReadOnlyStateStore), so its "
            "offsets are also places in the state; give the store a changelog of its own first (reset_and_cleanup)"
        )
    for pattern in reading.patterns:
        yield (
            f"source pattern {pattern}: the application reads by a pattern (expected topics by name), which control "
            "topics may match or not; let it subscribe to names"
        )
    for one in reading.inputs:
        yield from _unfit(one)


def _groups(reading: AdoptReading) -> Iterator[str]:
    for what, group, kind in (
        (f"application {reading.application}", reading.group_id, reading.group_type),
        (f"copier {reading.copier}", reading.copier_group, reading.copier_type),
    ):
        if kind.lower() == _STREAMS:
            yield (
                f"group {group} of {what}: a streams group (expected classic): brokers refuse other source topics of "
                "a streams group that exists (KIP-1071); set group.protocol=classic first"
            )


def _all_or_none(reading: AdoptReading) -> Iterator[str]:
    routed = {_read_now(reading, one): one for one in reading.inputs}
    if not reading.sources:
        yield f"group {reading.group_id}: no input was found (expected at least one); look at its topology"
    for topic in reading.sources:
        if topic not in routed:
            yield (
                f"input {topic} of {reading.application}: copier {reading.copier} has no route of it (expected: every "
                "input, or none); add it to `routes` of the copier"
            )
    for topic in sorted(routed.keys() - set(reading.sources)) if not reading.patterns else ():
        yield (
            f"route {routed[topic].input} → {routed[topic].control} of copier {reading.copier}: {reading.application} "
            f"does not read {topic} (expected: its inputs alone); take it out of `routes`"
        )


def _read_now(reading: AdoptReading, one: AdoptedInput) -> str:
    """The topic of a route that the running version reads: the control topic on the way back."""
    return one.control if one.control in reading.sources else one.input


def _unfit(one: AdoptedInput) -> Iterator[str]:
    if not one.settings:
        yield (
            f"input {one.input}: no setting names it (expected one in `input_settings` of the fleet entry); declare "
            "the setting, and let the application read the name from it"
        )
    if one.compacted and one.delete_retention_ms == 0:
        yield (
            f"input {one.input}: its delete.retention.ms is 0, and the copy may take half of it: a key that is deleted "
            "meanwhile may come back; raise it for the time of the copy"
        )
    if not one.partitions:
        yield f"input {one.input}: the topic does not exist; correct `routes` of the copier"


def _not_fresh(reading: AdoptReading) -> Iterator[str]:
    """What is left of a copier that has run before: the copy could have records twice, or lack some."""
    if reading.copier_up:
        yield (
            f"copier {reading.copier}: {first_of(reading.copier_up)} runs (expected: no instance, the run starts it at "
            "the beginning of the inputs); stop it"
        )
    if reading.copier_offsets:
        yield (
            f"group {reading.copier_group} of copier {reading.copier}: has offsets on "
            f"{first_of(reading.copier_offsets)} (expected none, it would begin there); delete them: "
            f"kafka-consumer-groups --delete --group {reading.copier_group}"
        )
    for one in reading.inputs:
        if one.control_partitions is not None:
            yield (
                f"control topic {one.control}: it exists (expected: the run creates it like {one.input}); delete it, "
                "or choose another name in `routes` of the copier"
            )


def _history(reading: AdoptReading) -> Iterator[str]:
    if reading.history:
        return
    for topic in sorted({*reading.globals, *reading.stateful}):
        yield (
            f"input {topic}: a table is built from it (expected: streams alone, without history), and a table of a "
            "later reset would lack every row from before; trigger a new run with --param history=true"
        )


def _unlike(reading: AdoptReading, runs: Described, described: Described | Missing) -> Iterator[str]:
    """How the topology with the settings changed differs in anything else than the topics that it reads."""
    if isinstance(described, Missing):
        return
    before, after = parsed(runs).topology, parsed(described).topology
    renamed = {}
    for one in reading.inputs:
        now = _read_now(reading, one)
        renamed[now] = one.control if now == one.input else one.input
    before = _with_global_stores(before, after, renamed)
    wanted = with_sources(before, renamed)
    if wanted == after:
        return
    yield from _stores_left(reading, before, after, renamed)
    if before.stores == after.stores:
        read, wants = _sources(after), _sources(wanted)
        if other := sorted(repartition_topics(before) ^ repartition_topics(after)):
            yield (
                f"with {_settings(reading)} changed the application has other repartition topics ({first_of(other)}), "
                "and would never read what is left in the old ones; name them without the name of an input "
                "(Repartitioned.as, Grouped.as)"
            )
        elif lacking := sorted(wants - read):
            yield (
                f"with {_settings(reading)} changed the application does not read {first_of(lacking)} (expected: the "
                "other topic in place of each input); correct `input_settings`"
            )
        elif more := sorted(read - wants):
            yield (
                f"with {_settings(reading)} changed the application still reads {first_of(more)} (expected: the other "
                "topic in place of each input); correct `input_settings`"
            )
        else:
            yield (
                f"with {_settings(reading)} changed the topology differs in more than its source topics (expected: in "
                "nothing else); compare both with `kstreams-runbooks plan`, and let these settings name topics alone"
            )


def _stores_left(reading: AdoptReading, before: Topology, after: Topology, renamed: Mapping[str, str]) -> Iterator[str]:
    """Stores that would begin empty under another name."""
    for store in sorted(before.stores - after.stores):
        others = sorted(after.stores - before.stores)
        topic = next((name for name in renamed if store.startswith(f"{name}-")), "")
        if topic and store.removeprefix(f"{topic}-").startswith(_GENERATED):
            yield (
                f"table of {topic}: its store {store} is named after the topic, and would begin empty as "
                f"{first_of(others) or 'another one'}; name it in a release before: "
                f'builder.table("{topic}", Materialized.as("{store}")); generated names behind it change with that, so '
                "look at that release with `kstreams-runbooks plan` first"
            )
        elif topic:
            yield (
                f"store {store}: its name has the input {topic} in it, and it would begin empty as "
                f"{first_of(others) or 'another one'}; give its operator a name that no setting changes, in a release "
                "before"
            )
        else:
            yield (
                f"store {store}: it is not in the topology with {_settings(reading)} changed (expected: the same "
                "stores); let these settings name topics alone"
            )


def _with_global_stores(before: Topology, after: Topology, renamed: Mapping[str, str]) -> Topology:
    """The topology with its global stores named as later: each is built from its topic.

    A global table without a chosen name has the topic in it. The run clears the directory of global stores.
    """
    there = {store for sub in after.subtopologies if sub.is_global for store in sub.stores}
    names = {
        store: name
        for sub in before.subtopologies
        if sub.is_global
        for store in sub.stores
        for topic, other in renamed.items()
        if store.startswith(f"{topic}-") and (name := f"{other}-{store.removeprefix(f'{topic}-')}") in there
    }

    def named(node: Node) -> Node:
        if not isinstance(node, Processor):
            return node
        return replace(node, stores=frozenset(names.get(store, store) for store in node.stores))

    return Topology(tuple(replace(sub, nodes=tuple(map(named, sub.nodes))) for sub in before.subtopologies))


def with_sources(topology: Topology, renamed: Mapping[str, str]) -> Topology:
    """A topology that reads other topics in place of those of `renamed`."""

    def other(node: Node) -> Node:
        if not isinstance(node, Source):
            return node
        return replace(node, topics=frozenset(renamed.get(name, name) for name in node.topics))

    return Topology(
        tuple(replace(sub, nodes=tuple(other(node) for node in sub.nodes)) for sub in topology.subtopologies)
    )


def _sources(topology: Topology) -> frozenset[str]:
    return frozenset(name for _, node in topology.nodes() if isinstance(node, Source) for name in node.topics)


def _settings(reading: AdoptReading) -> str:
    return first_of(sorted({name for one in reading.inputs for name in one.settings}))


def _unknown(reading: AdoptReading, described: Described | Missing) -> Iterator[str]:
    if isinstance(described, Missing):
        yield f"whether only the topics that are read change is not known: {described.missing}"
    for one in reading.inputs:
        if one.compacted is None:
            yield (
                f"input {one.input}: whether it is compacted is not known; grant this login DescribeConfigs on Topic "
                f"{one.input}"
            )
        elif one.compacted and one.delete_retention_ms is None:
            yield (
                f"input {one.input}: its delete.retention.ms is not known, which limits the copy; grant this login "
                f"DescribeConfigs on Topic {one.input}"
            )
    if reading.uncommitted and reading.reset not in _RESETS:
        yield (
            f"{first_of(reading.uncommitted)}: records and no committed offset, and where the group begins there is "
            "not known; declare auto.offset.reset of the release and offset_reset of its sources (docs/declaration.md)"
        )


def _findings(reading: AdoptReading) -> Iterator[Finding]:
    for sink in reading.chooses:
        yield Finding(
            "adopt-chosen-topics",
            "danger",
            sink,
            "code chooses the topics that it writes, record by record: if it makes their names from the topic that the "
            "record was read from, its readers get nothing from the change on; read that code (TopicNameExtractor)",
            _SOURCE,
        )
    for one in reading.inputs:
        if one.retention_bytes != -1:
            limit = "a retention.bytes that is not known" if one.retention_bytes is None else f"{one.retention_bytes:,}"
            yield Finding(
                "adopt-retention-bytes",
                "warning",
                one.control,
                f"it gets retention.bytes of {one.input} ({limit}): bytes count as they are stored, and copies in "
                "other batches may take several times as many, so it may delete copies that the input still has; raise "
                "it while the copier runs, or set -1 with a retention.ms",
                _SOURCE,
            )
    yield Finding(
        "adopt-topic-names",
        "info",
        reading.application,
        "code that asks for the topic of its record sees the other name from the change on (recordMetadata, "
        "timestamp extractors, deserializers, exception handlers): this is not read",
        _SOURCE,
    )
    if not reading.guarantee.startswith(_EXACTLY_ONCE):
        yield Finding(
            "adopt-may-repeat",
            "warning",
            reading.application,
            f"processing.guarantee is {reading.guarantee}: records that an instance has processed and not committed "
            "when it stops come a second time, as after any stop that is not clean. An input with transactions may "
            "have records that were aborted: the application has read them, and no control topic has them. A "
            "transaction that a producer has open when the application stops keeps it down until its end",
            _SOURCE,
        )
    if not reading.history:
        yield Finding(
            "adopt-without-history",
            "warning",
            reading.application,
            "the control topics begin at the committed offsets: a later reset to earliest, or a second side of the "
            "application, does not see any record from before",
            _SOURCE,
        )
    if reading.unproven:
        yield Finding(
            "adopt-without-proof",
            "warning",
            reading.application,
            f"the control topics are not compared with their inputs: {reading.unproven}",
            "docs/compare_topics.md",
        )
