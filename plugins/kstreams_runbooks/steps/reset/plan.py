"""The plan of `reset_and_cleanup`: a stop and restart, with a reset of the application while it is down."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

from kstreams_runbooks.act.topic_checks import known
from kstreams_runbooks.decide.change.comparable import with_settings
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.fitting.needed import parsed_or_missing, topics_needed
from kstreams_runbooks.decide.fitting.uncommitted import SKIPPED_AT_FIRST, resets_of
from kstreams_runbooks.decide.internal_topics.as_before import as_before, differences
from kstreams_runbooks.decide.internal_topics.before_start import created_before_start
from kstreams_runbooks.decide.plans.local_state import ALL, KEEP, STALE, cleared_state
from kstreams_runbooks.decide.plans.only_copy import given_up, require_exact
from kstreams_runbooks.decide.plans.reset import ResetParts, reset_plan
from kstreams_runbooks.decide.reset.radius import may_reset
from kstreams_runbooks.decide.reset.streams_group import STREAMS, keeps_topology
from kstreams_runbooks.decide.reset.targets import parse_target, target_text
from kstreams_runbooks.errors import BadInput, RunbookError, Unreachable
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.readings.reset import BlastRadius
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, ClearState, StartAll
from kstreams_runbooks.model.target import RunbookSettings
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.model.writes import TopicShape
from kstreams_runbooks.observe.kafka.touched import read_topic_states
from kstreams_runbooks.present.blast_radius import as_text
from kstreams_runbooks.steps.plan.fitting import accepted_unread, require_topics, wanted_versions
from kstreams_runbooks.steps.plan.plan import at_once_plan, judged_release, with_undescribed
from kstreams_runbooks.steps.plan.releases import before_a_roll, deployable, known_of
from kstreams_runbooks.steps.reset.retire import RETIRE, retire
from kstreams_runbooks.steps.run.form import given_lost
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.cleaned_up import require_may_clean_up
from kstreams_runbooks.steps.stages.outputs import judged_outputs
from kstreams_runbooks.watch.blast_radius import ReadReset, ResetQuestion, read_reset
from kstreams_runbooks.wording import outside

Mode = Literal["reset", "offsets", "state"]
_MODES: dict[str, Mode] = {word: word for word in get_args(Mode)}
# Fates of stores that may begin empty only if that is accepted.
_LOST = {"lost", "unknown"}
_LATEST, _CLEANED = "latest", "clean_outputs"
_CLEARED_BY, _DEPLOYER, _APPLICATION = "cleared_by", "deployer", "application"


def reset_and_cleanup(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The plan of a reset from what the form asks for, once its blast radius lets it go on.

    The release and its settings may change with it. With mode `reset` what the old ones left is gone, so their
    topologies need not fit; the other modes keep changelogs, and judge the change as any run does.
    """
    params = run.record.params
    if params.get("mode") == RETIRE:
        return retire(run, reading, findings)
    mode = _mode(params)
    outputs = _outputs(params)
    clean_up = clean_up_of(run)
    targets = _targets(run)
    restart = at_once_plan(run, reading, findings)
    [bounce] = restart.bounces
    versions = (_printed(run, bounce), *wanted_versions(run, reading, [bounce]))
    brings = tuple(_sides(versions))
    directories = _directories(run, reading, bounce)
    lost = given_lost(params)
    question = ResetQuestion(mode, targets, outputs, brings, directories.names, lost)
    read = read_reset(run.record.application, question, run.say)
    verdict = run.decide(may_reset, radius=read.radius)
    # The first line names the application and the verdict, which the log has anyway.
    for line in as_text(read.radius, verdict).splitlines()[1:]:
        run.say(line)
    run.demand(verdict)
    if restart.facts.group_type == STREAMS:
        run.demand(keeps_topology(run.application.application_id, read.last, [one.topology for one in brings]))
    going = frozenset(one.name for one in read.radius.deleted)
    fitting = require_topics(run, reading, restart.bounces, going, accepted=accepted_unread(run))
    parts, others = _as_before(run, read.radius, _parts(run, read, bounce, versions, directories))
    if isinstance(parts.created, tuple):
        # The run creates them, and commits their beginning.
        fitting = tuple(one for one in fitting if one.id != SKIPPED_AT_FIRST)
    restart = replace(restart, findings=(*restart.findings, *fitting))
    # Only that mode deletes all that the release before has left.
    restart = with_undescribed(run, restart) if mode == "reset" else judged_release(run, reading, restart)
    if mode != "offsets":
        # That mode keeps local state; whether a start finds it is judged as in any other run (steps/plan/only_copy.py).
        lossy = [one.store for one in read.radius.stores if mode == "state" and one.fate in _LOST]
        require_exact(lost, {*lossy, *given_up(restart.findings)})
    cleaned, shown = judged_outputs(run, outputs, read.outputs, read.read) if outputs else (None, ())
    made = run.decide(
        reset_plan,
        restart=restart,
        radius=read.radius,
        parts=replace(parts, cleaned=cleaned, clean_up=clean_up),
        broker=reading.broker,
    )
    in_part = {one.store for one in read.radius.stores if one.in_part}
    if mode == "state":
        made = replace(made, emptied=lost, in_part=tuple(one for one in lost if one in in_part))
    made = replace(made, findings=(*made.findings, *others, *shown))
    _check_clearing(run, made)
    return made


