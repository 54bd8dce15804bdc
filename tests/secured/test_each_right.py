"""Each right of each runbook taken away in turn: its run stops before anything is changed, and names what is missing.

The broker denies by default, the application, its deployer and its agents are real. The steps are those of the DAGs up
to the plan; tests/secured/test_whole_runs.py shows that the same rights are enough for whole runs.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from kstreams_runbooks.errors import Inconclusive, Refused, RunbookError
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.steps.inputs.plan import control_topic_flush
from kstreams_runbooks.steps.plan.looking import check, observe
from kstreams_runbooks.steps.plan.plan import library_bump, planned, rolling_bounce, stop_and_restart
from kstreams_runbooks.steps.reset.plan import reset_and_cleanup
from kstreams_runbooks.steps.reset.retire import retires_application
from kstreams_runbooks.steps.run.run import Run, now_ms
from lab.application import TO_RELEASE, WITH_REPARTITION, WITHOUT_REPARTITION
from world.flushing import SHORT, SWAP
from world.given import declared_as
from world.new_ledger import new_ledger
from world.resetting import declared
from world.secured_stack import BETWEEN, RUNBOOKS, SecuredStack


class Case(NamedTuple):
    """A runbook with its form, and its steps up to the plan."""

    runbook: str
    form: dict[str, Any]
    steps: Callable[[], tuple[Any, ...]]


CERTIFY = Case("certify_drain", {"inputs_paused": "the test writes nothing"}, lambda: (observe(),))
BOUNCE = Case(
    "rolling_bounce",
    {"settings": {"num.stream.threads": 2}},
    lambda: (observe(), check(), planned(rolling_bounce)),
)
RESTART = Case(
    "stop_and_restart",
    {"settings": {"num.stream.threads": 2}},
    lambda: (observe(), check(at_once=True), planned(stop_and_restart)),
)
BUMP = Case("library_bump", {"target": TO_RELEASE}, lambda: (observe(), check(), planned(library_bump)))
FLUSH = Case(
    "control_topic_flush",
    {"release": WITHOUT_REPARTITION, **SWAP},
    lambda: (observe("copier"), check("copier"), planned(control_topic_flush)),
)
RESET = Case(
    "reset_and_cleanup",
    {"mode": "reset"},
    lambda: (
        observe(),
        check(at_once=True, out_of_use=retires_application, streams_group=True),
        planned(reset_and_cleanup),
    ),
)


def planned_with(case: Case, file: Path) -> Run:
    """A run whose steps up to the plan were performed."""
    ledger = new_ledger(file)
    form = {"application": "orders", **case.form}
    record = RunRecord("", case.runbook, "r", "orders", "demo", "oncall", False, "test", form, now_ms())
    key = ledger.start_run(record).run_key
    for step in case.steps():
        step.act(Run(ledger.run(key), step.task_id, 1, ledger, patient=True))
    return Run(ledger.run(key), "plan", 1, ledger)


def stops_without_each(cluster: SecuredStack, case: Case, folder: Path, *words: str) -> None:
    """With all of them it plans; without any one it stops, and the sentence has right, resource and login."""
    acls = cluster.allow(case.runbook, *words)
    assert planned_with(case, folder / "all.db").record.wrote_at_ms is None
    wrong: list[str] = []
    for number, lost in enumerate(acls):
        cluster.logins.allow(cluster.runbooks, [one for one in acls if one is not lost])
        file = folder / f"without-{number}.db"
        # Describe goes with a right that allows it, and is demanded first.
        names = [right_of(lost, one) for one in (lost["operation"], "Describe")]
        try:
            planned_with(case, file)
        except (Refused, Inconclusive) as stopped:
            said = str(stopped)
        except RunbookError as other:
            said = f"{type(other).__name__}: {other}"
        else:
            said = "it planned"
        [run] = Ledger.open(f"sqlite:///{file}").runs()
        assert run.wrote_at_ms is None
        if not any(one in said for one in names) or f"login User:{RUNBOOKS}" not in said:
            wrong.append(f"without {names[0]}: {said}")
    assert not wrong, "\n".join(wrong)


def right_of(acl: dict[str, str], operation: str) -> str:
    """A right as a refusal has it."""
    beginning = "names that begin with " if acl["pattern"] == "prefixed" else ""
    return f"{operation} on {acl['resource']} {beginning}{acl['name']}"


@pytest.fixture(scope="module", autouse=True)
def as_declared(cluster: SecuredStack) -> Iterator[None]:
    """Gates that open soon."""
    with declared_as(cluster.stack, limits={**SHORT, "bake_s": 1}):
        yield


@pytest.mark.parametrize("case", [CERTIFY, BOUNCE, RESTART], ids=lambda case: case.runbook)
def test_a_run_stops_without_any_right(cluster: SecuredStack, case: Case, tmp_path: Path) -> None:
    stops_without_each(cluster, case, tmp_path)


def test_a_reset_stops_without_any_right(cluster: SecuredStack, tmp_path: Path) -> None:
    with declared(cluster.stack):
        stops_without_each(cluster, RESET, tmp_path)


def test_a_flush_stops_without_any_right(cluster: SecuredStack, tmp_path: Path) -> None:
    cluster.begin_with(WITH_REPARTITION)
    stops_without_each(cluster, FLUSH, tmp_path, "--release", WITHOUT_REPARTITION)


def test_a_bump_stops_without_any_right(cluster: SecuredStack, tmp_path: Path) -> None:
    cluster.begin_with(BETWEEN)
    stops_without_each(cluster, BUMP, tmp_path)


def test_a_version_with_a_topic_that_may_not_be_seen_is_refused_before_the_stop(
    cluster: SecuredStack, tmp_path: Path
) -> None:
    """Its new internal topics are in the ACLs if they are printed for it; without them the plan names the topic."""
    cluster.begin_with(WITHOUT_REPARTITION)
    case = RESTART._replace(form={"release": WITH_REPARTITION})
    acls = cluster.allow("stop_and_restart")
    file = tmp_path / "without.db"
    with pytest.raises(Refused, match=r"lacks Read on Topic orders-customers-counted-repartition; grant it"):
        planned_with(case, file)
    more = cluster.allow("stop_and_restart", "--release", WITH_REPARTITION)
    assert {one["name"] for one in more} - {one["name"] for one in acls} >= {"orders-customers-counted-repartition"}
    planned_with(case, tmp_path / "with.db")
