"""Each place where a missing reading becomes an empty value, a skipped object or a finding, with why nothing is lost.

The scan finds them in all floors: a new place fails until it has its reason here, and a place that is gone is removed.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from world.imports import PACKAGE

# By the reason, which is about every place behind it.
REASONS: dict[str, tuple[str, ...]] = {
    "a pattern that is not read here proves nothing: its topics count as gone, and nothing is called a contradiction": (
        "decide/comparison/contradictions.py::_reads",
        "decide/topology/java_pattern.py::parts_of",
    ),
    "the fleet disables a declaration that cannot be read, of whatever kind, and names its fault": (
        "fleet/names.py::_kind",
    ),
    "the same decision lists the missing reading itself, and is inconclusive, waits or refuses for it": (
        "watch/green.py::read_green",
        "watch/cutover.py::read_cutover",
        "steps/inputs/swap.py::read_swap",
        "decide/outputs/late_drops.py::_start",
        "decide/instances/moved.py::_not_yet",
        "decide/instances/members.py::_unowned",
        "decide/growth/in_place.py::_other_readers",
        "decide/growth/proven.py::_misplaced",
        "decide/growth/proven.py::_unassigned",
        "decide/growth/proven.py::growth_is_proven",
        "decide/growth/verdict.py::_forecasts",
        "decide/instances/check.py::_unheard",
        "decide/instances/check.py::_unwell",
        "decide/instances/copier_stopped.py::_changed",
        "decide/instances/mixed.py::_reads",
        "decide/plans/retire.py::retire_plan",
        "decide/change/defects.py::_killed",
        "watch/copier_seed.py::read_seed",
        "decide/reset/copier_seed.py::_open",
        "decide/reset/copier_seed.py::_outside",
        "decide/reset/copier_seed.py::_wanted",
        "decide/reset/retire.py::_refused",
        "watch/emptying.py::_running",
        "decide/instances/check.py::_deployed",
        "decide/instances/check.py::_group",
        "decide/instances/check.py::_pid",
        "decide/instances/check.py::_wrong",
        "decide/instances/copier_stopped.py::_moved",
        "decide/instances/copier_stopped.py::_open",
        "decide/instances/copier_stopped.py::_up",
        "decide/instances/copier_stopped.py::_findings",
        "decide/instances/gate.py::_never",
        "decide/instances/left_down.py::_wrong",
        "decide/instances/gate.py::_group",
        "decide/instances/gate.py::_progress",
        "decide/instances/gate.py::_settings",
        "decide/instances/gate.py::_troubles",
        "decide/instances/gate.py::_client_start",
        "decide/instances/gate.py::gate",
        "decide/instances/guards.py::nothing_drifted",
        "decide/instances/guards.py::_group",
        "decide/instances/guards.py::_instances",
        "decide/instances/mixed.py::_signs",
        "decide/instances/verification.py::_behind",
        "decide/instances/verification.py::_offsets",
        "decide/instances/verification.py::_unwell",
        "decide/instances/verification.py::topic_drift",
        "decide/plans/bump.py::_refuse_unguarded_mix",
        "decide/plans/swap.py::_as_swapped",
        "decide/plans/adoptable.py::_unlike",
        "decide/plans/cutoverable.py::_undeclared",
        "decide/reset/cleaned_up.py::_kept",
        "decide/reset/offsets.py::_known",
        "decide/reset/offsets.py::_moved",
        "decide/drain/workers.py::_running",
        "decide/runs/conclusion.py::_unwell",
        "observe/application/drain.py::DrainReader._lag",
        "observe/application/drain.py::DrainReader._open",
        "observe/application/drain.py::DrainReader._orphaned",
        "observe/application/drain.py::_Seen.known_group",
        "observe/lag/ages.py::_old",
        "observe/lag/lag.py::topics_read",
        "observe/lag/partition_rows.py::ClusterLook.offsets",
        "observe/lag/partition_rows.py::partition_row",
        "observe/lag/waiting.py::_largest",
        "observe/lag/waiting.py::_most_per_s",
        "observe/kafka/offsets.py::read_ends",
        "observe/kafka/topic_users.py::_users",
        "steps/plan/fitting.py::require_topics",
        "steps/plan/plan.py::_judged_settings",
        "steps/plan/late_losses.py::versions_of",
        "steps/plan/only_copy.py::with_losses",
        "watch/emptying.py::read_emptying",
        "watch/hold.py::_roles",
        "watch/reset_outputs.py::read_outputs",
    ),
    "the branch gives the reason itself before it stops: as Missing, as unknown or as a problem": (
        "steps/stages/read_since.py::keep_read_since",
        "decide/plans/undo.py::_grown",
        "decide/instances/running_facts.py::with_facts",
        "observe/application/topics_read.py::poll_instances",
        "steps/plan/expected_gaps.py::_lowest",
        "decide/comparison/boundary.py::_own_output",
        "decide/plans/set_back.py::_changed_state",
        "decide/drain/hold.py::_restore",
        "decide/drain/hold_limits.py::_of_topic",
        "decide/fitting/topics.py::_patterns",
        "decide/instances/copier_stopped.py::_ends_missing",
        "decide/instances/routes.py::other_routes",
        "decide/instances/gate.py::_unread",
        "decide/instances/gate.py::thread_troubles",
        "observe/application/topics_read.py::_polled",
        "observe/lag/inputs.py::read_inputs",
        "present/internal_topics.py::_created",
        "terminal/discovery/where.py::cluster_of",
        "watch/emptying.py::_first",
        "watch/internal_topics.py::judged_internal_topics",
        "watch/orphans.py::_found",
        "deployers/docker/runbook_settings.py::SettingsFile.obstacles",
    ),
    "empty or False is the careful side: the caller waits, asks, refuses or does the work again": (
        "decide/catch_up/disorder.py::_within_hold",
        "decide/change/defects.py::_read_facts",
        "steps/plan/defects.py::_versions",
        "steps/plan/killed.py::releases_of",
        "watch/dead.py::_left",
        "decide/fitting/proven.py::_running",
        "decide/instances/members.py::_belongs",
        "decide/instances/rolling.py::has_ended",
        "decide/plans/downgrade.py::_upgrade_from",
        "steps/instances/bring.py::bring",
        "steps/instances/set_back.py::_runs_again.look",
        "steps/instances/untouched.py::note_state",
        "steps/plan/fitting.py::_deployed",
        "steps/plan/fitting.py::_own_text",
        "watch/versions.py::versions_last_run",
        "decide/plans/set_back.py::_may_go_back",
        "act/instance.py::_declared",
        "act/instance.py::_require_new",
        "decide/discovery/instances.py::membership",
        "decide/discovery/readiness.py::_declared_names",
        "decide/drain/workers.py::_stale",
        "decide/fitting/proven.py::_matches",
        "decide/fitting/proven.py::proven_counts",
        "decide/instances/deployed.py::old_start_gone",
        "decide/instances/rolling.py::in_place",
        "decide/instances/routes.py::_routes",
        "decide/instances/rolling.py::left_behind",
        "decide/plans/leg.py::question_between",
        "decide/plans/undo.py::deployed_as",
        "decide/rights/granted.py::_is_super_user",
        "decide/rights/granted.py::_may_be_super_user",
        "model/readings/disorder.py::LateForecast.comparable",
        "observe/application/facts.py::_same",
        "observe/application/topics_seen.py::_is_readable",
        "observe/lag/first_unread.py::first_unread",
        "steps/instances/gate.py::gate_passed",
        "steps/instances/untouched.py::_is_same",
        "steps/plan/fitting.py::_brings",
        "steps/plan/plan.py::_is_the_same",
        "steps/stages/cleaned_up.py::_is_stopped",
        "watch/repartitions.py::_held",
    ),
    "a release that nothing describes was judged before it: may_stay_unread is inconclusive unless a person accepts": (
        "decide/fitting/needed.py::repartitions_read",
        "decide/fitting/needed.py::topics_needed",
        "decide/fitting/topics.py::topics_fit",
        "decide/fitting/uncommitted.py::resets_of",
        "decide/instances/check.py::_findings",
        "decide/instances/running.py::_text",
    ),
    "without a cause no file is touched; with one it stops, or the approver of an unread roll reads a danger": (
        "decide/plans/only_copy.py::may_lose_state",
    ),
    "brokers that do not report a right answer the write itself, which stops with their refusal": (
        "act/offset_checks.py::lacks_on_group",
        "act/topic_checks.py::lacks",
    ),
    "what was not read stays as the library sets it at the creation of the topic, and the finding has these words": (
        "decide/comparison/state/changelogs.py::_keeps",
    ),
    "a figure for the reader: it says that it is not known, and no decision depends on it": (
        "decide/outputs/late_drops.py::closed_before",
        "decide/plans/green.py::green_costs",
        "decide/growth/closure.py::_kind",
        "present/growth.py::_forecasts",
        "present/growth.py::document",
        "steps/growth/keys.py::ForecastKeys.execute",
        "decide/instances/lag_trend.py::_left",
        "observe/application/drain.py::DrainReader._held_back",
        "steps/instances/together.py::stop_all",
        "decide/fitting/topics.py::_count_that_fits",
        "decide/instances/check.py::_idle",
        "decide/instances/gate.py::restore_troubles",
        "steps/plan/only_copy.py::restored_from",
        "decide/plans/longest_stop.py::_sentence",
        "decide/reset/retire.py::_size",
        "deployers/docker/engine.py::Engine.last_lines",
        "model/readings/reset_outputs.py::OutputPartition.offsets",
        "observe/application/change_figures.py::_oldest",
        "observe/application/change_figures.py::read_change_figures",
        "present/blast_radius.py::_caught_up",
        "steps/instances/by_person.py::Watching.look",
        "steps/instances/measured.py::Measuring.look",
        "steps/plan/expected_gaps.py::_printed",
        "steps/plan/orphans.py::keep_orphans",
        "terminal/airflow/runs.py::_undone",
    ),
    "a message, a note or a command that helps: the run goes on as without it": (
        "deployers/command/shown.py::log_end_of",
        "deployers/supervisord/deployer.py::SupervisordDeployer.log_end",
        "model/readings/readings.py::InstanceReading.log_end",
        "steps/plan/next_action.py::_by_hand",
        "steps/plan/next_action.py::_undone",
        "steps/run/ending.py::_next_of_none",
        "steps/run/note.py::can_note",
        "steps/run/note.py::note_progress",
        "watch/dead.py::with_dead.dead",
        "watch/evidence.py::topologies_of",
    ),
    "a limit of cost: those of records and seconds hold without it, and no topic is equal because of it": (
        "watch/outputs.py::_bytes",
    ),
    "a consumer counts if Spark does not": (
        "steps/drain/count_unread.py::CountUnread._by_job",
        "steps/drain/count_unread.py::CountUnread.execute",
    ),
    "discovery writes a draft: the field is marked as guessed or left to a person": (
        "decide/discovery/draft.py::_guarantee",
        "decide/discovery/facts_shown.py::facts_shown",
        "decide/discovery/readiness.py::_read_names",
        "decide/discovery/readiness.py::_runs",
        "observe/application/discovered.py::jolokia_answers",
        "decide/discovery/draft.py::_inputs",
        "decide/discovery/instances.py::found_instances",
        "observe/application/discovered.py::_hosts",
        "observe/application/discovered.py::found_topology",
    ),
    "check demands the reading before a plan, and the deployment carries the reason": (
        "decide/change/comparable.py::set_by_runbooks",
        "decide/change/defects.py::defects_that_bite",
        "decide/fitting/orphans.py::_changelogs",
        "decide/instances/running.py::running_topology",
        "decide/plans/basis.py::kept_settings",
        "decide/plans/leg.py::kept_in_bump",
        "decide/plans/leg.py::running_releases",
        "observe/application/facts.py::read_running_facts",
        "steps/inputs/hold.py::_settings",
        "steps/inputs/hold.py::_threads",
        "decide/drain/marks.py::read_topics",
        "decide/instances/deployed.py::left_in_group",
        "decide/instances/missed.py::moving",
        "decide/plans/undo_cards.py::_rows",
        "deployers/docker/present.py::Present.deployment",
        "model/readings/readings.py::InstanceReading.down",
        "observe/kafka/cluster.py::ClusterReader.settings",
        "observe/kafka/ends.py::held_of",
        "steps/plan/releases.py::known_of",
        "steps/plan/startable.py::_lowest",
    ),
    "a short roll asks: the approver reads a danger with the store (docs/holding_inputs.md, Short rolls)": (
        "decide/plans/longest_stop.py::is_short_roll",
    ),
    "facts that an instance does not show are not compared: the declared directory counts (docs/deployers.md)": (
        "decide/plans/only_copy.py::state_elsewhere",
    ),
    "other sources are asked, and the answer names the one that counted, the default last": (
        "steps/plan/expected_gaps.py::_times",
    ),
    "the gate behind it demands the same reading": ("decide/instances/deployed.py::_running",),
    "what runs is the question: an instance that is silent runs something else only in the middle of a roll": (
        "observe/application/topologies.py::run_or_set",
        "watch/reset_neighbours.py::read_running_uses",
    ),
    "what is printed is for one release, or asks for it": ("terminal/rights.py::_target",),
    "the finding is a warning for the approver: an undo, a reset and a stop keep their own decision about it": (
        "decide/plans/local_state.py::cleared_state",
        "decide/plans/reset_findings.py::_late",
        "decide/plans/undo_findings.py::undo_findings",
    ),
}
_EMPTY = (None, False, True, "", 0)
# What is read in place of Missing: without it nothing is known of an instance, a group, the brokers or a log.
_READINGS = {"Deployment", "StreamsReading", "FactsReading", "GroupReading", "BrokerReading", "RestoringLog"}
_READINGS |= {"SavedOffsets", "ReadPace", "Described", "Sourced", "TopologyTopics", "Topology"}
_OURS = {"RunbookError", "Unreachable", "Inconclusive", "BadInput", "Refused"}


def types(node: ast.AST) -> Iterator[set[str]]:
    """The names of the types that each `isinstance` of an expression asks for."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "isinstance":
            yield {name.id for name in ast.walk(call.args[1]) if isinstance(name, ast.Name)}


