"""Names that Kafka Streams generated, and the owners of internal topics by their names alone.

A generated name has a kind, and the number of the operator or store in the order of the program. One counter serves all
of them: anything that is added, removed or moved shifts the numbers behind it. Source: Kafka Streams developer guide,
"Naming Operators in a Kafka Streams DSL application"; KIP-307.

Kafka Streams begins them with the application.id and a dash (developer guide, "Managing topics: internal topics";
KIP-221 for repartition, KIP-213 and KIP-775 for foreign-key joins). One application.id may begin another.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache

# `KSTREAM-FILTER-0000000001`, `KSTREAM-JOINTHIS-0000000004-store`, `clicks-STATE-STORE-0000000000` of a table; a branch
# without a name has the number of the branch behind that of its operator, eleven digits. The aggregations of a named
# cogroup have its name and the place of their input (CogroupedStreamAggregateBuilder).
_GENERATED = re.compile(
    r"((?:COGROUP)?K(STREAM|TABLE)-[A-Z-]+-(?=\d{10})|.*STATE-STORE-(?=\d{10})|.+-cogroup-agg-(?=\d+$))(?P<index>\d+)"
)


# Each name is asked about many times; two programs of 3,000 operators have some ten thousand.
_NAMES = 2**17


@lru_cache(maxsize=_NAMES)
def _generated(name: str) -> re.Match[str] | None:
    return _GENERATED.match(name)


def is_generated(name: str) -> bool:
    """Whether the name was generated: another program gives the same thing another name."""
    return _generated(name) is not None


def index_of(name: str) -> int | None:
    """Its number in the order of the program, None for a chosen name."""
    found = _generated(name)
    return int(found["index"]) if found else None


@lru_cache(maxsize=_NAMES)
def stem(name: str) -> str:
    """The name without its number: the kind of thing; a chosen name stays as it is."""
    found = _generated(name)
    return name if found is None else f"{name[: found.start('index')]}N{name[found.end('index') :]}"


# Generated names of operators that give records another key, and of those that may.
_SELECTS_KEY = ("KEY-SELECT-", "KSTREAM-MAP-0", "KSTREAM-FLATMAP-0")
_NEW_KEY = (*_SELECTS_KEY, "KSTREAM-TRANSFORM-", "KSTREAM-PROCESSOR-")


def may_give_new_key(name: str) -> bool:
    """Whether a generated name shows an operator that gives records another key, or may; of a chosen one False."""
    return any(part in name for part in _NEW_KEY)


def selects_key(name: str) -> bool:
    """Whether a generated name shows an operator that is there to give records another key."""
    return is_generated(name) and any(part in name for part in _SELECTS_KEY)


# Generated names of operators that give out a record for each one that they get.
_PASSES_ON = (
    *("KSTREAM-MAP-", "KSTREAM-MAPVALUES-", "KSTREAM-KEY-SELECT-", "KSTREAM-PEEK-", "KSTREAM-MERGE-"),
    *("KSTREAM-AGGREGATE-", "KSTREAM-REDUCE-", "KSTREAM-TOTABLE-", "KTABLE-TOSTREAM-", "KTABLE-MAPVALUES-"),
)


def passes_each_on(name: str) -> bool:
    """Whether a generated name shows an operator that leaves no record out; of a chosen one False."""
    return is_generated(name) and name.startswith(_PASSES_ON)


# Suffixes of internal topics.
_CHANGELOG, _REPARTITION = "-changelog", "-repartition"
# Suffix of a store that the library names after its operator.
_STORE = "-store"
# The kind of a suppress operator without a name, and of its buffer.
_SUPPRESS, _SUPPRESS_STORE = "KTABLE-SUPPRESS-", "KTABLE-SUPPRESS-STATE-STORE-"
# Generated names of the window stores of a join of streams, and the end of those of a join with a name.
_OF_STREAM_JOIN, _JOIN_STORE = ("KSTREAM-JOIN", "KSTREAM-OUTER"), "-join-store"
# The store in which a left or outer join of streams keeps the records that have no match yet.
_UNMATCHED = ("KSTREAM-OUTERSHARED-", ("-left-shared-join-store", "-outer-shared-join-store"))
# The store in which a foreign-key join keeps what its left table asks for, without a chosen name and with one.
_SUBSCRIPTIONS = ("KTABLE-FK-JOIN-SUBSCRIPTION-STATE-STORE-", "-subscription-store")
# Topics that a topology may read back, as its description prints them: repartition topics, and the two of a foreign-key
# join. A user topic may also have such a name.
_READ_BACK = re.compile(r".*-repartition|.*subscription-(registration|response)(-\d{10,})?-topic", re.IGNORECASE)
# Those of them with the library's own words in its own letters.
_MADE = re.compile(
    r".*-repartition|.*-subscription-(registration|response)-topic"
    r"|KTABLE-FK-JOIN-SUBSCRIPTION-(REGISTRATION|RESPONSE)-\d+-topic"
)
_REGISTRATION = re.compile(r".*-subscription-registration(-\d{10,})?-topic", re.IGNORECASE)
# The part after `<application.id>-` on a cluster.
_REST = re.compile(
    r".+-(changelog|repartition)|.*KTABLE-FK-JOIN-SUBSCRIPTION-(REGISTRATION|RESPONSE)-\d+-topic"
    r"|.+-subscription-(registration|response)-topic"
)


def is_registration(topic: str) -> bool:
    """Whether the name is that of a topic in which a foreign-key join registers its subscriptions."""
    return _REGISTRATION.fullmatch(topic) is not None


def internal_by_id(names: Iterable[str], ids: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Topics that may be internal ones of each of `ids`, sorted; if several ids fit, the longest has it."""
    known = set(ids)
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        if (owner := _owner(name, known)) is not None:
            found[owner].append(name)
    return {owner: tuple(topics) for owner, topics in found.items()}


