"""Each place where a missing reading becomes an empty value, a skipped object or a finding, with why nothing is lost.

The scan finds them in all floors: a new place fails until it has its reason here, and a place that is gone is removed.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from world.imports import PACKAGE

# By the reason, which is about every place behind it.
REASONS: dict[str, tuple[str, ...]] = {
    "the same decision lists the missing reading itself, and is inconclusive, waits or refuses for it": (
        "decide/instances/check.py::_deployed",
        "decide/instances/check.py::_group",
        "decide/instances/check.py::_pid",
        "decide/instances/check.py::_wrong",
        "decide/instances/copier_stopped.py::_moved",
        "decide/instances/copier_stopped.py::_open",
        "decide/instances/copier_stopped.py::_up",
        "decide/instances/copier_stopped.py::_findings",
        "decide/instances/gate.py::_never",
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
        "steps/plan/only_copy.py::with_losses",
        "watch/emptying.py::read_emptying",
        "watch/hold.py::_roles",
        "watch/reset_outputs.py::read_outputs",
    ),
    "the branch gives the reason itself before it stops: as Missing, as unknown or as a problem": (
        "decide/comparison/boundary.py::_own_output",
        "decide/plans/set_back.py::_changed_state",
        "decide/drain/hold.py::_restore",
        "decide/drain/hold_limits.py::_of_topic",
        "decide/fitting/topics.py::_patterns",
        "decide/instances/copier_stopped.py::_ends_missing",
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
        "decide/fitting/topics.py::_count_that_fits",
        "decide/instances/check.py::_idle",
        "decide/instances/gate.py::restore_troubles",
        "decide/plans/basis.py::with_restore",
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
    "a consumer counts if Spark does not": (
        "steps/drain/count_unread.py::CountUnread._by_job",
        "steps/drain/count_unread.py::CountUnread.execute",
    ),
    "discovery writes a draft: the field is marked as guessed or left to a person": (
        "decide/discovery/draft.py::_inputs",
        "decide/discovery/instances.py::found_instances",
        "observe/application/discovered.py::_hosts",
        "observe/application/discovered.py::found_topology",
    ),
    "check demands the reading before a plan, and the deployment carries the reason": (
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
    "the finding is a warning for the approver: an undo, a reset and a stop keep their own decision about it": (
        "decide/plans/local_state.py::cleared_state",
        "decide/plans/reset_findings.py::_late",
        "decide/plans/undo_findings.py::undo_findings",
    ),
}
_EMPTY = (None, False, True, "", 0)
_OURS = {"RunbookError", "Unreachable", "Inconclusive", "BadInput", "Refused"}


def asks(node: ast.AST) -> bool:
    """Whether an expression asks if something is Missing."""
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "isinstance"
        and any(isinstance(name, ast.Name) and name.id == "Missing" for name in ast.walk(call.args[1]))
        for call in ast.walk(node)
    )


def denies(test: ast.expr) -> bool:
    """Whether a condition holds for what is there."""
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and asks(test)


def holds(test: ast.expr) -> bool:
    """Whether a condition holds for what is Missing."""
    if isinstance(test, ast.BoolOp):
        return any(map(holds, test.values))
    return asks(test) and not denies(test)


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


def goes_on(statement: ast.stmt) -> bool:
    """Whether a statement leaves a branch as if nothing were missing, or with a finding that stops nothing."""
    if isinstance(statement, ast.Return) and is_empty(statement.value):
        return True
    if isinstance(statement, ast.Continue | ast.Pass):
        return True
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "PROCEED")
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "Finding"
            and any(isinstance(word, ast.Constant) and word.value in {"warning", "info"} for word in node.args)
        )
        for node in ast.walk(statement)
    )


def lets_pass(node: ast.AST) -> bool:
    """Whether a node lets something that is missing pass."""
    if isinstance(node, ast.If):
        return holds(node.test) and any(map(goes_on, node.body))
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
"""
    assert sorted(places(ast.parse(passing))) == ["a", "b", "c", "d", "e", "f"]
    assert list(places(ast.parse(stopping))) == []
