"""The way back of a run, from its cards and from what stands now.

Covers decide/plans/way_back, decide/plans/flush_back, decide/plans/undo_findings
"""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.cutover import CUTOVER
from kstreams_runbooks.decide.plans.undo import deployed_as, undo_plan
from kstreams_runbooks.decide.plans.way_back import Move, Undone
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import ApplicationReading, Deployment, Missing
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan
from kstreams_runbooks.model.runs.stages import StopAll
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.rules import upgrade_path_rules
from world.samples import BOUNCE_1, NEW, OLD, applied, declared, down, instance, partition, reading

GUARD = BOUNCE_1.settings
# The stage before a drain: every instance holds the new formats back; one that does so already is only looked at.
GUARDED = (NEW, GUARD, ("orders-1", "orders-2"), False, False)


def stands(name: str, release: str = OLD, settings: tuple[tuple[str, str], ...] = ()) -> DeployedInstance:
    return DeployedInstance(name, release, settings, release)


def bounced(*names: str) -> tuple[Move, ...]:
    """Bounce 1 of a library bump for these instances."""
    return tuple(Move(name, 1, stands(name), stands(name, NEW, GUARD), clears_state=True) for name in names)


def unset(*names: str) -> tuple[Move, ...]:
    """Bounce 2, past the point of no return."""
    return tuple(Move(name, 2, stands(name, NEW, GUARD), stands(name, NEW), clears_state=False) for name in names)


def plan_of(
    now: ApplicationReading,
    *moves: Move,
    runbook: str = "library_bump",
    at_once: bool = False,
    later: bool = False,
    changelog_bytes: int | Missing = 10_000_000,
    local_state: str = "stale",
    **entry: Any,
) -> Plan:
    unguarded = any(move.bounce > 1 for move in moves) or later
    undone = Undone("library_bump/r", runbook, at_once, moves, unguarded, ("orders",))
    rules = upgrade_path_rules()
    return undo_plan(now, declared(**entry), undone, rules, changelog_bytes, (), "code", local_state)


def stages(plan: Plan) -> list[tuple[str, tuple[tuple[str, str], ...], tuple[str, ...], bool, bool]]:
    return [(one.release, one.settings, one.instances, one.clear_state, one.after_drain) for one in plan.bounces]


def test_only_what_was_touched_goes_back() -> None:
    """After the canary: one instance, its state cleared, because 3.4 cannot open what 4.3 wrote."""
    now = reading(instance("orders-1", release=NEW, settings=GUARD), instance("orders-2"))
    assert stages(plan_of(now, *bounced("orders-1"))) == [(OLD, (), ("orders-1",), True, False)]


def test_after_bounce_1_all_go_back() -> None:
    """One stage, every instance."""
    now = reading(*(instance(f"orders-{n}", release=NEW, settings=GUARD) for n in (1, 2)))
    assert stages(plan_of(now, *bounced("orders-1", "orders-2"))) == [(OLD, (), ("orders-1", "orders-2"), True, False)]


def test_past_the_point_of_no_return_the_guard_comes_back_first() -> None:
    """upgrade.from again, then a drain, then the old release: also where only one instance was past it."""
    now = reading(instance("orders-1", release=NEW), instance("orders-2", release=NEW, settings=GUARD))
    made = plan_of(now, *bounced("orders-1", "orders-2"), *unset("orders-1"))
    assert stages(made) == [
        (NEW, GUARD, ("orders-1", "orders-2"), False, False),
        (OLD, (), ("orders-1", "orders-2"), True, True),
    ]
    assert {finding.id for finding in made.findings} >= {"undo-past-the-point-of-no-return", "undo-clears-local-state"}


def test_records_stay_although_the_guard_was_set_back_by_hand() -> None:
    """Who set upgrade.from again has not taken back what was written meanwhile: the drain stays."""
    now = reading(*(instance(f"orders-{n}", release=NEW, settings=GUARD) for n in (1, 2)))
    made = plan_of(now, *bounced("orders-1", "orders-2"), *unset("orders-1"))
    assert stages(made) == [GUARDED, (OLD, (), ("orders-1", "orders-2"), True, True)]


