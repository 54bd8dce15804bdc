"""Whether the instances that a run leaves down are down, and set to what it leaves them with."""

from collections.abc import Iterator

from kstreams_runbooks.model.readings.readings import ApplicationReading, InstanceReading, Missing
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.verdicts import Outcome, Verdict


def left_down(reading: ApplicationReading, target: Target) -> Verdict:
    """Refuses if an instance runs or is set to something else than `target`; inconclusive if it cannot be read."""
    if wrong := tuple(why for one in reading.instances for why in _wrong(one, target)):
        return Verdict(Outcome.REFUSE, wrong)
    unread = [one.missing for instance in reading.instances for one in _parts(instance) if isinstance(one, Missing)]
    if unread or not reading.instances:
        return Verdict(Outcome.INCONCLUSIVE, tuple(unread) or (f"{reading.application}: no instance was read",))
    names = ", ".join(one.instance for one in reading.instances)
    return Verdict(Outcome.PROCEED, (f"{names}: down, set to {target.text}",))


def _wrong(instance: InstanceReading, target: Target) -> Iterator[str]:
    deployment = instance.deployment
    if isinstance(deployment, Missing):
        return
    if not is_down(deployment.process):
        yield f"{instance.instance}: its process is {deployment.process} (expected: down)"
    if isinstance(deployment.release, Missing):
        return
    found = Target(deployment.release, deployment.settings)
    if (found.release, sorted(found.settings)) != (target.release, sorted(target.settings)):
        yield f"{instance.instance}: set to {found.text} (expected {target.text})"


def _parts(instance: InstanceReading) -> Iterator[object]:
    yield instance.deployment
    if not isinstance(instance.deployment, Missing):
        yield instance.deployment.release
