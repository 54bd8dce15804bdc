"""A copier comes in front of the orders application under traffic, and leaves again: no record is lost or read twice.

Producers go on all the time. The judge looks at the outputs at the end.
"""

from collections.abc import Iterator, Mapping

import pytest
from confluent_kafka.admin import AdminClient
from kill.moments import Moment, Target, strike
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.properties import parse
from lab.adopted import COPIER, INSTANCES, ROUTES, SETTINGS
from lab.application import TO_RELEASE, Deployed
from lab.stack import Stack
from world.adopting import DAG, copier_deployed, entry_changed
from world.endings import DRY_RUN, NOTHING_CHANGED, begun_other, completed, ended, held_by
from world.flushing import ACCEPTED, SHORT, busy
from world.given import declared_as
from world.runs import approved_by_both, evidence, failed, finished, log_of, mark_run, reached, trigger_other

_FORM = {"copier": COPIER, "without_copy_proof": "no Spark in these tests", **ACCEPTED}
# Two applications are read one after the other, on a machine that does more.
_LIMITS = {**SHORT, "max_reading_age_s": 120}
_DEPLOYED = Deployed(release=TO_RELEASE)
_KILLS = {
    "create_topics": Moment.WORKING,
    "copy_inputs": Moment.WRITING,
    "stop_copier": Moment.WORKING,
    "stop_application": Moment.STOPPING,
    "copy_rest": Moment.WORKING,
    "set_offsets": Moment.WORKING,
    "start_copier": Moment.WORKING,
    "start_application": Moment.STARTING,
    "wait_caught_up": Moment.DEFERRED,
    "delete_offsets": Moment.WORKING,
    "verify": Moment.WORKING,
}
# The way back needs none of these.
_COPIES = {"create_topics", "copy_inputs", "copy_rest", "start_copier"}
_BACK = f"kstreams-runbooks trigger {DAG} --application orders --param mode=abandon --param copier={COPIER}"


@pytest.fixture(scope="module")
def sending(stack: Stack) -> Iterator[Stack]:
    """Two instances under traffic, and a copier that has never run; judged at the end."""
    with busy(stack, _DEPLOYED), declared_as(stack, limits=_LIMITS), copier_deployed(stack):
        yield stack


def topics(stack: Stack) -> set[str]:
    """Every topic of the cluster."""
    return set(AdminClient({"bootstrap.servers": stack.lab.bootstrap}).list_topics(timeout=10).topics)


def read_by(stack: Stack, group: str) -> set[str]:
    """The topics on which a group has offsets, without internal ones."""
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        committed = reader.committed([group])[group]
    assert not isinstance(committed, Missing)
    return {topic for topic, _ in committed if not topic.startswith("orders-") or topic in ROUTES.values()}


def settings(stack: Stack) -> list[dict[str, str]]:
    """What runbooks have set of each instance."""
    files = (stack.lab.instances / name / "deployment.properties" for name in _DEPLOYED.names)
    return [parse(file.read_text(encoding="latin-1")) for file in files]


def begun(stack: Stack, **conf: object) -> str:
    """A run that both teams have approved."""
    run_id = trigger_other(stack, DAG, **{**_FORM, **conf})
    approved_by_both(stack, DAG, run_id, "approve_plan")
    return run_id


def undone(stack: Stack, run_id: str) -> None:
    """Everything that the run has changed is as before it."""
    undo = trigger_other(stack, "undo", run=run_id)
    approved_by_both(stack, "undo", undo, "approve_undo")
    assert finished(stack, undo) == "success", evidence(stack, undo)["run"]["outcome_sentence"]
    assert all(card["done"] for card in evidence(stack, run_id)["cards"])


def killed_in(stack: Stack, run_id: str, moments: Mapping[str, Moment]) -> None:
    """Each of these tasks is killed in its middle and cleared."""
    for task, moment in moments.items():
        strike(Target(stack, DAG, run_id, task, _DEPLOYED.names), moment, 0)
        # What only reads is tried again by itself.
        if moment is not Moment.DEFERRED and task != "verify":
            reached(stack, run_id, task, "failed")
            failed(stack, run_id)
            stack.api().clear(DAG, run_id, task)


def abandoned(stack: Stack) -> None:
    """The way back, once the fleet entry has its control topics; then what is left of the copier is gone."""
    with entry_changed(stack, **_LIMITS):
        completed(stack, begun(stack, mode="abandon"))
    assert read_by(stack, "orders") == {*ROUTES}
    assert stack.supervisor.pid(INSTANCES[0]) is None