def test_an_instance_that_is_down_where_it_was_is_started() -> None:
    """Killed between stop and start: nothing to take back, but nobody else starts it."""
    now = reading(down("orders-1"), instance("orders-2"))
    assert stages(plan_of(now, *bounced("orders-1"))) == [(OLD, (), ("orders-1",), False, False)]


def test_a_card_whose_write_never_happened_is_nothing_to_undo() -> None:
    """The card is written before the write."""
    with pytest.raises(Refused, match="every instance runs as it did before; there is nothing to undo"):
        plan_of(reading(), *bounced("orders-1"))


def test_a_flush_with_nothing_left_to_take_back_is_closed() -> None:
    """Its inputs count as held until its cards are finished: the undo has no stage, and finishes them."""
    made = plan_of(reading(), *bounced("orders-1"), runbook="control_topic_flush", at_once=True)
    assert (made.stages, made.bounces, made.start) == ((), (), None)


def test_a_world_that_moved_on_is_refused_with_what_was_found() -> None:
    """Somebody deployed something else since."""
    now = reading(instance("orders-1", release="4.2.1"), instance("orders-2"))
    with pytest.raises(Refused, match=r"orders-1 is deployed as 4\.2\.1 .* it was changed since"):
        plan_of(now, *bounced("orders-1"))


def test_an_application_that_had_never_run_is_left_down() -> None:
    """Also by a second undo, once the other cards of the first one are finished: a start would begin without topics."""
    names = ("orders-1", "orders-2")
    moves = tuple(Move(name, 5, stands(name), stands(name), clears_state=False) for name in names)
    undone = Undone("r", "blue_green_start", True, moves, False, ("orders",), cards=(1, 2), fresh=("",))
    now = reading(*map(down, names))
    made = undo_plan(now, declared(), undone, upgrade_path_rules(), 0, (), "code")
    [stop] = made.stages
    assert isinstance(stop, StopAll)
    assert stop.stays == Target(OLD)
    # Of any other run the same cards lead to a start.
    other = undo_plan(now, declared(), replace(undone, fresh=()), upgrade_path_rules(), 0, (), "code")
    assert [one.kind for one in other.stages] == ["bounce"]


def test_a_second_application_that_has_started_goes_by_its_own_runbook() -> None:
    """Its topics would stay behind."""
    undone = Undone("r", "blue_green_start", True, bounced("orders-1"), False, (), other_way="the command", fresh=("",))
    with pytest.raises(Refused, match="the way back is a run of its own: the command"):
        undo_plan(reading(), declared(), undone, upgrade_path_rules(), 0, (), "code")


def test_a_cutover_whose_groups_have_moved_names_the_way_back() -> None:
    """Every instance runs where the run has put it; without a moved group the undo only closes the cards."""
    moved = Undone("r", CUTOVER, True, in_place("orders-1"), False, (), other_way="the command")
    with pytest.raises(Refused, match=r"the groups that it has moved stay: .* with a seam of its own: the command"):
        undo_plan(reading(), declared(), moved, upgrade_path_rules(), 0, (), "code")
    assert (
        undo_plan(reading(), declared(), replace(moved, other_way=""), upgrade_path_rules(), 0, (), "code").stages == ()
    )


def in_place(*names: str) -> tuple[Move, ...]:
    """Cards of a stop and a start as it was."""
    return tuple(Move(name, 1, stands(name), stands(name), clears_state=False) for name in names)


def test_a_run_that_changed_nothing_and_an_undo_are_refused() -> None:
    """One sentence each."""
    with pytest.raises(Refused, match="has no undo card left"):
        plan_of(reading())
    with pytest.raises(Refused, match="is an undo itself"):
        plan_of(reading(), *bounced("orders-1"), runbook="undo")


def test_a_deployment_that_cannot_be_read_is_inconclusive() -> None:
    """Missing data is never OK."""
    blind = replace(instance("orders-2"), deployment=Missing("supervisord does not answer"))
    with pytest.raises(Inconclusive, match="supervisord does not answer"):
        plan_of(reading(instance("orders-1", release=NEW, settings=GUARD), blind), *bounced("orders-1"))


