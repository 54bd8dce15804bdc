"""Kafka's default partitioner as expressions of Spark: no Python runs for a record, and none is needed on a cluster.

Source: `BuiltInPartitioner.partitionForKey` and `Utils.murmur2`, Apache Kafka 4.3. librdkafka's default is CRC-32
(`consistent_random`); its `murmur2` and `murmur2_random` are this one.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import Column

_SEED: Final = 0x9747B28C
_FACTOR: Final = 0x5BD1E995
_UNSIGNED: Final = 0xFFFFFFFF
_POSITIVE: Final = 0x7FFFFFFF
_WORD: Final = 4


def default_partition(key: "Column", partitions: int) -> "Column":
    """The partition, from 0, of a binary key in a topic of `partitions`; null for a null key."""
    return (key_hash(key) % partitions).cast("int")


def key_hash(key: "Column") -> "Column":
    """The hash, from 0, of which a partition is the remainder; null for a null key.

    Java's ints are unsigned numbers of 64 bits here: the factor is below 2^31, so no product overflows.
    """
    from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

    length = F.octet_length(key)
    words = F.floor(length / _WORD).cast("int")
    # A sequence down to -1 is not empty.
    places = F.when(words > 0, F.sequence(F.lit(0), words - 1)).otherwise(F.array().cast("array<int>"))
    mixed = F.transform(places, lambda place: _word(key, place * _WORD + 1))
    # One array after the other: each value is computed once, however often the next step uses it.
    for step in (_little_endian, _times, lambda word: _shifted(word, 24), _times):
        mixed = F.transform(mixed, step)
    value = F.aggregate(
        mixed,
        F.lit(_SEED).cast("long").bitwiseXOR(length.cast("long")),
        lambda value, word: _times(value).bitwiseXOR(word),
    )
    rest = _let(_word(key, words * _WORD + 1), _little_endian)
    value = F.when(length % _WORD == 0, value).otherwise(_times(value.bitwiseXOR(rest)))
    value = _times(_let(value, lambda value: _shifted(value, 13)))
    value = _let(value, lambda value: _shifted(value, 15))
    return value.bitwiseAND(F.lit(_POSITIVE))


def _word(key: "Column", first: "Column") -> "Column":
    """Four bytes from `first` on, counted from 1, with zeros after the last one; their number, highest byte first."""
    from pyspark.sql import functions as F  # noqa: N812

    digits = F.rpad(F.hex(F.substring(key, first, F.lit(_WORD))), 2 * _WORD, "0")
    return F.conv(digits, 16, 10).cast("long")


def _little_endian(word: "Column") -> "Column":
    """The same four bytes with the lowest byte first."""
    from pyspark.sql import functions as F  # noqa: N812

    lowest, low = word.bitwiseAND(F.lit(0xFF)), word.bitwiseAND(F.lit(0xFF00))
    high, highest = F.shiftright(word, 8).bitwiseAND(F.lit(0xFF00)), F.shiftright(word, 24)
    return F.shiftleft(lowest, 24).bitwiseOR(F.shiftleft(low, 8)).bitwiseOR(high).bitwiseOR(highest)


def _times(value: "Column") -> "Column":
    from pyspark.sql import functions as F  # noqa: N812

    return (value * _FACTOR).bitwiseAND(F.lit(_UNSIGNED))


def _shifted(value: "Column", bits: int) -> "Column":
    from pyspark.sql import functions as F  # noqa: N812

    return value.bitwiseXOR(F.shiftright(value, bits))


def _let(value: "Column", use: Callable[["Column"], "Column"]) -> "Column":
    """`use` of a value that is computed once, although `use` names it several times."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.transform(F.array(value), use)[0]
