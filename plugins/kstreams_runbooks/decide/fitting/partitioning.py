"""Whether a repartition may go: only if each key is read in the partition that has its state.

Without the repartition topic a record is processed in its own partition of the input. If the state of its key is in
another one, the application goes on from nothing there, and nothing fails.
"""

from collections.abc import Iterator

from kstreams_runbooks.model.readings.partitioning import (
    ComparedTopic,
    KeyCase,
    KeyCounts,
    PartitioningReading,
    PlacedKey,
)
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import outside

_LONGEST_KEY = 80
_KEEP = "keep the repartition"
# Their changelogs keep the newest value of every key: a beginning that is gone is not retention's.
_WHOLE_FROM_START = frozenset({"key_value", "versioned", "repartition"})


def keys_are_with_their_state(reading: PartitioningReading) -> Verdict:
    """Whether each key of the input is in the partition that has its state.

    Proceed: every record that is there was read, and each key with state is in one partition, that of its state. Keys
    without state are where Kafka's default partitioner puts them, which all of the state follows. Refuse: a key is
    proven to be elsewhere. Inconclusive: something was not read, is gone, or cannot be compared.

    Source: Kafka Streams developer guide, "Stateless transformations" (groupBy, groupByKey); `BuiltInPartitioner`.
    """
    refused = tuple(_refused(reading))
    unknown = tuple(_unknown(reading))
    if refused:
        return Verdict(Outcome.REFUSE, (*refused, *unknown))
    if unknown or reading.keys is None:
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    keys = reading.keys
    without = f"; {keys.new:,} without state are where Kafka's default partitioner puts it" if keys.new else ""
    return Verdict(
        Outcome.PROCEED,
        (f"{keys.same:,} of {keys.state:,} keys of {reading.input.name} are in the partition of their state{without}",),
    )


def _refused(reading: PartitioningReading) -> Iterator[str]:
    """What is proven, worst first."""
    given, state, keys = reading.input, reading.state, reading.keys
    if given.partitions != state.partitions:
        yield (
            f"{given.name} has {given.partitions} partitions and {state.name} has {state.partitions} (expected the "
            f"same number): keys would be in other partitions than their state; {_KEEP}, or bring the partition "
            "counts together first (docs/change_rules.md, partition_increase)"
        )
    if keys is None:
        return
    if keys.short_keys:
        yield (
            f"{keys.short_keys:,} records of {state.name} have a key that is too short for a {reading.kind} store "
            "(limit 0): its keys cannot be compared; give the kind that the store has"
        )
    else:
        yield from _elsewhere(reading, keys)


def _elsewhere(reading: PartitioningReading, keys: KeyCounts) -> Iterator[str]:
    """Keys that are proven to be in another partition than their state, or to have none under these bytes."""
    given, state = reading.input, reading.state
    if keys.elsewhere:
        yield (
            f"{keys.elsewhere:,} of {keys.same + keys.elsewhere:,} keys are in another partition than their state "
            f"(limit 0): {_where(reading, 'elsewhere')}; {_KEEP}, or give the producers of {given.name} "
            f"{_partitioner(keys)}, and read a topic in which they have written every record with it"
        )
    if keys.several:
        yield (
            f"{keys.several:,} of {keys.input:,} keys are in more than one partition of {given.name} (limit 0): "
            f"{_where(reading, 'several')}; their state would be split; {_KEEP}, or have every producer use one "
            "partitioner, and read a topic in which all records are written with it"
        )
    if keys.absent and not _may_lack(given):
        yield (
            f"{keys.absent:,} of {keys.state:,} keys of {state.name} never occur in {given.name}, which has all of its "
            f"records (limit 0): {_where(reading, 'absent')}; their bytes are others (another serde, another selector "
            f"of the key), or another topic feeds the store too; {_KEEP}"
        )
    if keys.new_elsewhere and keys.state and not keys.other_state and not _sampled(reading):
        yield (
            f"{keys.new_elsewhere:,} of {keys.new:,} keys of {given.name} without state are not where Kafka's default "
            f"partitioner puts them, which all of the state follows (limit 0): {_where(reading, 'new_elsewhere')}; "
            f"{_KEEP}, or give the producers of {given.name} {_partitioner(keys)}"
        )


def _unknown(reading: PartitioningReading) -> Iterator[str]:
    """What is not proven, and why."""
    keys = reading.keys
    if keys is None:
        for one in (reading.input, reading.state):
            if not one.offsets:
                yield f"{one.name} has no record to read (expected some): there is nothing to compare; {_KEEP}"
    elif not keys.short_keys:
        yield from _not_compared(reading, keys)
        yield from _not_read(reading)


