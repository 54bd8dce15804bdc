"""GO ON of refusals: the command that helps, whole; applied to the inputs, the refusal is not the same one again.

Each case is made by the decision itself, its GO ON is read as a command line, and the decision is asked again with what
that line gives it. The sentences in which other decisions ask are in the second table.
"""

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from kstreams_runbooks.decide.change.preflight import may_be_rolled
from kstreams_runbooks.decide.change.unchanged import with_unchanged
from kstreams_runbooks.decide.change.without_topology import may_stay_unread
from kstreams_runbooks.decide.fitting.topics import topics_fit
from kstreams_runbooks.decide.instances.check import ready_for_change
from kstreams_runbooks.decide.instances.stays_down import stays_down
from kstreams_runbooks.decide.plans.recreated import may_keep_state
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.decide.plans.same_topology import may_take_over
from kstreams_runbooks.decide.releases.links import PlannedBuild, builds_link
from kstreams_runbooks.decide.reset.offsets import may_move, moved_offsets
from kstreams_runbooks.decide.reset.targets import parse_target
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.decide.runs.go_on import Ending, go_on
from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.model.offset_targets import UNDECIDED
from kstreams_runbooks.model.readings.input_offsets import InputPartition
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.readings.recreated import RecreatedTopic
from kstreams_runbooks.model.readings.topics_seen import TopicsSeen
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.topology.declaration import Serde, UnlinkedClass
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.rules import release_settings, topology_change_rules, upgrade_path_rules
from kstreams_runbooks.steps.reset.plan import _mode
from kstreams_runbooks.steps.run.form import given_limits, given_reason, given_unchanged
from world.samples import NEW, OLD, card, declared, reading
from world.sides import AUDITED, COUNTS, declaration, described, known

TASKS = ("observe", "check", "plan", "approve_plan", "bounce_1_first", "bounce_1_rest", "verify", "conclude")
BY_CODE = {Outcome.REFUSE: 1, Outcome.INCONCLUSIVE: 3}


def record(dag_id: str, **params: Any) -> RunRecord:
    """A dry run of a runbook with this form."""
    return RunRecord(f"{dag_id}/r", dag_id, "r", "orders", "demo", "oncall", True, "", params, 1_790_000_000_000)


def ending(of: RunRecord, failure: str, exit_code: int = 1, reached: str = "plan", **more: Any) -> Ending:
    """Its end with this sentence."""
    return Ending(
        of, RunOutcome.NOTHING_CHANGED, reached, failure, exit_code, is_void=False, cards=(), tasks=TASKS, **more
    )


@dataclass(frozen=True)
class Line:
    """A command line: runbook, fields, and whether it changes anything."""

    runbook: str
    fields: dict[str, str]
    executes: bool

    @classmethod
    def of(cls, command: str) -> "Line":
        """Read it as the terminal does."""
        words = shlex.split(command)
        assert words[:2] == ["kstreams-runbooks", "trigger"], command
        params = [words[at + 1] for at, word in enumerate(words) if word == "--param"]
        return cls(words[2], dict(one.split("=", 1) for one in params), "--execute" in words)


def lines_of(of: RunRecord, verdict: Verdict) -> list[Line]:
    """The commands of GO ON after a verdict that stopped the run, the first one first."""
    assert verdict.outcome is not Outcome.PROCEED
    found = go_on(ending(of, verdict.text, BY_CODE[verdict.outcome]), changed=False)
    commands = [line.strip() for line in found.lines if line.startswith("    ")]
    assert commands[0] == found.command
    return [Line.of(command) for command in commands]


def rolled(after: Any, before: Any, *, at_once: bool = False, accepted: str = "") -> Verdict:
    """The decision about a roll."""
    rules = (topology_change_rules(), upgrade_path_rules())
    given = {"catalogue": release_settings(), "accepted": accepted}
    return may_be_rolled((before,), after, known(), *rules, at_once=at_once, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "after", [Missing("release 4.3.1: no login to the registry"), described(COUNTS, NEW)], ids=["unread", "equal text"]
)
def test_what_was_not_compared_goes_on_with_the_reason_of_a_person(after: Any) -> None:
    """First the same run, once the command is corrected; then the field, whose placeholder a person replaces."""
    of = record("library_bump", target=NEW)
    first = rolled(after, described())
    commands = lines_of(of, first)
    assert [one.executes for one in commands] == [False] * len(commands)
    assert {one.runbook for one in commands} == {"library_bump"}
    accepted = commands[-1].fields["without_topology"]
    assert (accepted, commands[-1].fields["target"]) == ("REASON", NEW)
    assert rolled(after, described(), accepted="the registry is down").outcome is Outcome.PROCEED


