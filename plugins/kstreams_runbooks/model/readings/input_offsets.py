"""Offsets of inputs before a reset: what was read of each partition, and where each would move.

Offsets are log offsets, ends are exclusive; times are Unix ms. None is a value that does not exist, Missing one that
could not be read.
"""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import Missing


@dataclass(frozen=True, slots=True)
class InputPartition:
    """One partition of an input.

    `start` is where its log begins, `stable` where reading ends: its last stable offset or, for an application that
    reads uncommitted records too, its end. `committed` is None if the group has no offset. `at_time` is the first
    offset that is not older than the time of the target (None: no such record, or no time). `saved` is its offset in an
    earlier run's card or file (None: it has none there). `local_start` is where the brokers' own disks begin if the
    topic is tiered, None if it is not.
    """

    topic: str
    partition: int
    topic_id: str
    start: int | Missing
    stable: int | Missing
    committed: int | Missing | None = None
    at_time: int | Missing | None = None
    saved: int | Missing | None = None
    local_start: int | Missing | None = None

    @property
    def name(self) -> str:
        """The name of the partition, `orders-3`."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class MovedOffset:
    """One partition with its offset before and after; `given` is the target.

    `wanted` is what the target means, `after` the same inside the log: they differ if it is outside. `undecided` is a
    question that a person has to answer first, `why` the reason why `after` is unknown; both are empty otherwise.
    `remark` is what to know all the same.
    """

    topic: str
    partition: int
    topic_id: str
    given: str
    start: int | None
    stable: int | None
    before: int | None
    wanted: int | None = None
    after: int | None = None
    undecided: str = ""
    why: str = ""
    remark: str = ""

    @property
    def name(self) -> str:
        """The name of the partition, `orders-3`."""
        return f"{self.topic}-{self.partition}"

    @property
    def outside(self) -> int:
        """How many offsets the target is outside the log: negative before its start, positive past its end."""
        return 0 if self.wanted is None or self.after is None else self.wanted - self.after

    @property
    def again(self) -> tuple[int, int] | None:
        """The offsets that are read again, [from, to); None if it does not move back."""
        if self.before is None or self.after is None or self.after >= self.before:
            return None
        return self.after, self.before

    @property
    def skipped(self) -> tuple[int, int] | None:
        """The offsets that are never read, [from, to); None if it does not move on.

        Without a committed offset nothing was to be read for certain: auto.offset.reset decides.
        """
        if self.before is None or self.after is None or self.after <= self.before:
            return None
        return self.before, self.after

    @property
    def left(self) -> tuple[int, int] | None:
        """The offsets that the application has to read after it, [from, to) with the last stable offset."""
        if self.after is None or self.stable is None:
            return None
        return self.after, max(self.after, self.stable)