def _not_compared(reading: PartitioningReading, keys: KeyCounts) -> Iterator[str]:
    """Keys that are in one of both topics alone, and records without a key."""
    given, state = reading.input, reading.state
    if not keys.input:
        yield f"{given.name} has no record with a key (expected some): there is nothing to compare; {_KEEP}"
    elif not keys.state:
        yield (
            f"{state.name} has no key with state (expected some; {keys.deleted:,} are deleted): there is nothing to "
            f"compare; {_KEEP}, or compare once the store has state"
        )
    if keys.absent and _may_lack(given):
        yield _absent(reading, keys)
    if keys.null_keys:
        yield (
            f"{keys.null_keys:,} records of {given.name} have no key (limit 0): without the repartition they are "
            f"dropped, and what they become today is not known here; {_KEEP}, or ask the owners whether their key "
            "selector drops them too"
        )
    if keys.new and keys.other_state and not _sampled(reading):
        yield (
            f"{keys.new:,} keys of {given.name} have no state, and {keys.other_state:,} of {keys.state:,} keys have "
            "theirs where Kafka's default partitioner does not put them (limit 0 of either): another partitioner "
            f"writes them, and where new keys will be is not known; {_KEEP}, or approve the loss of these keys"
        )


def _not_read(reading: PartitioningReading) -> Iterator[str]:
    """Records that are gone, or that a sample left out."""
    given, state = reading.input, reading.state
    if state.deleted and reading.kind in _WHOLE_FROM_START:
        yield (
            f"{state.name} begins {state.deleted:,} offsets after its start (limit 0): records are deleted, so keys of "
            f"which the state is unknown may be elsewhere; {_other_topic(reading)}"
        )
    if _sampled(reading):
        unread = given.unread + state.unread
        yield (
            f"a sample: {given.unread:,} of {given.offsets:,} offsets of {given.name} and {state.unread:,} of "
            f"{state.offsets:,} of {state.name} were not read (limit 0), so up to {unread:,} more keys may be in "
            "another partition than their state; read all of them without a sample, or approve that loss"
        )


def _absent(reading: PartitioningReading, keys: KeyCounts) -> str:
    """Keys with state that an incomplete input does not have: it cannot be proven why."""
    given, state = reading.input, reading.state
    lacks = ", ".join(_lacks(given))
    if keys.absent == keys.state:
        return (
            f"none of the {keys.state:,} keys of {state.name} occurs in {given.name} ({lacks}): either their bytes are "
            "others (another serde, another selector of the key), or their records are among the missing ones; "
            f"{_KEEP}, or compare where {given.name} has all of its records"
        )
    forecast = (
        f"{keys.absent_elsewhere:,} of them are not where Kafka's default partitioner puts them"
        if keys.absent_elsewhere
        else "Kafka's default partitioner would put all of them there too"
    )
    return (
        f"{keys.absent:,} of {keys.state:,} keys of {state.name} do not occur in {given.name} ({lacks}): "
        f"{_where(reading, 'absent')}; where their next records will be is not known ({forecast}); {_KEEP}, or "
        "approve the loss of these keys"
    )


def _may_lack(given: ComparedTopic) -> bool:
    """Whether records that were in the input were not read: deleted, compacted, in a transaction, left out."""
    return next(_lacks(given), None) is not None


def _lacks(given: ComparedTopic) -> Iterator[str]:
    if given.deleted:
        yield f"{given.deleted:,} offsets before its log start are deleted"
    if given.unread:
        yield f"{given.unread:,} offsets were not read"
    if given.open:
        yield f"{given.open:,} offsets are behind an open transaction"
    if given.compacted is not False:
        yield "it is compacted" if given.compacted else "whether it is compacted is not known"


def _sampled(reading: PartitioningReading) -> bool:
    return bool(reading.input.unread or reading.state.unread)


def _other_topic(reading: PartitioningReading) -> str:
    if reading.kind == "repartition":
        return "compare with the changelog of the store behind it"
    return f"{_KEEP}, or approve the loss of these keys"


def _partitioner(keys: KeyCounts) -> str:
    if keys.other_state:
        return "the partitioner that the application writes its repartition topic with"
    return "Kafka's default partitioner (murmur2; librdkafka: partitioner=murmur2_random)"


def _where(reading: PartitioningReading, case: KeyCase) -> str:
    """An example: its partition in the input, and that of its state."""
    one: PlacedKey | None = next(iter(reading.keys.examples.get(case, ())) if reading.keys else iter(()), None)
    if one is None:
        return "no example"
    key = f"key {outside(one.key, _LONGEST_KEY)}"
    read = " and ".join(f"{reading.input.name}-{number}" for number in one.input)
    kept = f"its state on partition {' and '.join(map(str, one.state))}" if one.state else "without state"
    return f"{key} is on {read}, {kept}" if one.input else f"{key} has {kept}"
