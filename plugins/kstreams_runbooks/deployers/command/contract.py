"""The output of a team's own commands: one JSON document on stdout, read strictly (docs/deployers.md).

Every command except `topology` prints an `InstancesDocument`: `instances` prints every declared instance, each other
command at least the one it was called for, in its state after the call.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from kstreams_runbooks.deployers.settable import HIDDEN, shown
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.local_state import FileTimes
from kstreams_runbooks.model.readings.readings import Deployment, Missing, ProcessState, Taken
from kstreams_runbooks.model.readings.states import is_up
from kstreams_runbooks.wire.strict_json import parsed as strict_json
from kstreams_runbooks.wording import outside

_M = TypeVar("_M", bound=BaseModel)
# September 2001 in milliseconds; a date of this century in seconds is below it.
_NO_SECONDS = 1_000_000_000_000
# What the text begins with: a description, or a document of topology facts (docs/facts.md).
_TOPOLOGY = "(Topologies:|facts *:)"
# The year 5138, and the largest process id of any system.
_LAST_MS = 100_000_000_000_000
_LAST_PID = 2**31 - 1


def _plain(text: str) -> str:
    if not text.isprintable():
        raise ValueError("has a line break or another character that does not print")
    return text


_Name = Annotated[str, Field(max_length=249), AfterValidator(_plain)]
_Value = Annotated[str, Field(max_length=4_096), AfterValidator(_plain)]
_TimeMs = Annotated[int, Field(ge=_NO_SECONDS, lt=_LAST_MS)]
_Sentence = Annotated[str, Field(max_length=10_000), AfterValidator(outside)]


class _Document(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    schema_version: Literal[1]


class DescribedInstance(BaseModel):
    """One instance; `settings` are those that a runbook sets, never the whole configuration."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    instance: _Name
    process: ProcessState
    started_at_ms: _TimeMs | None
    pid: Annotated[int, Field(gt=0, le=_LAST_PID)] | None
    release: _Name | None
    settings: dict[_Name, _Value]
    applied: bool | None
    missing: _Sentence = ""
    obstacles: Annotated[tuple[_Sentence, ...], Field(max_length=100)] = ()
    autorestart: bool | None = None
    ended_cleanly: bool | None = None

    @model_validator(mode="after")
    def _in_effect_only_while_it_runs(self) -> Self:
        if self.applied and not is_up(self.process):
            raise ValueError(f"applied is true although the process is {self.process}; nothing is in effect then")
        return self


class InstancesDocument(_Document):
    """Instances in their present state."""

    instances: tuple[DescribedInstance, ...]

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        names = [one.instance for one in self.instances]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"instance {twice[0]} is listed twice")
        return self


class DescribedTopology(_Document):
    """`Topology#describe` of one release as Kafka Streams prints it, or the topology facts of that release."""

    release: _Name
    topology: Annotated[str, Field(pattern=rf"^{_TOPOLOGY}", max_length=2**22)]


class Times(BaseModel):
    """When a task directory and what is in it last changed: the oldest and the newest time."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    oldest_ms: _TimeMs
    newest_ms: _TimeMs


class StateSizes(_Document):
    """Bytes of the local state of one instance by task directory: `0_1`, `global`, in a named topology `name__0_1`.

    `times` has the same directories.
    """

    instance: _Name
    directories: dict[_Name, Annotated[int, Field(ge=0, lt=2**63)]]
    times: dict[_Name, Times] | None = None

    @property
    def file_times(self) -> Mapping[str, FileTimes] | Missing:
        """Missing if they are not printed, or not of every directory."""
        if self.times is None or self.times.keys() != self.directories.keys():
            return Missing(
                "when its local state changed is not seen from here: state_sizes prints no `times` of every task "
                "directory; let it print them (docs/deployers.md)"
            )
        return {name: FileTimes(one.oldest_ms, one.newest_ms) for name, one in self.times.items()}


def parsed(text: str, model: type[_M], who: str) -> _M:
    """The document that `who` printed; Inconclusive, with the place and the reason but no value, if it is not valid."""
    try:
        strict_json(text.encode())
        return model.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(outside(part, 60) for part in first["loc"][:4]) or "the document"
        why = outside(first["msg"], 200)
    except ValueError as error:
        where, why = "the document", str(error)
    raise Inconclusive(
        f"{who} printed output that does not match the contract (docs/deployers.md): {where}: {why}; correct it"
    )


def deployment_of(one: DescribedInstance, taken: Taken, settable: frozenset[str]) -> Deployment:
    """The reading of one instance; a setting that no runbook sets is an obstacle, and its value is hidden."""
    settings = shown(one.settings, settable)
    strange = [key for key, value in settings if value == HIDDEN and key not in settable]
    obstacles = one.obstacles + (
        (
            f"the instances command prints {', '.join(strange)} among its settings, which no runbook sets (allowed: "
            f"{', '.join(sorted(settable))}); leave it out there, or declare it under `settable`",
        )
        if strange
        else ()
    )
    unseen = Missing("the instances command does not print its autorestart")
    unclear = Missing("the instances command does not print how its process ended (ended_cleanly)")
    why = one.missing or "the instances command does not know it"
    return Deployment(
        taken=taken,
        instance=one.instance,
        process=one.process,
        started_at_ms=one.started_at_ms,
        pid=one.pid,
        release=Missing(f"its release: {why}") if one.release is None else one.release,
        settings=settings,
        applied=Missing(f"whether its settings are in effect: {why}") if one.applied is None else one.applied,
        obstacles=obstacles,
        autorestart=unseen if one.autorestart is None else one.autorestart,
        ended_cleanly=unclear if one.ended_cleanly is None else one.ended_cleanly,
    )
