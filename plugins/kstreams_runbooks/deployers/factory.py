"""The deployer that a fleet entry asks for."""

from typing import Protocol

from kstreams_runbooks.deployers.protocol import Deployer
from kstreams_runbooks.deployers.supervisord import SupervisordDeployer
from kstreams_runbooks.deployers.supervisord_settings import SupervisordSettings
from kstreams_runbooks.errors import BadInput


class _Deployed(Protocol):
    @property
    def application_id(self) -> str: ...

    @property
    def deployer(self) -> SupervisordSettings: ...


def make_deployer(application: _Deployed, *, dry_run: bool = True) -> Deployer:
    """The deployer of an application, by the `kind` of its deployer settings; BadInput for a kind nobody wrote.

    A dry run is the default: its mutating calls are recorded in `would_write` and not done.
    """
    settings = application.deployer
    if settings.kind == "supervisord":
        return SupervisordDeployer(settings, application_id=application.application_id, dry_run=dry_run)
    raise BadInput(f"deployer kind {settings.kind!r} is unknown (known: supervisord)")