def asks(node: ast.AST) -> bool:
    """Whether an expression asks if something is Missing."""
    return any("Missing" in each for each in types(node))


def finds(node: ast.AST) -> bool:
    """Whether an expression asks for a reading, which is there or Missing."""
    return any(each & _READINGS and "Missing" not in each for each in types(node))


def denies(test: ast.expr) -> bool:
    """Whether a condition holds for what is there alone."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(denies, test.values))
    is_not = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    return asks(test) if is_not else finds(test) and not asks(test)


def holds(test: ast.expr) -> bool:
    """Whether a condition holds for what is Missing."""
    if isinstance(test, ast.BoolOp):
        return any(map(holds, test.values))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return finds(test)
    return asks(test)


def is_judgement(value: ast.expr | None) -> bool:
    """Whether a value answers yes or no without the reason why something is missing."""
    return isinstance(value, ast.Compare | ast.BoolOp) and not any(
        isinstance(node, ast.Attribute) and node.attr == "missing" for node in ast.walk(value)
    )


def is_empty(value: ast.expr | None) -> bool:
    """Whether a value says nothing."""
    if isinstance(value, ast.Constant):
        return value.value in _EMPTY
    if isinstance(value, ast.Tuple | ast.List | ast.Set):
        return not value.elts
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return not value.args and value.func.id in {"frozenset", "set", "dict", "tuple", "list"}
    return value is None


def ends(statement: ast.stmt) -> bool:
    """Whether a branch leaves the function."""
    return isinstance(statement, ast.Return | ast.Raise)


def goes_on(statement: ast.stmt) -> bool:
    """Whether a statement leaves a branch as if nothing were missing, or with a finding that stops nothing."""
    if isinstance(statement, ast.Return) and (is_empty(statement.value) or is_judgement(statement.value)):
        return True
    if isinstance(statement, ast.Continue | ast.Pass):
        return True
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "PROCEED")
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "Finding"
            and any(
                isinstance(word, ast.Constant) and word.value in {"warning", "info"}
                for word in (*node.args, *(named.value for named in node.keywords))
            )
        )
        for node in ast.walk(statement)
    )


def lets_pass(node: ast.AST) -> bool:
    """Whether a node lets something that is missing pass."""
    if isinstance(node, ast.If):
        skips = finds(node.test) and denies(node.test) and not node.orelse and not any(map(ends, node.body))
        return skips or (holds(node.test) and any(map(goes_on, node.body)))
    if isinstance(node, ast.IfExp):
        return (holds(node.test) and is_empty(node.body)) or (denies(node.test) and is_empty(node.orelse))
    if isinstance(node, ast.comprehension):
        return any(map(denies, node.ifs))
    if isinstance(node, ast.ExceptHandler):
        named = {name.id for name in ast.walk(node.type or node) if isinstance(name, ast.Name)}
        return bool(named & _OURS) and any(
            isinstance(one, ast.Continue | ast.Pass) or (isinstance(one, ast.Return) and is_empty(one.value))
            for one in node.body
        )
    return False


def places(node: ast.AST, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Names of the functions in which something missing passes."""
    for child in ast.iter_child_nodes(node):
        if lets_pass(child):
            yield ".".join(path)
        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from places(child, (*path, child.name) if named else path)  # type: ignore[attr-defined] # named


