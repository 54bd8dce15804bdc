"""Inputs that a run holds: paused, and not brought back yet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeldInputs:
    """Inputs of one application that a run has held since `since_ms` (Unix ms), and how."""

    run_key: str
    cluster: str
    application: str
    inputs: tuple[str, ...]
    how: str
    since_ms: int


@dataclass(frozen=True, slots=True)
class HeldStatus:
    """What is reported of held inputs, and whether their owner has to act."""

    sentence: str
    alarm: bool
