"""The holds of a plan: each is a pair of stages that hold the inputs and stages that let them flow again.

A plan may hold its inputs several times. In each hold a certificate proves that nothing is left to read; if stops
follow it, they rely on it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile

from kstreams_runbooks.model.runs.stages import Certify, Stage, StopAll


@dataclass(frozen=True, slots=True)
class InputHold:
    """One hold of a plan, `number` of `count`, from 1.

    `stops` are the stops that rely on the certificate; a hold without one only finds a point at which nothing moves.
    """

    number: int
    count: int
    pausing: tuple[Stage, ...]
    certify: Certify
    stops: tuple[StopAll, ...]
    resuming: tuple[Stage, ...]

    def is_over(self, complete: Collection[int]) -> bool:
        """Whether its inputs flow again, with these stages complete (numbers); never, if none lets them flow."""
        return bool(self.resuming) and all(one.number in complete for one in self.resuming)

    @property
    def name(self) -> str:
        """Which one of a plan with several, for a person; empty for the only one."""
        if self.count == 1:
            return ""
        first, last = (*self.pausing, self.certify)[0], (self.certify, *self.stops, *self.resuming)[-1]
        return f"hold {self.number} of {self.count}, stages {first.number} to {last.number}"


def input_holds(stages: Sequence[Stage]) -> tuple[InputHold, ...]:
    """Every hold of the stages of a plan, in their order."""
    certificates = [one for one in stages if isinstance(one, Certify)]
    found = []
    for number, certify in enumerate(certificates, 1):
        after = [one for one in stages if one.number > certify.number]
        stops = tuple(one for one in takewhile(lambda one: isinstance(one, StopAll), after) if isinstance(one, StopAll))
        last = (stops[-1] if stops else certify).number
        found.append(
            InputHold(
                number,
                len(certificates),
                tuple(one for one in stages if certify.number - certify.pauses <= one.number < certify.number),
                certify,
                stops,
                tuple(one for one in stages if last < one.number <= last + certify.resumes),
            )
        )
    return tuple(found)
