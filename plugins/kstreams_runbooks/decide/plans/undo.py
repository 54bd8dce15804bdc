"""From the undo cards of a run to the plan that takes it back."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from kstreams_runbooks.decide.instances.members import settings_text
from kstreams_runbooks.decide.plans.basis import (
    NO_INSTANCE,
    UPGRADE_FROM,
    all_down,
    costs,
    costs_at_once,
    facts,
    one_down,
    other_library,
    with_restore,
)
from kstreams_runbooks.decide.plans.cutover import CUTOVER
from kstreams_runbooks.decide.plans.flush import FLUSH
from kstreams_runbooks.decide.plans.flush_back import flush_back_command
from kstreams_runbooks.decide.plans.local_state import ALL, KEEP, STALE
from kstreams_runbooks.decide.plans.reset import RESET
from kstreams_runbooks.decide.plans.undo_begins import begun_at_zero
from kstreams_runbooks.decide.plans.undo_cards import (
    OwnThings,
    created_topics,
    deleted_topics,
    paused_inputs,
    recreated_topics,
    taken_back,
    unknown_kinds,
)
from kstreams_runbooks.decide.plans.undo_findings import (
    card_finding,
    left_behind,
    state_gone,
    undo_findings,
    warnings_of_releases,
)
from kstreams_runbooks.decide.plans.undo_order import UndoPart, in_order
from kstreams_runbooks.decide.plans.way_back import Move, Undone, UndoneSide, guard_of
from kstreams_runbooks.decide.runbooks import ADOPT, GREEN, INCREASE, WITHOUT_FLUSH
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    InstanceReading,
    Missing,
    StreamsReading,
)
from kstreams_runbooks.model.readings.states import is_dead, is_up
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.runs.cards import TopicGrown
from kstreams_runbooks.model.runs.plan import DeployedInstance, InstanceCost, Plan, PlanFacts, SidePart
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.wording import outside

# Runbooks that move topics, offsets or state: their undo never starts an instance that cannot be set back.
_SET_BACK_OR_DOWN = frozenset({FLUSH, RESET, ADOPT, GREEN, INCREASE, CUTOVER})


def undo_plan(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    undone: Undone,
    rules: UpgradePathRules,
    changelog_bytes: int | Missing,
    limits: tuple[tuple[str, float], ...],
    code: str,
    local_state: str = STALE,
    sides: tuple[UndoneSide, ...] = (),
    *,
    leave_unknown: bool = False,
    without_flush: bool = False,
    restores: tuple[str, ...] = (),
) -> Plan:
    """The plan that brings every instance back to where it was before `undone` touched it, cards from last to first.

    If the repartition topics may have records that the old release misreads, as after the point of no return of a
    library bump, there is a stage in between: every instance that goes back runs with `upgrade.from` set, and these
    records are read to their end, before the first old release starts.
    Everything else that the run changed goes back too, cards from last to first over all `sides` (undo_order.py).

    `changelog_bytes` is what an instance may have to restore. `local_state` is what the undo deletes of each instance:
    `stale` (the directories that the cards name), `keep` (nothing) or `all`. BadInput for another one, and for `keep`
    and `all` if the run took one instance after another and its cards name no directories. Refused if a run changed
    nothing, if an instance is no longer as the run left it, if the version rules allow no undo, and if a card is of an
    unknown kind, unless `leave_unknown` chooses to take back the others alone. Refused too if the run flushed the
    application and what it started has run since, unless `without_flush` accepts that records are lost. Inconclusive if
    an instance's deployment cannot be read.
    """
    if undone.runbook == "undo":
        raise Refused(f"run {undone.run_key} is an undo itself: trigger the runbook that it took back again")
    if not undone.moves and not undone.others and not any(side.moves for side in sides):
        raise Refused(f"run {undone.run_key} has no undo card left: it changed nothing, or it is undone already")
    if undone.other_way and undone.runbook == GREEN:
        raise Refused(
            f"run {undone.run_key} has started {declared.name} on topics of its own, or deleted them, and their "
            f"records do not come back; the way back is a run of its own: {undone.other_way}"
        )
    if undone.other_way and undone.runbook != CUTOVER:
        raise Refused(
            f"run {undone.run_key} has begun to start {declared.name} on other topics, and offsets there are no places "
            f"in the topics of before; the way back is a run of its own: {undone.other_way}; if no instance starts, "
            "stop all of them, and trigger this again"
        )
    if undone.runbook == INCREASE and (grown := tuple(_grown(undone, reading))):
        raise Refused(
            f"run {undone.run_key}: {'; '.join(grown)}; Kafka cannot remove partitions, and neither the application "
            "nor its copier starts on a part of them as before; finish the run: its last message has the task to clear"
        )
    _check_choice(local_state, undone)
    if (unknown := unknown_kinds(undone.others)) and not leave_unknown:
        raise Refused(
            f"run {undone.run_key}: {'; '.join(unknown)}; to take back the others alone, trigger a new run with "
            "--param leave_unknown=true"
        )
    found = facts(reading, declared, code)
    if (
        undone.flush
        and not without_flush
        and any(one.target == undone.moves[-1].after.target for one in found.at_start)
    ):
        raise Refused(_flush_back(declared, undone))
    bounces, guards = _instances_back(reading, declared, undone, found, rules, local_state)
    parts = [_part(side, undone, rules, code, local_state) for side in sides]
    readings = {"": reading, **{side.role: side.reading for side in sides}}
    own = OwnThings(
        created_topics(undone.others),
        paused_inputs(undone.others),
        deleted_topics(undone.others, readings),
        recreated_topics(undone.others),
    )
    others = sorted(undone.others, key=lambda card: -card.seq)
    taken = [taken_back(card, readings[card.side], own) for card in others]
    at = {"": declared, **{side.role: side.declared for side in sides}}
    restarted = [
        UndoPart("", bounces, undone.cards, stays="" in undone.fresh),
        *(part for part, _ in parts),
    ]
    begun = [
        stage
        for part in restarted
        if undone.at_once and part.bounces
        for stage in begun_at_zero(at[part.role], readings[part.role], part.role, undone.others, taken)
    ]
    stages = in_order(restarted, taken, at_once=undone.at_once, must=undone.runbook in _SET_BACK_OR_DOWN, begun=begun)
    # Inputs count as held until the cards of a flush are finished: with nothing left to do the undo only closes them.
    if not stages and undone.runbook == CUTOVER and undone.other_way:
        raise Refused(
            f"run {undone.run_key}: every instance runs, and the groups that it has moved stay: their offsets of "
            f"before would lose or double records; to take them back, with a seam of its own: {undone.other_way}"
        )
    if not stages and undone.runbook not in {FLUSH, INCREASE, CUTOVER}:
        raise Refused(
            f"run {undone.run_key}: every instance runs as it did before; there is nothing to undo"
            + "".join(f"; {one.sentence}" for one in taken)
        )
    return Plan(
        runbook="undo",
        application=declared.name,
        cluster=declared.cluster,
        change=(("run", undone.run_key),),
        limits=limits,
        stages=stages,
        facts=found,
        costs=_costs(declared, bounces, changelog_bytes, restores, at_once=undone.at_once),
        findings=(
            *undo_findings(declared, undone, bounces, guards, reading, local_state, restores),
            *warnings_of_releases(declared, undone, rules),
            *state_gone(declared, undone, own.deleted),
            *(card_finding(declared, one) for one in taken),
        ),
        undo=(f"trigger {undone.runbook} again",),
        title=f"undo of {undone.run_key}" + (f": back to {bounces[-1].deployed}" if bounces else ""),
        worst_case=_worst_case(
            [
                (declared, bounces),
                *((of.declared, part.bounces) for of, (part, _) in zip(sides, parts, strict=True)),
            ],
            at_once=undone.at_once,
        ),
        at_once=undone.at_once,
        sides=tuple(
            replace(side, costs=_costs(of.declared, part.bounces, of.changelog_bytes, at_once=undone.at_once))
            for of, (part, side) in zip(sides, parts, strict=True)
        ),
    )


def _grown(undone: Undone, reading: ApplicationReading) -> Iterator[str]:
    """Topics that the run has grown; Inconclusive if that is not known of one that it was about to grow."""
    announced = [one.facts for one in undone.others if isinstance(one.facts, TopicGrown)]
    if announced and isinstance(reading.topics, Missing):
        raise Inconclusive(
            f"run {undone.run_key}: whether its topics have grown is not known: {reading.topics.missing}; correct "
            "that, then clear read_cards and what follows it"
        )
    there = {} if isinstance(reading.topics, Missing) else {one.name: one.partitions for one in reading.topics}
    for grown in announced:
        if there.get(grown.name) != grown.before:
            now = there.get(grown.name, "an unknown number of")
            yield f"topic {grown.name} has {now} partitions ({grown.before} before the run)"


def _flush_back(declared: DeclaredApplication, undone: Undone) -> str:
    """What takes a flush back without a loss: the same flush, to the state before it."""
    before, after = undone.moves[0].before, undone.moves[-1].after
    command = flush_back_command(declared.name, before, after, undone.flush)
    return (
        f"run {undone.run_key} has begun to start {after.deployed}, which may have records in internal topics that "
        f"{before.deployed} does not read; a flush back loses none of them: {command}; to undo the run without "
        f"one (also if it does not run) and lose them, trigger a new run with --param {WITHOUT_FLUSH}=true"
    )


def _part(
    side: UndoneSide, undone: Undone, rules: UpgradePathRules, code: str, local_state: str
) -> tuple[UndoPart, SidePart]:
    """One more side: its way back, and the facts that the plan binds about it."""
    found = facts(side.reading, side.declared, code)
    own = replace(undone, moves=side.moves)
    bounces, _ = _instances_back(side.reading, side.declared, own, found, rules, local_state)
    bound = SidePart(side.role, side.declared.name, side.declared.cluster, found)
    return UndoPart(side.role, bounces, side.cards, stays=side.role in undone.fresh), bound


def _costs(
    declared: DeclaredApplication,
    bounces: tuple[Bounce, ...],
    changelog_bytes: int | Missing,
    restores: tuple[str, ...] = (),
    *,
    at_once: bool,
) -> tuple[InstanceCost, ...]:
    if not bounces:
        return ()
    return tuple(
        with_restore(cost, changelog_bytes, topics=restores) if _clears(bounces, cost.instance) else cost
        for cost in (costs_at_once(declared) if at_once else costs(declared))
    )


def _worst_case(taken: Sequence[tuple[DeclaredApplication, tuple[Bounce, ...]]], *, at_once: bool) -> str:
    """The worst case of every application whose instances are touched."""
    worst = [all_down(declared) if at_once else one_down(declared) for declared, bounces in taken if bounces]
    return "; ".join(worst) or NO_INSTANCE


def _instances_back(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    undone: Undone,
    found: PlanFacts,
    rules: UpgradePathRules,
    local_state: str,
) -> tuple[tuple[Bounce, ...], dict[str, DeployedInstance]]:
    """The bounces that take the instances of one side back, and the guards of those that need one."""
    if stale := tuple(_not_in_effect(reading)):
        raise Refused(f"{stale[0]}; restart it, so that what runs is what is declared, then trigger this again")
    todo = {one.instance: tuple(still_to_undo(reading, undone, one)) for one in found.at_start}
    guards = {
        move.instance: guard
        for moves in todo.values()
        for move in moves
        if (guard := guard_of(move, undone, reading, declared, rules))
    }
    bounces = tuple(_at_once(undone, todo, local_state) if undone.at_once else _stages(todo, guards, local_state))
    for bounce in bounces:
        if bounce.after_drain:
            _all_guarded(undone, bounce, found.at_start, guards)
    return bounces, guards


def _check_choice(local_state: str, undone: Undone) -> None:
    if local_state not in {STALE, KEEP, ALL}:
        raise BadInput(f"local_state: {outside(local_state, 60)!r} (expected {STALE}, {KEEP} or {ALL}); choose one")
    if local_state != STALE and not undone.at_once and not left_behind(undone.moves).names:
        raise BadInput(
            f"local_state={local_state}: run {undone.run_key} took one instance after another, and its cards name no "
            f"task directories: the releases decide what its undo deletes (expected {STALE}); leave the field as it is"
        )


def still_to_undo(reading: ApplicationReading, undone: Undone, deployed: DeployedInstance) -> Iterator[Move]:
    """The moves of an instance that are in effect, first to last; Refused if its state is not one of the run's."""
    own = [move for move in undone.moves if move.instance == deployed.instance]
    if not own:
        return
    as_it_was = all(_same(move.before, move.after) and _same(move.after, deployed) for move in own)
    if undone.runbook == CUTOVER and as_it_was and _runs(reading, deployed.instance):
        # It was stopped and started without a change: another stop would hold the inputs once more.
        return
    way = [own[0].before, *(move.after for move in own)]
    at = max((index for index, place in enumerate(way) if _same(place, deployed)), default=None)
    if at is None:
        raise Refused(
            f"{deployed.instance} is deployed as {deployed.release} with {settings_text(dict(deployed.settings))} "
            f"(run {undone.run_key} left it as {way[-1].deployed}): it was changed since; undo that first, or "
            f"bring it to {way[0].deployed} manually"
        )
    if at == 0 and not _runs(reading, deployed.instance):
        if undone.unguarded and (crossed := [move for move in own if move.before.version != move.after.version]):
            raise Refused(
                f"{deployed.instance} is set to {deployed.release} and does not run, while records that it misreads "
                f"may lie in the repartition topics (run {undone.run_key}, or one after it, passed the point of no "
                f"return); set it back to {crossed[0].after.deployed} and start it by hand, then trigger this again: "
                "the topics are read to their end first"
            )
        # It is where it was, and only has to be started. If it was stopped, nothing has run since; otherwise it was put
        # back manually, and it may have died of files that the newer release left on its disk.
        clears = own[0].clears_state and not _is_stopped(reading, deployed.instance)
        yield replace(own[0], after=own[0].before, clears_state=clears)
    yield from own[:at]