def test_an_older_release_that_is_not_described_goes_on_with_a_reason() -> None:
    """The same field in a downgrade."""
    unread = Missing("release 3.4.1: no topology command is declared")
    commands = lines_of(record("library_bump", target=OLD), may_take_over((described(),), unread, declared(), ""))
    assert "without_topology" in commands[-1].fields
    assert may_take_over((described(),), unread, declared(), "it runs elsewhere").outcome is Outcome.PROCEED


def test_settings_that_no_description_shows_go_on_with_a_reason() -> None:
    """Of a deployer whose command takes none."""
    verdict = may_stay_unread(
        ("whether audit changes the topology is not known; then trigger a new run",), declared(), ""
    )
    commands = lines_of(record("rolling_bounce", settings={"audit": True}), verdict)
    assert commands[0].fields == {"settings": '{"audit": true}'}
    assert commands[1].fields == {"settings": '{"audit": true}', "without_topology": "REASON"}


def test_an_input_that_others_write_too_goes_on_with_a_place_for_it() -> None:
    """Added to the targets of the form; a person writes earliest, latest or another place for the word."""
    read = InputPartition("back", 0, "id", start=0, stable=9, committed=4)
    verdict = may_move(moved_offsets({"back": UNDECIDED}, [read]))
    [command] = lines_of(record("reset_and_cleanup", mode="reset", targets={"*": "latest"}), verdict)
    assert (command.runbook, command.executes, command.fields["mode"]) == ("reset_and_cleanup", False, "reset")
    targets = json.loads(command.fields["targets"])
    assert targets == {"*": "latest", "back": "PLACE"}
    chosen = parse_target("back", targets["back"].replace("PLACE", "earliest"), 0)
    assert may_move(moved_offsets({"back": chosen}, [read])).outcome is Outcome.PROCEED


def test_fields_that_code_does_not_show_are_named_in_the_command() -> None:
    """With them the same decision proceeds."""
    of_class = Serde("com.acme.Orders", is_class=True)

    def read(release: str, unchanged: Any = ()) -> Any:
        base = declaration()
        store = replace(base.stores["counts"], key=None, value_serde=of_class)
        one = replace(described(COUNTS, release, replace(base, stores={"counts": store})), read=True)
        return replace(one, declared=with_unchanged(one.declaration, unchanged, "in the form")) if unchanged else one

    [command] = lines_of(record("library_bump", target=NEW), rolled(read(NEW), read(OLD)))
    assert (command.runbook, command.executes) == ("library_bump", False)
    named = given_unchanged(command.fields)
    assert rolled(read(NEW, named), read(OLD)).outcome is Outcome.PROCEED


def test_a_roll_that_changes_topics_goes_on_by_the_runbook_that_takes_it() -> None:
    """On the same library: with the release, the settings and what the form named; it takes what the roll refused."""
    after, before = (
        described(AUDITED, declares=declaration("counts", "audit-repartition")),
        described(declares=declaration()),
    )
    of = record("rolling_bounce", release="3.4.1.1", settings={"num.stream.threads": 2}, unchanged=["key"])
    [command] = lines_of(of, rolled(after, before))
    assert (command.runbook, command.executes) == ("stop_and_restart", False)
    assert command.fields["release"] == "3.4.1.1"
    assert command.fields["settings"] == '{"num.stream.threads": 2}'
    assert rolled(after, before, at_once=True).outcome is Outcome.PROCEED


def test_a_bump_that_changes_topics_goes_on_by_the_plan_of_the_change() -> None:
    """The other runbook takes no other library: the plan shows both steps."""
    after, before = (
        described(AUDITED, NEW, declaration("counts", "audit-repartition")),
        described(declares=declaration()),
    )
    [command] = lines_of(record("library_bump", target=NEW), rolled(after, before))
    assert (command.runbook, command.fields) == ("plan_change", {"release": NEW})


