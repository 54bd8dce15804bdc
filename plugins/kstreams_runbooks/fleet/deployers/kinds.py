"""Every kind of deployer, one row each: code that declares, lists or makes deployers reads this table."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, TypeAdapter

from kstreams_runbooks.fleet.deployers.base import DeployerDeclaration
from kstreams_runbooks.fleet.deployers.command import CommandSettings
from kstreams_runbooks.fleet.deployers.docker import DockerSettings
from kstreams_runbooks.fleet.deployers.manual import ManualSettings
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings


@dataclass(frozen=True, slots=True)
class DeployerKind:
    """One kind of deployer: the class of its part of a fleet entry, and its own class.

    Its own class by name (`module:class`): it is imported when the first deployer of its kind is made.
    """

    settings: type[DeployerDeclaration]
    deployer: str


_DEPLOYERS = "kstreams_runbooks.deployers"
# A new deployer is a new row: by its `kind` in a fleet entry.
KINDS: Mapping[str, DeployerKind] = {
    "supervisord": DeployerKind(SupervisordSettings, f"{_DEPLOYERS}.supervisord.deployer:SupervisordDeployer"),
    "docker": DeployerKind(DockerSettings, f"{_DEPLOYERS}.docker.deployer:DockerDeployer"),
    "command": DeployerKind(CommandSettings, f"{_DEPLOYERS}.command.deployer:CommandDeployer"),
    "manual": DeployerKind(ManualSettings, f"{_DEPLOYERS}.manual:ManualDeployer"),
}


def settings_classes() -> tuple[type[DeployerDeclaration], ...]:
    """The settings of every kind."""
    return tuple(each.settings for each in KINDS.values())


def listed_kinds() -> str:
    """`supervisord, command or manual`."""
    *most, last = KINDS
    return f"{', '.join(most)} or {last}"


@cache
def _by_kind(settings: tuple[type[DeployerDeclaration], ...]) -> TypeAdapter[DeployerDeclaration]:
    union: Any = reduce(or_, settings)
    return TypeAdapter(Annotated[union, Field(discriminator="kind")])


def _of_its_kind(written: Any) -> DeployerDeclaration:
    return _by_kind(settings_classes()).validate_python(written)


# The settings of any kind, chosen by `kind`.
DeployerSettings = Annotated[DeployerDeclaration, BeforeValidator(_of_its_kind)]
