"""Inputs that a run holds: paused, and not brought back yet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeldInputs:
    """Inputs of one application that a run has held since `since_ms` (Unix ms), and how.

    `number` is that of the hold in the plan, `hold` names it if the plan has several. `others` are the other
    applications of the plan that read nothing new meanwhile.
    """

    run_key: str
    cluster: str
    application: str
    inputs: tuple[str, ...]
    how: str
    since_ms: int
    number: int = 1
    hold: str = ""
    others: tuple[str, ...] = ()

    @property
    def how_held(self) -> str:
        """The switch, and which hold of several it is."""
        return f"{self.how}, {self.hold}" if self.hold else self.how


@dataclass(frozen=True, slots=True)
class HeldStatus:
    """What is reported of held inputs, and whether their owner has to act."""

    sentence: str
    alarm: bool