def _mode(params: Mapping[str, Any]) -> Mode:
    word = str(params.get("mode") or "")
    if word not in _MODES:
        raise BadInput(f"mode: {outside(word or 'nothing', 30)} (expected {', '.join(_MODES)}, {RETIRE}); choose one")
    if params.get("directories") and word != "state":
        raise BadInput(f"directories: given with mode {word} (expected: mode state, the others keep or clear all)")
    if params.get(_CLEANED) and word == "state":
        raise BadInput(f"{_CLEANED}: given with mode state (expected: a mode that reads records again)")
    return _MODES[word]


def clean_up_of(run: Run) -> RunbookSettings:
    """The settings with which the application deletes its local state at its start, none if its deployer does."""
    params = run.record.params
    word, mode = str(params.get(_CLEARED_BY) or _DEPLOYER), str(params.get("mode"))
    if word == _DEPLOYER:
        return ()
    if word != _APPLICATION:
        raise BadInput(f"{_CLEARED_BY}: {outside(word, 30)} (expected {_DEPLOYER} or {_APPLICATION}); choose one")
    if mode == "offsets":
        raise BadInput(f"{_CLEARED_BY}: {word}, with mode {mode} (expected: a mode that clears local state)")
    if params.get("directories"):
        raise BadInput(
            f"{_CLEARED_BY}: {word}, with task directories (expected none: KafkaStreams#cleanUp deletes all); leave "
            f"them empty, or choose {_DEPLOYER}"
        )
    if not run.application.clean_up:
        raise BadInput(
            f"{_CLEARED_BY}: {word}, and the fleet entry {run.record.application} has no clean_up (expected: the "
            f"setting with which the program calls KafkaStreams#cleanUp); declare it, or choose {_DEPLOYER}"
        )
    return tuple(sorted(run.application.clean_up.items()))


def _targets(run: Run) -> dict[str, str]:
    """The targets of the form, a duration back as the time that it meant when the run began; else BadInput."""
    given: Any = run.record.params.get("targets")
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadInput(f"targets: {outside(repr(given), 60)} is not an object; give " + '{"input": "earliest"}')
    began = run.record.started_at_ms
    return {str(topic): target_text(parse_target(str(topic), value, began)) for topic, value in given.items()}


def _outputs(params: Mapping[str, Any]) -> tuple[str, ...]:
    """The outputs whose records the run deletes."""
    given: Any = params.get(_CLEANED) or []
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise BadInput(f'{_CLEANED}: {outside(repr(given), 60)} is not a list of topics; give ["totals"]')
    return tuple(given)