def test_what_was_taken_at_once_goes_back_at_once() -> None:
    """One stage for all, also where the stop was all that happened."""
    settings = (("num.stream.threads", "2"),)
    moves = tuple(
        Move(name, 1, stands(name, NEW), stands(name, NEW, settings), clears_state=False)
        for name in ("orders-1", "orders-2")
    )
    changed = reading(*(instance(f"orders-{n}", release=NEW, settings=settings) for n in (1, 2)))
    stopped = reading(*(down(f"orders-{n}", release=NEW) for n in (1, 2)))
    for now in (changed, stopped):
        made = plan_of(now, *moves, runbook="stop_and_restart", at_once=True)
        assert (stages(made), made.at_once) == ([(NEW, (), (), False, False)], True)


def left_directories(local_state: str) -> Plan:
    """The undo of a stop and restart whose release left the directories of subtopology 2."""
    settings = (("num.stream.threads", "2"),)
    left = TaskDirectories(("2_",), ("orders-counts-changelog",))
    moves = (Move("orders-1", 1, stands("orders-1", NEW), stands("orders-1", NEW, settings), False, left),)
    now = reading(instance("orders-1", release=NEW, settings=settings))
    return plan_of(now, *moves, runbook="stop_and_restart", at_once=True, local_state=local_state)


def test_an_undo_deletes_the_directories_that_its_cards_name() -> None:
    """Or all local state, for a script that cannot delete single ones; the cost of a restore is in the plan."""
    made = left_directories("stale")
    assert made.bounces[0].clears == TaskDirectories(("2_",), ("orders-counts-changelog",))
    assert [finding.id for finding in made.findings] == ["undo-deletes-task-directories"]
    everything = left_directories("all")
    assert everything.bounces[0].clears == NO_DIRECTORIES
    assert [finding.id for finding in everything.findings] == ["undo-deletes-local-state"]
    assert all(
        "a full restore from the changelogs: up to 10.0 MB" in one.why for one in (*made.costs, *everything.costs)
    )


def test_an_undo_can_leave_the_directories_to_a_person() -> None:
    """Without a command that deletes them, the way back is not shut."""
    made = left_directories("keep")
    assert made.bounces[0].clears is None
    [finding] = made.findings
    assert (finding.id, finding.severity) == ("undo-keeps-task-directories", "warning")
    assert finding.message.startswith("task directories 2_* of every instance stay, as local_state=keep chooses")


def rolled_with_a_global_store(local_state: str = "stale") -> Plan:
    """The undo of a roll on one library that left the files of one global store more on both instances."""
    settings = (("num.stream.threads", "2"),)
    names = ("orders-1", "orders-2")
    left = TaskDirectories(("global",))
    moves = (Move(name, 1, stands(name, NEW), stands(name, NEW, settings), False, left) for name in names)
    now = reading(*(instance(name, release=NEW, settings=settings) for name in names))
    return plan_of(now, *moves, runbook="rolling_bounce", local_state=local_state)


def test_the_undo_of_a_roll_deletes_the_directories_that_its_cards_name() -> None:
    """One stage, of each instance while it is down; all of the state or none of it if the form says so."""
    [bounce] = rolled_with_a_global_store().bounces
    assert (bounce.clears, bounce.instances) == (TaskDirectories(("global",)), ("orders-1", "orders-2"))
    assert bounce.sentence.endswith(", directory global cleared first")
    assert rolled_with_a_global_store("all").bounces[0].clears == NO_DIRECTORIES
    kept = rolled_with_a_global_store("keep")
    assert kept.bounces[0].clears is None
    assert [one.id for one in kept.findings] == ["undo-keeps-task-directories"]


def test_the_undo_of_a_bump_names_no_directories_next_to_all_local_state() -> None:
    """What an older release cannot open goes as a whole."""
    [move] = bounced("orders-1")
    now = reading(instance("orders-1", release=NEW, settings=GUARD), instance("orders-2"))
    [bounce] = plan_of(now, replace(move, deletes=TaskDirectories(("global",)))).bounces
    assert (bounce.clear_state, bounce.deletes) == (True, NO_DIRECTORIES)


def test_a_choice_of_local_state_is_one_of_three() -> None:
    """The cards name the directories; and what an older release cannot open is not kept."""
    with pytest.raises(BadInput, match=r"local_state: '2_\*' \(expected stale, keep or all\)"):
        left_directories("2_*")
    now = reading(instance("orders-1", release=NEW, settings=GUARD), instance("orders-2"))
    with pytest.raises(BadInput, match=r"local_state=keep: run library_bump/r took one instance after another"):
        plan_of(now, *bounced("orders-1"), local_state="keep")


