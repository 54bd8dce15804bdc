"""GO ON after a refusal of each decision: its command, applied to the inputs, ends the refusal.

`KEPT` has a refusal of every decision that evidence can name, the command of its GO ON, and the inputs once that was
followed: what the sentence asks for first is done, and the fields of a new run are those of the command. A decision of
the registry without a refusal here needs a reason in `NONE`. The inputs are those of the decision's own tests.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from kstreams_runbooks.decide.instances.verification import brought_by
from kstreams_runbooks.decide.plans.cutover import CUTOVER
from kstreams_runbooks.decide.plans.reset import ResetParts
from kstreams_runbooks.decide.plans.switches import ManualSwitch
from kstreams_runbooks.decide.plans.way_back import Undone
from kstreams_runbooks.decide.registry import DECISIONS
from kstreams_runbooks.decide.releases.links import PlannedBuild
from kstreams_runbooks.decide.runs.approval import may_answer, may_approve
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.decide.runs.go_on import Ending, go_on
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.readings.cutover import GroupOnOutput, KeptFor
from kstreams_runbooks.model.readings.disorder import Stop
from kstreams_runbooks.model.readings.drain import Pause
from kstreams_runbooks.model.readings.emptying import EmptyingSeen
from kstreams_runbooks.model.readings.outputs import UnlikeKeys
from kstreams_runbooks.model.readings.readings import GroupReading, Missing, Taken, TopicReading
from kstreams_runbooks.model.readings.recreated import RecreatedTopic
from kstreams_runbooks.model.readings.reset import RunningUse
from kstreams_runbooks.model.readings.topics_seen import TopicsSeen
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.growth import GrowthSeen
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import SavedOffsets
from kstreams_runbooks.rules import release_settings, topology_change_rules, upgrade_path_rules
from kstreams_runbooks.steps.cutover.compare import UNEQUAL
from unit.decide.drain import test_certificate as certificate
from unit.decide.drain import test_copied as copied
from unit.decide.drain import test_emptying as emptying
from unit.decide.drain import test_flushed as flushing
from unit.decide.drain import test_hold as hold
from unit.decide.drain import test_inputs as inputs
from unit.decide.drain import test_seam as seam
from unit.decide.fitting import test_partitioning as partitioning
from unit.decide.fitting import test_uncommitted as uncommitted
from unit.decide.growth import test_proven as arrived
from unit.decide.instances import test_copier_stopped as copier
from unit.decide.instances import test_deployed as deployment
from unit.decide.instances import test_moved as moved
from unit.decide.instances import test_verification as verification
from unit.decide.outputs import test_proven as proven
from unit.decide.outputs import test_sides as sides
from unit.decide.plans import test_adoptable as adoptable
from unit.decide.plans import test_cutoverable as cutoverable
from unit.decide.plans import test_flush as flush
from unit.decide.plans import test_greenable as greenable
from unit.decide.plans import test_longest_stop as longest_stop
from unit.decide.plans import test_only_copy as only_copy
from unit.decide.plans import test_reset as reset
from unit.decide.plans import test_retire as retiring
from unit.decide.plans import test_swap as swap
from unit.decide.plans import test_undo as undo
from unit.decide.plans import test_writable as writable
from unit.decide.releases import test_links as links
from unit.decide.releases import test_tried as tried
from unit.decide.reset import test_cleaned_up as cleaned_up
from unit.decide.reset import test_cleared as cleared
from unit.decide.reset import test_offsets as offsets
from unit.decide.reset import test_outputs as outputs
from unit.decide.reset import test_radius as radius
from unit.decide.reset import test_rest as rest
from unit.decide.reset import test_retire as retire
from unit.decide.rights import test_granted as granted
from unit.decide.runs.test_go_on import Line, record
from world import growing
from world.samples import BOUNCE_1, NEW, OLD, card, declared, down, expectation, instance, partition, reading
from world.sides import COUNTS, declaration, described, known

WIDENED = replace(
    greenable.GOOD,
    inputs=(replace(greenable.INPUT, topic="orders-wide"),),
    chain=(greenable.CHAINED,),
    wanted=6,
)
GROWS = growing.growing(declares=growing.accepting(COUNTS))
TASKS = (
    *("observe", "check", "plan", "check_partitioning", "approve_plan", "bounce_1_first", "bounce_1_rest"),
    *(
        "prove_every_member",
        "drain_repartition_topics",
        "forecast_keys",
        "pause_inputs",
        "certify",
        "stop_application",
        "clear_state",
    ),
    *("delete_groups", "delete_topics", "set_offsets", "start_application", "prove_growth", "delete_records", "verify"),
    "conclude",
)
UNDO_TASKS = ("read_cards", "plan", "approve_undo", "undo", "conclude")
# Decisions that end no run by a refusal, with the reason.
NONE = {
    "conclusion": "it judges how a run ended",
    "may_approve": "the question is asked again, and its sentence names who has to answer",
    "may_answer": "as may_approve",
    "defects_that_bite": "it shows known defects, and refuses nothing",
    "state_of_undo": "it derives directories from descriptions that may_be_rolled has judged",
    "with_cleared_state": "it adds what cleared_state derives to a plan",
    "with_expected_gaps": "it adds forecasts to a plan",
    "with_full_restores": "it adds forecasts to a plan",
    "after_kill": "it adds to a plan what is deleted after a kill",
    "restores_nothing": "its step refuses with the task to clear (tests/unit/steps/instances/test_restored_first.py)",
    "adopt_plan": "it puts stages in order that may_adopt has judged",
    "abandon_plan": "as adopt_plan",
    "green_plan": "it puts stages in order that may_start_green has judged",
    "cancel_plan": "as green_plan, of what may_cancel_green has judged",
    "cutover_plan": "it puts stages in order that may_cut_over has judged",
    "may_grow": "the command forecast-partitions asks it, no run does",
    "growth_plan": "it puts stages in order that may_grow_in_place has judged",
    "with_set_back": "it adds to a plan what is done after a failed start",
    "may_be_set_back": "without it the failed start leads to undo (tests/unit/steps/instances/test_set_back.py)",
}
ADOPTED = {"before": adoptable.BEFORE, "after": adoptable.AFTER}
NEXT_RUN, OTHER_RUNBOOK, BACK = "trigger", "another runbook", "only back"
Then = Mapping[str, Any] | Callable[[Line], Mapping[str, Any]]


@dataclass(frozen=True)
class Refusal:
    """A refusal and the way on: `command` is the task that GO ON clears, or one of the three words above.

    `then` are the inputs that are other once that was followed; of another runbook, or of an undo, none is asked again.
    `more` is what the step adds to the sentence of the decision.
    """

    name: str
    given: Mapping[str, Any]
    reached: str
    command: str
    then: Then = field(default_factory=dict)
    dag_id: str = "library_bump"
    params: Mapping[str, Any] = field(default_factory=dict)
    changed: bool = False
    drifted: bool = False
    more: str = ""

    def asked(self, **other: Any) -> tuple[str, int]:
        """The sentence with which the decision refuses, and the exit code of its error; an empty one if it does not."""
        try:
            answer = DECISIONS[self.name](**{**self.given, **other})
        except RunbookError as error:
            return str(error), error.exit_code
        if not isinstance(answer, Verdict) or answer.outcome is Outcome.PROCEED:
            return "", 0
        return answer.text, 3 if answer.outcome is Outcome.INCONCLUSIVE else 1


REASON = "the registry is down, OPS-9"
RULES = {"rules": topology_change_rules(), "versions": upgrade_path_rules()}
ROLL = {
    "before": (described(),),
    "after": Missing("release 4.3.1: no login"),
    "known": known(),
    "at_once": False,
    **RULES,
}
TARGET = {"target": NEW}


def given(line: Line, name: str) -> str:
    """A reason of the command, with a person's words in place of its placeholder."""
    assert line.fields[name] == "REASON"
    return REASON