def _all_guarded(
    undone: Undone, bounce: Bounce, at_start: tuple[DeployedInstance, ...], guards: Mapping[str, DeployedInstance]
) -> None:
    """Refused if an instance outside this undo keeps writing a format that the older release misreads."""
    old = Release.parse(bounce.version)
    for one in at_start:
        newer = Release.parse(one.version) > old and UPGRADE_FROM not in dict(one.settings)
        if newer and one.instance not in guards:
            raise Refused(
                f"{one.instance} runs {one.deployed}, which run {undone.run_key} did not bring about, and goes on "
                f"writing what {bounce.release} misreads; undo the run that brought it there first"
            )


def deployed_as(instance: InstanceReading, bounce: Bounce) -> bool:
    """Whether a stage has set an instance already, in any state of its process: it is not taken back further."""
    deployment = instance.deployment
    if isinstance(deployment, Missing) or not bounce.takes(instance.instance):
        return False
    return (deployment.release, sorted(deployment.settings)) == (bounce.release, sorted(bounce.settings))


def _not_in_effect(reading: ApplicationReading) -> Iterator[str]:
    """Instances that do not run their declared state: their place on the path is unknown."""
    for instance in reading.instances:
        deployment = instance.deployment
        if not isinstance(deployment, Missing) and deployment.process == "running" and deployment.applied is False:
            yield f"{instance.instance}: its release or settings were written after it started (expected: in effect)"


