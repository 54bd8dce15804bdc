"""Instances that a person deploys, manually or by changing what a GitOps controller follows: this program only reads.

The mutating verbs are requests. A step shows them (`request`), and waits until it observes that the person has done
them. Without an instances command it can observe neither release nor settings, and every check that needs them is
inconclusive.
"""

import time
from collections.abc import Mapping

from kstreams_runbooks.deployers.builds import WithoutBuilds
from kstreams_runbooks.deployers.command.shown import (
    known_release,
    log_end_of,
    look,
    takes_settings,
    topology_of,
)
from kstreams_runbooks.deployers.printed import PrintedTopology
from kstreams_runbooks.deployers.requests import Wish, request_sentence
from kstreams_runbooks.deployers.settable import check_once, described_target, refuse_others, settable_keys, shown
from kstreams_runbooks.deployers.state_directory import aside_name
from kstreams_runbooks.errors import BadInput, WriteRefused
from kstreams_runbooks.fleet.deployers.manual import ManualSettings, Stated
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.local_state import Directories, TaskDirectories
from kstreams_runbooks.model.readings.readings import Deployment, Missing, Taken
from kstreams_runbooks.model.target import RunbookSettings, Target
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.wording import sentence

_UNSEEN = "the manual deployer has no instances command; declare deployer.commands.instances"