def test_a_change_that_is_no_dag_goes_on_by_the_plan_of_the_change() -> None:
    """It has the manual procedure."""
    after = described(COUNTS.replace("[counts]", "[totals]"), declares=declaration("totals"))
    [command] = lines_of(record("rolling_bounce", release="5"), rolled(after, described(declares=declaration())))
    assert (command.runbook, command.fields) == ("plan_change", {"release": "5"})


def test_a_lost_changelog_goes_on_with_a_reason() -> None:
    """That of the other field which accepts something."""
    plan = restart_plan(reading(), declared(), None, {}, (), (), "code", at_once=True)
    clears = replace(plan, stages=(replace(plan.bounces[0], clear_state=True),))
    lost = (RecreatedTopic("orders-counts-changelog", "changelog", "a", "b"),)
    commands = lines_of(record("stop_and_restart"), may_keep_state(clears, lost, declared(), ""))
    assert commands[-1].fields == {"acknowledge_recreated": "REASON"}
    assert may_keep_state(clears, lost, declared(), "rebuilt anyway").outcome is Outcome.PROCEED


def test_a_loss_of_late_records_goes_on_with_a_reason() -> None:
    """The sentence asks for it in other words."""
    said = "store counts drops records that come late; make the stop shorter, or give accept_late_loss a reason"
    found = go_on(ending(record("stop_and_restart", settings={"a": "1"}), said), changed=False)
    assert Line.of(found.lines[-1].strip()).fields == {"accept_late_loss": "REASON", "settings": '{"a": "1"}'}
    assert Line.of(found.command).fields == {"settings": '{"a": "1"}'}


def planned(params: dict[str, Any]) -> None:
    """A restart from a form."""
    settings = params.get("settings") or {}
    of: dict[str, Any] = {"at_once": False, "restart": params.get("restart") in {True, "true"}}
    restart_plan(reading(), declared(), params.get("release"), settings, (), declared().limits, "code", **of)


@pytest.mark.parametrize(
    ("dag_id", "params", "judge"),
    [
        ("rolling_bounce", {"release": OLD}, planned),
        ("rolling_bounce", {"restart": True, "release": OLD}, planned),
        ("rolling_bounce", {"settings": {"upgrade.from": "3.4"}}, planned),
        ("library_bump", {"target": NEW, "unchanged": ["values"]}, given_unchanged),
        ("library_bump", {"target": NEW, "max_lag": float("nan")}, given_limits),
        ("library_bump", {"target": NEW, "bake_s": True}, given_limits),
        ("library_bump", {"target": NEW, "without_topology": "1"}, lambda form: given_reason(form, "without_topology")),
        ("reset_and_cleanup", {"mode": "resets"}, _mode),
        ("reset_and_cleanup", {"mode": "reset", "directories": "1_*"}, _mode),
    ],
)
def test_a_wrong_field_is_left_out_or_completed(
    dag_id: str, params: dict[str, Any], judge: Callable[[dict[str, Any]], object]
) -> None:
    """The form that GO ON gives is not refused for the same reason; defaults of the form count for what it leaves."""
    with pytest.raises(BadInput) as first:
        judge(params)
    found = go_on(ending(record(dag_id, **params), str(first.value), 2, reached=""), changed=False)
    command = Line.of(found.command)
    assert (command.runbook, command.executes) == (dag_id, False)
    given = {name: params.get(name, value) for name, value in command.fields.items()}
    assert given != params
    form = {"mode": "reset"} | given if dag_id == "reset_and_cleanup" else given
    assert refusal(judge, form) != str(first.value), found.lines


def refusal(judge: Callable[[dict[str, Any]], object], form: dict[str, Any]) -> str:
    """The sentence with which a form is refused, empty if it is not."""
    try:
        judge(form)
    except RunbookError as refused:
        return str(refused)
    return ""