def _same(one: DeployedInstance, other: DeployedInstance) -> bool:
    return (one.release, sorted(one.settings)) == (other.release, sorted(other.settings))


def _deployment(reading: ApplicationReading, name: str) -> tuple[InstanceReading, Deployment]:
    instance = reading.instance(name)
    if isinstance(instance, Missing) or isinstance(instance.deployment, Missing):
        raise Inconclusive(f"{name}: whether it runs cannot be read")
    return instance, instance.deployment


def _runs(reading: ApplicationReading, name: str) -> bool:
    instance, deployment = _deployment(reading, name)
    return is_up(deployment.process) and (
        isinstance(instance.streams, StreamsReading) and not is_dead(instance.streams.state)
    )


def _is_stopped(reading: ApplicationReading, name: str) -> bool:
    return _deployment(reading, name)[1].process == "stopped"


def _clears(bounces: tuple[Bounce, ...], instance: str) -> bool:
    return any(bounce.clears is not None and bounce.takes(instance) for bounce in bounces)


def _at_once(undone: Undone, todo: dict[str, tuple[Move, ...]], local_state: str) -> Iterator[Bounce]:
    """All instances together, to the state in which the first card of each found it."""
    if not any(todo.values()):
        return
    first: dict[str, Move] = {}
    for move in undone.moves:
        first.setdefault(move.instance, move)
    before = sorted({(move.before.release, move.before.settings, move.before.version) for move in first.values()})
    if len(before) > 1:
        named = " and ".join(move.before.deployed for move in first.values())
        raise Refused(
            f"run {undone.run_key} found its instances as {named}: they cannot be started together as one; bring them "
            "back by hand (`kstreams-runbooks evidence` has the commands)"
        )
    release, settings, library = before[0]
    # What an older release cannot open goes in any case.
    clear = local_state == ALL or any(move.clears_state for move in undone.moves)
    deletes = NO_DIRECTORIES if clear or local_state == KEEP else left_behind(undone.moves)
    yield Bounce(1, release, settings, other_library(release, library), clear_state=clear, deletes=deletes)