def found() -> set[str]:
    """Every place in the package."""
    return {
        f"{file.relative_to(PACKAGE)}::{name}"
        for file in sorted(Path(PACKAGE).rglob("*.py"))
        for name in places(ast.parse(file.read_text(encoding="utf-8")))
    }


def test_every_place_has_its_reason() -> None:
    listed = [place for of_reason in REASONS.values() for place in of_reason]
    assert sorted(set(listed)) == sorted(listed), "a place has one reason"
    there = found()
    assert sorted(there - set(listed)) == [], "a missing reading passes there: make it a stop, or give the reason"
    assert sorted(set(listed) - there) == [], "nothing missing passes there any more"


def test_the_scan_sees_what_it_should() -> None:
    """The forms in which something missing passed before, and the closest ones that stop."""
    passing = """
def a(x):
    if isinstance(x, Missing):
        return ()
def b(x):
    return {} if isinstance(x, Missing) else x
def c(xs):
    return [x for x in xs if not isinstance(x, Missing)]
def d(x):
    try:
        return read(x)
    except RunbookError:
        return None
def e(x):
    if y or isinstance(x, Missing):
        return Verdict(Outcome.PROCEED, (), (Finding("f", "warning", "o", "m", "s"),))
def f(x):
    return x if not isinstance(x, Missing) else ()
def g(x):
    if not isinstance(x.deployment, Deployment):
        return ()
def h(x):
    if isinstance(x.grace, Missing):
        return x.seconds <= 30
def i(x):
    return x.group.members if isinstance(x.group, GroupReading) else ()
def j(xs):
    return {x.streams.version for x in xs if isinstance(x.streams, StreamsReading)}
def k(xs):
    if isinstance(xs.deployment, Deployment) and xs.seen:
        found[xs] = xs.deployment
def l(x):
    if isinstance(x, Missing):
        return Finding("f", object="o", severity="warning")
def m(x):
    if y or not isinstance(x, Deployment):
        return False
"""
    stopping = """
def a(x):
    if isinstance(x, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (x.missing,))
def b(x):
    return x.missing if isinstance(x, Missing) else ""
def c(x):
    if not isinstance(x, Missing):
        return ()
    raise Inconclusive(x.missing)
def d(x):
    try:
        return read(x)
    except RunbookError as error:
        return Missing(str(error))
def e(x):
    if not isinstance(x.deployment, Deployment):
        raise Inconclusive(x.deployment.missing)
def f(x):
    if isinstance(x, Missing):
        return x.missing == "gone"
def g(x):
    if isinstance(x, Deployment):
        found[x] = x
    else:
        unknown.append(x.missing)
def h(x):
    if not isinstance(x, int):
        return ()
def i(x):
    if isinstance(x, Deployment):
        return x
    return Missing("no")
"""
    assert sorted(places(ast.parse(passing))) == [*"abcdefghijklm"]
    assert list(places(ast.parse(stopping))) == []
