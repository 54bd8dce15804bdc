"""The local state that a stop and restart deletes, by the choice of the run."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.plans.bump import bump_plan
from kstreams_runbooks.decide.plans.local_state import (
    ClearedState,
    cleared_state,
    state_of_undo,
    with_cleared_state,
)
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import NEW, OLD, declared, reading
from world.sides import AFTER, AUDITED, BEFORE, COUNTS, declaration, described, known

KNOWN = known(orders=4, orders_counts_changelog=4, orders_by_customer_repartition=4)
COUNTS_LOG = "orders-counts-changelog"
GLOBAL_RATES = """
  Sub-topology: 2 for global store (will not generate tasks)
    Source: rates-source (topics: [rates])
      --> rates-table
    Processor: rates-table (stores: [rates-store])
      --> none
      <-- rates-source
"""
MORE = described(AUDITED, NEW, declaration("counts", "audit-repartition"))


def chosen(choice: str, before: Described | None = BEFORE, after: Described | Missing | None = AFTER) -> ClearedState:
    return cleared_state(choice, () if before is None else (before,), after, KNOWN)


def plan() -> Plan:
    return restart_plan(reading(), declared(), None, {}, (), (), "code", at_once=True)


def test_stale_are_the_directories_of_no_task() -> None:
    """A subtopology goes: its directories are deleted, and the way back has them anew."""
    found = chosen("stale", MORE, BEFORE)
    assert found == ClearedState(deletes=TaskDirectories(("2_",)))
    assert chosen("stale", BEFORE, MORE) == ClearedState(undo_deletes=TaskDirectories(("2_",)))
    assert chosen("stale") == ClearedState()


@pytest.mark.parametrize("after", [None, Missing("no topology command")])
def test_nothing_is_stale_where_nothing_is_compared(after: Missing | None) -> None:
    """What is not known is not deleted."""
    assert chosen("stale", None, after) == ClearedState()


def test_keep_deletes_nothing_also_on_the_way_back() -> None:
    """Who keeps the directories deletes them alone, or knows that they do no harm."""
    assert chosen("keep", MORE, BEFORE) == ClearedState()


def test_everything_restores_from_every_changelog() -> None:
    """Undo finds what the new release restored: the store keeps its directory."""
    found = chosen("all")
    assert found == ClearedState(everything=True, deletes=TaskDirectories((), (COUNTS_LOG,)))
    assert chosen("all", None, Missing("no topology command")) == found


def test_directories_by_name() -> None:
    """As a person writes them; what restores is known from the topology, and everything may where it is not."""
    found = chosen("1_*, 2_3")
    assert found.deletes == TaskDirectories(("1_", "2_3"), (COUNTS_LOG,))
    assert chosen("0_*").deletes == TaskDirectories(("0_",))
    assert chosen("0_*, global").deletes == TaskDirectories(("0_", "global"))
    assert chosen("east__0_*", None, None).deletes == TaskDirectories(("east__0_",), (COUNTS_LOG,))


def test_global_stores_that_are_deleted_by_name_read_their_topics() -> None:
    """Without `global` among the names they keep their files; `all` deletes them too."""
    joined = described(COUNTS + GLOBAL_RATES, NEW, declaration("counts", stores={}))
    assert chosen("global", joined, joined).deletes == TaskDirectories(("global",), ("rates",))
    assert chosen("1_*", joined, joined).deletes == TaskDirectories(("1_",), (COUNTS_LOG,))
    assert chosen("1_*, global", joined, joined).deletes.changelogs == (COUNTS_LOG, "rates")
    assert chosen("all", joined, joined).deletes.changelogs == (COUNTS_LOG, "rates")


@pytest.mark.parametrize("choice", ["", "1", "1_", "../1_*", "1_*;rm", "stale, 1_*", "ALL", "global_*", "globals"])
def test_anything_else_is_bad_input(choice: str) -> None:
    """One sentence with what is expected."""
    with pytest.raises(BadInput, match=r"local_state: .* is not a task directory \(expected stale, keep, all, or"):
        chosen(choice)


def test_the_plan_shows_what_is_deleted_and_what_that_costs() -> None:
    """In the bounce, which is bound, and in the cost of each instance."""
    cleared = ClearedState(False, TaskDirectories(("1_",), (COUNTS_LOG,)), TaskDirectories(("2_",), (COUNTS_LOG,)))
    made = with_cleared_state(plan(), cleared, 600_000_000, 5_000_000)
    [bounce] = made.bounces
    assert bounce.sentence.endswith("task directories 1_* cleared first")
    assert (bounce.clears, bounce.undo_deletes) == (cleared.deletes, cleared.undo_deletes)
    assert (
        "a restore of the stores in deleted directories from orders-counts-changelog: up to 600.0 MB"
        in made.costs[0].why
    )
    [finding] = made.findings
    assert "deleted between stop and start; an undo restores up to 5.0 MB" in finding.message
    assert made.digest != plan().digest


def test_a_plan_that_deletes_nothing_stays_as_it_is() -> None:
    """But for what its undo deletes."""
    assert with_cleared_state(plan(), ClearedState(), 0, 0) == plan()
    [bounce] = with_cleared_state(plan(), ClearedState(undo_deletes=TaskDirectories(("2_",))), 0, 0).bounces
    assert (bounce.clears, bounce.deletes) == (None, NO_DIRECTORIES)
    assert bounce.undo_deletes.names == ("2_",)


def with_timestamps(*, kept: bool, release: str = OLD) -> Described:
    """A version whose store on the disk keeps them or not."""
    stores = {"counts": replace(declaration().stores["counts"], timestamped=kept)}
    return described(release=release, declares=replace(declaration(), stores=stores))


def test_the_undo_of_a_roll_deletes_what_the_old_version_cannot_open() -> None:
    """A store that gets timestamps upgrades in place: the roll deletes nothing, its undo the task directories."""
    plain, timestamped = with_timestamps(kept=False), with_timestamps(kept=True, release=NEW)
    found = state_of_undo((plain,), timestamped, KNOWN)
    assert found == ClearedState(undo_deletes=TaskDirectories(("1_",), (COUNTS_LOG,)))
    made = with_cleared_state(plan(), found, 0, 0)
    assert (made.bounces[0].clears, made.bounces[0].undo_deletes) == (None, found.undo_deletes)
    assert made.undo == (
        *plan().undo,
        "no way back in place: clears task directories 1_* of each instance while it is down, and restores",
    )


def test_the_undo_of_a_roll_that_changes_no_files_deletes_nothing() -> None:
    """The closest changes: both keep timestamps, and what is not known."""
    both = with_timestamps(kept=True), with_timestamps(kept=True, release=NEW)
    assert state_of_undo(both[:1], both[1], KNOWN) == ClearedState()
    assert state_of_undo((), Missing("no topology command"), KNOWN) == ClearedState()
    assert with_cleared_state(plan(), ClearedState(), 0, 0).undo == plan().undo


def test_only_the_undo_of_the_first_bounce_deletes_directories() -> None:
    """The second keeps the release that the first brought, and so does the way back from it."""
    bump = bump_plan(reading(), declared(), NEW, upgrade_path_rules(), (), (), "code")
    left = TaskDirectories(("global",))
    made = with_cleared_state(bump, ClearedState(undo_deletes=left), 0, 0)
    assert [one.undo_deletes for one in made.bounces] == [left, NO_DIRECTORIES]


def test_a_deployer_that_cannot_delete_what_an_undo_deletes_is_told_before_the_run() -> None:
    """Afterwards the way back would wait for another command."""
    adds = ClearedState(undo_deletes=TaskDirectories(("2_",)))
    [finding] = with_cleared_state(plan(), adds, 0, 0, undo_may_delete=False).findings
    assert (finding.id, finding.severity) == ("undo-cannot-delete-directories", "warning")
    assert finding.message.startswith("task directories 2_*: an undo of this run deletes them")
    assert with_cleared_state(plan(), adds, 0, 0).findings == ()
    assert with_cleared_state(plan(), ClearedState(), 0, 0, undo_may_delete=False).findings == ()


def test_all_local_state_without_a_known_size() -> None:
    """The size is said to be unknown, never 0."""
    cleared = ClearedState(True, TaskDirectories((), (COUNTS_LOG,)))
    made = with_cleared_state(plan(), cleared, Missing("no answer"), Missing("no answer"))
    assert made.bounces[0].clears == cleared.deletes
    assert "a full restore from orders-counts-changelog, whose size is not known: no answer" in (made.costs[0].why)
    assert "an undo restores an unknown number of MB" in made.findings[0].message


def test_all_local_state_is_more_than_some_directories() -> None:
    """A bounce that clears everything never deletes the named directories alone."""
    [bounce] = plan().bounces
    some = TaskDirectories(("1_",), (COUNTS_LOG,))
    assert replace(bounce, clear_state=True, deletes=some).clears == TaskDirectories((), (COUNTS_LOG,))
    assert replace(bounce, deletes=some).clears == some
    assert replace(bounce, undo_deletes=some).clears is None
