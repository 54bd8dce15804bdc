"""The plan of `control_topic_flush`: the stop and restart that the form describes, between a pause and a resume."""

from kstreams_runbooks.decide.plans.flush import flush_plan
from kstreams_runbooks.decide.plans.switches import COPIER, MANUAL, SWAP, AnySwitch, Manual
from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.steps.inputs.swap import swap_of
from kstreams_runbooks.steps.plan.plan import stop_and_restart
from kstreams_runbooks.steps.plan.releases import before_a_roll
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.wording import outside

_WORDS = (SWAP, COPIER, MANUAL)


def control_topic_flush(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The plan to another release or other settings, with every record of the old one processed before."""
    restart = stop_and_restart(run, reading, findings)
    return run.decide(flush_plan, restart=restart, switch=_switch(run, reading, restart))


def _switch(run: Run, reading: ApplicationReading, restart: Plan) -> AnySwitch:
    word = str(run.record.params.get("switch") or "")
    if word == SWAP:
        before, after = before_a_roll(run, reading, restart.bounces[-1].target)
        if isinstance(after, Missing):
            raise Inconclusive(
                f"the topology of {run.declared.name} is not known, so no input is swapped: {after.missing}"
            )
        return swap_of(run, reading, restart, before)
    if word == MANUAL:
        return Manual(run.application.control or run.application.inputs)
    raise BadInput(f"switch: {outside(word or 'nothing', 30)} (expected {', '.join(_WORDS)}); choose one")
