"""The containers of one instance: its own, the next one, and the one from before.

A change never deletes what an instance is before its successor has started. `apply` creates `X.next`. `start` renames
`X` to `X.before` and `X.next` to `X`, starts it, and removes `X.before` once it is up. An interruption at any point
leaves at least one whole container, and the same calls go on from there.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.deployers.docker.engine import Engine
from kstreams_runbooks.deployers.docker.inspected import Container, Listed
from kstreams_runbooks.fleet.deployers.docker import BEFORE, NEXT

# How often the engine is asked again if a container changes its name meanwhile.
_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Containers:
    """Those of the instance `name` that there are; `sharing` are containers in the network of its own one."""

    name: str
    own: Container | None
    next: Container | None
    before: Container | None
    sharing: tuple[str, ...] = ()

    @property
    def base(self) -> Container | None:
        """What has the configuration of the instance: in the middle of a change the one from before."""
        return self.own or self.before or self.next

    @property
    def declared(self) -> Container | None:
        """What the next start runs: the next one, if it was created to its end."""
        return self.next if self.next and self.is_whole else self.base

    @property
    def is_whole(self) -> bool:
        """Whether the next one has every network: it is connected to them after it was created."""
        base = self.own or self.before
        return self.next is not None and (base is None or base.networks == self.next.networks)

    @property
    def astray(self) -> Container | None:
        """One that runs under the name of a change: it was started manually, and the instance with it."""
        return next((one for one in (self.before, self.next) if one and one.is_up), None)


def look(engine: Engine, names: tuple[str, ...]) -> dict[str, Containers]:
    """The containers of these instances, by the name of their own one: one list, then each in detail.

    A container that another process renames in between is looked for again.
    """
    wanted = {f"{name}{end}" for name in names for end in ("", NEXT, BEFORE)}
    for _ in range(_LOOKS):
        listed = engine.containers()
        there = wanted & {name for one in listed for name in one.names}
        found = {name: engine.container(name) for name in sorted(there)}
        if None not in found.values():
            break
    return {name: _of(name, found, listed) for name in names}


def _of(name: str, found: Mapping[str, Container | None], listed: tuple[Listed, ...]) -> Containers:
    own = found.get(name)
    sharing = () if own is None else tuple(_sharing(listed, own))
    return Containers(name, own, found.get(f"{name}{NEXT}"), found.get(f"{name}{BEFORE}"), sharing)


def switch(engine: Engine, found: Containers) -> None:
    """Give the next container the instance's name; the present one is kept as that from before. None of them runs."""
    name, next_, before = found.name, f"{found.name}{NEXT}", f"{found.name}{BEFORE}"
    if found.next and found.is_whole:
        if found.own and found.before:
            # The one from before ran last; what came after it did not stay up.
            engine.remove(name)
        elif found.own:
            engine.rename(name, before)
    elif found.next:
        engine.remove(next_)


def take_name(engine: Engine, found: Containers) -> None:
    """The second half: the name is free, or it is the one from before that gets it back."""
    if found.next and found.is_whole:
        engine.rename(f"{found.name}{NEXT}", found.name)
    elif found.own is None and found.before:
        engine.rename(f"{found.name}{BEFORE}", found.name)


def settle(engine: Engine, found: Containers) -> None:
    """Remove the container from before, if the instance's own one is up."""
    if found.own and found.own.is_up and found.before and not found.before.is_up:
        engine.remove(f"{found.name}{BEFORE}")


def _sharing(listed: tuple[Listed, ...], own: Container) -> list[str]:
    wanted = f"container:{own.id}"
    return sorted((one.names or ("?",))[0] for one in listed if one.network_mode == wanted)