def test_a_rerun_of_a_bounce_goes_back_to_what_stood_before_the_first_try() -> None:
    """Two cards of one bounce, one stage."""
    now = reading(instance("orders-1", release=NEW, settings=GUARD), instance("orders-2"))
    assert stages(plan_of(now, *bounced("orders-1"), *bounced("orders-1"))) == [(OLD, (), ("orders-1",), True, False)]


def test_a_later_run_that_passed_the_point_of_no_return_leaves_its_records_too() -> None:
    """It was undone itself, so upgrade.from is set again: what it wrote meanwhile is drained before the old release."""
    now = reading(*(instance(f"orders-{n}", release=NEW, settings=GUARD) for n in (1, 2)))
    made = plan_of(now, *bounced("orders-1", "orders-2"), later=True)
    assert stages(made) == [GUARDED, (OLD, (), ("orders-1", "orders-2"), True, True)]


def test_a_guard_that_only_stands_in_the_file_is_refused() -> None:
    """Written back by hand and not restarted: the instance still writes the new format."""
    stale = applied(instance("orders-1", release=NEW, settings=GUARD), value=False)
    now = reading(stale, instance("orders-2", release=NEW, settings=GUARD))
    with pytest.raises(Refused, match="orders-1: its release or settings were written after it started"):
        plan_of(now, *bounced("orders-1", "orders-2"), *unset("orders-1"))


def test_what_a_later_stage_has_set_is_not_taken_back_behind_it() -> None:
    """Killed between setting and start: the instance is down on the old release, and belongs to the last stage."""
    now = reading(*(instance(f"orders-{n}", release=NEW) for n in (1, 2)))
    first, last = plan_of(now, *bounced("orders-1", "orders-2"), *unset("orders-1", "orders-2")).bounces
    assert deployed_as(down("orders-1"), last)
    assert not deployed_as(down("orders-1"), first)


def test_an_instance_that_is_down_is_started_before_the_drain() -> None:
    """Nobody else reads what lies in its partitions: it comes up as it is deployed, without new formats."""
    dead = applied(down("orders-2", release=NEW), value=Missing("not running"))
    assert isinstance(dead.deployment, Deployment)
    dead = replace(dead, deployment=replace(dead.deployment, settings=GUARD))
    made = plan_of(
        reading(instance("orders-1", release=NEW), dead), *bounced("orders-1", "orders-2"), *unset("orders-1")
    )
    assert stages(made)[0] == GUARDED


def test_what_held_the_new_formats_back_needs_no_rule() -> None:
    """Bounce 1 of a bump from 2.3, where no way back is published once the second bounce has begun."""
    old, new = "2.3.1", "2.4.1"
    guard = (("upgrade.from", "2.3"),)
    first = Move("orders-1", 1, stands("orders-1", old), stands("orders-1", new, guard), clears_state=False)
    second = Move("orders-1", 2, stands("orders-1", new, guard), stands("orders-1", new), clears_state=False)
    known: dict[str, Any] = {"releases": (old, new), "processing_guarantee": "at_least_once"}
    canary = reading(instance("orders-1", release=new, settings=guard), instance("orders-2", release=old))
    assert stages(plan_of(canary, first, **known)) == [(old, (), ("orders-1",), False, False)]
    over = reading(instance("orders-1", release=new), instance("orders-2", release=new, settings=guard))
    with pytest.raises(Refused, match=r"undo of run library_bump/r: 2\.4\.1 to 2\.3\.1: Nothing published shows"):
        plan_of(over, first, second, **known)


