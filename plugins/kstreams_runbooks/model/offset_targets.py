"""The offsets that a person wants a group to have on an input, as parsed from a form or a command."""

from dataclasses import dataclass
from typing import Literal

TargetKind = Literal["earliest", "latest", "offset", "offsets", "time", "shift", "saved", "undecided"]
# What a partition gets that has no record at or after the time of a target; empty: a person is asked.
WithoutRecord = Literal["", "earliest", "latest"]
# earliest and latest of a whole input, or what a person wants for it.
EVERY_STREAM = "*"


@dataclass(frozen=True, slots=True)
class OffsetTarget:
    """One target; `given` is its text.

    `offset` is that of every partition, or for a shift how far each moves; `offsets` are (partition, offset). `at_ms`
    (Unix ms) is the time of `time`: the first record that is not older. `saved` is `run:RUN` or `file:PATH`.
    """

    kind: TargetKind
    given: str
    at_ms: int | None = None
    offset: int | None = None
    offsets: tuple[tuple[int, int], ...] = ()
    saved: str = ""
    without: WithoutRecord = ""


EARLIEST = OffsetTarget("earliest", "earliest")
# A topic that the application alone writes: what is in it was made from the inputs, and will be made again.
AFTER_ITS_OWN = OffsetTarget("latest", "latest, as it writes this topic itself")
# A topic that others write too: no place is right for both.
UNDECIDED = OffsetTarget("undecided", "none, as others write this topic too")
