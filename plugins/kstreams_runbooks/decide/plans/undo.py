"""From the undo cards of a run to the plan that takes it back."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.drain.marks import GUIDE, read_topics
from kstreams_runbooks.decide.instances.members import settings_text
from kstreams_runbooks.decide.plans.basis import (
    UPGRADE_FROM,
    all_down,
    costs,
    costs_at_once,
    facts,
    one_down,
    other_library,
    with_restore,
)
from kstreams_runbooks.decide.plans.local_state import ALL, KEEP, STALE
from kstreams_runbooks.decide.plans.way_back import Move, Undone, guard_of
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
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.wording import outside

_KIP_904 = "KIP-904; Kafka Streams Upgrade Guide, downgrading; tests/long/test_undo.py"


def undo_plan(
    reading: ApplicationReading,
    declared: DeclaredApplication,
    undone: Undone,
    rules: UpgradePathRules,
    changelog_bytes: int | Missing,
    limits: tuple[tuple[str, float], ...],
    code: str,
    local_state: str = STALE,
) -> Plan:
    """The plan that brings every instance back to where it was before `undone` touched it, cards from last to first.

    If the repartition topics may have records that the old release misreads, as after the point of no return of a
    library bump, there is a stage in between: every instance that goes back runs with `upgrade.from` set, and these
    records are read to their end, before the first old release starts.
    `changelog_bytes` is what an instance may have to restore. `local_state` is what the undo deletes of each instance:
    `stale` (the directories that the cards name), `keep` (nothing) or `all`. BadInput for another one, and for `keep`
    and `all` if the run took one instance after another and its cards name no directories. Refused if a run changed
    nothing, if an instance is no longer as the run left it, and if the version rules allow no undo; Inconclusive if an
    instance's deployment cannot be read.
    """
    if undone.runbook == "undo":
        raise Refused(f"run {undone.run_key} is an undo itself: trigger the runbook that it took back again")
    if not undone.moves:
        raise Refused(f"run {undone.run_key} has no undo card left: it changed nothing, or it is undone already")
    if stale := tuple(_not_in_effect(reading)):
        raise Refused(f"{stale[0]}; restart it, so that what runs is what is declared, then trigger this again")
    _check_choice(local_state, undone)
    found = facts(reading, declared, code)
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
    if not bounces:
        raise Refused(f"run {undone.run_key}: every instance runs as it did before; there is nothing to undo")
    return Plan(
        runbook="undo",
        application=declared.name,
        cluster=declared.cluster,
        change=(("run", undone.run_key),),
        limits=limits,
        stages=bounces,
        facts=found,
        costs=tuple(
            with_restore(cost, changelog_bytes) if _clears(bounces, cost.instance) else cost
            for cost in (costs_at_once(declared) if undone.at_once else costs(declared))
        ),
        findings=tuple(_findings(declared, undone, bounces, guards, reading, local_state)),
        undo=(f"trigger {undone.runbook} again",),
        title=f"undo of {undone.run_key}: back to {bounces[-1].deployed}",
        worst_case=all_down(declared) if undone.at_once else one_down(declared),
        at_once=undone.at_once,
    )


def _check_choice(local_state: str, undone: Undone) -> None:
    if local_state not in {STALE, KEEP, ALL}:
        raise BadInput(f"local_state: {outside(local_state, 60)!r} (expected {STALE}, {KEEP} or {ALL}); choose one")
    if local_state != STALE and not undone.at_once and not _left(undone.moves).names:
        raise BadInput(
            f"local_state={local_state}: run {undone.run_key} took one instance after another, and its cards name no "
            f"task directories: the releases decide what its undo deletes (expected {STALE}); leave the field as it is"
        )


def still_to_undo(reading: ApplicationReading, undone: Undone, deployed: DeployedInstance) -> Iterator[Move]:
    """The moves of an instance that are in effect, first to last; Refused if its state is not one of the run's."""
    own = [move for move in undone.moves if move.instance == deployed.instance]
    if not own:
        return
    way = [own[0].before, *(move.after for move in own)]
    at = max((index for index, place in enumerate(way) if _same(place, deployed)), default=None)
    if at is None:
        raise Refused(
            f"{deployed.instance} is deployed as {deployed.release} with {settings_text(dict(deployed.settings))} "
            f"(run {undone.run_key} left it as {way[-1].deployed}): somebody changed it since; undo that first, or "
            f"bring it to {way[0].deployed} by hand"
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
    deletes = NO_DIRECTORIES if clear or local_state == KEEP else _left(undone.moves)
    yield Bounce(1, release, settings, other_library(release, library), clear_state=clear, deletes=deletes)


def _left(moves: Iterable[Move]) -> TaskDirectories:
    """The task directories that the cards name."""
    found = NO_DIRECTORIES
    for move in moves:
        found = found.joined(move.deletes)
    return found


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
            deletes = NO_DIRECTORIES if clear or local_state == KEEP else _left(there)
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


def _findings(
    declared: DeclaredApplication,
    undone: Undone,
    bounces: tuple[Bounce, ...],
    guards: Mapping[str, DeployedInstance],
    reading: ApplicationReading,
    local_state: str,
) -> Iterator[Finding]:
    if isinstance(reading.partitions, Missing):
        yield Finding(
            "undo-topics-not-known",
            "warning",
            declared.name,
            f"whether run {undone.run_key} added internal topics that the undo leaves unread is not known: "
            f"{reading.partitions.missing}",
            GUIDE,
        )
    for topic in sorted(read_topics(reading) - set(undone.topics)):
        if topic.startswith(f"{declared.application_id}-"):
            yield Finding(
                "undo-leaves-a-topic",
                "warning",
                topic,
                f"it came with run {undone.run_key} and may not be read after the undo: what lies in it then is lost "
                "with the operator that it came with; undo counts it",
                GUIDE,
            )
    if any(bounce.after_drain for bounce in bounces):
        yield Finding(
            "undo-past-the-point-of-no-return",
            "danger",
            declared.name,
            "records that an older release misreads may lie in the repartition topics: every instance that goes back "
            f"runs {' and '.join(dict.fromkeys(guard.deployed for guard in guards.values()))} first, and what lies "
            "there is read to its end, before the first old release starts",
            _KIP_904,
        )
    yield from _state_findings(declared, undone, bounces, local_state)
    for instance in dict.fromkeys(move.instance for move in undone.moves):
        if not any(bounce.takes(instance) for bounce in bounces):
            yield Finding(
                "undo-leaves-an-instance",
                "info",
                instance,
                f"{instance} runs as it did before run {undone.run_key}: it is left alone",
                "ledger",
            )


def _state_findings(
    declared: DeclaredApplication, undone: Undone, bounces: tuple[Bounce, ...], local_state: str
) -> Iterator[Finding]:
    """What becomes of the local state, and who has to delete it."""
    if local_state == ALL:
        yield Finding(
            "undo-deletes-local-state",
            "warning",
            declared.name,
            f"all local state of every instance is deleted between stop and start, as local_state={ALL} chooses, and "
            "restored from the changelogs; a store without logging loses its content",
            "tests/long/test_left_directories.py",
        )
    elif any(bounce.clear_state for bounce in bounces):
        yield Finding(
            "undo-clears-local-state",
            "warning",
            declared.name,
            "local state of 4.3 and later cannot be opened by an older release: it is cleared, and restored from the "
            "changelogs",
            "KIP-1035; tests/long/test_undo.py",
        )
    for bounce in bounces:
        if bounce.deletes.names and not bounce.clear_state:
            yield Finding(
                "undo-deletes-task-directories",
                "warning",
                declared.name,
                f"{bounce.deletes.what} of every instance fit no task of {bounce.release}, or no store of it: deleted "
                "between stop and start",
                "tests/long/test_left_directories.py",
            )
    if local_state == KEEP and (left := _left(undone.moves)).names:
        yield Finding(
            "undo-keeps-task-directories",
            "warning",
            declared.name,
            f"{left.what} of every instance stay, as local_state={KEEP} chooses: {bounces[-1].release} may not "
            "start on them; delete them manually while the instances are down",
            "tests/long/test_left_directories.py",
        )