def test_one_bounce_goes_back_by_the_rules_of_a_downgrade() -> None:
    """It held nothing back: joins refuse, aggregations that nobody had declared are guarded and drained."""
    joins = Move("orders-1", 1, stands("orders-1", "3.2.3"), stands("orders-1", "3.4.1"), clears_state=False)
    known: dict[str, Any] = {"releases": ("3.2.3", "3.4.1")}
    now = reading(instance("orders-1"), instance("orders-2", release="3.2.3"))
    with pytest.raises(Refused, match="reset the application"):
        plan_of(now, joins, uses=("foreign_key_joins",), **known)
    made = plan_of(now, joins, uses=(), **known)
    assert stages(made) == [("3.2.3", (), ("orders-1",), False, False)]
    assert [one.severity for one in made.findings if one.id == "stream-time-forgotten"] == ["warning"]
    bare = Move("orders-1", 1, stands("orders-1"), stands("orders-1", NEW), clears_state=True)
    now = reading(instance("orders-1", release=NEW), instance("orders-2"))
    assert stages(plan_of(now, bare)) == [
        (NEW, GUARD, ("orders-1",), False, False),
        (OLD, (), ("orders-1",), True, True),
    ]


def test_going_back_to_a_release_to_avoid_is_not_refused_for_it() -> None:
    """It ran there until now: 3.3.0 is one to avoid with joins, and a bump away from it has a way back."""
    moves = bounced("orders-1")
    back = replace(moves[0], before=stands("orders-1", "3.3.0"), after=stands("orders-1", "3.4.1"), clears_state=False)
    now = reading(instance("orders-1"), instance("orders-2", release="3.3.0"))
    made = plan_of(now, back, releases=("3.3.0", "3.4.1"), uses=("foreign_key_joins",))
    assert stages(made) == [("3.3.0", (), ("orders-1",), False, False)]


def test_an_old_release_that_was_put_back_by_hand_and_died_is_cleared() -> None:
    """In ERROR over what the newer release left on its disk; one that was stopped orderly has run nothing since."""
    dead = reading(instance("orders-1", state="ERROR"), instance("orders-2"))
    assert stages(plan_of(dead, *bounced("orders-1"))) == [(OLD, (), ("orders-1",), True, False)]


def test_an_undo_names_the_topics_that_restore_the_stores() -> None:
    """As the plan of its run had them; without them it speaks of the changelogs."""
    now = reading(instance("orders-1", release=NEW, settings=GUARD), instance("orders-2"))
    undone = Undone("library_bump/r", "library_bump", False, bounced("orders-1"), False, ("orders",))
    rules, given = upgrade_path_rules(), (10_000_000, (), "code")
    named = undo_plan(now, declared(), undone, rules, *given, restores=("customers", "orders-counts-changelog"))
    assert "a full restore from customers, orders-counts-changelog: up to 10.0 MB" in named.costs[0].why
    told = [one.message for one in named.findings if one.id == "undo-clears-local-state"]
    assert all(one.endswith("restored from customers, orders-counts-changelog") for one in told)
    unknown = undo_plan(now, declared(), undone, rules, *given)
    assert "a full restore from the changelogs: up to 10.0 MB" in unknown.costs[0].why


def test_the_plan_says_what_a_restore_costs() -> None:
    """Bytes and seconds for what is cleared, and only there."""
    now = reading(instance("orders-1", release=NEW, settings=GUARD), instance("orders-2"))
    first, second = plan_of(now, *bounced("orders-1"), changelog_bytes=600_000_000).costs
    assert "up to 600.0 MB in all of them, about 126 s at 5 MB/s" in first.why
    assert first.gap_s[1] == second.gap_s[1] + 120
    assert "restore" not in second.why
    unknown, _ = plan_of(now, *bounced("orders-1"), changelog_bytes=Missing("no answer")).costs
    assert "whose size is not known: no answer" in unknown.why


def test_a_topic_that_came_with_the_run_is_named() -> None:
    """What lies in it when the undo stops everything is read by nobody."""
    settings = (("audit", "true"),)
    moves = tuple(
        Move(name, 1, stands(name, NEW), stands(name, NEW, settings), clears_state=False)
        for name in ("orders-1", "orders-2")
    )
    came = partition(topic="orders-audit-repartition")
    now = reading(
        *(instance(f"orders-{n}", release=NEW, settings=settings) for n in (1, 2)), partitions=(partition(), came)
    )
    found = plan_of(now, *moves, runbook="stop_and_restart", at_once=True).findings
    assert [(one.id, one.object) for one in found] == [("undo-leaves-a-topic", "orders-audit-repartition")]


