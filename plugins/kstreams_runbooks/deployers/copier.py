"""The deployer of a copier: another deployer, which only looks at it, stops it and starts it.

A copier runs what its team has deployed: in the place of a release it has `as-deployed`, without settings.
"""

from collections.abc import Mapping
from dataclasses import replace

from kstreams_runbooks.deployers.builds import WithoutBuilds
from kstreams_runbooks.deployers.protocol import Deployer
from kstreams_runbooks.deployers.requests import Wish
from kstreams_runbooks.errors import BadInput, WriteRefused
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.copying import AS_DEPLOYED
from kstreams_runbooks.model.local_state import Directories, FileTimes, TaskDirectories
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.readings.states import is_up
from kstreams_runbooks.model.target import RunbookSettings, Target
from kstreams_runbooks.model.topology.declaration import Declaration

_TARGET = Target(AS_DEPLOYED)
_NOT_RUNNING = Missing("its process does not run")


class CopierDeployer(WithoutBuilds):
    """Stops and starts a copier through the deployer of its kind; every other change is refused."""

    def __init__(self, inner: Deployer, application_id: str) -> None:
        self._inner, self._application_id = inner, application_id
        # The same list: what the inner deployer would write is what this one would.
        self.would_write = inner.would_write

    @property
    def abilities(self) -> Abilities:
        """Those of the inner deployer without topology, local state and settings of one start."""
        return replace(
            self._inner.abilities,
            topology=False,
            clear=False,
            clear_directories=False,
            topology_settings=False,
            once=False,
        )

    def instances(self) -> tuple[Deployment, ...]:
        """Every declared instance: what runs is what is deployed, so nothing but its process is read of it."""
        return tuple(
            replace(
                one,
                release=AS_DEPLOYED,
                settings=(),
                applied=True if is_up(one.process) else _NOT_RUNNING,
                obstacles=(),
                stated=False,
            )
            for one in self._inner.instances()
        )

    def check_apply(self, instance: str, target: Target) -> None:
        """WriteRefused for anything but `as-deployed` without settings."""
        if target != _TARGET:
            raise WriteRefused(
                f"{instance}: a copier has no release and no settings that a runbook sets (asked for: {target.text}); "
                "deploy it as its team does"
            )

    def check_clear_state(self, instance: str, directories: Directories = ()) -> None:  # noqa: ARG002 - as for all
        """WriteRefused."""
        raise WriteRefused(f"{instance}: a copier has no local state that a runbook clears; leave it as it is")

    def apply(self, instance: str, target: Target) -> None:
        """Nothing is written: it is set to what is deployed already."""
        self.check_apply(instance, target)

    def check_start(self, instance: str, once: RunbookSettings) -> None:
        """BadInput for settings of one start."""
        if once:
            raise BadInput(
                f"{instance}: {', '.join(key for key, _ in once)} cannot be set for one start of a copier; leave it out"
            )

    def stop(self, instance: str) -> None:
        """As the inner deployer."""
        self._inner.stop(instance)

    def start(self, instance: str, once: RunbookSettings = ()) -> None:
        """As the inner deployer."""
        self.check_start(instance, once)
        self._inner.start(instance)

    def clear_state(self, instance: str, directories: Directories = ()) -> None:
        """WriteRefused."""
        self.check_clear_state(instance, directories)

    def log_end(self, instance: str) -> str:
        """As the inner deployer."""
        return self._inner.log_end(instance)

    def kept_aside(self, instance: str) -> str:  # noqa: ARG002 - as for all
        """Nothing: a copier has no local state."""
        return ""

    def state_sizes(self, instance: str) -> Mapping[str, int] | Missing:  # noqa: ARG002 - as for all
        """None: it has no local state that a runbook clears."""
        return {}

    def state_times(self, instance: str) -> Mapping[str, FileTimes] | Missing:  # noqa: ARG002 - as for all
        """None, as its sizes."""
        return {}

    def topology(self, target: Target) -> str:  # noqa: ARG002 - as for all
        """BadInput."""
        raise BadInput(f"copier {self._application_id}: it has no topology; nothing that needs one applies to it")

    def topology_target(self, target: Target) -> Target:
        """The same for every target."""
        return target.release_alone

    def facts(self, target: Target, *, started: bool = False) -> Declaration | None:  # noqa: ARG002 - as for all
        """None."""
        return None

    def manual_commands(self, instance: str, target: Target, *, clears: TaskDirectories | None = None) -> list[str]:
        """Stop and start; requests as comments if a person deploys it."""
        self.check_apply(instance, target)
        if clears is not None:
            self.check_clear_state(instance)
        if not self._inner.abilities.act:
            return [f"# {self._inner.request(wish, instance)}" for wish in ("stop", "start")]
        first, *_, last = self._inner.manual_commands(instance, target)
        return [first, last]

    def request(
        self,
        wish: Wish,
        instance: str,
        target: Target | None = None,
        directories: Directories = (),
        once: RunbookSettings = (),
    ) -> str:
        """The request to a person: to deploy a copier is to start it."""
        self.check_start(instance, once)
        if wish == "clear_state":
            self.check_clear_state(instance, directories)
        if target is not None:
            self.check_apply(instance, target)
        return self._inner.request("stop" if wish == "stop" else "start", instance)
