"""GO ON after bad input of each field of the forms: the form that its command gives is not refused for the same reason.

The fields are those of the DAG files. What Airflow itself refuses before a run exists (a word that is none of an enum,
another type) has no run that could go on; every other field has a bad value here, or the reason why it takes any text.
"""

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest
from lab.settings import CHECKOUT

# Airflow reads its settings when it is imported.
os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="airflow-home-"))
os.environ["AIRFLOW__CORE__PLUGINS_FOLDER"] = str(CHECKOUT / "plugins")
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"

from airflow.dag_processing.dagbag import DagBag
from kstreams_runbooks.decide.fleet_graph import require_own_outputs
from kstreams_runbooks.decide.plans.basis import require_declared
from kstreams_runbooks.decide.plans.local_state import cleared_state
from kstreams_runbooks.decide.plans.only_copy import require_exact
from kstreams_runbooks.decide.runbooks import RUNBOOKS
from kstreams_runbooks.decide.runs.go_on import go_on
from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.fleet.problems import nearest
from kstreams_runbooks.free_text import require_free_text
from kstreams_runbooks.model.fleet_graph import FleetGraph
from kstreams_runbooks.steps.adoption.plan import WITHOUT_PROOF
from kstreams_runbooks.steps.growth.plan import growth_asked
from kstreams_runbooks.steps.inputs import swap
from kstreams_runbooks.steps.inputs.hold import _longest_s
from kstreams_runbooks.steps.inputs.plan import _of_copier
from kstreams_runbooks.steps.plan.plan import _given
from kstreams_runbooks.steps.plan.releases import _wanted
from kstreams_runbooks.steps.reset.plan import _directories, _most_lost, _outputs, _targets
from kstreams_runbooks.steps.run.form import given_limits, given_lost, given_reason, given_unchanged
from kstreams_runbooks.steps.run.run import other_application
from kstreams_runbooks.terminal.airflow.form import filled
from unit.decide.runs.test_go_on import Line, ending, record
from world.samples import OLD, declared, reading
from world.sides import known

Form = dict[str, Any]


def run_of(form: Form) -> Any:
    """The run of a form, for functions that read nothing else of it."""
    application = SimpleNamespace(name="orders", input_settings={"topic.orders": "orders"})
    return SimpleNamespace(record=record("x", **form), declared=declared(), application=application)


def applied_to(form: Form) -> None:
    """As the fleet answers for a name that it does not have."""
    if (name := form["application"]) != "orders":
        raise BadInput(f"application {name}: unknown; {nearest(name, ['orders'])}")


def looked_up(form: Form) -> None:
    """As the ledger answers for a run that it does not have."""
    raise BadInput(f"run {form['run']}: unknown to ledger ledger.db; the ledger has no runs")


def described(form: Form) -> None:
    """The wanted side of a change."""
    _wanted(run_of(form), ())


def texts(form: Form) -> None:
    """A text that a person writes."""
    require_free_text(form)


@dataclass(frozen=True)
class Bad:
    """A form with a bad value in `field`, and what judges it."""

    field: str
    dag_id: str
    form: Form
    judge: Callable[[Form], object]


REASONS = ("without_topology", "acknowledge_recreated", "accept_late_loss", "accept_unlinked")
BAD = (
    Bad("application", "library_bump", {"application": "oders", "target": OLD}, applied_to),
    Bad("reason", "library_bump", {"target": OLD, "reason": "\ud83d"}, texts),
    Bad("inputs_paused", "certify_drain", {"inputs_paused": "1"}, texts),
    Bad("settings", "rolling_bounce", {"settings": [1]}, lambda form: _given(form.get("settings"))),
    Bad("unchanged", "library_bump", {"target": OLD, "unchanged": ["values"]}, given_unchanged),
    Bad("lose_state", "rolling_bounce", {"lose_state": [1]}, given_lost),
    Bad(
        "lose_state",
        "rolling_bounce",
        {"lose_state": ["totals"]},
        lambda form: require_exact(given_lost(form), {"counts"}),
    ),
    *(
        Bad(name, "stop_and_restart", {name: "1"}, lambda form, name=name: given_reason(form, name))  # type: ignore[misc]
        for name in REASONS
    ),
    Bad(
        WITHOUT_PROOF,
        "adopt_control_topic",
        {WITHOUT_PROOF: "1"},
        lambda form: given_reason(form, WITHOUT_PROOF),
    ),
    Bad(
        "copier",
        "control_topic_flush",
        {"switch": "swap", "copier": "passing"},
        lambda form: _of_copier(run_of(form), "swap"),
    ),
    Bad("empty_topics", "control_topic_flush", {"empty_topics": [1]}, lambda form: swap._given(run_of(form))),
    Bad("empty_topics", "control_topic_flush", {"empty_topics": {"a": 1}}, lambda form: swap._given(run_of(form))),
    Bad(
        "longest_hold_min",
        "control_topic_flush",
        {"longest_hold_min": float("nan")},
        lambda form: _longest_s(run_of(form), by_a_person=False),
    ),
    Bad(
        "longest_hold_min",
        "control_topic_flush",
        {"switch": "manual"},
        lambda form: _longest_s(run_of(form), by_a_person=True),
    ),
    Bad(
        "local_state",
        "stop_and_restart",
        {"local_state": "some"},
        lambda form: cleared_state(form.get("local_state", "stale"), (), None, known()),
    ),
    Bad("release", "plan_change", {}, described),
    Bad("topology_file", "plan_change", {"topology_file": "topology.txt"}, described),
    Bad("topology_text", "plan_change", {"topology_text": "x", "topology_file": "/a"}, described),
    Bad("run", "undo", {"run": "r"}, looked_up),
    Bad("green", "blue_green_cutover", {"green": "orders"}, lambda form: other_application(form, "green", "orders")),
    Bad("partitions", "partition_increase", {"partitions": 0}, lambda form: growth_asked(run_of(form))),
    Bad("topics", "partition_increase", {"partitions": 12, "topics": " , "}, lambda form: growth_asked(run_of(form))),
    Bad("targets", "reset_and_cleanup", {"targets": [1]}, lambda form: _targets(run_of(form))),
    Bad("targets", "reset_and_cleanup", {"targets": {"orders": "+0"}}, lambda form: _targets(run_of(form))),
    Bad("most_lost", "reset_and_cleanup", {"most_lost": -1}, lambda form: _most_lost(form.get("most_lost"))),
    Bad(
        "directories",
        "reset_and_cleanup",
        {"directories": "keep"},
        lambda form: _directories(run_of(form), reading(), None),  # type: ignore[arg-type]
    ),
    Bad("clean_outputs", "reset_and_cleanup", {"clean_outputs": [1]}, _outputs),
    Bad(
        "clean_outputs",
        "reset_and_cleanup",
        {"clean_outputs": ["none"]},
        lambda form: require_own_outputs(FleetGraph((), ()), "orders", form.get("clean_outputs", ()), {"results"}),
    ),
    *(
        Bad(name, "rolling_bounce", {name: float("inf")}, given_limits)
        for name in ("max_lag", "gate_good_readings", "gate_interval_s", "gate_ceiling_s", "bake_s", "drain_ceiling_s")
    ),
)
# A release that is not declared has to be declared: the same form goes on then.
DECLARED = {"target", "release"}


