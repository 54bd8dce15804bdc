"""The plan of `partition_increase`: the topics that grow together, the keys that move, and the stages from that."""

from typing import Any

from kstreams_runbooks.act.topics import TopicWriter
from kstreams_runbooks.decide.growth.closure import closure
from kstreams_runbooks.decide.growth.verdict import may_grow_in_place
from kstreams_runbooks.decide.plans.basis import costs_at_once, facts
from kstreams_runbooks.decide.plans.growth import growth_plan
from kstreams_runbooks.decide.plans.switches import COPIER, CopierSwitch
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.fleet import load_fleet, require_copier
from kstreams_runbooks.frames.ranges import MAX_SCAN_RECORDS
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.growth import ForecastReading
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.topology.growth import GrowthSeen
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.writes import Growth
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.inputs.hold import may_be_held
from kstreams_runbooks.steps.plan.fitting import require_topics
from kstreams_runbooks.steps.plan.plan import at_once_plan, check_deployer, judged
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.growth import GrowthAsked, read_growth
from kstreams_runbooks.watch.internal_topics import running_version
from kstreams_runbooks.wording import outside

_FORECAST = "growth forecast"


def growth_asked(run: Run) -> GrowthAsked:
    """What the form asks for; BadInput for a number that is not one."""
    wanted: Any = run.record.params.get("partitions")
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
        raise BadInput(f"partitions: {outside(repr(wanted), 40)} (expected a number above 0); give it (partitions)")
    named = str(run.record.params.get("topics") or "")
    topics = tuple(dict.fromkeys(one.strip() for one in named.split(",") if one.strip()))
    if named and not topics:
        raise BadInput(f"topics: {outside(repr(named), 40)} (expected names with commas between them); correct it")
    return GrowthAsked(wanted, topics, bool(run.record.params.get("uneven")), MAX_SCAN_RECORDS)


def growth_seen(run: Run) -> GrowthSeen:
    """What decides the growth, as it is now."""
    fleet, entry = load_fleet(), run.application
    described = running_version(fleet, entry)
    return read_growth(fleet, entry, run.kafka, described, growth_asked(run))


def keep_forecast(run: Run, forecast: ForecastReading | None) -> None:
    """Keep the forecast as evidence; None if nothing can grow."""
    run.keep("reading", _FORECAST, {"forecast": encode(forecast)})


def kept_forecast(run: Run) -> ForecastReading | None:
    """The newest forecast of this run; Refused without one."""
    kept = run.ledger.evidence(run.key, kind="reading", name=_FORECAST, newest=1)
    if not kept:
        raise Refused("the keys are not forecast: `forecast_keys` has not run; clear it and what follows it")
    forecast: ForecastReading | None = decode(ForecastReading | None, kept[0].payload["forecast"])
    return forecast


def partition_increase(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The plan; Refused or Inconclusive if a record could be lost, or a topic that is not its own would grow."""
    seen, forecast = growth_seen(run), kept_forecast(run)
    verdict = run.decide(may_grow_in_place, seen=seen, forecast=forecast)
    run.say_findings(verdict.findings)
    run.demand(verdict)
    closed = closure(seen)
    if forecast is None or isinstance(forecast.topics, Missing):
        raise Refused("the keys are not forecast: clear `forecast_keys` and what follows it")
    side = run.side(COPIER)
    of_copier = judged(side, side.observed())
    restart = at_once_plan(run, reading, (*findings, *of_copier), {})
    copier = require_copier(load_fleet(), run.application, side.record.application)
    found = facts(side.observed(), side.declared, code_digest(run.record.dag_id))
    part = SidePart(COPIER, side.declared.name, side.declared.cluster, found, tuple(costs_at_once(side.declared)))
    switch = CopierSwitch(run.application.inputs, part, copier.inputs)
    fitting = require_topics(run, reading, restart.bounces)
    may_be_held(run, reading, parsed(seen.described), switch)
    _require_growable(run, seen, {one.name: one.after for one in closed.grown})
    made = run.decide(
        growth_plan,
        restart=restart,
        switch=switch,
        closed=closed,
        forecast=forecast.topics,
        findings=(*fitting, *verdict.findings),
        group=run.declared.application_id,
    )
    check_deployer(run, made.of_side(""))
    check_deployer(side, made.of_side(COPIER))
    return made


def _require_growable(run: Run, seen: GrowthSeen, after: dict[str, int]) -> None:
    """Refused before any change if the controller would not add these partitions: a policy, a missing right."""
    with run.reader() as reader:
        topics = reader.topics(tuple(after))
    if gone := sorted(after.keys() - {one.name for one in topics}):
        raise Refused(f"topic {gone[0]} of {seen.application} is gone (expected: as it was read); clear observe")
    TopicWriter(run.kafka).grow([Growth(one.name, one.topic_id, one.partitions, after[one.name]) for one in topics])
