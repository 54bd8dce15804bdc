"""What two sides of an application have in common in an output: its class, and what its owners declare of it."""

from dataclasses import dataclass
from typing import Final, Literal

# From the one that promises most. `exact`: the last value of each key is a function of the inputs alone.
# `exact_without_fields`: all but the declared fields, which the last writer of several partitions decides.
# `late_sensitive`: records that come late, or in another order of topics, count otherwise. `wall_clock`: the clock of
# the machine decides what is written when. `not_comparable`: code that no description shows.
OutputKind = Literal["exact", "exact_without_fields", "late_sensitive", "wall_clock", "not_comparable"]
KINDS: Final[tuple[OutputKind, ...]] = (
    "exact",
    "exact_without_fields",
    "late_sensitive",
    "wall_clock",
    "not_comparable",
)
# `latest`: the last value of each key, a tombstone is an absent key. `windows`: each key, which has its window, once.
SideMode = Literal["latest", "windows"]


@dataclass(frozen=True, slots=True)
class OutputSemantics:
    """What a fleet entry declares of an output: None or empty for what it leaves to the facts.

    `ignore` are JSON paths ($.a.b) of values that the last writer decides. `kind` is declared where code alone decides,
    with the reason in `because`. `mask` is what examples in evidence leave out; by default all values.
    """

    topic: str
    compare: SideMode | None = None
    ignore: tuple[str, ...] = ()
    kind: OutputKind | None = None
    because: str = ""
    mask: tuple[str, ...] = ("value", "headers")


@dataclass(frozen=True, slots=True)
class OutputClass:
    """The class of an output topic; `kind` is None while it is not known.

    `at_least` is what is known all the same: no fact can make it a kind that promises more. `reasons` are the parts of
    the topology that decide it, the worst first. `asked` are the fields that decide a kind that is not known: facts of
    a declaration, or of `output_semantics` in the fleet entry. `refused` are sentences: what is declared and the facts
    contradict.
    """

    topic: str
    kind: OutputKind | None
    at_least: OutputKind
    compare: SideMode
    ignore: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()

    @property
    def gates(self) -> bool:
        """Whether two sides have to be equal in it; a late-sensitive one only behind a paced fill, or without drops."""
        return self.kind in {"exact", "exact_without_fields", "late_sensitive"}