def placed(line: Line, wanted: int, **asked: str) -> GrowthSeen:
    """The growth of a command with a person's number in place of its placeholder."""
    assert asked.items() <= line.fields.items()
    return replace(GROWS, wanted=wanted)


PLAN = verification.PLAN
DIFFERENT = reading(instance("orders-1", settings=(("audit", "true"),)), instance("orders-2"))
BUMPED: dict[str, Any] = {
    "declared": declared(),
    "target": NEW,
    "rules": upgrade_path_rules(),
    "findings": (),
    "limits": (),
    "code": "code",
}
RESTART: dict[str, Any] = {
    "declared": declared(),
    "release": None,
    "settings": {},
    "findings": (),
    "limits": (),
    "code": "code",
    "at_once": True,
}
UNFINISHED = reading(*(instance(f"orders-{number}", settings=(("upgrade.from", "3.4"),)) for number in (1, 2)))
NEW_BOTH = tuple(instance(f"orders-{number}", release=NEW, settings=BOUNCE_1.settings) for number in (1, 2))
EMPTY_GROUP = GroupReading(Taken(1, "t"), "orders", "classic", "Empty", ())
WINDOW = {
    "late": longest_stop.late(),
    "stop": Stop(140, "its inputs are held"),
    "orders": longest_stop.IN_ORDER,
}
UNDONE = Undone("library_bump/r", "library_bump", False, undo.bounced("orders-1"), False, ("orders",))
BACKED: dict[str, Any] = {
    "declared": declared(),
    "undone": UNDONE,
    "rules": upgrade_path_rules(),
    "changelog_bytes": 0,
    "limits": (),
    "code": "code",
}
MOVED = reading(instance("orders-1", release="9"), instance("orders-2"))
TAKEN = reading(instance("orders-1", release=NEW, settings=BOUNCE_1.settings), instance("orders-2"))
ROW = offsets.moved("earliest")
LOST = only_copy.plan(clears=only_copy.CLEARED)
CREATED = TopicReading(retire.LEFT, "id-9", 4)

