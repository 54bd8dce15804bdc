"""Which copiers write the control topics of an application, and whether one of them holds all that it reads."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.copier import Copier
from kstreams_runbooks.fleet.declarations import Application
from kstreams_runbooks.fleet.loading import Fleet
from kstreams_runbooks.wording import first_of


@dataclass(frozen=True, slots=True)
class Feeding:
    """What writes the inputs of an application, as the fleet declares it.

    `copiers` are the copiers of each of its inputs and control topics that has one, by topic; `unfed` its inputs and
    control topics that no copier writes.
    """

    copiers: Mapping[str, tuple[str, ...]]
    unfed: tuple[str, ...]


def copiers_of(fleet: Fleet, application: Application) -> tuple[Copier, ...]:
    """The copiers on its cluster that write one of its control topics, by name."""
    control = {*application.control}
    found = (one for one in fleet.copiers.values() if one.cluster == application.cluster and control & {*one.outputs})
    return tuple(sorted(found, key=lambda one: one.name))


def feeding(fleet: Fleet, application: Application) -> Feeding:
    """The copiers of every topic that an application reads."""
    read = tuple(dict.fromkeys((*application.inputs, *application.control)))
    found: defaultdict[str, list[str]] = defaultdict(list)
    for copier in copiers_of(fleet, application):
        for topic in copier.outputs:
            if topic in read:
                found[topic].append(copier.name)
    return Feeding(
        {topic: tuple(names) for topic, names in found.items()}, tuple(topic for topic in read if topic not in found)
    )


def require_copier(fleet: Fleet, application: Application, name: str) -> Copier:
    """The copier of that name; BadInput unless it alone writes every topic that the application reads.

    Only then does stopping it hold all its inputs.
    """
    its = copiers_of(fleet, application)
    listed = ", ".join(one.name for one in its) or "none"
    if name not in fleet.copiers:
        fleet.require_known(name)
        raise BadInput(
            f"copier {name}: not a copier of the fleet (its declaration needs `kind: copier`; copiers of "
            f"{application.name}: {listed}); declare it, or name another one"
        )
    if name not in {one.name for one in its}:
        raise BadInput(
            f"copier {name}: writes no control topic of {application.name} (its outputs: "
            f"{first_of(fleet.copiers[name].outputs)}; control topics: {first_of(application.control) or 'none'}; "
            f"copiers of it: {listed}); correct `control` or the name"
        )
    found = feeding(fleet, application)
    if found.unfed:
        raise BadInput(
            f"copier {name}: {first_of(found.unfed)} of {application.name} would go on while it is stopped (expected: "
            "a copier writes every input); declare it as an output of the copier, or choose another way to pause"
        )
    for topic, names in found.copiers.items():
        if names != (name,):
            raise BadInput(
                f"copier {name}: {topic} of {application.name} is written by {' and '.join(names)} (expected: by one "
                "copier alone); correct the declarations, or choose another way to pause"
            )
    return fleet.copiers[name]