@pytest.fixture(scope="module")
def fields() -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Every field of each runbook, with its schema there."""
    bag = DagBag(dag_folder=str(CHECKOUT / "dags"), bundle_name="dags")
    names = {row.name for row in RUNBOOKS}
    forms = [bag.dags[name].params for name in sorted(bag.dags) if name in names]
    return tuple((name, form.get_param(name).schema) for form in forms for name in form)


def is_of_airflow(schema: Mapping[str, Any]) -> bool:
    """Whether Airflow refuses every bad value, before there is a run."""
    return "enum" in schema or schema.get("type") == "boolean"


def test_every_field_has_a_bad_value(fields: tuple[tuple[str, Mapping[str, Any]], ...]) -> None:
    """A new field needs one."""
    free = {name for name, schema in fields if not is_of_airflow(schema)}
    assert free == {one.field for one in BAD} | DECLARED


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.field)
def test_the_form_of_go_on_is_not_refused_for_the_same_reason(bad: Bad) -> None:
    """A wrong value is left out; of a field that a run needs, the command has the value that is meant, or its name."""
    with pytest.raises(BadInput) as first:
        bad.judge(bad.form)
    run = replace(record(bad.dag_id, **bad.form), application=bad.form.get("application", "orders"))
    found = go_on(ending(run, str(first.value), 2, reached=""), changed=False)
    assert not found.command.startswith("#"), found.command
    line = Line.of(found.command)
    assert (line.runbook, line.executes) == (bad.dag_id, False)
    given = {
        name: bad.form.get(name, value) if value == str(bad.form.get(name)) else value
        for name, value in line.fields.items()
    }
    if bad.field == "application":
        assert "--application orders" in found.command
        given["application"] = "orders"
    assert given != bad.form
    assert refusal(bad.judge, given) != str(first.value), found.lines


def refusal(judge: Callable[[Form], object], form: Form) -> str:
    """The sentence with which a form is refused, empty if it is not."""
    try:
        judge(form)
    except RunbookError as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("field", sorted(DECLARED))
def test_a_release_that_is_not_declared_goes_on_once_it_is(field: str) -> None:
    """The command is the same; the sentence has what comes first."""
    with pytest.raises(BadInput) as first:
        require_declared(declared(), "9.9")
    dag_id = "library_bump" if field == "target" else "rolling_bounce"
    found = go_on(ending(record(dag_id, **{field: "9.9"}), str(first.value), 2, reached="observe"), changed=False)
    line = Line.of(found.command)
    assert (line.runbook, line.fields) == (dag_id, {field: "9.9"})
    require_declared(declared(releases=(OLD, "9.9")), line.fields[field])


def test_each_list_of_a_form_is_taken_as_words_too(fields: tuple[tuple[str, Mapping[str, Any]], ...]) -> None:
    """By the terminal and by what reads the field, in each runbook."""
    lists = {name: schema for name, schema in fields if "array" in schema.get("type", "")}
    readers: dict[str, Callable[[Form], Any]] = {
        "clean_outputs": _outputs,
        "lose_state": given_lost,
        "unchanged": given_unchanged,
    }
    assert lists.keys() == readers.keys()
    for name, schema in lists.items():
        params = {name: {"schema": schema, "value": None, "description": ""}}
        conf = filled("x", params, {name: "key,join"}, application=None, execute=False, reason=None)
        assert tuple(readers[name](conf)) == ("key", "join")