KEPT = (
    Refusal(
        "may_request", {"declared": declared(), "requested_by": "eve"}, "observe", NEXT_RUN, {"requested_by": "oncall"}
    ),
    Refusal(
        "has_rights",
        {"needed": granted.NEEDED, "reading": replace(granted.ALL, topics=(("in", ()),))},
        "observe",
        "observe",
        {"reading": granted.ALL},
    ),
    Refusal(
        "ready_for_change",
        {"reading": reading(instance("orders-1", state="ERROR"), instance("orders-2")), "declared": declared()}
        | {"age_ms": 1, "max_age_ms": 30_000},
        "check",
        "observe",
        {"reading": reading()},
    ),
    Refusal(
        "described_change",
        {"before": described(), "after": described("no text", ""), "known": known(), **RULES},
        "plan",
        NEXT_RUN,
        lambda line: {} if "topology_text" in line.fields else {"after": described(release=line.fields["release"])},
        dag_id="plan_change",
        params={"release": NEW, "topology_text": "no text"},
    ),
    Refusal(
        "may_be_rolled",
        ROLL | {"accepted": ""},
        "plan",
        NEXT_RUN,
        lambda line: {"accepted": given(line, "without_topology")},
        params=TARGET,
    ),
    Refusal(
        "may_stay_unread",
        {"unread": ("release 4.3.1: no login",), "declared": declared(), "accepted": ""},
        "plan",
        NEXT_RUN,
        lambda line: {"accepted": given(line, "without_topology")},
    ),
    Refusal(
        "takes_settings",
        {"application": "orders", "starts": (tried.with_settings(("commit.interval.ms", "30000")),)}
        | {"rules": upgrade_path_rules(), "catalogue": release_settings()},
        "plan",
        NEXT_RUN,
        lambda line: {"starts": (tried.WHOLE,)} if "commit.interval.ms" not in line.fields.get("settings", "") else {},
        dag_id="rolling_bounce",
        params={"settings": {"commit.interval.ms": 30_000}},
    ),
    Refusal(
        "builds_link",
        {"application": "orders", "builds": (PlannedBuild(NEW, (links.NEEDED,)),), "accepted": ""},
        "plan",
        NEXT_RUN,
        lambda line: {"accepted": given(line, "accept_unlinked")},
    ),
    Refusal(
        "topics_fit",
        {"wanted": (described(COUNTS, NEW, declaration()),), "seen": TopicsSeen({"orders": 4}, {}, {})}
        | {"reading": reading(), "application": declared()},
        "plan",
        NEXT_RUN,
        {"seen": TopicsSeen({"orders": 4, "counted": 4}, {}, {})},
        params=TARGET,
    ),
    Refusal(
        "uncommitted_records",
        {"wanted": (described(COUNTS),), "seen": uncommitted.seen(uncommitted.row()), "planned": None}
        | {"resets": frozenset(), "application": declared()},
        "plan",
        "observe",
        {"seen": uncommitted.seen()},
    ),
    Refusal(
        "keys_are_with_their_state",
        {"reading": partitioning.reading(replace(partitioning.SAME, several=2))},
        "check_partitioning",
        "check_partitioning",
        {"reading": partitioning.reading()},
    ),
    Refusal(
        "may_grow_in_place",
        {"seen": GROWS, "forecast": growing.forecast(GROWS, misplaced=2)},
        "forecast_keys",
        "forecast_keys",
        {"forecast": growing.forecast(GROWS)},
        dag_id="partition_increase",
    ),
    Refusal(
        "may_grow_in_place",
        {"seen": replace(GROWS, wanted=4), "forecast": None},
        "forecast_keys",
        NEXT_RUN,
        lambda line: {"seen": placed(line, partitions="N", wanted=12), "forecast": growing.forecast(GROWS)},
        dag_id="partition_increase",
        params={"partitions": 4, "copier": "copier"},
    ),
    Refusal(
        "may_grow_in_place",
        {"seen": replace(GROWS, writers={}), "forecast": None},
        "forecast_keys",
        OTHER_RUNBOOK,
        dag_id="partition_increase",
        params={"partitions": 12, "copier": "copier"},
    ),
    Refusal(
        "may_grow_in_place",
        {"seen": growing.growing(), "forecast": growing.forecast(GROWS)},
        "forecast_keys",
        "forecast_keys",
        {"seen": GROWS},
        dag_id="partition_increase",
    ),
    Refusal(
        "growth_is_proven",
        {"read": arrived.READ, "group": arrived.group(*arrived.HELD[:2]), "since": (arrived.since(),)},
        "prove_growth",
        "prove_growth",
        {"group": arrived.group(*arrived.HELD)},
        dag_id="partition_increase",
        changed=True,
    ),
    Refusal(
        "bump_plan",
        BUMPED | {"reading": DIFFERENT},
        "plan",
        OTHER_RUNBOOK,
        params=TARGET,
    ),
    Refusal(
        "restart_plan",
        RESTART | {"reading": UNFINISHED},
        "plan",
        OTHER_RUNBOOK,
        dag_id="stop_and_restart",
    ),
    Refusal(
        "may_swap",
        {"reading": replace(swap.GOOD, tables=("customers",))},
        "plan",
        NEXT_RUN,
        lambda line: {"reading": swap.GOOD} if line.fields["switch"] == "manual" else {},
        dag_id="control_topic_flush",
        params={"switch": "swap"},
    ),
    Refusal(
        "may_swap",
        {"reading": replace(swap.GOOD, empties=(replace(swap._ORDERS, partitions=3), swap._CUSTOMERS))},
        "plan",
        NEXT_RUN,
        lambda line: {"reading": swap.GOOD} if "empty_topics" not in line.fields else {},
        dag_id="control_topic_flush",
        params={"switch": "swap", "empty_topics": {"orders": "mine"}},
    ),
    Refusal(
        "may_adopt",
        {"reading": replace(adoptable.GOOD, sources=("customers", "orders", "rates"))} | ADOPTED,
        "plan",
        "observe",
        {"reading": adoptable.GOOD},
        dag_id="adopt_control_topic",
    ),
    Refusal(
        "may_abandon",
        {"reading": replace(adoptable.BACK, patterns=("orders-.*",)), "before": adoptable.AFTER}
        | {"after": adoptable.BEFORE},
        "plan",
        "observe",
        {"reading": adoptable.BACK},
        dag_id="adopt_control_topic",
    ),
    Refusal(
        "may_start_green",
        {"reading": replace(greenable.GOOD, left=("orders-v2-counts-changelog",))},
        "plan",
        NEXT_RUN,
        lambda line: {"reading": greenable.GOOD} if line.fields.get("mode") == "cancel" else {},
        dag_id="blue_green_start",
    ),
    *(
        Refusal(
            "may_start_green",
            {"reading": replace(WIDENED, wanted=wanted)},
            "plan",
            NEXT_RUN,
            lambda line: {"reading": replace(WIDENED, wanted=int(line.fields["partitions"]))},
            dag_id="blue_green_start",
            params={"partitions": wanted or None},
        )
        for wanted in (0, 2, 5)
    ),
    *(
        Refusal(
            "may_start_green",
            {"reading": replace(WIDENED, chain=(replace(greenable.CHAINED, **left),))},
            "plan",
            NEXT_RUN,
            lambda line: {"reading": WIDENED} if line.fields.get("mode") == "cancel" else {},
            dag_id="blue_green_start",
            params={"partitions": 6},
        )
        for left in (
            {"up": ("widening-1",)},
            {"offsets": ("orders-control",)},
            {"topics": (replace(greenable.WIDE, exists=True),)},
        )
    ),
    *(
        Refusal(
            "may_start_green",
            {"reading": replace(WIDENED, **wrong)},
            "plan",
            "observe",
            {"reading": WIDENED},
            dag_id="blue_green_start",
            params={"partitions": 6},
        )
        for wrong in (
            {"chain": (), "inputs": (greenable.INPUT,)},
            {"chain": (greenable.CHAINED, replace(greenable.CHAINED, copier="other"))},
            {"chain": (replace(greenable.CHAINED, shipped=False),)},
            {"chain": (replace(greenable.CHAINED, topics=(greenable.WIDE, replace(greenable.WIDE, topic="idle"))),)},
            {"chain": (replace(greenable.CHAINED, topics=(replace(greenable.WIDE, before=0),)),)},
        )
    ),
    Refusal(
        "may_cancel_green",
        {"remains": replace(greenable.REMAINS, used_by=(("totals-green", "group billing reads it"),))},
        "plan",
        "observe",
        {"remains": greenable.REMAINS},
        dag_id="blue_green_start",
    ),
    Refusal(
        "history_read",
        {"rows": (partition(50, 100, log_start=80),), "earlier": {}, "used_by": (), "most": 10},
        "wait_caught_up",
        NEXT_RUN,
        lambda line: {"rows": (partition(90, 100),)} if line.fields.get("mode") == "cancel" else {},
        dag_id="blue_green_start",
        changed=True,
    ),
    Refusal(
        "may_cut_over",
        {"reading": cutoverable.reading(copier=None)},
        "plan",
        OTHER_RUNBOOK,
        dag_id=CUTOVER,
    ),
    Refusal(
        "sides_at_rest",
        {"sides": (seam.OLD, replace(seam.NEW, now=replace(seam.NEW.now, problems=("hidden",))))}
        | {"noted": seam.NOTED, "pause": seam.PAUSE},
        "certify",
        NEXT_RUN,
        lambda _: {"sides": (seam.OLD, seam.NEW)},
        dag_id=CUTOVER,
        changed=True,
        more="; orders and orders-copier run again, and nothing else was changed; trigger a new run",
    ),
    Refusal(
        "sides_are_equal",
        {"compared": sides.compared(UnlikeKeys(equal=1_999, changed=1)), "history": sides.PACED},
        "compare_outputs",
        NEXT_RUN,
        lambda _: {"compared": sides.compared()},
        dag_id=CUTOVER,
        changed=True,
        more=f"; {UNEQUAL}",
    ),
    Refusal(
        "still_at_seam",
        {"noted": seam.NOTED, "now": replace(seam.NOTED, ends=(replace(seam.NOTED.ends[0], end=6),))},
        "resume_inputs",
        "resume_inputs",
        {"now": seam.NOTED},
        dag_id=CUTOVER,
        changed=True,
    ),
    Refusal(
        "read_to_seam",
        {"reading": replace(seam.READ, open=Missing("no broker answers")), "noted": seam.OUTPUTS},
        "move_downstream",
        "move_downstream",
        {"reading": seam.READ},
        dag_id=CUTOVER,
        changed=True,
    ),
    Refusal(
        "may_still_move",
        {
            "entry": "billing",
            "seam_at_ms": 1_000,
            "now_ms": 46_001,
            "kept": (KeptFor("retention.ms of totals", 90_000),),
        },
        "move_downstream",
        BACK,
        {"now_ms": 46_000},
        dag_id=CUTOVER,
        changed=True,
    ),
    Refusal(
        "group_has_moved",
        {"reading": moved.MOVED, "rows": moved.rows(first=69), "seeds": moved.SEEDS, "target": moved.TARGET}
        | {"back": moved.BACK},
        "verify",
        NEXT_RUN,
        lambda _: {"rows": moved.rows()},
        dag_id=CUTOVER,
        changed=True,
    ),
    Refusal(
        "seeds_lasted",
        {"group_id": "billing", "empty_ms": 60_000, "kept_ms": 60_000, "back": moved.BACK},
        "verify",
        NEXT_RUN,
        lambda _: {"empty_ms": 5_000},
        dag_id=CUTOVER,
        changed=True,
    ),
    Refusal(
        "seeds_stand",
        {"rows": seam.seeded(first=9), "seeds": seam.SEEDS, "group_id": "billing"},
        "move_downstream",
        BACK,
        dag_id=CUTOVER,
        changed=True,
    ),
    Refusal(
        "readers_as_planned",
        {"reading": cutoverable.reading(), "readers": (GroupOnOutput("totals", "reports"),)},
        "pause_inputs",
        "pause_inputs",
        {"readers": ()},
        dag_id=CUTOVER,
        changed=True,
    ),
    Refusal(
        "nearly_copied",
        {"rows": (copied._ROW,), "most": 10, "took_ms": 501, "may_take_ms": 500},
        "copy_inputs",
        BACK,
        dag_id="adopt_control_topic",
        changed=True,
    ),
    Refusal(
        "copied_exactly",
        {"until": copied._UNTIL, "now": copied.saved(101, 7)},
        "set_offsets",
        BACK,
        dag_id="adopt_control_topic",
        changed=True,
    ),
    Refusal(
        "offsets_unmoved",
        {"expected": copied._UNTIL, "now": copied.saved(100, 8)},
        "start_application",
        BACK,
        dag_id="adopt_control_topic",
        changed=True,
    ),
    Refusal(
        "copy_is_proven",
        {"reading": proven.reading(UnlikeKeys(equal=4, missing=1))},
        "prove_copy",
        BACK,
        dag_id="adopt_control_topic",
        changed=True,
    ),
    Refusal(
        "flush_plan",
        {"restart": replace(flush.restart(), facts=replace(flush.restart().facts, group_type="streams"))}
        | {"switch": ManualSwitch(("orders",))},
        "plan",
        OTHER_RUNBOOK,
        dag_id="control_topic_flush",
        params={"release": NEW},
    ),
    Refusal(
        "may_reset",
        {"radius": radius.radius(others=(RunningUse(radius.CHANGELOG, "billing", writes=True),))},
        "plan",
        "observe",
        {"radius": radius.radius()},
        dag_id="reset_and_cleanup",
    ),
    Refusal(
        "reset_plan",
        {"restart": reset.restart(), "radius": reset.radius(), "broker": replace(reset.BROKER, auto_create_topics=True)}
        | {"parts": ResetParts(created=reset.SHAPES, targets=reset.TARGETS)},
        "plan",
        "observe",
        {"broker": reset.BROKER},
        dag_id="reset_and_cleanup",
    ),
    Refusal(
        "at_rest",
        {"seen": rest.seen(used_by={rest.TOPIC: ("billing reads it",)}), "group": "orders"},
        "delete_topics",
        "delete_topics",
        {"seen": rest.seen()},
        dag_id="reset_and_cleanup",
        changed=True,
    ),
    Refusal(
        "unmoved",
        {"noted": rest.ENDS, "looks": (replace(rest.LOOK, ends={**rest.ENDS, f"{rest.TOPIC}-1": 8}),)},
        "delete_topics",
        NEXT_RUN,
        {"noted": {**rest.ENDS, f"{rest.TOPIC}-1": 8}},
        dag_id="reset_and_cleanup",
        changed=True,
    ),
    Refusal(
        "state_is_gone",
        {"local": (cleared.LEFT,)},
        "start_application",
        "clear_state",
        {"local": (cleared.GONE,)},
        dag_id="reset_and_cleanup",
        changed=True,
    ),
    Refusal(
        "may_clean_up",
        {"local": (cleaned_up.local(1, directory="lost+found"),)},
        "plan",
        NEXT_RUN,
        lambda line: {"local": (cleaned_up.local(1),)} if line.fields["cleared_by"] == "deployer" else {},
        dag_id="reset_and_cleanup",
        params={"cleared_by": "application"},
    ),
    Refusal(
        "state_is_new",
        {"now": (cleaned_up.local(1_500),), "noted": cleaned_up.NOTED},
        "start_application",
        "start_application",
        {"now": (cleaned_up.local(5_000),)},
        dag_id="reset_and_cleanup",
        changed=True,
    ),
    Refusal(
        "may_set",
        {"rows": (), "planned": (ROW,), "most_lost": 0},
        "set_offsets",
        NEXT_RUN,
        {"rows": (ROW,)},
        dag_id="reset_and_cleanup",
        changed=True,
    ),
    Refusal(
        "cleared_state",
        {"choice": "some", "before": (), "after": None, "known": known()},
        "plan",
        NEXT_RUN,
        lambda line: {"choice": line.fields.get("local_state", "stale")},
        dag_id="stop_and_restart",
        params={"local_state": "some"},
    ),
    Refusal(
        "may_take_over",
        {
            "before": (described(),),
            "after": Missing("release 3.4.1: no command"),
            "application": declared(),
            "accepted": "",
        },
        "plan",
        NEXT_RUN,
        lambda line: {"accepted": given(line, "without_topology")},
        params={"target": OLD},
    ),
    Refusal("undo_plan", BACKED | {"reading": MOVED}, "plan", "read_cards", {"reading": TAKEN}, dag_id="undo"),
    Refusal(
        "may_write",
        {"reading": replace(writable.READING, topics=(replace(writable.TOPIC, operations=()),))}
        | {"writes": writable.one_of("set_offsets")},
        "plan",
        "observe",
        {"reading": writable.READING},
    ),
    Refusal(
        "may_keep_state",
        {"plan": LOST, "recreated": (RecreatedTopic(only_copy.LOG, "changelog", "a", "b"),), "declared": declared()}
        | {"reason": ""},
        "plan",
        NEXT_RUN,
        lambda line: {"reason": given(line, "acknowledge_recreated")},
        dag_id="stop_and_restart",
    ),
    Refusal(
        "may_lose_state",
        {
            "plan": LOST,
            "before": (only_copy.version(logging=False),),
            "known": only_copy.KNOWN,
            "named": (),
            "by": "ada",
        }
        | {"logs": only_copy.WHOLE},
        "plan",
        NEXT_RUN,
        lambda line: {"named": tuple(line.fields["lose_state"].split(","))},
        dag_id="stop_and_restart",
    ),
    Refusal(
        "may_clean",
        {"asked": outputs.ASKED, "facts": replace(outputs.FACTS, policies={"results": "compact"}), "planned": True}
        | {"graph": outputs.GRAPH},
        "plan",
        NEXT_RUN,
        lambda line: {"facts": outputs.FACTS} if line.fields["clean_outputs"] == '["audit"]' else {},
        dag_id="reset_and_cleanup",
        params={"clean_outputs": ["results", "audit"]},
    ),
    Refusal(
        "may_retire",
        {"asked": retire.ORPHANS, "facts": replace(retire.FACTS, orphans=(retire.orphan(retire.LEFT, 1),))}
        | {"graph": retire.GRAPH},
        "plan",
        "observe",
        {"facts": retire.FACTS},
        dag_id="reset_and_cleanup",
    ),
    Refusal(
        "retire_plan",
        {"reading": reading(), "declared": declared(), "what": "orphans", "topics": (retiring.STAYS,), "findings": ()}
        | {"facts": retiring.FACTS, "limits": (), "code": "code", "runbook": "reset_and_cleanup"},
        "plan",
        "observe",
        {"topics": (retiring.GOES,)},
        dag_id="reset_and_cleanup",
    ),
    Refusal(
        "stayed_gone",
        {"deleted": {retire.LEFT: "id-1"}, "seen": (CREATED,), "watched_s": 300},
        "verify",
        "verify",
        {"seen": ()},
        dag_id="reset_and_cleanup",
        changed=True,
    ),
    Refusal(
        "retirement_verified",
        {"deleted": {}, "groups": ("orders",), "seen": (), "listed": ("orders",)},
        "verify",
        "verify",
        {"listed": ()},
        dag_id="reset_and_cleanup",
        changed=True,
    ),
    Refusal(
        "may_hold",
        {"facts": hold.FACTS, "planned": replace(hold.PLANNED, stop_timeout_s=None, stops=9_000)},
        "plan",
        "observe",
        {"planned": hold.PLANNED},
        dag_id="control_topic_flush",
    ),
    Refusal(
        "may_stop",
        WINDOW | {"accepted": "", "asks": False},
        "plan",
        NEXT_RUN,
        lambda line: {"accepted": given(line, "accept_late_loss")},
        dag_id="control_topic_flush",
    ),
    Refusal(
        "inputs_stand_still",
        {"readings": (inputs.look(0, problems=("topic orders has no leader",)),), "needed": 3},
        "pause_inputs",
        "pause_inputs",
        {"readings": tuple(map(inputs.look, (0, 5, 10)))},
        dag_id="control_topic_flush",
        changed=True,
    ),
    Refusal(
        "still_held",
        {"then": inputs.look(0), "now": inputs.look(5, {"orders-0": 12, "orders-1": 0})},
        "stop_application",
        "pause_inputs",
        {"then": inputs.look(10, {"orders-0": 12, "orders-1": 0})},
        dag_id="control_topic_flush",
        changed=True,
    ),
    Refusal(
        "deployed",
        {"reading": reading(replace(deployment.DONE, deployment=Missing("no answer"))), "awaited": deployment.AWAITED},
        "bounce_1_first",
        "bounce_1_first",
        {"reading": reading(deployment.DONE)},
        changed=True,
    ),
    Refusal(
        "gate",
        {"samples": (reading(down("orders-1"), instance("orders-2")),), "expected": expectation()},
        "bounce_1_first",
        "bounce_1_first",
        {"samples": (reading(*NEW_BOTH),)},
        changed=True,
    ),
    Refusal(
        "stays_down",
        {"instances": (instance("orders-1"),), "application": "orders", "required": True},
        "plan",
        "observe",
        {"declared": True},
        dag_id="stop_and_restart",
    ),
    Refusal(
        "every_member_runs",
        {"reading": reading(NEW_BOTH[0], instance("orders-2")), "bounces": (BOUNCE_1,)},
        "prove_every_member",
        "bounce_1_first",
        {"reading": reading(*NEW_BOTH)},
        changed=True,
        more="; ".join(("", *brought_by((BOUNCE_1,)))),
    ),
    Refusal(
        "nothing_drifted",
        {"reading": replace(reading(), topics=()), "plan": PLAN, "name": "orders-1", "number": 1},
        "bounce_1_first",
        NEXT_RUN,
        {"plan": replace(PLAN, facts=replace(PLAN.facts, topics=()))},
        params=TARGET,
        drifted=True,
    ),
    Refusal(
        "group_is_empty",
        {"group": Missing("no answer"), "group_id": "orders"},
        "stop_application",
        "stop_application",
        {"group": EMPTY_GROUP},
        changed=True,
    ),
    Refusal(
        "stopped_cleanly",
        {"earlier": copier.STOPPED, "now": copier.reading(group=Missing("no answer"))},
        "pause_inputs",
        "pause_inputs",
        {"now": copier.STOPPED},
        dag_id="control_topic_flush",
        changed=True,
    ),
    Refusal(
        "left_down",
        {"reading": reading(instance("orders-1")), "target": Target(OLD)},
        "verify",
        "verify",
        {"reading": reading(down("orders-1"))},
        dag_id="adopt_control_topic",
        changed=True,
    ),
    Refusal(
        "still_stopped",
        {"before": copier.STOPPED, "now": copier.reading(open=(copier._OPEN,))},
        "certify",
        "certify",
        {"now": copier.STOPPED},
        dag_id="control_topic_flush",
        changed=True,
    ),
    Refusal(
        "drained",
        {"readings": certificate.QUIET, "question": replace(certificate.QUESTION, pause=None)},
        "certify",
        NEXT_RUN,
        lambda line: {"question": replace(certificate.QUESTION, pause=Pause("", "", given(line, "inputs_paused")))},
        dag_id="certify_drain",
    ),
    Refusal(
        "certified",
        {"readings": certificate.QUIET, "question": certificate.QUESTION}
        | {"now": certificate.reading(15, sinks={"counts-0": 6})},
        "certify",
        "certify",
        {"now": certificate.reading(15)},
        dag_id="certify_drain",
    ),
    Refusal(
        "flushed",
        {"left": (replace(flushing._ROW, records=1),)},
        "start_application",
        BACK,
        dag_id="control_topic_flush",
        changed=True,
    ),
    Refusal(
        "swap_holds",
        {"held": flushing._HELD, "now": SavedOffsets("app", 1, flushing._HELD), "empty": {"empty-0": 0}}
        | {"ends": {"empty-0": 2}},
        "stop_application",
        BACK,
        dag_id="control_topic_flush",
        changed=True,
    ),
    Refusal(
        "may_be_emptied",
        {"certified": emptying.CERTIFIED, "group": "orders"}
        | {"seen": EmptyingSeen({f"{emptying.TOPIC}-0": 12}, {}, ())},
        "delete_records",
        NEXT_RUN,
        {"seen": EmptyingSeen({}, {}, ())},
        dag_id="control_topic_flush",
        changed=True,
    ),
    Refusal(
        "read_up_to",
        {"partitions": Missing("no leader"), "marks": (("orders-0", 100),), "application": "orders"},
        "drain_repartition_topics",
        "drain_repartition_topics",
        {"partitions": reading().partitions},
        changed=True,
    ),
    Refusal(
        "nothing_left",
        {"left": (replace(flushing._ROW, records=2),)},
        "verify",
        BACK,
        changed=True,
        more="; trigger undo for this run: the previous deployment reads them",
    ),
    Refusal(
        "change_verified",
        {"before": reading(), "earlier": verification.DONE, "plan": PLAN}
        | {"after": replace(verification.DONE, topics=(TopicReading("orders", "id-2", 1),))},
        "verify",
        "fleet_check",
        {"plan": replace(PLAN, facts=replace(PLAN.facts, topics=(("orders", "id-2", 1),)))},
        changed=True,
    ),
    Refusal(
        "undo_verified",
        {"earlier": reading(), "plan": PLAN, "after": reading(instance("orders-1"), instance("orders-2", release=NEW))},
        "undo",
        "undo",
        {"after": verification.DONE},
        dag_id="undo",
        changed=True,
    ),
)