def test_another_library_goes_on_by_the_bump() -> None:
    """Whole: the release is its target."""
    with pytest.raises(RunbookError) as refused:
        planned({"release": NEW})
    found = go_on(ending(record("rolling_bounce", release=NEW, settings={"a": "1"}), str(refused.value)), changed=False)
    assert Line.of(found.command) == Line("library_bump", {"target": NEW}, executes=False)


@pytest.mark.parametrize(
    ("failure", "exit_code", "reached", "said"),
    [
        (
            "topic audit does not exist (release 5 reads it): create it, then trigger this again",
            1,
            "plan",
            "after that, start",
        ),
        ("approve_plan: no answer within 8 h; trigger a new run", 1, "approve_plan", "start a new run"),
        (
            "Kafka at b:9092: no answer within 8 s; is the broker up?",
            4,
            "observe",
            "once that is corrected or over, clear",
        ),
        (
            "orders-1 is DEAD (its process has failed): expected running",
            1,
            "bounce_1_first",
            "which starts again what is",
        ),
        ("orders-1 is down: start it, then clear this step", 1, "bounce_1_first", "after that, clear bounce_1_first"),
        (
            "reading of orders: 36 s old (limit 30 s); clear `observe` and what follows it",
            1,
            "check",
            "clear observe and",
        ),
        (
            "group orders: Empty (expected Stable)",
            1,
            "check",
            "clear check and what follows it, which reads everything",
        ),
    ],
)
def test_nothing_is_to_be_repaired_where_nothing_is(failure: str, exit_code: int, reached: str, said: str) -> None:
    """What comes first is named only if the sentence asks for it, and what clearing alone does is said."""
    found = go_on(ending(record("library_bump", target=NEW), failure, exit_code, reached), changed=reached != "plan")
    assert said in found.lines[0]
    assert "repair" not in found.lines[0]


def test_a_gate_with_two_topologies_leads_to_undo() -> None:
    """No clear goes on with the wrong roll; the flush that takes a flush back comes before its undo."""
    said = (
        "instances run different topologies: audit is read by orders-1 alone; they cannot share a group: undo this run"
    )
    stopped = replace(ending(record("rolling_bounce", release="5"), said, 1, "bounce_1_first"), cards=(card(),))
    assert go_on(stopped, changed=True).command == "kstreams-runbooks trigger undo r"
    flush = "kstreams-runbooks trigger control_topic_flush --application orders"
    assert go_on(replace(stopped, flush_back=flush), changed=True).command == flush


def test_a_topic_that_is_created_lets_a_new_run_go_on() -> None:
    """The sentence names what comes first; the command takes a new reading, of which the plan is not too old."""
    wanted, lacking = (described(COUNTS, NEW, declaration()),), TopicsSeen({"orders": 4}, {}, {})
    verdict = topics_fit(wanted, lacking, reading(), declared())
    [command] = lines_of(record("library_bump", target=NEW), verdict)
    assert command == Line("library_bump", {"target": NEW}, executes=False)
    created = replace(lacking, partitions={**lacking.partitions, "counted": 4})
    assert topics_fit(wanted, created, reading(), declared()).text != verdict.text


def test_an_old_reading_is_taken_again() -> None:
    """By clearing the task that takes it, and no new run."""
    verdict = ready_for_change(reading(), declared(), 90_000, 30_000)
    found = go_on(ending(record("library_bump", target=NEW), verdict.text, 1, "check"), changed=False)
    assert found.command == "kstreams-runbooks clear r observe"
    assert ready_for_change(reading(), declared(), 1_000, 30_000).outcome is Outcome.PROCEED


def test_an_autorestart_that_is_off_lets_a_new_run_go_on() -> None:
    """`this` is the run: its plan was refused."""

    def judged(*, autorestart: bool) -> Verdict:
        one = reading().instances[0]
        assert isinstance(one.deployment, Deployment)
        now = replace(one, deployment=replace(one.deployment, autorestart=autorestart))
        return stays_down((now,), "orders", required=True)

    [command] = lines_of(record("stop_and_restart"), judged(autorestart=True))
    assert command == Line("stop_and_restart", {}, executes=False)
    assert judged(autorestart=False).outcome is Outcome.PROCEED


