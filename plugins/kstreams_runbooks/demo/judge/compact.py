"""The compact parts of a collection: texts as numbers, latest values, problems with a few examples."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from kstreams_runbooks.demo.traffic.partitioner import key_hash
from kstreams_runbooks.demo.traffic.topics import TopicRole

NONE: Final = -1
_EXAMPLES: Final = 3


class Names:
    """Texts as dense integers from 0, with the partitioner's hash of each, computed at most once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._ids: dict[str, int] = {}
        self._hashes = array("q")

    def __len__(self) -> int:
        return len(self.texts)

    def id(self, text: str) -> int:
        """Return the number of a text, a new one if it is new."""
        found = self._ids.get(text)
        if found is None:
            found = self._ids[text] = len(self.texts)
            self.texts.append(text)
            self._hashes.append(NONE)
        return found

    def home(self, number: int, partitions: int) -> int:
        """Return the partition where the key with this number belongs."""
        if self._hashes[number] == NONE:
            self._hashes[number] = key_hash(self.texts[number].encode())
        return self._hashes[number] % partitions


class Problems:
    """Input records without an expected output: how many per topic, and the first few."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.counts: Counter[TopicRole] = Counter()
        self.examples: defaultdict[TopicRole, list[str]] = defaultdict(list)

    def add(self, role: TopicRole, example: str) -> None:
        """Note one record."""
        self.counts[role] += 1
        if self.counts[role] <= _EXAMPLES:
            self.examples[role].append(example)

    def __call__(self, roles: Iterable[TopicRole]) -> list[str]:
        """One sentence per topic that has any."""
        return [
            f"{self.counts[role]} records in {role} {self.what}: {'; '.join(self.examples[role])}"
            for role in roles
            if self.counts[role]
        ]


class Latest:
    """The latest value of each key in its own partition, and the keys that are in another one.

    A tombstone removes the key.
    """

    def __init__(self, names: Names, partitions: int) -> None:
        self.names = names
        self.partitions = partitions
        self.values: list[bytes | None] = []
        self.offsets = array("q")
        self.strays: dict[tuple[str, int], int] = {}

    def add(self, partition: int, offset: int, key: str, value: bytes | None) -> None:
        """Add one record; records of one partition in offset order."""
        number = self.names.id(key)
        if self.names.home(number, self.partitions) != partition:
            if value is None:
                self.strays.pop((key, partition), None)
            else:
                self.strays[key, partition] = offset
            return
        if number >= len(self.values):
            self.values.extend([None] * (number + 1 - len(self.values)))
            grow(self.offsets, number)
        self.values[number] = value
        self.offsets[number] = offset

    def live(self) -> Iterator[tuple[int, bytes]]:
        """Each key's number with its latest value, without tombstones."""
        return ((number, value) for number, value in enumerate(self.values) if value is not None)


def bounded(*numbers: int) -> None:
    """Raise OverflowError for a number above 64 bits, before any column grows."""
    array("q", numbers)


def grow(column: "array[int]", index: int) -> None:
    """Lengthen a column with NONE until `index` exists."""
    if index >= len(column):
        column.extend(array(column.typecode, (NONE,)) * (index + 1 - len(column)))
