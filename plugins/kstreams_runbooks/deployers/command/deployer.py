"""Instances that a team deploys with its own scripts: each verb is one of their commands, and each answer is checked.

A command is called only if there is something to do. Exit code 0 alone proves nothing: the output has to show that the
change was made.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.deployers.builds import WithoutBuilds
from kstreams_runbooks.deployers.command.contract import (
    InstancesDocument,
    StateSizes,
    deployment_of,
    parsed,
)
from kstreams_runbooks.deployers.command.shown import (
    as_json,
    known_release,
    log_end_of,
    look,
    taken_now,
    takes_settings,
    topology_of,
)
from kstreams_runbooks.deployers.printed import PrintedTopology
from kstreams_runbooks.deployers.requests import Wish, for_one_start, request_sentence
from kstreams_runbooks.deployers.scripts import filled, run_script
from kstreams_runbooks.deployers.settable import (
    check_once,
    described_target,
    refuse_others,
    refuse_running,
    settable_keys,
)
from kstreams_runbooks.deployers.state_directory import aside_name
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, StillUp, Unreachable, WriteRefused
from kstreams_runbooks.fleet.deployers.command import Command, CommandSettings
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.address import printable
from kstreams_runbooks.model.local_state import Directories, FileTimes, TaskDirectories, in_words, shown
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.readings.states import is_down, is_up
from kstreams_runbooks.model.target import RunbookSettings, Target
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.patience import read_again
from kstreams_runbooks.wording import pasted, sentence

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Start:
    """One start of an instance, as far as its commands print it."""

    started_at_ms: int | None
    pid: int | None

    @property
    def is_known(self) -> bool:
        return (self.started_at_ms, self.pid) != (None, None)

    @property
    def text(self) -> str:
        at = "" if self.started_at_ms is None else f" since {utc_second(self.started_at_ms)}"
        return f"pid {'unknown' if self.pid is None else self.pid}{at}"


def _start_of(deployment: Deployment) -> _Start:
    return _Start(deployment.started_at_ms, deployment.pid)


# For a command that sets nothing.
_NO_TARGET = Target("")


class CommandDeployer(WithoutBuilds):
    """Deployer that calls a team's own commands."""

    def __init__(
        self,
        settings: CommandSettings,
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
        self._instances = {instance.name: instance for instance in settings.instances}
        self._topologies: dict[Target, PrintedTopology] = {}
        # What its own commands reported, which the instances command has to confirm: starts that ended, and settings.
        self._ended: dict[str, _Start] = {}
        self._set: dict[str, Target] = {}

    @property
    def abilities(self) -> Abilities:
        """The abilities that have a command."""
        commands = self._settings.commands
        return Abilities(
            instances=True,
            topology=commands.topology is not None,
            clear=commands.clear_state is not None,
            act=True,
            clear_directories=commands.clears_directories,
            topology_settings=takes_settings(commands.topology),
            once=commands.start.takes("once"),
            stays_stopped=self._settings.stays_stopped,
            keeps_state=self._settings.keeps_state,
            keeps_aside=commands.keeps_aside,
        )

    def instances(self) -> tuple[Deployment, ...]:
        """Every declared instance that the command prints, in the declared order; one call for all of them."""
        return look(
            self._settings.commands.instances,
            tuple(self._instances),
            self._application_id,
            self._settable,
            "command",
            self._settings.environment,
        )

    def check_apply(self, instance: str, target: Target) -> None:
        """BadInput for an unknown release, WriteRefused for a setting that no runbook sets and for any obstacle."""
        self._guarded(instance, target)

    def check_clear_state(self, instance: str, directories: Directories = ()) -> None:
        """BadInput if no clear_state command is declared, or only one that deletes more than these directories."""
        self._one(instance)
        self._clearing(directories)

    def apply(self, instance: str, target: Target) -> None:
        """Let the command set both; it is not called if they are set already.

        Also for an instance whose stop was reported and did not happen: it neither stops nor starts anything.
        """
        before = self._guarded(instance, target)
        if before.target == target:
            return
        if self._recorded(f"set {instance} to {target.text}"):
            return
        after = self._done(instance, "apply", self._settings.commands.apply, target)
        if after.target != target:
            raise Refused(
                f"{instance}: apply ended with 0, but prints release {after.release} with "
                f"{', '.join(key for key, _ in after.settings) or 'no setting'} (asked for: {target.text})"
            )
        self._set[instance] = target

    def check_start(self, instance: str, once: RunbookSettings) -> None:
        """BadInput for settings of one start if the command takes none, WriteRefused for one that no runbook sets."""
        self._one(instance)
        takes = self._settings.commands.start.takes("once")
        missing = "" if takes else "deployer.commands.start takes no {once}; add it"
        check_once(instance, once, self._settable, missing)

    def stop(self, instance: str) -> None:
        """Let the command stop the instance; Refused if the output shows a process that is still there.

        The next call for the instance is StillUp if the instances command still prints the start that was stopped.
        """
        before = self._now(instance)
        if _is_gone(before):
            return
        if self._recorded(f"stop {instance}"):
            return
        after = self._done(instance, "stop", self._settings.commands.stop)
        if not _is_gone(after):
            raise Refused(
                f"{instance}: stop ended with 0, but prints the process {after.process}, pid {after.pid} (expected "
                "stopped, none); look at it"
            )
        self._ended[instance] = _start_of(before)

    def start(self, instance: str, once: RunbookSettings = ()) -> None:
        """Let the command start the instance; Refused if the output shows no process that is up, or the old one.

        Refused before that if the instances command does not print what `apply` reported as set.
        """
        self.check_start(instance, once)
        now = self._now(instance)
        wanted = self._set.get(instance)
        if wanted is not None and now.target != wanted:
            raise Refused(
                f"{instance}: is not started: apply reported {wanted.text}, but the instances command prints "
                f"{now.target.missing if isinstance(now.target, Missing) else now.target.text}; correct the command"
            )
        if is_up(now.process):
            # In a dry run the stop before this was only recorded.
            if not self._dry_run:
                refuse_running(instance, once)
                return
            if not once:
                return
        if self._recorded(f"start {instance}{for_one_start(once)}"):
            return
        try:
            after = self._done(instance, "start", self._settings.commands.start, once=once)
        except (Refused, Inconclusive, Unreachable) as error:
            raise type(error)(f"{error}{self._its_log(instance)}") from error
        if not is_up(after.process):
            end = self._its_log(instance)
            raise Refused(f"{instance}: start ended with 0, but prints the process {after.process}{end}; read its log")
        if self._is_ended(instance, after):
            raise Refused(
                f"{instance}: start ended with 0, but prints the start from before ({_start_of(after).text}; expected "
                "a new one); it was not started: look at it"
            )

    def clear_state(self, instance: str, directories: Directories = ()) -> None:
        """Let the command delete it; WriteRefused while the process lives, BadInput as `check_clear_state`."""
        self._one(instance)
        command = self._clearing(directories)
        now = self._now(instance)
        # In a dry run the stop before this was only recorded.
        if not _is_gone(now) and not self._dry_run:
            raise WriteRefused(
                f"{instance}: the instances command prints the process {now.process}, pid {now.pid}; its state is not "
                "cleared while it runs"
            )
        kept = self.kept_aside(instance)
        verb, end = ("move", f" to {kept}") if kept else ("delete", "")
        if self._recorded(f"{verb} the {in_words(directories) or 'local state'} of {instance}{end}"):
            return
        self._done(instance, "clear_state", command, directories=directories)

    def log_end(self, instance: str) -> str:
        """As the log command prints it; empty without one, and if it fails."""
        self._one(instance)
        settings = self._settings
        return log_end_of(settings.commands.log, instance, self._application_id, settings.environment)

    def _its_log(self, instance: str) -> str:
        end = self.log_end(instance)
        return f"; {end}" if end else ""

    def kept_aside(self, instance: str) -> str:
        """The directory to which its clear_state command is asked to move them; nothing if it takes no {aside}."""
        self._one(instance)
        kept = self._aside if self._settings.commands.keeps_aside else ""
        return f"<state.dir>/{kept}" if kept else ""

    def state_sizes(self, instance: str) -> Mapping[str, int] | Missing:
        """As the state_sizes command prints them; Inconclusive if its output breaks the contract."""
        document = self._local_state(instance)
        return document if isinstance(document, Missing) else document.directories

    def state_times(self, instance: str) -> Mapping[str, FileTimes] | Missing:
        """As the same command prints them."""
        document = self._local_state(instance)
        return document if isinstance(document, Missing) else document.file_times

    def _local_state(self, instance: str) -> StateSizes | Missing:
        self._one(instance)
        command = self._settings.commands.state_sizes
        if command is None:
            return Missing(
                "the size of its local state is not seen from here: no state_sizes command is declared; declare "
                "deployer.commands.state_sizes"
            )
        text = run_script(
            instance, "state_sizes", command, self._values(instance, _NO_TARGET), self._settings.environment
        )
        who = f"{instance}: state_sizes ({printable(command.run[0])})"
        document = parsed(text, StateSizes, who)
        if document.instance != instance:
            raise Inconclusive(f"{who} printed the sizes of {document.instance}; correct it")
        return document

    def topology(self, target: Target) -> str:
        """The description that the topology command prints for the release; kept for the life of this deployer."""
        return self._printed(self._described(target)).text

    def topology_target(self, target: Target) -> Target:
        """The release, and the settings if the topology command takes {settings}."""
        return self._described(target)

    def facts(self, target: Target, *, started: bool = False) -> Declaration | None:
        """The facts that it prints, None for a description; kept as the description is."""
        return self._printed(self._described(target, started=started)).read

    def _described(self, target: Target, *, started: bool = False) -> Target:
        return described_target(target, with_settings=takes_settings(self._settings.commands.topology), started=started)

    def _printed(self, wanted: Target) -> PrintedTopology:
        if wanted not in self._topologies:
            command, releases = self._settings.commands.topology, self._settings.releases
            self._topologies[wanted] = topology_of(
                command, wanted, releases, self._application_id, self._settings.environment
            )
        return self._topologies[wanted]

    def manual_commands(self, instance: str, target: Target, *, clears: TaskDirectories | None = None) -> list[str]:
        """The team's own commands: stop, clear the local state if requested, apply, start."""
        self._one(instance)
        refuse_others(instance, target, self._settable)
        commands = self._settings.commands
        names = () if clears is None else clears.names
        can = commands.clear_state if clears is not None and not self._cannot_clear(names) else None
        clear = [] if can is None else [can]
        wanted = sentence(self.request("clear_state", instance, directories=names))
        told = [f"# {wanted}"] if clears is not None and can is None else []
        values = self._values(instance, target, names)
        return [
            pasted(filled(commands.stop, values)),
            *told,
            *(pasted(filled(each, values)) for each in (*clear, commands.apply, commands.start)),
        ]

    def request(
        self,
        wish: Wish,
        instance: str,
        target: Target | None = None,
        directories: Directories = (),
        once: RunbookSettings = (),
    ) -> str:
        """The request to a person."""
        artifact = "" if target is None else self._settings.releases.get(target.release, "")
        return request_sentence(wish, instance, target, artifact, directories, once, self._aside)

    def _one(self, instance: str) -> None:
        if instance not in self._instances:
            raise BadInput(f"instance {instance!r} is not declared (declared: {', '.join(self._instances)})")

    def _clearing(self, directories: Directories) -> Command:
        command = self._settings.commands.clear_state
        why = self._cannot_clear(directories)
        if command is None or why:
            raise BadInput(why)
        return command

    def _cannot_clear(self, directories: Directories) -> str:
        """Why the declared command cannot delete these directories alone; empty if it can."""
        command = self._settings.commands.clear_state
        if command is None:
            return (
                "local state cannot be cleared: no clear_state command is declared; declare "
                "deployer.commands.clear_state, or clear it manually"
                + (" and choose local_state=keep" if directories else "")
            )
        if directories and not self._settings.commands.clears_directories:
            return (
                f"{in_words(directories)} cannot be deleted alone: "
                "deployer.commands.clear_state takes no {directories} and deletes all local state; add {directories} "
                "to it, or choose local_state=all or local_state=keep"
            )
        return ""

    def _guarded(self, instance: str, target: Target) -> Deployment:
        """The present settings, if nothing prevents setting `target`."""
        self._one(instance)
        known_release(target.release, self._settings.releases)
        refuse_others(instance, target, self._settable)
        now = self._shown(instance)
        if now.obstacles:
            raise WriteRefused(f"{instance}: {'; '.join(now.obstacles)}")
        return now

    def _now(self, instance: str) -> Deployment:
        """The instance now, as `_shown`; StillUp if it shows the start that `stop` reported as ended."""
        found = self._shown(instance)
        if is_up(found.process) and self._is_ended(instance, found):
            raise StillUp(
                f"{instance}: stop reported its end, but the instances command prints the same process "
                f"({_start_of(found).text}; expected none); nothing more is done to it: look at it"
            )
        return found

    def _shown(self, instance: str) -> Deployment:
        """The instance now; Inconclusive if `instances` does not know it or its process."""
        self._one(instance)
        every = self.instances() if self._dry_run else read_again(self.instances, log.warning)
        found = next((one for one in every if one.instance == instance), None)
        if found is None:
            raise Inconclusive(
                f"{instance}: the instances command does not print it; correct the command, or the declaration"
            )
        if found.process == "unknown":
            raise Inconclusive(f"{instance}: the instances command does not know its process; nothing is done to it")
        return found

    def _is_ended(self, instance: str, found: Deployment) -> bool:
        """Whether a reading shows the start that this deployer stopped."""
        before = self._ended.get(instance)
        return before is not None and before.is_known and before == _start_of(found)

    def _recorded(self, sentence: str) -> bool:
        if self._dry_run:
            self.would_write.append(sentence)
        return self._dry_run

    def _done(
        self,
        instance: str,
        verb: str,
        command: Command,
        target: Target = _NO_TARGET,
        *,
        directories: Directories = (),
        once: RunbookSettings = (),
    ) -> Deployment:
        """Run a command that changes something; returns the instance from its output."""
        if self._dry_run:
            raise WriteRefused(f"{instance}: {verb} is refused: this deployer only reads")
        values = self._values(instance, target, directories) | {"once": as_json(once)}
        text = run_script(instance, verb, command, values, self._settings.environment)
        who = f"{instance}: {verb} ({printable(command.run[0])})"
        for one in parsed(text, InstancesDocument, who).instances:
            if one.instance == instance:
                return deployment_of(one, taken_now("command", command), self._settable)
        raise Inconclusive(f"{who} ended with 0, but does not print {instance}; its effect is unknown")

    def _values(self, instance: str, target: Target, directories: Directories = ()) -> dict[str, str]:
        return {
            "application_id": self._application_id,
            "instance": instance,
            "release": target.release,
            # A person can still name a release whose declaration has been removed.
            "artifact": self._settings.releases.get(target.release, target.release),
            "settings": as_json(target.settings),
            "once": as_json(()),
            "directories": ",".join(shown(directories)) or "*",
            "aside": self._aside,
        }


def _is_gone(deployment: Deployment) -> bool:
    """Whether its process is certainly gone: a stopped instance that has a process id is a contradiction."""
    return is_down(deployment.process) and deployment.pid is None