class ManualDeployer(WithoutBuilds):
    """Deployer through a person."""

    def __init__(
        self,
        settings: ManualSettings,
        *,
        application_id: str,
        dry_run: bool = True,
        aside: str = "",
    ) -> None:
        self.would_write: list[str] = []
        self._settings = settings
        self._application_id = application_id
        self._dry_run = dry_run
        self._aside = aside_name(application_id, aside)
        self._settable = settable_keys(settings.settable)
        self._names = tuple(instance.name for instance in settings.instances)
        self._topologies: dict[Target, PrintedTopology] = {}

    @property
    def abilities(self) -> Abilities:
        """A person does everything; a request to clear local state is always possible."""
        commands = self._settings.commands
        return Abilities(
            instances=commands.instances is not None,
            topology=commands.topology is not None,
            clear=True,
            act=False,
            clear_directories=True,
            topology_settings=takes_settings(commands.topology),
            once=True,
            stays_stopped=self._settings.stays_stopped,
            keeps_state=self._settings.keeps_state,
        )

    def instances(self) -> tuple[Deployment, ...]:
        """Every declared instance as the instances command prints it; all of it Missing if no command is declared.

        A dry run takes the values of the declaration instead: it only makes a plan, which shows where they are from.
        """
        command = self._settings.commands.instances
        if command is not None:
            return look(
                command, self._names, self._application_id, self._settable, "manual", self._settings.environment
            )
        now_ms = time.time_ns() // 1_000_000
        if self._dry_run and self._settings.stated is not None:
            stated = self._settings.stated
            taken = Taken(now_ms, "manual, as the declaration states it")
            return tuple(self._by_word(name, taken, stated) for name in self._names)
        taken = Taken(now_ms, "manual, nothing to look with")
        return tuple(self._unseen(name, taken) for name in self._names)

    def check_apply(self, instance: str, target: Target) -> None:
        """BadInput for an unknown instance or release, WriteRefused for a setting that no runbook sets or an obstacle.

        A person could ignore an obstacle, but the step would never observe the settings that it waits for.
        """
        self._one(instance)
        known_release(target.release, self._settings.releases)
        refuse_others(instance, target, self._settable)
        for found in self.instances():
            if found.instance == instance and found.obstacles:
                raise WriteRefused(f"{instance}: {'; '.join(found.obstacles)}")

    def check_clear_state(self, instance: str, directories: Directories = ()) -> None:  # noqa: ARG002 - a person can
        """A request to a person is always possible."""
        self._one(instance)

    def apply(self, instance: str, target: Target) -> None:
        """A request; a dry run records it, otherwise WriteRefused."""
        self.check_apply(instance, target)
        self._ask(self.request("deploy", instance, target))

    def check_start(self, instance: str, once: RunbookSettings) -> None:
        """WriteRefused for a setting that no runbook sets; a person can set any for one start."""
        self._one(instance)
        check_once(instance, once, self._settable, "")

    def stop(self, instance: str) -> None:
        """A request; a dry run records it, otherwise WriteRefused."""
        self._ask(self.request("stop", instance))

    def start(self, instance: str, once: RunbookSettings = ()) -> None:
        """A request; a dry run records it, otherwise WriteRefused."""
        self.check_start(instance, once)
        self._ask(self.request("start", instance, once=once))

    def clear_state(self, instance: str, directories: Directories = ()) -> None:
        """A request; a dry run records it, otherwise WriteRefused."""
        self._ask(self.request("clear_state", instance, directories=directories))

    def log_end(self, instance: str) -> str:
        """As the log command prints it; empty without one, and if it fails."""
        self._one(instance)
        settings = self._settings
        return log_end_of(settings.commands.log, instance, self._application_id, settings.environment)

    def kept_aside(self, instance: str) -> str:
        """The directory to which the request asks to move it."""
        self._one(instance)
        return f"<state.dir>/{self._aside}" if self._aside else ""

    def state_sizes(self, instance: str) -> Mapping[str, int] | Missing:
        """Missing: only the person sees the disk."""
        self._one(instance)
        return Missing("the size of its local state is not seen from here: a person deploys it; look at its disk")

    def state_times(self, instance: str) -> Missing:
        """Missing: as its size."""
        self._one(instance)
        return Missing("when its local state changed is not seen from here: a person deploys it; look at its disk")

    def topology(self, target: Target) -> str:
        """The description that the topology command prints for the release; BadInput if none is declared."""
        return self._printed(self._described(target)).text

    def topology_target(self, target: Target) -> Target:
        """The release, and the settings if the topology command takes {settings}."""
        return self._described(target)

    def facts(self, target: Target, *, started: bool = False) -> Declaration | None:
        """The facts that it prints, None for a description; BadInput as `topology`."""
        return self._printed(self._described(target, started=started)).read

    def _described(self, target: Target, *, started: bool = False) -> Target:
        return described_target(target, with_settings=takes_settings(self._settings.commands.topology), started=started)

    def _printed(self, wanted: Target) -> PrintedTopology:
        settings = self._settings
        if wanted not in self._topologies:
            self._topologies[wanted] = topology_of(
                settings.commands.topology, wanted, settings.releases, self._application_id, settings.environment
            )
        return self._topologies[wanted]

    def manual_commands(self, instance: str, target: Target, *, clears: TaskDirectories | None = None) -> list[str]:
        """The requests, as comments: this program knows no command for them."""
        wanted = []
        if clears is not None:
            cleared = self.request("clear_state", instance, directories=clears.names)
            wanted = [self.request("stop", instance), cleared]
        refuse_others(instance, target, self._settable)
        return [f"# {sentence(one)}" for one in (*wanted, self.request("deploy", instance, target))]

    def request(
        self,
        wish: Wish,
        instance: str,
        target: Target | None = None,
        directories: Directories = (),
        once: RunbookSettings = (),
    ) -> str:
        """The request to the person, with the declaration's own words on how to do it."""
        self._one(instance)
        artifact = "" if target is None else self._settings.releases.get(target.release, "")
        wanted = request_sentence(wish, instance, target, artifact, directories, once, self._aside)
        return f"{wanted} ({self._settings.how})" if self._settings.how else wanted

    def _ask(self, request: str) -> None:
        if not self._dry_run:
            raise WriteRefused(f"the manual deployer changes nothing itself; ask a person: {request}")
        self.would_write.append(f"ask a person: {request}")

    def _one(self, instance: str) -> None:
        if instance not in self._names:
            raise BadInput(f"instance {instance!r} is not declared (declared: {', '.join(self._names)})")

    def _by_word(self, name: str, taken: Taken, stated: Stated) -> Deployment:
        return Deployment(
            taken=taken,
            instance=name,
            process="unknown",
            started_at_ms=None,
            pid=None,
            release=stated.release,
            settings=shown(stated.settings, self._settable),
            applied=True,
            stated=True,
        )

    @staticmethod
    def _unseen(name: str, taken: Taken) -> Deployment:
        return Deployment(
            taken=taken,
            instance=name,
            process="unknown",
            started_at_ms=None,
            pid=None,
            release=Missing(f"its release and settings cannot be seen: {_UNSEEN}"),
            settings=(),
            applied=Missing(f"whether its settings are in effect cannot be seen: {_UNSEEN}"),
        )
