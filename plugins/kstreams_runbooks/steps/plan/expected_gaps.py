"""The expected gaps of a plan: the timeouts of each instance's group, and the restarts that earlier runs measured."""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.plans.expected_gaps import with_expected_gaps, with_full_restores
from kstreams_runbooks.decide.releases.consumer_settings import POLL, SESSION, Sourced, main_consumer_ms
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.fleet import release_declaration
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan, SidePart
from kstreams_runbooks.model.runs.restarts import EarlierRestart, GroupTimes
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.rules import release_settings
from kstreams_runbooks.steps.plan.cards import bytes_to_restore, kept_restoring
from kstreams_runbooks.steps.plan.defects import defects_of_stops
from kstreams_runbooks.steps.plan.restarts import earlier_restarts
from kstreams_runbooks.steps.run.run import Run

_READ, _SET, _DECLARED, _PRINTED, _PLANNED = (
    "read from its program",
    "set by its deployer",
    "declared for its release",
    "printed by its topology command",
    "set by this plan",
)
# Source: KIP-848 and KIP-1071: the brokers have it, as a setting of the group.
_OF_GROUP, _OF_BROKERS = "{} of group {}, on its brokers", "a {} group has the timeouts of its brokers"


def with_gaps(run: Run, made: Plan, taken_by: str) -> Plan:
    """The plan with the timeouts of every instance that it restarts, and with gaps as earlier runs measured them.

    `taken_by` is the step whose reading has the instances.
    """
    if not any(part.costs for part in made.parts):
        return made
    made = _with_full_restores(run, made, taken_by)
    times: list[GroupTimes] = []
    earlier: list[EarlierRestart] = []
    for part in made.parts:
        side = run.on(part.application)
        if part.costs and not side.application.as_deployed:
            times += _times(side, made, part, taken_by)
            earlier += earlier_restarts(side)
    return run.decide(with_expected_gaps, plan=made, times=tuple(times), earlier=tuple(earlier))


def _with_full_restores(run: Run, made: Plan, taken_by: str) -> Plan:
    """The plan with a full restore in the gaps of instances whose stop may cost one, by a known defect."""
    defects, restored = dict[str, tuple[str, ...]](), dict[str, tuple[int | Missing, tuple[str, ...]]]()
    for part in made.parts:
        side, own = run.on(part.application), made.of_side(part.role)
        # Neither a copier nor a consumer has state.
        if not part.costs or side.application.copies or side.application.as_deployed:
            continue
        reading = side.observed(taken_by)
        stopped = {*(one.version for one in part.facts.at_start), *(one.version for one in own.bounces[:-1])}
        if rows := defects_of_stops(side, reading, own, "expect_full_restore", stopped):
            defects[part.role] = rows
            restored[part.role] = (bytes_to_restore(side, reading), kept_restoring(side) or ())
    return run.decide(with_full_restores, plan=made, defects=defects, restored=restored) if defects else made


def _times(run: Run, made: Plan, part: SidePart, taken_by: str) -> Iterator[GroupTimes]:
    if part.facts.group_type not in {"", "classic"}:
        session, poll_why = _both(_of_group(run, part.facts.group_type)), _OF_BROKERS.format(part.facts.group_type)
        yield from (GroupTimes(part.application, cost.instance, *session, None, poll_why) for cost in part.costs)
        return
    facts = run.running_facts(run.observed(taken_by))
    at_start = {one.instance: one for one in part.facts.at_start}
    for cost in part.costs:
        if (one := at_start.get(cost.instance)) is None:
            continue
        found = facts.get(one.instance)
        read = found.read.config if isinstance(found, FactsReading) else None
        yield _group_times(run, made, one, read)


def _of_group(run: Run, group_type: str) -> Sourced | Missing:
    """The session timeout of a group of KIP-848 or KIP-1071."""
    name, group = f"{group_type}.{SESSION}", run.declared.application_id
    with run.reader() as reader:
        value = reader.group_setting(group, name)
    if isinstance(value, Missing):
        return Missing(f"{_OF_BROKERS.format(group_type)}, {value.missing}")
    if not value.isdigit():
        return Missing(f"{name} of group {group} is not a number of milliseconds")
    return Sourced(int(value), _OF_GROUP.format(name, group))


def _group_times(run: Run, made: Plan, one: DeployedInstance, read: Mapping[str, str] | None) -> GroupTimes:
    """The lowest timeouts with which the instance is a member before one of its restarts: what ends first counts."""
    stages: list[tuple[str, dict[str, Mapping[str, str]]]] = []
    if read is not None:
        base: dict[str, Mapping[str, str]] = {_READ: read}
    else:
        base = {_SET: dict(one.settings)}
    wrong = ""
    if read is None:
        try:
            declared = release_declaration(run.record.application, one.release, one.version)
        except RunbookError as error:
            wrong = str(error)
        else:
            base[_DECLARED] = (declared.config if declared is not None else None) or {}
            base[_PRINTED] = _printed(run, one)
    stages.append((one.version, base))
    # A copier of the same run starts `as-deployed`, which does not name a release.
    own = made.of_application(run.record.application)
    taken = [bounce for bounce in own.bounces if bounce.takes(one.instance)]
    stages += [(bounce.version, {_PLANNED: dict(bounce.settings), **base}) for bounce in taken[:-1]]
    if wrong:
        return GroupTimes(run.record.application, one.instance, None, wrong, None, wrong)
    session, poll = _lowest(SESSION, stages), _lowest(POLL, stages)
    return GroupTimes(run.record.application, one.instance, *_both(session), *_both(poll))


def _printed(run: Run, one: DeployedInstance) -> Mapping[str, str]:
    """The settings in the topology facts that its topology command prints; none if it prints a description or fails."""
    try:
        facts = run.deployer.facts(run.deployer.topology_target(one.target))
    except RunbookError as error:
        run.say(f"{one.instance}: its settings are not read, so the timeouts of its group may be defaults: {error}")
        return {}
    return {} if facts is None or facts.config is None else facts.config


def _lowest(name: str, stages: list[tuple[str, dict[str, Mapping[str, str]]]]) -> Sourced | Missing:
    found = [main_consumer_ms(name, sources, library, release_settings()) for library, sources in stages]
    if missing := [one for one in found if isinstance(one, Missing)]:
        return missing[0]
    return min((one for one in found if isinstance(one, Sourced)), key=lambda one: one.ms)


def _both(found: Sourced | Missing) -> tuple[int | None, str]:
    return (None, found.missing) if isinstance(found, Missing) else (found.ms, found.source)
