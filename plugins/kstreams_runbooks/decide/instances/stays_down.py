"""Whether instances that a run stops stay down until it starts them."""

from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading, Missing
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict

_SOURCE = "docs/deployers.md, autorestart"


def stays_down(
    instances: tuple[InstanceReading, ...], application: str, *, required: bool = False, declared: bool = False
) -> Verdict:
    """Refuses if something else than its deployer would start an instance again that has to stay down.

    What is not reported is a finding; with `required` it is inconclusive. With `declared` the fleet entry answers for
    what its deployer does not report; a report to the contrary still refuses.
    """
    found = {one.instance: _autorestart(one) for one in instances}
    back = [name for name, autorestart in found.items() if autorestart is True]
    if back:
        return Verdict(
            Outcome.REFUSE,
            (
                f"{', '.join(back)}: started again by something else after a stop (autorestart is true, expected false "
                "while every instance has to stay down); switch that autorestart or autoscaler off, then trigger this "
                "again",
            ),
        )
    unseen = {name: one.missing for name, one in found.items() if isinstance(one, Missing)}
    if declared and unseen and all(isinstance(one.deployment, Deployment) for one in instances):
        why = f"{application}: nothing else starts {', '.join(unseen)} after a stop, as its fleet entry declares"
        return Verdict(Outcome.PROCEED, (f"{why} (deployer.stays_stopped)",))
    if not unseen:
        return Verdict(Outcome.PROCEED, (f"{application}: nothing else starts an instance that is stopped",))
    why = (
        f"{', '.join(unseen)}: whether anything else starts it while it has to stay down is not known "
        f"({'; '.join(dict.fromkeys(unseen.values()))})"
    )
    if required:
        return Verdict(
            Outcome.INCONCLUSIVE,
            (
                f"{why}; let the instances command print autorestart, or declare deployer.stays_stopped: true once an "
                "autorestart and an autoscaler are off",
            ),
        )
    finding = Finding(
        "may-be-started-again", "info", application, f"{why}; switch an autorestart or an autoscaler off", _SOURCE
    )
    return Verdict(Outcome.PROCEED, (why,), (finding,))


def _autorestart(instance: InstanceReading) -> bool | Missing:
    deployment = instance.deployment
    return deployment.autorestart if isinstance(deployment, Deployment) else deployment
