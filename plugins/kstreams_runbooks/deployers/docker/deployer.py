"""Instances that are containers: the engine's API stops them, creates them again from another image, and starts them.

A release is an image, and a container's image and variables are fixed when it is created: another release or another
setting is another container, equal but for these (`recreated`). `names` describes how one takes the place of the other.
"""

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kstreams_runbooks.deployers import state_directory
from kstreams_runbooks.deployers.docker import names, obstacles, places
from kstreams_runbooks.deployers.docker.engine import Engine
from kstreams_runbooks.deployers.docker.inspected import Container
from kstreams_runbooks.deployers.docker.names import Containers
from kstreams_runbooks.deployers.docker.present import CLOSE_MS, Present, present, taken_now
from kstreams_runbooks.deployers.docker.recreated import creation
from kstreams_runbooks.deployers.docker.runbook_settings import SettingsFile
from kstreams_runbooks.deployers.docker.topology_container import describe
from kstreams_runbooks.deployers.printed import PrintedTopology
from kstreams_runbooks.deployers.requests import Wish, for_one_start, request_sentence
from kstreams_runbooks.deployers.scripts import end_of_log
from kstreams_runbooks.deployers.settable import (
    check_once,
    described_target,
    refuse_others,
    refuse_running,
    require_shown,
    settable_keys,
)
from kstreams_runbooks.deployers.state_sizes import directory_sizes, directory_times
from kstreams_runbooks.deployers.supervisord.once_file import written_for_one_start
from kstreams_runbooks.deployers.written import wait_until_apart
from kstreams_runbooks.errors import BadInput, Refused, WriteRefused
from kstreams_runbooks.fleet.deployers.docker import NEXT, DockerInstance, DockerSettings
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.local_state import Directories, FileTimes, TaskDirectories, in_words
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.target import RunbookSettings, Target
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.patience import read_again
from kstreams_runbooks.wording import outside, pasted, sentence

log = logging.getLogger(__name__)

_POLL_S = 0.1
# A program that cannot start ends at once.
_UP_AFTER_S = 1.0
_START_TIMEOUT_S = 60.0
_CLOSE_MS = 50