def _stages(
    todo: Mapping[str, tuple[Move, ...]], guards: Mapping[str, DeployedInstance], local_state: str
) -> Iterator[Bounce]:
    """One stage per bounce of the run, last to first, split if instances differed before it.

    Before a stage that needs a drain comes one that brings every instance to its guard; one that has it is only
    checked, and one that is down is started: no other instance reads the records in its partitions.
    """
    stages: list[Bounce] = []
    for number in sorted({move.bounce for moves in todo.values() for move in moves}, reverse=True):
        # A rerun of a bounce has more than one card; the first has the original state.
        first = [next((move for move in moves if move.bounce == number), None) for moves in todo.values()]
        going = [move for move in first if move is not None]
        drained = [move for move in going if move.instance in guards and move.before.version != move.after.version]
        for place, there in _alike(drained, lambda move: guards[move.instance]):
            _bring(stages, place, there)
        for place, there in _alike(going, lambda move: move.before):
            clear = local_state == ALL or any(move.clears_state for move in there)
            deletes = NO_DIRECTORIES if clear or local_state == KEEP else left_behind(there)
            drain = any(move in drained for move in there)
            _bring(stages, place, there, clear_state=clear, deletes=deletes, after_drain=drain)
    yield from stages


def _alike(moves: list[Move], to: Callable[[Move], DeployedInstance]) -> Iterator[tuple[DeployedInstance, list[Move]]]:
    """Moves by their target, in the order of the instances."""
    found: dict[tuple[str, tuple[tuple[str, str], ...], str], list[Move]] = {}
    for move in moves:
        place = to(move)
        found.setdefault((place.release, place.settings, place.version), []).append(move)
    return ((to(there[0]), there) for there in found.values())


def _bring(
    stages: list[Bounce],
    place: DeployedInstance,
    moves: list[Move],
    *,
    clear_state: bool = False,
    deletes: TaskDirectories = NO_DIRECTORIES,
    after_drain: bool = False,
) -> None:
    """Another stage that ends on `place`, or more instances for the last one if that is the same."""
    names = tuple(move.instance for move in moves)
    library = other_library(place.release, place.version)
    stage = Bounce(len(stages) + 1, place.release, place.settings, library, names, clear_state, after_drain, deletes)
    if stages and replace(stages[-1], number=stage.number, instances=names) == stage:
        stages[-1] = replace(stages[-1], instances=tuple(sorted({*stages[-1].instances, *names})))
    else:
        stages.append(stage)
