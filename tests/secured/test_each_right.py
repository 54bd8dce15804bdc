"""Each right of each runbook taken away in turn: its run stops before anything is changed, and names what is missing.

The broker denies by default, the application, its deployer and its agents are real. The steps are those of the DAGs up
to the plan; tests/secured/test_whole_runs.py shows that the same rights are enough for whole runs.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from kstreams_runbooks.errors import Inconclusive, Refused, RunbookError
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.orphans import KeptOrphan
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.steps.change.plan import describe_release, plan_of_change
from kstreams_runbooks.steps.inputs.plan import control_topic_flush
from kstreams_runbooks.steps.instances.undo import read_cards
from kstreams_runbooks.steps.plan.looking import check, observe
from kstreams_runbooks.steps.plan.plan import library_bump, planned, rolling_bounce, stop_and_restart
from kstreams_runbooks.steps.reset.plan import reset_and_cleanup
from kstreams_runbooks.steps.reset.retire import retires_application
from kstreams_runbooks.steps.run.run import Run, now_ms
from lab import kafka
from lab.application import TO_RELEASE, WITH_REPARTITION, WITHOUT_REPARTITION, described
from lab.supervise import until
from world.flushing import ACCEPTED, SHORT, SWAP
from world.given import declared_as
from world.new_ledger import new_ledger
from world.resetting import declared
from world.secured_stack import BETWEEN, RUNBOOKS, SecuredStack


class Case(NamedTuple):
    """A runbook with its form, its steps up to the plan, what is printed for it, and what the ledger has before."""

    runbook: str
    form: dict[str, Any]
    steps: Callable[[], tuple[Any, ...]]
    printed: tuple[str, ...] = ()
    before: Callable[[Ledger, str], None] = lambda *_: None


LEFT = "orders-left-behind-changelog"
DAY_MS = 86_400_000

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
    ("--release", WITHOUT_REPARTITION, "--param", "without_key_check=true"),
)
CHANGE = Case("plan_change", {}, lambda: (observe(), describe_release(), plan_of_change()))


def resets(**form: Any) -> Case:
    """A reset with this form; its ACLs are printed with the same form."""
    words = [word for name, value in form.items() for word in ("--param", f"{name}={as_given(value)}")]
    return Case(
        "reset_and_cleanup",
        form,
        lambda: (
            observe(),
            check(at_once=True, out_of_use=retires_application, streams_group=True),
            planned(reset_and_cleanup),
        ),
        tuple(words),
    )


def as_given(value: Any) -> str:
    """A field as an option has it."""
    return value if isinstance(value, str) else json.dumps(value)


def begun(ledger: Ledger, case: Case, run_id: str = "r") -> str:
    """The key of a run that has done nothing yet."""
    form = {"application": "orders", **ACCEPTED, **case.form}
    record = RunRecord("", case.runbook, run_id, "orders", "demo", "oncall", False, "test", form, now_ms())
    return ledger.start_run(record).run_key


def performed(ledger: Ledger, case: Case, run_id: str = "r") -> Run:
    """A run whose steps were performed."""
    key = begun(ledger, case, run_id)
    for step in case.steps():
        step.act(Run(ledger.run(key), step.task_id, 1, ledger, patient=True))
    return Run(ledger.run(key), "plan", 1, ledger)


def planned_with(case: Case, file: Path) -> Run:
    """A run whose steps up to the plan were performed, on a ledger of its own."""
    ledger = new_ledger(file)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{file}")
        case.before(ledger, "before")
        return performed(ledger, case)


def stops_without_each(cluster: SecuredStack, case: Case, folder: Path) -> None:
    """With all of them it plans; without any one it stops, and the sentence has right, resource and login."""
    acls = cluster.allow(case.runbook, *case.printed)
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
        assert [one.wrote_at_ms for one in Ledger.open(f"sqlite:///{file}").runs() if one.run_id == "r"] == [None]
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


@pytest.mark.parametrize(
    "case",
    [
        resets(mode="reset", clean_outputs=["orders-running"]),
        resets(mode="offsets", targets={"customers": "earliest"}),
        resets(mode="state"),
    ],
    ids=lambda case: case.form["mode"],
)
def test_a_reset_stops_without_any_right(cluster: SecuredStack, case: Case, tmp_path: Path) -> None:
    with declared(cluster.stack):
        stops_without_each(cluster, case, tmp_path)


def test_a_retirement_stops_without_any_right(cluster: SecuredStack, tmp_path: Path) -> None:
    """Of a changelog that an earlier run left behind; the topics that are in use stay."""
    kafka.create_topics(cluster.stack.lab.bootstrap, [LEFT])
    found: dict[str, str] = {}

    def is_there() -> bool:
        with ClusterReader({"bootstrap.servers": cluster.stack.lab.bootstrap}) as reader:
            found.update({one.name: one.topic_id for one in reader.topics([LEFT])})
        return bool(found)

    until(is_there, 20, f"{LEFT} is there")

    def left_behind(ledger: Ledger, run_id: str) -> None:
        key = begun(ledger, RESTART, run_id)
        ledger.keep_orphans([KeptOrphan(key, LEFT, found[LEFT], "demo", "orders", now_ms() - 8 * DAY_MS)])

    stops_without_each(cluster, resets(mode="retire")._replace(before=left_behind), tmp_path)


def test_an_undo_stops_without_any_right(cluster: SecuredStack, tmp_path: Path) -> None:
    """Before it has a plan: the cards are read with the same rights."""

    def planned_before(ledger: Ledger, run_id: str) -> None:
        begun(ledger, RESTART, run_id)

    stops_without_each(cluster, Case("undo", {"run": "before"}, lambda: (read_cards(),), (), planned_before), tmp_path)


def test_a_planned_change_stops_without_any_right(cluster: SecuredStack, tmp_path: Path) -> None:
    """One repartition topic more, as the release prints it with another setting."""
    file = tmp_path / "with-audit.txt"
    file.write_text(described(cluster.stack.lab, TO_RELEASE, audit="true"), encoding="utf-8")
    form = {"release": TO_RELEASE, "topology_file": str(file)}
    stops_without_each(cluster, CHANGE._replace(form=form, printed=("--setting", "audit=true")), tmp_path)


def test_a_flush_stops_without_any_right(cluster: SecuredStack, tmp_path: Path) -> None:
    cluster.begin_with(WITH_REPARTITION)
    stops_without_each(cluster, FLUSH, tmp_path)


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
