"""Instances under supervisord: its XML-RPC stops and starts them; a properties file sets release and settings.

`<directory>/deployment.properties` holds `release` and the settings of a runbook together: one rename sets both. The
instance's launcher reads it at every start.
"""

import logging
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from kstreams_runbooks.deployers import state_directory
from kstreams_runbooks.deployers.builds import WithoutBuilds
from kstreams_runbooks.deployers.printed import PrintedTopology
from kstreams_runbooks.deployers.requests import Wish, for_one_start, request_sentence
from kstreams_runbooks.deployers.scripts import end_of_log
from kstreams_runbooks.deployers.settable import (
    check_once,
    described_target,
    refuse_others,
    refuse_running,
    settable_keys,
)
from kstreams_runbooks.deployers.state_sizes import directory_sizes, directory_times
from kstreams_runbooks.deployers.supervisord import processes
from kstreams_runbooks.deployers.supervisord.deployment_file import FILE, RELEASE, DeploymentFile, read_declared
from kstreams_runbooks.deployers.supervisord.once_file import written_for_one_start
from kstreams_runbooks.deployers.supervisord.process_info import ProcessInfo
from kstreams_runbooks.deployers.supervisord.topology_command import print_topology
from kstreams_runbooks.deployers.supervisord.xmlrpc import ALREADY_STARTED, NOT_RUNNING, Supervisord, SupervisordFault
from kstreams_runbooks.deployers.written import read_since_written, wait_until_apart
from kstreams_runbooks.errors import BadInput, Refused, Unreachable, WriteRefused
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordInstance, SupervisordSettings
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.local_state import Directories, FileTimes, TaskDirectories, in_words
from kstreams_runbooks.model.readings.readings import Deployment, Missing, ProcessState, Taken
from kstreams_runbooks.model.target import RunbookSettings, Target
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.patience import read_again
from kstreams_runbooks.properties import dump, write_atomically
from kstreams_runbooks.wording import pasted

log = logging.getLogger(__name__)

_POLL_S = 0.05
# A launcher that fails does so at once; supervisord's own verdict (startsecs) may be set to far more than this.
_UP_AFTER_S = 2.0
# File times and process starts are each exact to some 10 ms on Linux.
_CLOSE_MS = 50
# supervisord reports starts in whole seconds, and another machine's clock is compared only to that accuracy.
_REMOTE_CLOSE_MS = 1_000
_REMOTE_SKEW_MS = 2_000

# supervisor/process.py, ProcessStates
_STOPPED, _STARTING, _RUNNING, _BACKOFF, _STOPPING, _EXITED, _FATAL = 0, 10, 20, 30, 40, 100, 200
_GONE = frozenset({_STOPPED, _EXITED, _FATAL})
_UP = frozenset({_STARTING, _RUNNING, _BACKOFF})
_PROCESS: dict[int, ProcessState] = {
    _STOPPED: "stopped",
    _STARTING: "starting",
    _RUNNING: "running",
    _BACKOFF: "starting",
    _STOPPING: "running",  # was asked to stop and is not gone yet
    _EXITED: "failed",  # ended by itself; if supervisord had stopped it, it would be STOPPED
    _FATAL: "failed",
}