class DockerDeployer:
    """Deployer over the Engine's API; this process must be able to read and write the instances' folders."""

    def __init__(
        self,
        settings: DockerSettings,
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
        self._engine = Engine(settings.url, settings.tls, writable=not dry_run)
        self._instances = {instance.name: instance for instance in settings.instances}
        self._topologies: dict[Target, PrintedTopology] = {}

    @property
    def abilities(self) -> Abilities:
        """It does everything; descriptions need a topology command, settings of one start a once_file."""
        return Abilities(
            instances=True,
            topology=bool(self._settings.topology),
            clear=True,
            act=True,
            clear_directories=True,
            topology_settings=self._settings.describes_settings,
            once=self._settings.once_file is not None,
            state_dirs=tuple((one.name, str(self._settings.state)) for one in self._settings.instances),
            # A change makes another container, which has the declared directory alone for certain.
            keeps_elsewhere=False,
        )

    def instances(self) -> tuple[Deployment, ...]:
        """Every declared instance; one without a container is `unknown`."""
        taken = taken_now(self._engine.address)
        every = present(self._engine, self._settings, self._settable, self._settings.instances)
        return tuple(one.deployment(taken, self._engine.address) for one in every)

    def check_apply(self, instance: str, target: Target) -> None:
        """BadInput for an unknown release and without a container, WriteRefused for an image that is not there.

        WriteRefused for a setting that no runbook sets, and for anything that would not be equal afterwards.
        """
        self._guarded(instance, target)

    def check_build(self, instance: str, release: str, build: str) -> None:
        """WriteRefused, with the remedy, if the image of a release is another one than the image with the id `build`.

        One that is not on the engine is left to `check_apply`.
        """
        reference = self._settings.images.get(release, "")
        now = self._engine.image(reference) if reference else None
        if now is not None and build and now["Id"] != build:
            shown = outside(reference, 200)
            raise WriteRefused(
                f"{instance}: image {shown} of release {release} was {build[:19]} before, and is {now['Id'][:19]} now; "
                f"run `docker tag {outside(build, 80)} {shown}` to go back to what ran"
            )

    def check_clear_state(self, instance: str, directories: Directories = ()) -> None:  # noqa: ARG002 - as for all
        """Check the instance's folder as `clear_state` would: BadInput, WriteRefused."""
        state_dir = self._state_dir(self._present(instance))
        if self._aside:
            state_directory.require_aside(state_dir)

    def apply(self, instance: str, target: Target) -> None:
        """Create the next container; if the same is declared already, nothing is created."""
        found, config = self._guarded(instance, target)
        containers = found.containers
        base, declared = containers.base, containers.declared
        if base is None or declared is None or found.target_of(declared) == target:
            return
        image = self._settings.images[target.release]
        if self._recorded(f"create container {containers.name}{NEXT} from {image}: {target.text}"):
            return
        if containers.next is not None:
            self._engine.remove(f"{containers.name}{NEXT}")
        if containers.own is not None and found.target_of(containers.own) == target:
            if found.file is not None:
                found.file.drop_next()
            return
        if found.file is not None:
            self._on_file(found.file.path, lambda file: file.write_next(target.settings), found.file)
        given = {} if found.variables is None else found.variables.of(target.settings)
        ours = frozenset[str]() if found.variables is None else found.variables.names
        made = creation(base.raw, config, image, given, ours)
        self._engine.create(f"{containers.name}{NEXT}", made.body, made.connect)

    def check_start(self, instance: str, once: RunbookSettings) -> None:
        """BadInput for settings of one start without a declared once_file, WriteRefused for one no runbook sets."""
        self._one(instance)
        missing = "" if self._settings.once_file else "no once_file is declared; declare deployer.once_file"
        check_once(instance, once, self._settable, missing)

    def stop(self, instance: str) -> None:
        """Ask its container to stop; Refused if it still runs after `stop_timeout_s`. It is never killed.

        WriteRefused, and nothing done, for a container that would not stay stopped, or not stay at all.
        """
        found = self._present(instance)
        own = self._settled(found.containers)
        if own is None or not own.is_up:
            return
        if why := tuple(obstacles.against_stop(own)):
            raise WriteRefused(f"{instance}: {'; '.join(why)}")
        if own.status == "paused":
            raise WriteRefused(f"{instance}: is paused and would not notice; run `docker unpause {own.name}`")
        if self._recorded(f"stop container {own.name}"):
            return
        limit_s = self._settings.stop_timeout_s
        deadline = time.monotonic() + limit_s
        if own.status == "restarting":
            self._engine.stop(own, limit_s)
        else:
            self._engine.signal(own)
        while (now := self._read(own.id)).is_up:
            if time.monotonic() >= deadline:
                raise Refused(
                    f"{instance}: container {own.name} still there {limit_s:g} s after the stop request (limit "
                    f"stop_timeout_s; the engine reports {outside(now.status, 40)}); run `docker logs {own.name}`"
                )
            time.sleep(_POLL_S)

    def start(self, instance: str, once: RunbookSettings = ()) -> None:
        """Give the next container the instance's name and start it; the one from before is removed once it is up.

        Refused, with what its log ends with, if it ends at once. The one from before stays then.
        """
        self.check_start(instance, once)
        found = self._present(instance)
        own = self._settled(found.containers)
        if own is not None and own.is_up and own.status != "restarting":
            # In a dry run the stop before this was only recorded.
            if not self._dry_run:
                refuse_running(instance, once)
                return
            if not once:
                return
        if self._recorded(f"start container {found.containers.name}{for_one_start(once)}"):
            return
        if own is not None and own.status == "restarting":
            self.stop(instance)
            found = self._present(instance)
        file = None
        if self._settings.once_file is not None and found.file is not None:
            file = found.file.path.with_name(self._settings.once_file)
        names.switch(self._engine, found.containers)
        if found.file is not None:
            self._on_file(found.file.path, lambda one: one.take_next(), found.file)
            wait_until_apart(found.file.path, 2 * CLOSE_MS / 1000)
        names.take_name(self._engine, found.containers)
        with written_for_one_start(file, instance, once, _START_TIMEOUT_S):
            self._up(instance, found.containers.name)
        self._settled(self._present(instance).containers)

    def clear_state(self, instance: str, directories: Directories = ()) -> None:
        """Delete `<state>/<application.id>/*`, or these directories in it; WriteRefused while a container is up."""
        found = self._present(instance)
        containers = found.containers
        up = [one.name for one in (containers.own, containers.next, containers.before) if one and one.is_up]
        # In a dry run the stop before this was only recorded.
        if up and not self._dry_run:
            raise WriteRefused(f"{instance}: container {up[0]} is up; its state is not cleared while it runs")
        state_dir = self._state_dir(found)
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
        """As the engine has it; empty if it keeps no log of the container."""
        base = self._present(instance).containers.base
        return "" if base is None else end_of_log(self._engine.last_lines(base))

    def kept_aside(self, instance: str) -> str:
        """The directory next to `<state>/<application.id>` that takes what `clear_state` takes away."""
        if not self._aside:
            return ""
        state_dir = self._state_dir(self._present(instance))
        return str(state_directory.aside_directory(state_dir, self._application_id, self._aside))

    def state_sizes(self, instance: str) -> Mapping[str, int] | Missing:
        """Bytes of the task directories in `<state>/<application.id>`, as far as this machine has that folder."""
        try:
            return directory_sizes(self._state_dir(self._present(instance)) / self._application_id)
        except WriteRefused as error:
            return Missing(str(error))

    def state_times(self, instance: str) -> Mapping[str, FileTimes] | Missing:
        """When they last changed."""
        try:
            return directory_times(self._state_dir(self._present(instance)) / self._application_id)
        except WriteRefused as error:
            return Missing(str(error))

    def topology(self, target: Target) -> str:
        """The description that the topology command prints in a container; kept for the life of this deployer."""
        return self._printed(self._described(target)).text

    def topology_target(self, target: Target) -> Target:
        """The release, and the settings if the command gets them: as variables, or with {settings_file}."""
        return self._described(target)

    def facts(self, target: Target, *, started: bool = False) -> Declaration | None:
        """The facts that it prints, None for a description; kept as the description is."""
        return self._printed(self._described(target, started=started)).read

    def _described(self, target: Target, *, started: bool = False) -> Target:
        return described_target(target, with_settings=self._settings.describes_settings, started=started)

    def manual_commands(self, instance: str, target: Target, *, clears: TaskDirectories | None = None) -> list[str]:
        """Stop and start in a shell; in between a person creates the container again, as they created it."""
        one = self._one(instance)
        refuse_others(instance, target, self._settable)
        image = self._settings.images.get(target.release, target.release)
        deploy = f"create {one.container} again: {request_sentence('deploy', instance, target, image)}"
        clear = [] if clears is None else [request_sentence("clear_state", instance, directories=clears.names)]
        return [
            pasted((*self._engine.command, "stop", one.container)),
            *(f"# {sentence(each)}" for each in (*clear, deploy)),
            pasted((*self._engine.command, "start", one.container)),
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
        self._one(instance)
        artifact = "" if target is None else self._settings.images.get(target.release, "")
        return request_sentence(wish, instance, target, artifact, directories, once)

    def _one(self, instance: str) -> DockerInstance:
        try:
            return self._instances[instance]
        except KeyError:
            raise BadInput(f"instance {instance!r} is not declared (declared: {', '.join(self._instances)})") from None

    def _present(self, instance: str) -> Present:
        """The instance now, with at least one container; BadInput if there is none."""
        one = self._one(instance)

        def read() -> Present:
            [found] = present(self._engine, self._settings, self._settable, (one,))
            return found

        found = read() if self._dry_run else read_again(read, log.warning)
        if found.containers.base is None:
            raise BadInput(
                f"{instance}: docker engine has no container {one.container}; create it as your team does, or correct "
                f"`container` ({self._engine.address})"
            )
        if found.containers.astray and not self._dry_run:
            raise WriteRefused(
                f"{instance}: container {found.containers.astray.name} runs, which is part of a change (expected it "
                f"stopped); run `docker stop {found.containers.astray.name}`"
            )
        return found

    def _guarded(self, instance: str, target: Target) -> tuple[Present, Mapping[str, Any]]:
        """The instance, and the Config of the image that it has, if nothing prevents setting `target`."""
        self._one(instance)
        if target.release not in self._settings.releases:
            known = ", ".join(self._settings.releases)
            raise BadInput(f"release {target.release!r} is not declared (declared: {known})")
        refuse_others(instance, target, self._settable)
        found = self._present(instance)
        if why := tuple(found.obstacles()):
            raise WriteRefused(f"{instance}: {'; '.join(why)}")
        base = found.containers.base
        had = found.images.config(base.image_id) if base else None
        if base is None or had is None:
            raise AssertionError  # both are obstacles
        if why := tuple(found.obstacles_of_image(target)):
            raise WriteRefused(f"{instance}: {'; '.join(why)}")
        return found, had

    def _state_dir(self, found: Present) -> Path:
        """The folder on this machine that is the containers' state; WriteRefused if it is another one."""
        base = found.containers.base
        if base is None:
            raise AssertionError  # `_present` has refused it
        here = places.place(base, self._settings.state, found.instance.state_dir)
        inside = self._settings.state / self._application_id
        places.require_same(self._engine, base, inside, here / self._application_id)
        return here

    def _settled(self, containers: Containers) -> Container | None:
        """Its own container; the one from before is removed if that is up: the change before this has ended."""
        if not self._dry_run:
            names.settle(self._engine, containers)
        return containers.own

    def _up(self, instance: str, name: str) -> None:
        """Start a container, and return once its process has lived for a moment."""
        self._engine.start(name)
        until = time.monotonic() + _UP_AFTER_S
        while (now := self._read(name)).status == "running":
            if time.monotonic() >= until:
                return
            time.sleep(_POLL_S)
        end = end_of_log(self._engine.last_lines(now)) or "its log is empty"
        if now.status == "restarting":
            self._engine.stop(now, 0)
        raise Refused(
            f"{instance}: container {name} ended at once (exit code {now.exit_code}, image {outside(now.image, 200)}; "
            f"{end}); correct the image or its settings"
        )

    def _read(self, name: str) -> Container:
        # An engine that is busy with its disk answers late, and between two writes each answer counts.
        found = read_again(lambda: self._engine.container(name), log.warning)
        if found is None:
            raise Refused(f"container {name} was removed meanwhile; create it as your team does")
        return found

    def _on_file(self, path: Path, change: Callable[[SettingsFile], None], file: SettingsFile) -> None:
        try:
            change(file)
        except OSError as error:
            raise Refused(f"{path}: cannot be written ({error.strerror}); correct its permissions") from None

    def _recorded(self, sentence: str) -> bool:
        if self._dry_run:
            self.would_write.append(sentence)
        return self._dry_run

    def _printed(self, wanted: Target) -> PrintedTopology:
        if wanted in self._topologies:
            return self._topologies[wanted]
        if wanted.release not in self._settings.releases:
            known = ", ".join(self._settings.releases)
            raise BadInput(f"release {wanted.release!r} is not declared (declared: {known})")
        if not self._settings.topology:
            raise BadInput(
                f"topology of {wanted.release} cannot be read: no topology command is declared; declare "
                "deployer.topology"
            )
        require_shown(wanted)
        every = present(self._engine, self._settings, self._settable, self._settings.instances[:1])
        self._topologies[wanted] = describe(self._engine, self._settings, every[0], wanted)
        return self._topologies[wanted]
