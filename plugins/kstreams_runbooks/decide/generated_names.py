"""Names that Kafka Streams made up: a kind, and the number of the operator or store in the order of the program.

One counter serves all of them, so whatever is added, removed or moved shifts the numbers behind it. Source: Kafka
Streams developer guide, "Naming Operators in a Kafka Streams DSL application"; KIP-307.
"""

import re
from functools import lru_cache

# `KSTREAM-FILTER-0000000001`, `KSTREAM-JOINTHIS-0000000004-store`, `clicks-STATE-STORE-0000000000` of a table; a branch
# without a name has the number of the branch behind that of its operator, eleven digits.
_GENERATED = re.compile(r"((?:COGROUP)?K(STREAM|TABLE)-[A-Z-]+|.*STATE-STORE)-(?P<index>\d{10,})")


def is_generated(name: str) -> bool:
    """Whether nobody named it: another program gives the same thing another name."""
    return _GENERATED.match(name) is not None


@lru_cache(maxsize=2**14)
def index_of(name: str) -> int | None:
    """Its number in the order of the program, None for a name that somebody chose."""
    found = _GENERATED.match(name)
    return int(found["index"]) if found else None


def stem(name: str) -> str:
    """The name without its number, which says what kind of thing it is; a chosen name stays as it is."""
    found = _GENERATED.match(name)
    return name if found is None else f"{name[: found.start('index')]}N{name[found.end('index') :]}"
