"""The steps that undoing one card demands before its old release may start, or why it cannot be undone."""

from dataclasses import dataclass, replace

from kstreams_runbooks.decide.plans.basis import UPGRADE_FROM
from kstreams_runbooks.decide.plans.leg import question_between
from kstreams_runbooks.decide.plans.undo_cards import OtherCard
from kstreams_runbooks.decide.releases.downgrade import owed
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.runs.plan import DeployedInstance


@dataclass(frozen=True, slots=True)
class Move:
    """One card as undo needs it: the instance, its states before and after, and the bounce of its run.

    `clears_state`: files that the later state leaves on the disk cannot be opened by the earlier one. `deletes` are
    task directories on which the earlier one may not start.
    """

    instance: str
    bounce: int
    before: DeployedInstance
    after: DeployedInstance
    clears_state: bool
    deletes: TaskDirectories = NO_DIRECTORIES


@dataclass(frozen=True, slots=True)
class Undone:
    """A run to be undone: its key, the runbook, whether it took all instances at once, its cards, topics.

    `unguarded`: this run, or one of the same application after it, has passed a point of no return. The repartition
    topics may have records that an older release misreads, even if `upgrade.from` is set again by now. `topics` are
    those that its plan bound, `others` its cards about other things than instances, `cards` the numbers of the cards
    behind `moves`. `flush` is the form of the flush
    that made the change, if it has begun to start what it changed the application to: name and value. `other_way` is
    the command of another runbook that takes it back, if an undo no longer can. `fresh` are the roles of sides
    that did not run before the run.
    """

    run_key: str
    runbook: str
    at_once: bool
    moves: tuple[Move, ...]
    unguarded: bool
    topics: tuple[str, ...]
    others: tuple[OtherCard, ...] = ()
    cards: tuple[int, ...] = ()
    flush: tuple[tuple[str, str], ...] = ()
    other_way: str = ""
    fresh: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoneSide:
    """Another application of the run to be undone: its role, what it is now, its moves and the numbers of their cards.

    `changelog_bytes` is what one of its instances may have to restore.
    """

    role: str
    reading: ApplicationReading
    declared: DeclaredApplication
    moves: tuple[Move, ...]
    cards: tuple[int, ...]
    changelog_bytes: int | Missing


def guard_of(
    move: Move, undone: Undone, reading: ApplicationReading, declared: DeclaredApplication, rules: UpgradePathRules
) -> DeployedInstance | None:
    """The state of every instance while the repartition topics are drained, before the old release of `move` starts.

    None if nothing has to be drained: the library stays, or `upgrade.from` has held the new formats back all the time.
    Otherwise the rules for a downgrade decide, with the declared facts of the application: Refused if they refuse.
    Source: the rows in `rules`; KIP-904.
    """
    if move.before.version == move.after.version:
        return None
    before, after = Release.parse(move.before.version), Release.parse(move.after.version)
    guarded = UPGRADE_FROM in dict(move.after.settings)
    if before >= after or (guarded and not undone.unguarded):
        return None
    question = question_between(after, before, reading, declared, rules, dict(move.after.settings))
    duty = owed(question, rules)
    if duty.refused:
        raise Refused(f"undo of run {undone.run_key}: {duty.refused}")
    if not duty.drain and not undone.unguarded:
        return None
    if guarded or duty.upgrade_from is None:
        return move.after
    return replace(
        move.after, settings=tuple(sorted({**dict(move.after.settings), UPGRADE_FROM: duty.upgrade_from}.items()))
    )
