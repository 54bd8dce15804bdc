"""What going back with one card of a run owes before its old release may start, or why it cannot be done."""

from dataclasses import dataclass, replace

from kstreams_runbooks.decide.bump_leg import question_between
from kstreams_runbooks.decide.planning import GUARANTEE, UPGRADE_FROM
from kstreams_runbooks.decide.version_path import version_path
from kstreams_runbooks.decide.version_rules import takes_guarantee
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.model.declared import DeclaredApplication
from kstreams_runbooks.model.plan import Standing
from kstreams_runbooks.model.readings import ApplicationReading
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.model.version_rules import VersionRules
from kstreams_runbooks.model.versions import Release


@dataclass(frozen=True, slots=True)
class Move:
    """One card as undo needs it: which instance it took from where to where, in which bounce of its run.

    `clears_state` says that what it leaves on the disk cannot be opened by what stood before.
    """

    instance: str
    bounce: int
    before: Standing
    after: Standing
    clears_state: bool


@dataclass(frozen=True, slots=True)
class Undone:
    """A run that is to be taken back: its key, the runbook, whether it took all instances at once, its cards.

    `unguarded` says that this run, or one of the same application after it, has passed a point of no return: records
    that an older release misreads may lie in the repartition topics, also where `upgrade.from` is set again by now.
    """

    run_key: str
    runbook: str
    at_once: bool
    moves: tuple[Move, ...]
    unguarded: bool


def guard_of(
    move: Move, undone: Undone, reading: ApplicationReading, declared: DeclaredApplication, rules: VersionRules
) -> Standing | None:
    """What every instance runs as while the repartition topics are drained, before the old release of `move` starts.

    None where nothing has to be drained: the library stays, or `upgrade.from` has held the new formats back all the
    time. Otherwise the rules for a downgrade are asked, with what is declared of the application: Refused where they
    refuse, Inconclusive where they need to know more. Source: the rows in `rules`; KIP-904.
    """
    before, after = Release.parse(move.before.version), Release.parse(move.after.version)
    guarded = UPGRADE_FROM in dict(move.after.settings)
    if before >= after or (guarded and not undone.unguarded):
        return None
    question = question_between(after, before, reading, declared, dict(move.after.settings))
    if question.guarantee and not takes_guarantee(after, question.guarantee, rules):
        # Declared as it was before the bump.
        question = replace(question, guarantee=None)
    path = version_path(question, rules, ran_before=True)
    if path.verdict is Outcome.INCONCLUSIVE:
        hint = "" if question.guarantee else "; declare processing_guarantee in the fleet entry"
        raise Inconclusive(f"undo of run {undone.run_key}: {path.reason}{hint}")
    if path.verdict is not Outcome.PROCEED:
        raise Refused(f"undo of run {undone.run_key}: {path.reason}")
    *first, last = path.bounces
    for bounce in first:
        if bounce.processing_guarantee:
            raise Refused(
                f"undo of run {undone.run_key}: {path.reason}; {GUARANTEE}={bounce.processing_guarantee} has to be set "
                f"on {after} first (expected: that it is), by hand, in the application's own configuration"
            )
    if "drain" not in last.before and not undone.unguarded:
        return None
    value = next((bounce.upgrade_from for bounce in first if bounce.upgrade_from), None)
    if guarded or value is None:
        return move.after
    return replace(move.after, settings=tuple(sorted({**dict(move.after.settings), UPGRADE_FROM: value}.items())))
