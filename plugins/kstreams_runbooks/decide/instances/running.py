"""The running versions of an application, as its instances report them."""

from dataclasses import dataclass

from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading, Missing, StreamsReading
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class RunningRelease:
    """Instances set to one release that report the same topology; `text` is None if none reports it.

    `read` are the facts that all of them show (None: not read), `unread` the reasons why facts are missing. `targets`
    is what they are set to, each once.
    """

    release: str
    text: str | None
    instances: tuple[str, ...]
    read: Declaration | None = None
    unread: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()


def running_releases(reading: ApplicationReading) -> tuple[RunningRelease, ...]:
    """Every running version, in the order of the instances; an instance without a report counts for its release.

    Inconclusive if a release cannot be read, or if an instance's report is not a description.
    """
    found: dict[tuple[str, Topology | None], list[InstanceReading]] = {}
    topologies: dict[str, Topology] = {}
    for instance in reading.instances:
        found.setdefault((_target(instance).release, _topology(instance, topologies)), []).append(instance)
    told = {release for release, topology in found if topology is not None}
    running, joined = [], set[str]()
    for (release, topology), instances in found.items():
        if topology is None and release in told:
            continue
        silent = [] if release in joined or topology is None else found.get((release, None), [])
        joined.add(release)
        names = {one.instance for one in (*instances, *silent)}
        in_order = tuple(one for one in reading.instances if one.instance in names)
        targets = tuple(dict.fromkeys(_target(one) for one in in_order))
        own = tuple(one.instance for one in in_order)
        running.append(RunningRelease(release, _text(instances[0]), own, targets=targets))
    return tuple(running)


def one_release(reading: ApplicationReading) -> RunningRelease:
    """The version that every instance runs; Refused if several run: the change in progress ends first."""
    first, *more = running_releases(reading)
    if not more:
        return first
    if len({first.release, *(one.release for one in more)}) > 1:
        said = "; ".join(_said(one.instances, f"set to {one.release}") for one in (first, *more))
        raise Refused(
            f"instances of {reading.application}: {said} (expected: one release); finish that change or take it back "
            "first"
        )
    groups = " and ".join(", ".join(one.instances) for one in (first, *more))
    raise Refused(
        f"instances of {reading.application}: {groups} run different topologies of release {first.release} (expected: "
        "one); look at their settings, and bring all to the same first"
    )


def _said(instances: tuple[str, ...], what: str) -> str:
    return f"{', '.join(instances)} {'is' if len(instances) == 1 else 'are'} {what}"


def _target(instance: InstanceReading) -> Target:
    deployment = instance.deployment
    target = deployment if isinstance(deployment, Missing) else deployment.target
    if isinstance(target, Missing):
        raise Inconclusive(f"{instance.instance}: {target.missing}")
    return target


def _text(instance: InstanceReading) -> str | None:
    streams = instance.streams
    return None if isinstance(streams, Missing) or isinstance(streams.topology, Missing) else streams.topology


def _topology(instance: InstanceReading, topologies: dict[str, Topology]) -> Topology | None:
    """What an instance runs; `topologies` are by text: the same text of many instances is parsed once."""
    text = _text(instance)
    if text is not None and text not in topologies:
        try:
            topologies[text] = parse_topology(text)
        except BadInput as error:
            raise Inconclusive(f"{instance.instance}: its topology description cannot be read: {error}") from None
    return None if text is None else topologies[text]


def running_topology(reading: ApplicationReading) -> Topology | Missing:
    """The running topology; Missing if no instance reports it, if it is unreadable, or if two run, as in a roll."""
    streams = [one.streams for one in reading.instances if isinstance(one.streams, StreamsReading)]
    texts = sorted({one.topology for one in streams if isinstance(one.topology, str)})
    if not texts:
        return Missing("topology not known: no running instance tells it")
    try:
        topologies = [parse_topology(text) for text in texts]
    except BadInput as error:
        return Missing(f"topology not known: {error}")
    if any(one != topologies[0] for one in topologies):
        return Missing(f"topology not known: {len(topologies)} different ones run")
    return topologies[0]