def ended(of: Refusal, sentence: str, code: int) -> Ending:
    """The end of a run by this sentence."""
    tasks = UNDO_TASKS if of.dag_id == "undo" else TASKS
    cards = (card(),) if of.changed else ()
    outcome = RunOutcome.STOPPED if of.changed else RunOutcome.NOTHING_CHANGED
    run = record(of.dag_id, **of.params)
    if of.changed:
        run = replace(run, plan_digest="d")
    return Ending(run, outcome, of.reached, sentence, code, is_void=of.drifted, cards=cards, tasks=tasks)


def test_every_decision_has_its_refusal() -> None:
    """A new decision needs one, or the reason why it refuses nothing."""
    assert {one.name for one in KEPT} | NONE.keys() == DECISIONS.keys()
    assert not {one.name for one in KEPT} & NONE.keys()


@pytest.mark.parametrize("of", KEPT, ids=lambda of: of.name)
def test_go_on_ends_the_refusal(of: Refusal) -> None:
    """The command is the one that is expected, and the second answer is not the first one."""
    sentence, code = of.asked()
    assert sentence
    found = go_on(ended(of, sentence + of.more, code), changed=of.changed)
    if of.command == BACK:
        assert found.command == "kstreams-runbooks trigger undo r"
        return
    commands = [line.strip() for line in found.lines if line.startswith("    ")]
    assert commands[0] == found.command
    if of.command == "fleet_check":
        assert found.command == "kstreams-runbooks trigger fleet_check --param acknowledge=orders --reason REASON"
    elif of.command not in {NEXT_RUN, OTHER_RUNBOOK}:
        assert found.command == f"kstreams-runbooks clear r {of.command}"
    else:
        # The last command is the one that accepts something.
        line = Line.of(commands[-1])
        assert (line.runbook == of.dag_id) is (of.command == NEXT_RUN)
        assert not line.executes
        if of.command == OTHER_RUNBOOK:
            return
        if callable(of.then):
            assert of.asked(**of.then(line))[0] != sentence
            return
    assert not callable(of.then)
    assert of.then, of.name
    assert of.asked(**of.then)[0] != sentence


