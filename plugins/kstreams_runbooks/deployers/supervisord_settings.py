"""What the supervisord deployer is told: the shape of its part of a fleet entry."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from kstreams_runbooks.fleet.environment import CommandEnvironment


class SupervisedInstance(Protocol):
    """One declared instance."""

    @property
    def name(self) -> str:
        """Name of the instance."""

    @property
    def program(self) -> str:
        """Program in supervisord: `name` or `group:name`."""

    @property
    def directory(self) -> Path | str:
        """Where its deployment.properties is."""

    @property
    def state_dir(self) -> Path | str | None:
        """Its state.dir, None for `<directory>/state`."""


class SupervisordSettings(Protocol):
    """Deployer settings of a fleet entry; the fleet's own model fits."""

    @property
    def kind(self) -> str:
        """`supervisord`."""

    @property
    def url(self) -> str:
        """HTTP address of supervisord; may carry credentials."""

    @property
    def instances(self) -> Sequence[SupervisedInstance]:
        """Declared instances."""

    @property
    def releases(self) -> Mapping[str, Path | str]:
        """Directory by release."""

    @property
    def describe(self) -> Sequence[str]:
        """Command that prints a topology; `{release}` and `{directory}` are filled in."""

    @property
    def environment(self) -> CommandEnvironment:
        """What the describe command gets besides what is always there."""

    @property
    def settable(self) -> Sequence[str]:
        """Settings that a runbook may set besides upgrade.from and processing.guarantee."""

    @property
    def stop_timeout_s(self) -> float:
        """How long a stop may take."""

    @property
    def start_timeout_s(self) -> float:
        """How long it may take until the process is up."""