def test_topics_that_could_not_be_read_are_not_taken_for_none() -> None:
    """One that is hidden may have come with the run."""
    found = reading(*(instance(f"orders-{n}", release=NEW, settings=GUARD) for n in (1, 2)))
    found = replace(found, partitions=Missing("topic orders-audit-repartition is not visible to this login"))
    made = plan_of(found, *bounced("orders-1", "orders-2"))
    [finding] = [one for one in made.findings if one.id == "undo-topics-not-known"]
    assert "orders-audit-repartition is not visible" in finding.message


def test_an_old_release_that_was_put_back_by_hand_past_the_point_of_no_return_is_not_started() -> None:
    """Dead or stopped, it would come up over records that it misreads; back on the new one, the topics are drained."""
    moves = (*bounced("orders-1", "orders-2"), *unset("orders-1", "orders-2"))
    for dead in (instance("orders-2", state="ERROR"), down("orders-2")):
        now = reading(instance("orders-1", release=NEW), dead)
        with pytest.raises(
            Refused, match=r"orders-2 is set to 3\.4\.1 and does not run.* set it back to 4\.3\.1 with upg"
        ):
            plan_of(now, *moves)


def test_nobody_else_may_go_on_writing_what_the_old_release_misreads() -> None:
    """Bounce 1 of one run took orders-1 only, another run did the rest: that one is undone first."""
    now = reading(instance("orders-1", release=NEW, settings=GUARD), instance("orders-2", release=NEW))
    with pytest.raises(Refused, match=r"orders-2 runs 4\.3\.1, which run library_bump/r did not bring about"):
        plan_of(now, *bounced("orders-1"), later=True)
    guarded = reading(*(instance(f"orders-{n}", release=NEW, settings=GUARD) for n in (1, 2)))
    assert stages(plan_of(guarded, *bounced("orders-1"), later=True))[-1] == (OLD, (), ("orders-1",), True, True)


@pytest.mark.parametrize(("old", "new"), [("2.1.1", "2.3.1"), ("2.8.2", "3.4.1")])
def test_a_canary_goes_back_where_no_rule_speaks_against_it(old: str, new: str) -> None:
    """The bump planned it without asking for a guarantee, or for a published downgrade; so does the way back."""
    move = Move("orders-1", 1, stands("orders-1", old), stands("orders-1", new), clears_state=False)
    now = reading(instance("orders-1", release=new), instance("orders-2", release=old))
    made = plan_of(now, move, releases=(old, new), uses=(), processing_guarantee=None)
    assert stages(made) == [(old, (), ("orders-1",), False, False)]


def test_all_at_once_says_its_own_worst_case() -> None:
    """Nothing is processed in between."""
    settings = (("audit", "true"),)
    moves = tuple(
        Move(name, 1, stands(name, NEW), stands(name, NEW, settings), clears_state=False)
        for name in ("orders-1", "orders-2")
    )
    now = reading(*(instance(f"orders-{n}", release=NEW, settings=settings) for n in (1, 2)))
    assert plan_of(now, *moves, at_once=True).worst_case.startswith("nothing of orders is processed between")


def test_a_flush_whose_new_version_has_run_is_taken_back_by_a_flush() -> None:
    """The refusal has the command, with the settings as they were; without a flush only by choice."""
    audit = (("audit", "true"),)
    now = reading(*(instance(f"orders-{n}", settings=audit) for n in (1, 2)))
    moves = tuple(
        Move(name, 9, stands(name), stands(name, settings=audit), clears_state=False)
        for name in ("orders-1", "orders-2")
    )
    run = Undone(
        "control_topic_flush/r", "control_topic_flush", True, moves, False, ("orders",), flush=(("switch", "swap"),)
    )

    def plan(undone: Undone, **choice: Any) -> Plan:
        return undo_plan(now, declared(), undone, upgrade_path_rules(), 0, (), "code", **choice)

    flush_back = r"--param release=3\.4\.1 --param 'settings=\{\"audit\": null\}' --param switch=swap"
    with pytest.raises(Refused, match=rf"{flush_back}.* trigger a new run with --param without_flush=true"):
        plan(run)
    back = [(OLD, (), (), False, False)]
    assert stages(plan(run, without_flush=True)) == stages(plan(replace(run, flush=()))) == back
