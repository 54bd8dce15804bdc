"""Whether an application meets the needs of a runbook: facts of three values, and the conclusion from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.acls import RightsAnswer
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.topology.facts import FactsReading

ReadinessStatus = Literal["ready", "missing", "not known", "not needed"]


@dataclass(frozen=True, slots=True)
class Condition:
    """Whether a condition holds, None if unknown; `why` is for False and None, in a few words."""

    holds: bool | None
    why: str = ""


Conditions = Mapping[str, Condition]


@dataclass(frozen=True, slots=True)
class DeclaredNames:
    """The suppressions and the stores that a release declares."""

    suppressions: frozenset[str]
    stores: frozenset[str]


@dataclass(frozen=True, slots=True)
class ReadinessReading:
    """The input for the facts of one application.

    `abilities` are those of its deployer. `described` are releases with a declaration of the parts that their topology
    description leaves out, with the names of the suppressions and stores in it (Missing: it cannot be read). `facts`
    are the topology facts of each instance that answers. `rights` has an answer for each runbook that is a DAG; it is
    empty if they were not read.
    """

    reading: ApplicationReading
    declared: DeclaredApplication
    control: tuple[str, ...]
    settable: tuple[str, ...]
    abilities: Abilities
    described: Mapping[str, DeclaredNames] | Missing
    facts: Mapping[str, FactsReading | Missing] = field(default_factory=dict)
    rights: tuple[RightsAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class FactsShown:
    """Whether the instances show topology facts: the instances without the jar, the unknown, and what was not read.

    `not_read` names the fields of a declaration that stay to be declared.
    """

    status: ReadinessStatus
    without: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    not_read: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sessions:
    """Whether session timeouts cover the restarts that runs measured, and a sentence about each instance."""

    status: ReadinessStatus
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Readiness:
    """Readiness of one application for one runbook: missing needs, unknown ones, and wants that would improve it.

    `rights` are those on the cluster that the login of the connection lacks, or that are not known.
    """

    runbook: str
    status: ReadinessStatus
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    better: tuple[str, ...] = ()
    rights: RightsAnswer | None = None


@dataclass(frozen=True, slots=True)
class NoteReadiness:
    """Whether the notes of runs can be written, and the reason, or the login that writes them."""

    status: ReadinessStatus
    why: str