def test_an_undo_of_unknown_cards_goes_on_without_them() -> None:
    """First as a dry run; the plan shows which cards stay."""
    said = (
        "run cutover/r: card 3 (change 3) is of kind schema_registered, which this release does not know; to take back "
        "the others alone, trigger a new run with --param leave_unknown=true"
    )
    found = go_on(ending(record("undo", run="cutover/r"), said), changed=False)
    fields = {"leave_unknown": "true", "run": "cutover/r"}
    assert Line.of(found.command) == Line("undo", fields, executes=False)


@pytest.mark.parametrize(
    ("of", "failure"),
    [
        (
            record("rolling_bounce", settings={"num.stream.threads": 2}),
            "release 4.3.1 cannot start: 4.3.1 refuses main.num.stream.threads=two; correct it",
        ),
        (record("reset_and_cleanup", clean_outputs=["totals"]), "output results: is only compacted; leave it out"),
        (record("control_topic_flush"), "empty topic x: 3 partitions (expected 4); give another one (empty_topics)"),
    ],
)
def test_what_the_form_does_not_have_is_not_left_out(of: RunRecord, failure: str) -> None:
    """It has to be corrected elsewhere; then everything is read again."""
    assert go_on(ending(of, failure), changed=False).command == "kstreams-runbooks clear r observe"


def started_with(**config: str) -> Any:
    """The wanted version with these settings of its program, `_` for `.`; none of the form."""
    return described(COUNTS, NEW, declaration(config={name.replace("_", "."): one for name, one in config.items()}))


@pytest.mark.parametrize("at_once", [False, True], ids=["roll", "at once"])
@pytest.mark.parametrize(
    "after",
    [
        started_with(num_stream_threads="0"),
        started_with(auto_offset_reset="newest"),
        started_with(application_id="others"),
    ],
    ids=["no thread", "beginning", "another application"],
)
def test_a_release_that_is_refused_as_it_is_built_goes_on_with_another(after: Any, *, at_once: bool) -> None:
    """The same release again is the same refusal; a file of the instances may have the setting, too."""
    before = described(COUNTS, OLD, declaration(config={"application.id": "orders"}))
    verdict = rolled(after, before, at_once=at_once)
    assert verdict.outcome is Outcome.REFUSE
    of = record("rolling_bounce", release=NEW)
    found = go_on(ending(of, verdict.text), changed=False)
    assert Line.of(found.command) == Line("rolling_bounce", {"release": "RELEASE"}, executes=False)
    assert found.lines[-1].strip() == "kstreams-runbooks clear r observe"
    assert rolled(started_with(application_id="orders"), before, at_once=at_once).outcome is Outcome.PROCEED


def test_a_build_that_does_not_link_goes_on_with_another_or_with_a_reason() -> None:
    """No file of an instance mends it; the field of the form is offered after that."""
    unlinked = UnlinkedClass("acme.Enrich", "app.jar", "Enrich calls what is gone", 1, False, "acme.Enrich")
    verdict = builds_link("orders", (PlannedBuild(NEW, (unlinked,)),), "")
    commands = lines_of(record("library_bump", target=NEW), verdict)
    assert [one.fields for one in commands] == [{"target": "TARGET"}, {"target": NEW, "accept_unlinked": "REASON"}]
    assert builds_link("orders", (PlannedBuild(NEW, (unlinked,)),), "it never runs").outcome is Outcome.PROCEED


@pytest.mark.parametrize(("reached", "task"), [("plan", "observe"), ("check", "observe"), ("verify", "verify")])
def test_a_task_that_only_judges_is_not_cleared_alone(reached: str, task: str) -> None:
    """It would judge the same reading again; a run that has changed something reads anew in each task."""
    of = record("library_bump", target=NEW)
    assert go_on(ending(of, "orders-1: no answer", 3, reached), changed=False).command.split()[-1] == task
    assert go_on(ending(of, "orders-1: no answer", 3, reached), changed=True).command.split()[-1] == reached


def test_an_undo_that_has_nothing_to_do_needs_no_command() -> None:
    """No clear and no new run would find more."""
    said = "run library_bump/r has no undo card left: it changed nothing, or it is undone already"
    found = go_on(ending(record("undo", run="library_bump/r"), said), changed=False)
    assert (found.command, found.lines) == ("", ("GO ON: not needed, nothing is left to take back",))
