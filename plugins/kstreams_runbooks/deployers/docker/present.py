"""One look at the instances of an application: their containers, releases and settings, and what is in the way."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from kstreams_runbooks.deployers.docker import obstacles, places
from kstreams_runbooks.deployers.docker.engine import Engine
from kstreams_runbooks.deployers.docker.images import Images
from kstreams_runbooks.deployers.docker.inspected import Container, variables
from kstreams_runbooks.deployers.docker.names import Containers, look
from kstreams_runbooks.deployers.docker.recreated import own_config, taken_for_the_images
from kstreams_runbooks.deployers.docker.runbook_settings import SettingsFile, Variables
from kstreams_runbooks.deployers.written import read_since_written
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.fleet.deployers.docker import DockerInstance, DockerSettings
from kstreams_runbooks.model.readings.readings import Deployment, Missing, ProcessState, Taken
from kstreams_runbooks.model.target import RunbookSettings, Target
from kstreams_runbooks.wording import outside

# Times of files and of starts are each exact to some 10 ms.
CLOSE_MS = 50
_NOT_RUNNING = Missing("its process does not run")


@dataclass(frozen=True, slots=True)
class Present:
    """One instance as the engine has it now. `file` is its settings file, None if settings are variables.

    `unusable` is why that file cannot be used, empty if it can.
    """

    instance: DockerInstance
    containers: Containers
    images: Images
    settings: DockerSettings
    variables: Variables | None
    file: SettingsFile | None
    unusable: str

    def target_of(self, container: Container) -> Target | Missing:
        """Release and settings of one of its containers."""
        release, set_ = self.images.release_of(container), self.settings_of(container)
        if isinstance(release, Missing):
            return release
        return set_ if isinstance(set_, Missing) else Target(release, set_)

    def settings_of(self, container: Container) -> RunbookSettings | Missing:
        """The settings of one of its containers."""
        if self.variables is not None:
            image = variables((self.images.config(container.image_id) or {}).get("Env"))
            return self.variables.read(container.environment, image)
        if self.file is None:
            return Missing(self.unusable)
        return self.file.read(next_=container is self.containers.next)

    def obstacles(self) -> Iterator[str]:
        """Why no target can be set."""
        yield from obstacles.against_change(self.containers, self.settings)
        if self.unusable:
            yield self.unusable
        if self.file is not None:
            yield from self.file.obstacles()
        base = self.containers.base
        config = None if base is None else self.images.config(base.image_id)
        if base is not None and config is None:
            yield (
                f"its image {base.image_id[:19]} is not on the engine, and without it what the container was given "
                "cannot be separated from what its image had; load that image again"
            )

    def obstacles_of_image(self, target: Target) -> Iterator[str]:
        """Why no container of this release would be equal to the present one but for image and settings."""
        base, reference = self.containers.base, self.settings.images[target.release]
        new = self.images.config(reference)
        had = None if base is None else self.images.config(base.image_id)
        if base is None or had is None or new is None:
            yield (
                f"image {outside(reference, 200)} of release {target.release} is not on the engine; run `docker pull "
                f"{outside(reference, 200)}` there"
            )
            return
        theirs = variables(new.get("Env"))
        yield from obstacles.unremovable(self.settings, theirs, reference)
        names = frozenset[str]() if self.variables is None else self.variables.names
        own = own_config(base.raw["Config"], had)
        own["Env"] = [one for one in own["Env"] if one.partition("=")[0] not in names]
        same = [*taken_for_the_images(own, new)]
        if self.variables is not None:
            wanted = self.variables.of(target.settings)
            same += [f"variable {name}" for name, value in sorted(wanted.items()) if theirs.get(name) == value]
        if same:
            yield (
                f"image {outside(reference, 200)} itself has {', '.join(outside(one, 100) for one in same)} as the "
                "container was given it, and the way back would drop it; leave it out of one of them"
            )
        held = {str(one.destination) for one in base.mounts}
        if added := sorted(set(new.get("Volumes") or {}) - held):
            yield (
                f"image {outside(reference, 200)} has a volume at {', '.join(outside(one, 200) for one in added)}, "
                "where the container has no mount; create it with a named volume there"
            )

    def deployment(self, taken: Taken, address: str) -> Deployment:
        """The report on it."""
        base, declared = self.containers.base, self.containers.declared
        if base is None or declared is None:
            why = Missing(
                f"docker engine has no container {self.instance.container}; create it as your team does ({address})"
            )
            return Deployment(taken, self.instance.name, "unknown", None, None, why, (), why, (why.missing,))
        settings = self.settings_of(declared)
        release = self.images.release_of(declared)
        ended = base.ended_cleanly
        return Deployment(
            taken=taken,
            instance=self.instance.name,
            process=self._process(base),
            started_at_ms=base.started_at_ms,
            # Its metrics have the process id of the container's own numbers, which the engine does not report.
            pid=None,
            release=settings if isinstance(settings, Missing) else release,
            settings=() if isinstance(settings, Missing) else settings,
            applied=self._applied(base, declared),
            obstacles=tuple(self.obstacles()),
            autorestart=obstacles.starts_again(base),
            ended_cleanly=_ended_cleanly(base, ended),
            build=declared.image_id,
        )

    def _process(self, base: Container) -> ProcessState:
        return "unknown" if self.containers.astray else base.process

    def _applied(self, base: Container, declared: Container) -> bool | Missing:
        """A container's variables are fixed when it is created; a file may have been written since its start."""
        if base.started_at_ms is None:
            return _NOT_RUNNING
        if declared is not base:
            return False
        if self.variables is not None:
            return True
        if self.file is None:
            return Missing(self.unusable)
        return read_since_written(self.file.path, base.started_at_ms, CLOSE_MS) if self.file.path.exists() else True


def present(
    engine: Engine, settings: DockerSettings, settable: frozenset[str], instances: tuple[DockerInstance, ...]
) -> tuple[Present, ...]:
    """These instances in one look."""
    found = look(engine, tuple(one.container for one in instances))
    images = Images(engine, settings.images)
    prefix = settings.variable_prefix
    shared = None if prefix is None else Variables(prefix, settable)

    def one(instance: DockerInstance) -> Present:
        containers = found[instance.container]
        file, unusable = (None, "") if prefix is not None else _file(engine, settings, settable, instance, containers)
        return Present(instance, containers, images, settings, shared, file, unusable)

    return tuple(map(one, instances))


def taken_now(address: str) -> Taken:
    """The time and the source of a look."""
    return Taken(time.time_ns() // 1_000_000, f"docker engine {address}")


def _file(
    engine: Engine,
    settings: DockerSettings,
    settable: frozenset[str],
    instance: DockerInstance,
    containers: Containers,
) -> tuple[SettingsFile | None, str]:
    base, path = containers.base, settings.settings_file
    if base is None or path is None:
        return None, "there is no container"
    try:
        folder = places.place(base, path.parent, instance.directory)
        places.require_same(engine, base, path.parent, folder)
    except RunbookError as error:
        return None, str(error)
    if not places.writable(folder):
        return None, f"{folder} cannot be written from here; correct its permissions, or `directory`"
    return SettingsFile(folder / path.name, settable), ""


def _ended_cleanly(base: Container, ended: bool | None) -> bool | Missing:
    if base.is_up or not base.was_started:
        return Missing("its process has not ended" if base.is_up else "its process was never started")
    if ended is None:
        return Missing("its init process hides whether a signal ended it (exit code 143)")
    return ended