def test_settings_that_differ_go_on_by_a_bounce_that_brings_all_to_those_of_the_first() -> None:
    """Whole: the plan of that bounce refuses nothing, and the bump follows."""
    of = next(one for one in KEPT if one.name == "bump_plan")
    line = Line.of(go_on(ended(of, *of.asked()), changed=False).command)
    assert line == Line("rolling_bounce", {"settings": '{"audit": "true"}'}, executes=False)
    bounce = DECISIONS["restart_plan"](
        **{**RESTART, "reading": DIFFERENT, "settings": {"audit": "true"}, "at_once": False}
    )
    assert dict(bounce.bounces[0].settings) == {"audit": "true"}


def test_an_unfinished_bump_goes_on_by_the_bump() -> None:
    """To the release that the instances have already."""
    of = next(one for one in KEPT if one.name == "restart_plan")
    line = Line.of(go_on(ended(of, *of.asked()), changed=False).command)
    assert line == Line("library_bump", {"target": OLD}, executes=False)


def test_what_loses_state_is_never_the_first_command() -> None:
    """The alternative of the sentence comes first, also in the words of a comparison, which names no runbook."""
    of = next(one for one in KEPT if one.name == "may_lose_state")
    sentence, code = of.asked()
    found = go_on(ended(of, sentence, code), changed=False)
    assert Line.of(found.command) == Line("stop_and_restart", {"local_state": "keep"}, executes=False)
    compared = "store counts begins empty; to accept that, trigger this again with --param lose_state=counts,totals"
    first, second = (
        Line.of(line.strip())
        for line in go_on(ended(of, compared, code), changed=False).lines
        if line.startswith("    ")
    )
    assert (first.fields, second.fields) == ({}, {"lose_state": "counts,totals"})


@pytest.mark.parametrize("decision", [may_approve, may_answer])
def test_a_question_is_asked_again(decision: Callable[..., Verdict]) -> None:
    """It refuses nothing: the next answer may count."""
    who = (declared(), "oncall", "eve", None) if decision is may_approve else ((declared(),), "eve")
    assert decision(*who).outcome is Outcome.WAIT