class SupervisordDeployer(WithoutBuilds):
    """Deployer over XML-RPC and files; this process must be able to write to the instances' directories."""

    def __init__(
        self,
        settings: SupervisordSettings,
        *,
        application_id: str,
        dry_run: bool = True,
        aside: str = "",
    ) -> None:
        self.would_write: list[str] = []
        self._settings = settings
        self._application_id = application_id
        self._dry_run = dry_run
        self._aside = aside
        self._settable = settable_keys(settings.settable)
        self._supervisord = Supervisord(settings.url, writable=not dry_run)
        self._instances = {instance.name: instance for instance in settings.instances}
        self._topologies: dict[Target, PrintedTopology] = {}

    @property
    def abilities(self) -> Abilities:
        """It does everything; a description has the settings of a runbook if the topology command takes them."""
        return Abilities(
            instances=True,
            topology=True,
            clear=True,
            act=True,
            clear_directories=True,
            topology_settings=self._settings.describes_settings,
            once=self._settings.once_file is not None,
            state_dirs=tuple((one.name, str(one.state_dir)) for one in self._settings.instances),
        )

    def instances(self) -> tuple[Deployment, ...]:
        """Every declared instance in one call; a program that supervisord does not know is `unknown`."""
        taken = Taken(time.time_ns() // 1_000_000, f"supervisord {self._supervisord.address}")
        found = self._supervisord.processes()
        return tuple(self._deployment(one, found.get(one.program), taken) for one in self._instances.values())

    def check_apply(self, instance: str, target: Target) -> None:
        """BadInput for an unknown release, WriteRefused for a setting that no runbook sets and for any obstacle."""
        self._guarded(instance, target)

    def check_clear_state(self, instance: str, directories: Directories = ()) -> None:  # noqa: ARG002 - as for all
        """Check the instance's directory as `clear_state` would: BadInput, WriteRefused."""
        state_dir = _state_dir(self._one(instance))
        state_directory.application_directory(state_dir, self._application_id)
        if self._aside:
            state_directory.require_aside(state_dir)

    def apply(self, instance: str, target: Target) -> None:
        """Write release and settings; if they are the same already, nothing is written and `applied` stays True."""
        before = self._guarded(instance, target)
        if (before.release, before.settings) == (target.release, target.settings):
            return
        path = Path(self._one(instance).directory) / FILE
        wanted = {RELEASE: target.release, **dict(target.settings)}
        sentence = f"write {path}: {', '.join(f'{key}={value}' for key, value in sorted(wanted.items()))}"
        if self._recorded(sentence):
            return
        try:
            write_atomically(path, dump(wanted, "written by kstreams-runbooks; takes effect at the next start"))
        except OSError as error:
            raise Refused(f"{path}: cannot be written ({error.strerror}); nothing was changed") from None

    def check_start(self, instance: str, once: RunbookSettings) -> None:
        """BadInput for settings of one start without a declared once_file, WriteRefused for one no runbook sets."""
        self._one(instance)
        missing = "" if self._settings.once_file else "no once_file is declared; declare deployer.once_file"
        check_once(instance, once, self._settable, missing)

    def stop(self, instance: str) -> None:
        """Stop one instance; Refused if a process of it is still there after `stop_timeout_s`."""
        one = self._one(instance)
        info = self._settled(one)
        if info.state in _GONE:
            return
        if self._recorded(f"stop {instance} (program {one.program} at {self._supervisord.address})"):
            return
        limit_s = self._settings.stop_timeout_s
        deadline = time.monotonic() + limit_s
        families: dict[int, tuple[psutil.Process, ...]] = {}
        while True:
            if self._supervisord.local and info.pid and info.pid not in families:
                families[info.pid] = processes.family(info.pid)
            if info.state in _UP:
                self._tolerant("stopProcess", one.program, NOT_RUNNING)
                info = self._settled(one)
            left = processes.alive(tuple(one for family in families.values() for one in family))
            if info.state in _GONE and not left:
                return
            if time.monotonic() >= deadline:
                raise Refused(
                    f"{instance}: still there {limit_s:g} s after the stop request (limit stop_timeout_s; "
                    f"supervisord reports {info.statename}, processes {left or [info.pid]}); read its log"
                )
            time.sleep(_POLL_S)
            info = self._settled(one)

    def start(self, instance: str, once: RunbookSettings = ()) -> None:
        """Start one instance; Refused if supervisord gives up or it is not up after `start_timeout_s`.

        `once` is in a file that its launcher has read and deleted when this returns; Refused if it has not.

        Waits a moment first if the settings have just been written: a start in the same tick of the clock could never
        be distinguished from one before them.
        """
        one = self._one(instance)
        self.check_start(instance, once)
        if self._info(one).state in {_RUNNING, _STARTING}:
            # In a dry run the stop before this was only recorded.
            if not self._dry_run:
                refuse_running(instance, once)
                return
            if not once:
                return
        what = f"start {instance} (program {one.program} at {self._supervisord.address})"
        if self._recorded(f"{what}{for_one_start(once)}"):
            return
        file = None if self._settings.once_file is None else Path(one.directory) / self._settings.once_file
        with written_for_one_start(file, instance, once, self._settings.start_timeout_s):
            self._start(one)

    def _start(self, one: SupervisordInstance) -> None:
        instance = one.name
        deadline = time.monotonic() + self._settings.start_timeout_s
        while (info := self._info(one)).state == _STOPPING:
            self._in_time(info, instance, deadline)
        if info.state in _GONE:
            self._after_the_write(Path(one.directory) / FILE)
            self._tolerant("startProcess", one.program, ALREADY_STARTED)
        up_since, up_pid = time.monotonic(), 0
        while (info := self._info(one)).state != _RUNNING:
            if info.state in _GONE:
                why = "; ".join(filter(None, (info.spawnerr or info.description, self.log_end(instance))))
                raise Refused(f"{instance}: supervisord reports {info.statename} ({why}); read its log")
            if info.pid != up_pid:
                up_since, up_pid = time.monotonic(), info.pid
            if info.state == _STARTING and time.monotonic() - up_since >= _UP_AFTER_S:
                return
            self._in_time(info, instance, deadline)

    def clear_state(self, instance: str, directories: Directories = ()) -> None:
        """Delete `<state_dir>/<application.id>/*`, or these directories in it; WriteRefused while its process lives."""
        one = self._one(instance)
        info = self._info(one)
        # In a dry run the stop before this was only recorded.
        if info.state not in _GONE and not self._dry_run:
            raise WriteRefused(
                f"{instance}: supervisord reports {info.statename}; its state is not cleared while it runs"
            )
        state_dir = _state_dir(one)
        target = state_directory.application_directory(state_dir, self._application_id)
        kept = self.kept_aside(instance)
        verb, end = ("move", f" to {kept}") if kept else ("delete", "")
        if self._recorded(f"{verb} {in_words(directories) or 'everything'} in {target}{end}"):
            return
        try:
            state_directory.clear(state_dir, self._application_id, directories, self._aside)
        except OSError as error:
            raise Refused(
                f"{target}: not wholly cleared ({error.strerror}: {error.filename}); clear it again"
            ) from None

    def log_end(self, instance: str) -> str:
        """As supervisord's log of its program has it; empty if it keeps none, or cannot read it."""
        try:
            return end_of_log(self._supervisord.end_of_logs(self._one(instance).program))
        except (Refused, Unreachable):
            return ""

    def kept_aside(self, instance: str) -> str:
        """The directory next to `<state_dir>/<application.id>` that takes what `clear_state` takes away."""
        state_dir = _state_dir(self._one(instance))
        kept = state_directory.aside_directory(state_dir, self._application_id, self._aside)
        return str(kept) if self._aside else ""

    def state_sizes(self, instance: str) -> Mapping[str, int] | Missing:
        """Bytes of the task directories in `<state_dir>/<application.id>` on this machine."""
        return directory_sizes(_state_dir(self._one(instance)) / self._application_id)

    def state_times(self, instance: str) -> Mapping[str, FileTimes] | Missing:
        """When they last changed."""
        return directory_times(_state_dir(self._one(instance)) / self._application_id)

    def topology(self, target: Target) -> str:
        """The description that the topology command prints; kept for the life of this deployer."""
        return self._printed(self._described(target)).text

    def topology_target(self, target: Target) -> Target:
        """The release, and the settings if the topology command takes {settings_file}."""
        return self._described(target)

    def facts(self, target: Target, *, started: bool = False) -> Declaration | None:
        """The facts that it prints, None for a description; kept as the description is."""
        return self._printed(self._described(target, started=started)).read

    def _described(self, target: Target, *, started: bool = False) -> Target:
        return described_target(target, with_settings=self._settings.describes_settings, started=started)

    def manual_commands(self, instance: str, target: Target, *, clears: TaskDirectories | None = None) -> list[str]:
        """The same in a shell: stop, clear the local state if requested, write the file, start."""
        one = self._one(instance)
        refuse_others(instance, target, self._settable)
        control = ("supervisorctl", "-s", self._supervisord.address)
        path = Path(one.directory) / FILE
        lines = dump({RELEASE: target.release, **dict(target.settings)}).splitlines()
        write = " > ".join((pasted(("printf", "%s\\n", *lines)), pasted([str(path)])))
        state = _state_dir(one) / self._application_id
        clear = [] if clears is None else [_removal(state, clears.names)]
        return [pasted((*control, "stop", one.program)), *clear, write, pasted((*control, "start", one.program))]

    def request(
        self,
        wish: Wish,
        instance: str,
        target: Target | None = None,
        directories: Directories = (),
        once: RunbookSettings = (),
    ) -> str:
        """The request to a person."""
        self._one(instance)
        return request_sentence(wish, instance, target, directories=directories, once=once)

    def _one(self, instance: str) -> SupervisordInstance:
        try:
            return self._instances[instance]
        except KeyError:
            raise BadInput(f"instance {instance!r} is not declared (declared: {', '.join(self._instances)})") from None

    def _release_directory(self, release: str) -> Path:
        try:
            return Path(self._settings.releases[release])
        except KeyError:
            known = ", ".join(self._settings.releases) or "none"
            raise BadInput(f"release {release!r} is not declared (declared: {known})") from None

    def _guarded(self, instance: str, target: Target) -> DeploymentFile:
        """What is declared now, if nothing prevents writing `target` over it."""
        one = self._one(instance)
        self._release_directory(target.release)
        refuse_others(instance, target, self._settable)
        declared = read_declared(Path(one.directory), self._settable)
        if declared.obstacles:
            raise WriteRefused(f"{instance}: {'; '.join(declared.obstacles)}")
        return declared

    def _recorded(self, sentence: str) -> bool:
        if self._dry_run:
            self.would_write.append(sentence)
        return self._dry_run

    def _info(self, one: SupervisordInstance) -> ProcessInfo:
        processes_of = self._supervisord.processes
        found = processes_of() if self._dry_run else read_again(processes_of, log.warning)
        if one.program not in found:
            known = ", ".join(sorted(found)) or "none"
            raise BadInput(f"supervisord has no program {one.program} (it has: {known}; {self._supervisord.address})")
        return found[one.program]

    def _settled(self, one: SupervisordInstance) -> ProcessInfo:
        """The same, but for a program that has ended by itself and is about to be started again.

        supervisord does that after its answer and before the next one, unless its autorestart is false.
        """
        info = self._info(one)
        return self._info(one) if info.state == _EXITED else info

    def _in_time(self, info: ProcessInfo, instance: str, deadline: float) -> None:
        """Wait a moment; Refused if the start has taken too long."""
        if time.monotonic() >= deadline:
            raise Refused(
                f"{instance}: not up after {self._settings.start_timeout_s:g} s (limit start_timeout_s; supervisord "
                f"reports {info.statename}); read its log"
            )
        time.sleep(_POLL_S)

    def _tolerant(self, method: str, program: str, already: int) -> None:
        """Make a call that does not wait; accept that another caller was faster."""
        try:
            self._supervisord.call(method, program, False)
        except SupervisordFault as fault:
            if fault.code != already:
                raise

    def _deployment(self, one: SupervisordInstance, info: ProcessInfo | None, taken: Taken) -> Deployment:
        declared = read_declared(Path(one.directory), self._settable)
        release, settings, obstacles = declared.release, declared.settings, declared.obstacles
        if info is None:
            why = Missing(f"supervisord has no program {one.program}")
            return Deployment(taken, one.name, "unknown", None, None, release, settings, why, obstacles)
        pid = info.pid or None
        started = self._started(info)
        return Deployment(
            taken=taken,
            instance=one.name,
            process=_PROCESS.get(info.state, "unknown"),
            started_at_ms=started if isinstance(started, int) else None,
            pid=pid,
            release=release,
            settings=settings,
            applied=self._applied(Path(one.directory) / FILE, started, info),
            obstacles=obstacles,
            # supervisord starts a program again that has ended by itself, and never one that it has stopped.
            autorestart=False,
            ended_cleanly=_ended_cleanly(info),
        )

    def _started(self, info: ProcessInfo) -> int | Missing:
        if not info.pid:
            return Missing("no process")
        if self._supervisord.local and (exact := processes.started_at_ms(info.pid)) is not None:
            return exact
        return int(info.start) * 1000

    def _applied(self, path: Path, started: int | Missing, info: ProcessInfo) -> bool | Missing:
        """Whether the process was started after the file was written; a doubt is Missing, never True."""
        if isinstance(started, Missing):
            return started
        close = _CLOSE_MS
        if not self._supervisord.local:
            close = _REMOTE_CLOSE_MS
            skew = abs(int(info.now) * 1000 - time.time_ns() // 1_000_000)
            if skew > _REMOTE_SKEW_MS:
                return Missing(f"the clock of {self._supervisord.host} differs by {skew} ms (limit {_REMOTE_SKEW_MS})")
        return read_since_written(path, started, close)

    def _after_the_write(self, path: Path) -> None:
        """Wait until a start can be distinguished from the last write."""
        # supervisord cuts fractions of a second, so a remote start needs one second more than the compared limit.
        wait_until_apart(path, 2 * _CLOSE_MS / 1000 if self._supervisord.local else 2 * _REMOTE_CLOSE_MS / 1000 + 0.1)

    def _printed(self, wanted: Target) -> PrintedTopology:
        if wanted not in self._topologies:
            directory = self._release_directory(wanted.release)
            self._topologies[wanted] = print_topology(self._settings, wanted, directory)
        return self._topologies[wanted]


def _removal(state: Path, directories: Directories) -> str:
    """The command that deletes all state, or these directories in it: the shell fills in the `*`."""
    words = [f"{pasted([str(state)])}/{path}" for path in state_directory.paths(directories)]
    return " ".join(("rm", "-rf", *(words or [pasted([str(state)])])))


def _ended_cleanly(info: ProcessInfo) -> bool | Missing:
    """A stopped program with any status, one that ended by itself with 0; after a signal the end is not clean."""
    if info.state not in _GONE:
        return Missing("its process has not ended")
    return info.exitstatus >= 0 if info.state == _STOPPED else (info.state, info.exitstatus) == (_EXITED, 0)


def _state_dir(one: SupervisordInstance) -> Path:
    return Path(one.state_dir) if one.state_dir else Path(one.directory) / "state"