def as_before(stack: Stack) -> None:
    """The application reads its inputs; of the copier, nothing is left but its deployment."""
    assert settings(stack) == [{"release": TO_RELEASE}] * 2
    assert None not in [stack.supervisor.pid(name) for name in _DEPLOYED.names]
    assert stack.supervisor.pid(INSTANCES[0]) is None
    assert not {*ROUTES.values()} & topics(stack)
    assert read_by(stack, "orders") == {*ROUTES}
    assert read_by(stack, COPIER) == set()
    copier = (stack.lab.instances / INSTANCES[0] / "deployment.properties").read_text(encoding="latin-1")
    assert "until" not in copier
    assert held_by(stack) == ()


@pytest.mark.long
def test_a_dry_run_shows_every_stage(sending: Stack) -> None:
    """What would be done, and the changes of the fleet entry; nothing is changed, no topic is created."""
    trial = begun_other(sending, DAG, dry_run=True, **_FORM)
    ended(trial, state="success", outcome=DRY_RUN)
    assert "would create topic orders-control" in log_of(sending, trial.run_id, "create_topics")
    assert "+ control: [customers-control, orders-control]" in log_of(sending, trial.run_id, "plan")
    assert not {*ROUTES.values()} & topics(sending)


@pytest.mark.long
@pytest.mark.parametrize(
    "task",
    ["create_topics", "copy_inputs", "stop_copier", "stop_application", "copy_rest", "set_offsets", "start_copier"],
)
def test_undo_restores_everything_before_the_start(sending: Stack, task: str) -> None:
    """The run is given up after a task: the application reads its inputs again, from where it was."""
    run_id = begun(sending)
    if task == "start_copier":
        # The next task starts the application at once, and then undo is refused.
        strike(Target(sending, DAG, run_id, task, INSTANCES), Moment.STARTING, 0)
        failed(sending, run_id)
    else:
        reached(sending, run_id, task, "success")
        mark_run(sending, run_id, "failed")
    undone(sending, run_id)
    as_before(sending)


@pytest.mark.long
def test_there_and_back(sending: Stack) -> None:
    """Adopted; an undo is refused with the command of the way back; abandoned once the fleet entry is changed."""
    run_id = begun(sending)
    completed(sending, run_id)
    assert settings(sending) == [{"release": TO_RELEASE, **SETTINGS}] * 2
    assert read_by(sending, "orders") == {*ROUTES.values()}
    trial = begun_other(sending, "undo", run=run_id, dry_run=True)
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert _BACK in document["run"]["outcome_sentence"]
    abandoned(sending)


@pytest.mark.long
def test_it_goes_on_after_a_kill_of_every_task(stack: Stack) -> None:
    """Each task is killed in its middle and cleared, in one run."""
    with busy(stack, _DEPLOYED), declared_as(stack, limits=_LIMITS), copier_deployed(stack):
        run_id = begun(stack)
        killed_in(stack, run_id, _KILLS)
        completed(stack, run_id)
        assert read_by(stack, "orders") == {*ROUTES.values()}
        abandoned(stack)


@pytest.mark.long
def test_the_way_back_is_undone_and_goes_on_after_a_kill_of_every_task(stack: Stack) -> None:
    """An undo leaves the copier in front; at last the application reads its inputs again."""
    with busy(stack, _DEPLOYED), declared_as(stack, limits=_LIMITS), copier_deployed(stack):
        completed(stack, begun(stack))
        with entry_changed(stack, **_LIMITS):
            for task in ("stop_copier", "stop_application", "set_offsets"):
                run_id = begun(stack, mode="abandon")
                reached(stack, run_id, task, "success")
                mark_run(stack, run_id, "failed")
                undone(stack, run_id)
                assert settings(stack) == [{"release": TO_RELEASE, **SETTINGS}] * 2
                assert read_by(stack, "orders") == {*ROUTES.values()}
                assert None not in [stack.supervisor.pid(name) for name in (*_DEPLOYED.names, INSTANCES[0])]
                assert held_by(stack) == ()
            run_id = begun(stack, mode="abandon")
            killed_in(stack, run_id, {task: moment for task, moment in _KILLS.items() if task not in _COPIES})
            completed(stack, run_id)
        assert read_by(stack, "orders") == {*ROUTES}
        assert stack.supervisor.pid(INSTANCES[0]) is None