def _sides(versions: Iterable[Described | Missing]) -> Iterator[Side]:
    """What starts afterwards, as far as its topology is known."""
    for one in parsed_or_missing(versions):
        if not isinstance(one, Missing):
            yield Side(one.topology, one.described.declaration)


def _parts(
    run: Run,
    read: ReadReset,
    bounce: Bounce,
    versions: tuple[Described | Missing, ...],
    directories: TaskDirectories,
) -> ResetParts:
    needed = topics_needed(parsed_or_missing(versions), run.declared)
    return ResetParts(
        created=_created(run, read.radius, versions),
        targets=tuple((topic, target_text(one)) for topic, one in sorted(read.targets.items())),
        most_lost=_most_lost(run.record.params.get("most_lost")),
        directories=directories,
        needed=tuple(sorted(needed.internal)),
        follows_latest=_LATEST in (resets_of(versions, [dict(bounce.settings)]) or ()),
    )


def _printed(run: Run, bounce: Bounce) -> Described | Missing:
    """The wanted version as its topology command prints it: it may print facts that no instance shows."""
    try:
        return with_settings(deployable(run, bounce.target), bounce.settings)
    except Unreachable:
        raise
    except RunbookError as error:
        return Missing(str(error))


def _created(
    run: Run, radius: BlastRadius, versions: tuple[Described | Missing, ...]
) -> tuple[TopicShape, ...] | Missing | None:
    """The internal topics that the run creates before the start; None if it deletes none, or the form leaves them.

    `versions` are descriptions of one and the same: the facts may be known of one of them alone.
    """
    if not radius.deleted or not run.record.params.get("create_internal_topics", True):
        return None
    seen = run.topics_seen(topics_needed(parsed_or_missing(versions), run.declared))
    kept = frozenset(one.name for one in radius.internal if not one.goes)
    found = [created_before_start(one, seen, run.declared, kept) for one in versions]
    return next((one for one in found if isinstance(one, tuple)), found[0])


def _as_before(run: Run, radius: BlastRadius, parts: ResetParts) -> tuple[ResetParts, tuple[Finding, ...]]:
    """The topics to create with the settings that they have now, and what differs from those of Kafka Streams.

    Inconclusive if the settings of a topic that goes are not visible.
    """
    if not isinstance(parts.created, tuple):
        return parts, ()
    going = [one.name for one in radius.deleted]
    with run.reader() as reader:
        states = known(read_topic_states(reader, going))
        there = reader.topics(going, configs=True)
    before = [TopicShape(one.name, one.partitions, states[one.name].replication, one.configs) for one in there]
    again = as_before(parts.created, before)
    found = tuple(differences(parts.created, before, again))
    run.say_findings(found)
    return replace(parts, created=again), found


def _most_lost(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int | None) or (given or 0) < 0:
        raise BadInput(f"most_lost: {outside(repr(given), 40)} is not a number of offsets (expected 0 or more)")
    return given or 0


def _directories(run: Run, reading: ApplicationReading, bounce: Bounce) -> TaskDirectories:
    choice = str(run.record.params.get("directories") or "").strip()
    if not choice:
        return NO_DIRECTORIES
    if choice in {STALE, KEEP, ALL}:
        raise BadInput(f"directories: {choice} is not a task directory (expected such as 1_*, 2_3, global, or nothing)")
    before, _ = before_a_roll(run, reading, bounce.target)
    return run.decide(cleared_state, choice=choice, before=before, after=None, known=known_of(run, reading)).deletes


def _check_clearing(run: Run, made: Plan) -> None:
    """Refuse here, while all instances run, what would keep their state from being deleted once they are down."""
    for stage in made.stages:
        if isinstance(stage, ClearState) and stage.at_start:
            require_may_clean_up(run)
        elif isinstance(stage, ClearState):
            for name in made.facts.instances:
                run.deployer.check_clear_state(name, stage.deletes.names)
        elif isinstance(stage, StartAll):
            for name in made.facts.instances:
                run.deployer.check_start(name, stage.once)
