"""Whether an application has what a runbook needs: facts of three values, and what follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing

ReadinessStatus = Literal["ready", "missing", "not known", "not needed"]


@dataclass(frozen=True, slots=True)
class Condition:
    """Whether something holds, None where nobody can say; `why` is for the other two, in a few words."""

    holds: bool | None
    why: str = ""


Conditions = Mapping[str, Condition]


@dataclass(frozen=True, slots=True)
class DeclaredNames:
    """What a release declares as a suppression, and what as a store."""

    suppressions: frozenset[str]
    stores: frozenset[str]


@dataclass(frozen=True, slots=True)
class ReadinessReading:
    """What the facts of one application are made from.

    `abilities` are those of its deployer. `described` are releases that have a declaration of what their topology
    leaves out, with the names of the suppressions and stores in it (Missing: it cannot be read).
    """

    reading: ApplicationReading
    declared: DeclaredApplication
    control: tuple[str, ...]
    settable: tuple[str, ...]
    abilities: Abilities
    described: Mapping[str, DeclaredNames] | Missing


@dataclass(frozen=True, slots=True)
class Readiness:
    """How one application stands to one runbook: what is missing, what is not known, what it would be better with."""

    runbook: str
    status: ReadinessStatus
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    better: tuple[str, ...] = ()
