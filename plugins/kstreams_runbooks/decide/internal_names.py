"""Whose internal topics these are, by their names alone.

Kafka Streams begins them with the application.id and a dash (developer guide, "Managing topics: internal topics";
KIP-221 for repartition, KIP-213 and KIP-775 for foreign-key joins). One application.id may begin another.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable

# What stands behind `<application.id>-`.
_REST = re.compile(
    r".+-(changelog|repartition)|.*KTABLE-FK-JOIN-SUBSCRIPTION-(REGISTRATION|RESPONSE)-\d+-topic"
    r"|.+-subscription-(registration|response)-topic"
)


def internal_by_id(names: Iterable[str], ids: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Topics that may be internal ones of each of `ids`, sorted; of several that fit the longest has it."""
    known = set(ids)
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        if (owner := _owner(name, known)) is not None:
            found[owner].append(name)
    return {owner: tuple(topics) for owner, topics in found.items()}


def is_changelog(name: str) -> bool:
    """Of internal topics: the application keeps state in it; any other it reads."""
    return name.endswith("-changelog")


def _owner(name: str, ids: set[str]) -> str | None:
    parts = name.split("-")
    for end in range(len(parts) - 1, 0, -1):
        prefix, rest = "-".join(parts[:end]), "-".join(parts[end:])
        if prefix in ids and _REST.fullmatch(rest):
            return prefix
    return None
