"""The deployer that a fleet entry asks for."""

from typing import Protocol

from kstreams_runbooks.deployers.command.deployer import CommandDeployer
from kstreams_runbooks.deployers.manual import ManualDeployer
from kstreams_runbooks.deployers.protocol import Deployer
from kstreams_runbooks.deployers.supervisord.deployer import SupervisordDeployer
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import CommandSettings, ManualSettings, SupervisordSettings


class _Deployed(Protocol):
    @property
    def application_id(self) -> str: ...

    @property
    def deployer(self) -> SupervisordSettings | CommandSettings | ManualSettings: ...


def make_deployer(application: _Deployed, *, dry_run: bool = True) -> Deployer:
    """The deployer of an application, by the `kind` of its deployer settings; BadInput for a kind nobody wrote.

    A dry run is the default: its mutating calls are recorded in `would_write` and not done.
    """
    application_id = application.application_id
    match application.deployer:
        case SupervisordSettings() as settings:
            return SupervisordDeployer(settings, application_id=application_id, dry_run=dry_run)
        case CommandSettings() as settings:
            return CommandDeployer(settings, application_id=application_id, dry_run=dry_run)
        case ManualSettings() as settings:
            return ManualDeployer(settings, application_id=application_id, dry_run=dry_run)
    raise BadInput(f"deployer kind {application.deployer.kind!r} is unknown")
