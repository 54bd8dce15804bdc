"""Operators before and behind each operator of a graph, in a time that a hostile description cannot stretch.

The neighbours of an operator are a set: the size and the fingerprint of each set take one look at every pair of
operators. Sets are bits of whole numbers here, and a fingerprint is added up eight operators at a time: 5,000 operators
in one chain take a second; lists of labels took minutes and filled the memory.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from operator import getitem

from kstreams_runbooks.decide.topology.digraph import Arrows, Digraph, Key

_BITS = 8
# A set of fewer keys is looked through key by key, a larger one eight by eight.
_FEW = 16


@dataclass(frozen=True, slots=True)
class Around:
    """A set of operators and topics: how many there are, and the sum of their labels' digests.

    Equal if the labels are the same, each as often.
    """

    size: int
    fingerprint: int


class Reach:
    """Ancestors and descendants of every key of `made`; `labels` are what each is known by."""

    def __init__(self, made: Digraph, labels: Mapping[Key, str]) -> None:
        self._made = made
        self._labels = labels
        self._keys = tuple(made.successors)
        self._bit = {key: 1 << place for place, key in enumerate(self._keys)}

    def before(self, owners: Iterable[Key]) -> int:
        """Everything that leads to any of `owners`, without them, as bits."""
        return self._around(self._masks[0], owners)

    def behind(self, owners: Iterable[Key]) -> int:
        """Everything that follows any of `owners`, without them, as bits."""
        return self._around(self._masks[1], owners)

    def bits(self, keys: Iterable[Key]) -> int:
        """A set of keys as bits."""
        found = 0
        for key in keys:
            found |= self._bit[key]
        return found

    def keys(self, bits: int) -> frozenset[Key]:
        """The keys of a set of bits."""
        return frozenset(self._keys[place] for place in _places(bits))

    def around(self, bits: int) -> Around:
        """A set of bits, without the names in it."""
        size = bits.bit_count()
        if size < _FEW:
            fingerprint = 0
            while bits:
                last = bits.bit_length() - 1
                fingerprint += self._digests[last]
                bits ^= 1 << last
            return Around(size, fingerprint)
        first, each = _bytes(bits)
        return Around(size, sum(map(getitem, self._sums[first : first + len(each)], each)))

    def led_and_followed(self, bits: Mapping[Key, int]) -> tuple[dict[Key, int], dict[Key, int]]:
        """The bits of all that leads to each key and of all that follows it, its own and those of a circle included."""
        circles = self._circles
        led = _reached(circles, bits, self._made.predecessors)
        return led, _reached(reversed(circles), bits, self._made.successors)

    def _around(self, masks: Mapping[Key, int], owners: Iterable[Key]) -> int:
        found = own = 0
        for owner in owners:
            found |= masks[owner]
            own |= self._bit[owner]
        return found & ~own

    @cached_property
    def _masks(self) -> tuple[dict[Key, int], dict[Key, int]]:
        """What leads to each key and what follows it, the key itself and those in a circle with it included."""
        return self.led_and_followed(self._bit)

    @cached_property
    def _circles(self) -> Sequence[Sequence[Key]]:
        return self._made.circles()

    @cached_property
    def _digests(self) -> Sequence[int]:
        """The digest of each key's label."""
        return [
            int.from_bytes(blake2b(self._labels[key].encode("utf-8", "surrogatepass"), digest_size=32).digest(), "big")
            for key in self._keys
        ]

    @cached_property
    def _sums(self) -> Sequence[Sequence[int]]:
        """For each eight keys the sum of the digests of every set of them."""
        return [_subset_sums(self._digests[first : first + _BITS]) for first in range(0, len(self._digests), _BITS)]


def _reached(circles: Iterable[Sequence[Key]], bits: Mapping[Key, int], next_to: Arrows) -> dict[Key, int]:
    found: dict[Key, int] = {}
    for circle in circles:
        mask = 0
        for key in circle:
            mask |= bits[key]
            for other in next_to[key]:
                # Those of the circle itself are not found yet.
                mask |= found.get(other, 0)
        found.update(dict.fromkeys(circle, mask))
    return found


def _subset_sums(digests: Sequence[int]) -> list[int]:
    sums = [0]
    for digest in digests:
        sums += [digest + one for one in sums]
    return sums


def _bytes(bits: int) -> tuple[int, bytes]:
    """The bits eight by eight, without what is empty on either side, and the number of the first eight.

    Many sets are of one part of a program, and small.
    """
    first = max((bits & -bits).bit_length() - 1, 0) // _BITS
    return first, (bits >> first * _BITS).to_bytes((bits.bit_length() + _BITS - 1) // _BITS - first, "little")


def _places(bits: int) -> Iterator[int]:
    """Places of the bits that are set."""
    if bits.bit_count() < _FEW:
        while bits:
            yield (last := bits.bit_length() - 1)
            bits ^= 1 << last
        return
    first, each = _bytes(bits)
    for number, byte in enumerate(each, first):
        if byte:
            yield from (number * _BITS + place for place in range(_BITS) if byte >> place & 1)
