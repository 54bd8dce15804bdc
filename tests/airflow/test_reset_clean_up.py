"""A reset whose local state the application deletes itself as it starts, with a setting for that start alone.

The reset writes to new outputs, which the judge can compare with the inputs (tests/airflow/test_reset.py).
"""

from pathlib import Path
from typing import Any

import pytest
import yaml
from kstreams_runbooks.deployers.state_sizes import directory_times
from kstreams_runbooks.model.local_state import FileTimes
from kstreams_runbooks.model.readings.readings import Missing
from lab import kafka, started_over
from lab.afresh import afresh
from lab.application import FROM_RELEASE, TO_RELEASE, Deployed
from lab.judge import judged
from lab.stack import Stack
from lab.supervise import until
from world.endings import begun_other, held_by
from world.resetting import DAG, declared, done, write
from world.runs import approve, evidence, finished, log_of

MISSPELLED = "clean.upp"
# What the program and Kafka Streams log: before that start, and with each.
DELETED, STARTED = "local state is deleted: clean.up=true", "from CREATED to REBALANCING"
# By the lab, by the run, and by the test.
STARTS = 3


def times(stack: Stack, name: str) -> dict[str, FileTimes]:
    """The age of an instance's local state."""
    found = directory_times(stack.lab.instances / name / "state" / "orders")
    assert not isinstance(found, Missing)
    return dict(found)


def application_log(stack: Stack) -> str:
    """What the first instance has logged."""
    return (stack.lab.logs / "orders-1.log").read_text("utf-8")


def asked(folder: Path) -> str:
    """The settings of an instance for its next start."""
    assert not (folder / "once.properties").exists()
    return (folder / "deployment.properties").read_text("latin-1")


def misspelled(stack: Stack) -> dict[str, Any]:
    """Fields of the fleet entry with a setting that the program does not know."""
    entry = yaml.safe_load((stack.lab.config / "applications" / "orders.yaml").read_text("utf-8"))
    deployer = started_over.fields(stack.lab)["deployer"]
    settable = [*deployer["settable"], MISSPELLED]
    return {
        "clean_up": dict.fromkeys([MISSPELLED], entry["clean_up"]["clean.up"]),
        "deployer": deployer | {"settable": settable},
    }


@pytest.mark.long
@pytest.mark.parametrize("release", [FROM_RELEASE, TO_RELEASE])
def test_the_application_deletes_its_state_at_one_start(stack: Stack, release: str) -> None:
    """Seen on one instance after the other; results are right, and the next start keeps its state."""
    afresh(stack, Deployed(release=release))
    kafka.create_topics(stack.lab.bootstrap, started_over.outputs("own-").values())
    with declared(stack):
        write(stack)
        before = {name: times(stack, name) for name in Deployed().names}
        run_id = done(stack, settings=started_over.outputs("own-"), cleared_by="application")
        log = log_of(stack, run_id, "start_application")
        assert "one after another" in log
        for name in Deployed().names:
            assert f"all local state is newer than the stop on {name}" in log
            assert min(one.oldest_ms for one in times(stack, name).values()) > max(
                one.newest_ms for one in before[name].values()
            )
            assert MISSPELLED[:-1] not in asked(stack.lab.instances / name)
        judgement = judged(stack, topics=started_over.judged_outputs("own-"))
        assert judgement.only_late_windows, judgement.faults()
        stack.supervisor.stop("orders-1")
        stack.supervisor.start("orders-1")
        until(lambda: application_log(stack).count(STARTED) == STARTS, 60, "orders-1 has started once more")
        assert application_log(stack).count(DELETED) == 1


@pytest.mark.long
@pytest.mark.parametrize("release", [FROM_RELEASE, TO_RELEASE])
def test_an_instance_that_kept_its_state_is_stopped_and_another_run_recovers(stack: Stack, release: str) -> None:
    """The setting is misspelled: no other instance starts, nor does a rerun or an undo; then all results are right."""
    afresh(stack, Deployed(release=release))
    kafka.create_topics(stack.lab.bootstrap, started_over.outputs("kept-").values())
    kafka.create_topics(stack.lab.bootstrap, started_over.outputs("again-").values())
    names = Deployed().names
    with declared(stack, **misspelled(stack)):
        write(stack)
        trial = begun_other(stack, DAG, settings=started_over.outputs("kept-"), cleared_by="application")
        approve(stack, trial.run_id, "approve_plan")
        assert finished(stack, trial.run_id) == "failed"
        said = evidence(stack, trial.run_id)["run"]["outcome_sentence"]
        assert "orders-1: still has 0_" in said
        assert "every instance is stopped; correct `clean_up` of the fleet entry" in said
        assert [stack.supervisor.pid(name) for name in names] == [None, None]
        assert "orders-2: started" not in log_of(stack, trial.run_id, "start_application")
        stack.api().clear(DAG, trial.run_id, "start_application")
        assert finished(stack, trial.run_id) == "failed"
        assert "this run starts no instance again" in evidence(stack, trial.run_id)["run"]["outcome_sentence"]
        back = begun_other(stack, "undo", run=trial.run_id)
        assert finished(stack, back.run_id) == "failed"
        assert "then trigger reset_and_cleanup again" in evidence(stack, back.run_id)["run"]["outcome_sentence"]
        assert [stack.supervisor.pid(name) for name in names] == [None, None]
    with declared(stack):
        done(stack, settings=started_over.outputs("again-"), cleared_by="application")
        judgement = judged(stack, topics=started_over.judged_outputs("again-"))
        assert judgement.only_late_windows, judgement.faults()
        assert held_by(stack) == ()
