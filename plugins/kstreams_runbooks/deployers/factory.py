"""The deployer of a fleet entry."""

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from kstreams_runbooks.deployers.copier import CopierDeployer
from kstreams_runbooks.deployers.protocol import Deployer
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.deployers import kinds
from kstreams_runbooks.fleet.deployers.base import DeployerDeclaration


class _Deployed(Protocol):
    @property
    def application_id(self) -> str: ...

    @property
    def as_deployed(self) -> bool: ...

    @property
    def copies(self) -> bool: ...

    @property
    def deployer(self) -> DeployerDeclaration: ...


def make_deployer(application: _Deployed, *, dry_run: bool = True, aside: str = "") -> Deployer:
    """The deployer of an application or a copier, by the `kind` of its deployer; BadInput for an unknown kind.

    A dry run is the default: its mutating calls are recorded in `would_write` and not made. With `aside` local state
    that is cleared is kept in a directory whose name ends so, if the deployer can.
    """
    settings = application.deployer
    if settings.kind not in kinds.KINDS:
        raise BadInput(f"deployer kind {settings.kind!r} is unknown; known are {kinds.listed_kinds()}")
    made = deployer_class(kinds.KINDS[settings.kind])
    deployer = made(settings, application_id=application.application_id, dry_run=dry_run, aside=aside)
    as_it_is = application.as_deployed and application.copies
    return CopierDeployer(deployer, application.application_id) if as_it_is else deployer


def deployer_class(kind: kinds.DeployerKind) -> Callable[..., Deployer]:
    """The class of deployers of this kind."""
    module, _, name = kind.deployer.partition(":")
    made: Callable[..., Deployer] = getattr(import_module(module), name)
    return made
