"""Findings of an undo: topics that it leaves unread, local state that it deletes, cards that do not apply."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from kstreams_runbooks.decide.drain.marks import GUIDE, is_internal, read_topics
from kstreams_runbooks.decide.plans.basis import topics_shown
from kstreams_runbooks.decide.plans.local_state import ALL, KEEP
from kstreams_runbooks.decide.plans.undo_cards import TakenBack
from kstreams_runbooks.decide.plans.way_back import Move, Undone
from kstreams_runbooks.decide.releases.downgrade import warned
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.runs.plan import DeployedInstance
from kstreams_runbooks.model.runs.stages import Bounce
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.wording import first_of

_RESET = "Kafka Streams developer guide, Application Reset Tool; docs/reset_and_cleanup.md"
_KIP_904 = "KIP-904; Kafka Streams Upgrade Guide, downgrading; tests/long/test_undo.py"


def left_behind(moves: Iterable[Move]) -> TaskDirectories:
    """The task directories that the cards name."""
    found = NO_DIRECTORIES
    for move in moves:
        found = found.joined(move.deletes)
    return found


def card_finding(declared: DeclaredApplication, one: TakenBack) -> Finding:
    """The finding about one card; a card that does not apply is left as it is."""
    if one.stage is None:
        return Finding("undo-leaves-a-card", "warning", declared.name, one.sentence, "ledger")
    return Finding("undo-of-a-card", "warning", declared.name, one.sentence, "ledger")


def undo_findings(
    declared: DeclaredApplication,
    undone: Undone,
    bounces: tuple[Bounce, ...],
    guards: Mapping[str, DeployedInstance],
    reading: ApplicationReading,
    local_state: str,
    restores: tuple[str, ...] = (),
) -> Iterator[Finding]:
    """The findings about instances and their topics; `restores` are those that restore the stores, if known."""
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
        if is_internal(topic, declared.application_id):
            yield Finding(
                "undo-leaves-a-topic",
                "warning",
                topic,
                f"it came with run {undone.run_key} and may not be read after the undo: its records are then lost with "
                "the operator that it came with; undo counts them",
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
    yield from _state_findings(declared, undone, bounces, local_state, restores)
    for instance in dict.fromkeys(move.instance for move in undone.moves):
        if not any(bounce.takes(instance) for bounce in bounces):
            yield Finding(
                "undo-leaves-an-instance",
                "info",
                instance,
                f"{instance} runs as it did before run {undone.run_key}: it is left alone",
                "ledger",
            )


def state_gone(declared: DeclaredApplication, undone: Undone, deleted: Collection[str]) -> Iterator[Finding]:
    """The finding about internal topics that a run deleted: with them went state that no undo brings back."""
    if deleted:
        topics = "internal topic" if len(deleted) == 1 else "internal topics"
        yield Finding(
            "undo-without-the-state",
            "danger",
            declared.name,
            f"run {undone.run_key} deleted {len(deleted):,} {topics} ({first_of(sorted(deleted))}): that state is gone "
            "for good. With its offsets set back the application goes on with what it has built since, and never reads "
            "the records between; a reset to earliest builds all that the inputs still have",
            _RESET,
        )


def warnings_of_releases(declared: DeclaredApplication, undone: Undone, rules: UpgradePathRules) -> Iterator[Finding]:
    """What the older releases do otherwise, by the rows that warn of going back to them."""
    moved = dict.fromkeys((move.before.version, move.after.version) for move in undone.moves)
    for row in dict.fromkeys(row for back_to, running in moved for row in warned(back_to, running, rules)):
        yield Finding(row.id, "warning", declared.name, row.reason, row.source)


def _state_findings(
    declared: DeclaredApplication,
    undone: Undone,
    bounces: tuple[Bounce, ...],
    local_state: str,
    restores: tuple[str, ...],
) -> Iterator[Finding]:
    """What becomes of the local state, and who has to delete it."""
    if local_state == ALL:
        yield Finding(
            "undo-deletes-local-state",
            "warning",
            declared.name,
            f"all local state of every instance is deleted between stop and start, as local_state={ALL} chooses: a "
            "store restores from its topic (state-restored-from), and without one it begins empty (state-given-up)",
            "tests/long/test_left_directories.py",
        )
    elif any(bounce.clear_state for bounce in bounces):
        yield Finding(
            "undo-clears-local-state",
            "warning",
            declared.name,
            "local state of 4.3 and later cannot be opened by an older release: it is cleared, and restored from "
            f"{topics_shown(restores)}",
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
    if local_state == KEEP and (left := left_behind(undone.moves)).names:
        yield Finding(
            "undo-keeps-task-directories",
            "warning",
            declared.name,
            f"{left.what} of every instance stay, as local_state={KEEP} chooses: {bounces[-1].release} may not "
            "start on them; delete them manually while the instances are down",
            "tests/long/test_left_directories.py",
        )