def changelog_of(store: str) -> str:
    """The name of a store's changelog, as a description prints names: without the application.id."""
    return f"{store}{_CHANGELOG}"


def is_changelog(name: str) -> bool:
    """Of internal topics: the application keeps state in it; any other it reads."""
    return name.endswith(_CHANGELOG)


def is_repartition(name: str) -> bool:
    """Whether a topic is named as a repartition topic."""
    return name.endswith(_REPARTITION)


def store_of(changelog: str) -> str:
    """The store of a changelog, by its name without the application.id."""
    return changelog.removesuffix(_CHANGELOG)


def repartition_base(topic: str) -> str:
    """The name of a repartition topic without its suffix: that of the grouping or join it is made for."""
    return topic.removesuffix(_REPARTITION)


def may_be_read_back(name: str) -> bool:
    """Whether a topic that a topology writes and reads may be an internal one, by its name."""
    return _READ_BACK.fullmatch(name) is not None


def is_made(name: str) -> bool:
    """Whether a topic that may be read back is named by the library."""
    return _MADE.fullmatch(name) is not None


def is_join_window(store: str) -> bool:
    """Whether a store keeps the records of one side of a join of streams."""
    return store.startswith(_OF_STREAM_JOIN) or store.endswith(_JOIN_STORE)


def keeps_unmatched(store: str) -> bool:
    """Whether a store keeps the records of a join of streams until their windows close without a match."""
    return store.startswith(_UNMATCHED[0]) or store.endswith(_UNMATCHED[1])


def is_subscription_store(store: str) -> bool:
    """Whether a store keeps the subscriptions of a foreign-key join."""
    return store.startswith(_SUBSCRIPTIONS[0]) or store.endswith(_SUBSCRIPTIONS[1])


def is_made_of_foreign_keys(name: str) -> bool:
    """Whether a topic is one of the two of a foreign-key join, to which no program gives a number of partitions."""
    return is_made(name) and not is_repartition(name)


def is_suppression(name: str) -> bool:
    """Whether an operator is a suppression without a chosen name."""
    return stem(name).startswith(_SUPPRESS)


def is_suppress_buffer(store: str) -> bool:
    """Whether a store is the buffer of a suppression without a chosen name."""
    return stem(store).startswith(_SUPPRESS_STORE)


def suppression_of(store: str) -> str:
    """The suppress operator of a buffer, by its name: `x` of `x-store`, and the number before that of a generated one.

    Source: KTableImpl#suppress (Apache Kafka) takes the operator's number and, right after it, that of its store.
    """
    if is_suppress_buffer(store) and (index := index_of(store)) is not None:
        return f"{_SUPPRESS}{index - 1:010d}"
    return store.removesuffix(_STORE)


def _owner(name: str, ids: set[str]) -> str | None:
    parts = name.split("-")
    for end in range(len(parts) - 1, 0, -1):
        prefix, rest = "-".join(parts[:end]), "-".join(parts[end:])
        if prefix in ids and _REST.fullmatch(rest):
            return prefix
    return None
