"""Why an instance's container cannot be stopped, or cannot be created again: one sentence each, with the remedy."""

from collections.abc import Iterator

from kstreams_runbooks.deployers.docker.inspected import Container
from kstreams_runbooks.deployers.docker.names import Containers
from kstreams_runbooks.fleet.deployers.docker import DockerSettings, variable_of
from kstreams_runbooks.wording import outside

# The engine starts a stopped container of these again when it is started itself: `on-failure` as well, after an exit
# code that is not 0, which is that of every JVM that SIGTERM stopped (tests/integration/test_deployer_docker.py).
STARTS_AGAIN = frozenset({"always", "on-failure"})
_OF_A_SWARM = "com.docker.swarm.service.name"


def starts_again(found: Container) -> bool:
    """Whether the engine may start it again after it was stopped."""
    return found.restart_policy in STARTS_AGAIN


def against_stop(found: Container) -> Iterator[str]:
    """Reasons not to stop it: it would not stay stopped, or not stay at all."""
    if starts_again(found):
        yield (
            f"its restart policy is {found.restart_policy}, with which the engine starts it again after a stop "
            f"(expected no or unless-stopped); run `docker update --restart unless-stopped {found.name}`"
        )
    if found.removes_itself:
        yield "it was created with --rm, so a stop removes it; create it without"
    if service := found.labels.get(_OF_A_SWARM):
        yield f"it belongs to the swarm service {outside(service, 100)}, which replaces it; deploy it without a swarm"


def against_change(found: Containers, settings: DockerSettings) -> Iterator[str]:
    """Reasons why no container can take the place of the instance's own one."""
    base = found.base
    if base is None:
        return
    yield from against_stop(base)
    if found.astray:
        yield f"container {found.astray.name} runs, which is part of a change; stop it"
    if base.unnamed_volumes:
        yield (
            f"{', '.join(outside(one, 200) for one in base.unnamed_volumes)}: in a volume without a name, which no "
            "other container has; create it with a named volume there"
        )
    if found.sharing:
        yield (
            f"{', '.join(outside(one, 100) for one in found.sharing)} shares its network and would lose it; give that "
            "container a network of its own"
        )
    for path, field in ((settings.state, "state"), (settings.settings_file, "settings_file")):
        if path is not None and base.mount_of(path.parent if field == "settings_file" else path) is None:
            yield (
                f"{field} {path} is in the container's own layer, which another container does not have; mount a "
                "volume or a folder there"
            )


def unremovable(settings: DockerSettings, image: dict[str, str], reference: str) -> Iterator[str]:
    """`upgrade.from` among the variables of an image: no runbook could unset it."""
    if settings.variable_prefix is None:
        return
    name = variable_of(settings.variable_prefix, "upgrade.from")
    if name in image:
        yield (
            f"image {outside(reference, 200)} sets {name} itself, and no runbook can unset it there; build the image "
            "without it"
        )
