"""The library bump across containers under traffic, a worker that is killed in the middle of a bounce, and the end."""

import threading
import time

import pytest
from kstreams_runbooks.fleet.deployers.docker import BEFORE, NEXT
from lab.compose import DRAWN
from lab.supervise import until
from world.composed import Composed
from world.secrets_shown import with_forms

# The first test waits for images that are built, if nothing of them is cached.
pytestmark = pytest.mark.timeout(3_600)

INSTANCES = ("orders-1", "orders-2")
BUMP, BOUNCE = "library_bump", "rolling_bounce"


def image(composed: Composed, instance: str) -> str:
    """The image of an instance's container, without the project's name."""
    return str(composed.container(instance)["Config"]["Image"]).partition("/")[2]


def test_nothing_runs_as_root_and_only_the_loopback_is_published(composed: Composed) -> None:
    """Every container has another user and no capability; one port is published, on 127.0.0.1."""
    published: dict[str, str] = {}
    for one in composed.compose.engine.containers(composed.compose.project):
        found = composed.api.inspect_container(one["Id"])
        assert found["Config"]["User"] == "runbooks", found["Name"]
        assert found["HostConfig"]["CapDrop"] == ["ALL"], found["Name"]
        assert found["HostConfig"]["Memory"] > 0, found["Name"]
        for bindings in (found["HostConfig"]["PortBindings"] or {}).values():
            published |= {binding["HostPort"]: binding["HostIp"] for binding in bindings}
    assert published == {composed.compose.variables()["AIRFLOW_PORT"]: "127.0.0.1"}


def test_a_bump_across_containers(composed: Composed) -> None:
    """From 3.4.1 to 4.3.1 through Airflow's API, by the worker of the cluster's queue; all else is equal."""
    composed.airflow().wait_for_dag(BUMP)
    before = [composed.container(one) for one in INSTANCES]
    assert [image(composed, one) for one in INSTANCES] == ["orders:3.4.1"] * 2
    composed.timed(BUMP, lambda: _completed(composed, BUMP, "bump", target="4.3.1"))
    after = [composed.container(one) for one in INSTANCES]
    assert [image(composed, one) for one in INSTANCES] == ["orders:4.3.1"] * 2
    for had, has in zip(before, after, strict=True):
        assert has["Id"] != had["Id"]
        assert sorted(has["Config"]["Env"]) == sorted(had["Config"]["Env"]), "nothing of the run is left"
        assert has["Mounts"] == had["Mounts"]
        assert has["Config"]["Labels"] == had["Config"]["Labels"]
    tasks = composed.airflow().tasks(BUMP, "bump")
    assert {task["queue"] for task in tasks.values()} == {"demo"}
    assert {task["hostname"] for task in tasks.values()} - {"", None} == {_worker(composed)}


def test_a_worker_killed_in_the_middle_of_a_bounce(composed: Composed) -> None:
    """orders-2 is down and its worker gone: the run stops and reports both; cleared, another worker goes on."""
    state: list[str] = []
    run = threading.Thread(
        target=lambda: state.append(composed.run(BOUNCE, "bounce", settings={"num.stream.threads": 2}))
    )
    with composed.worker_dies_with("orders-2"):
        run.start()
        until(lambda: composed.container("worker")["State"]["Status"] == "exited", 600, "the worker is killed")
    composed.wait_ended("orders-2")
    assert composed.container("orders-1")["State"]["Status"] == "running"
    time.sleep(2)
    assert composed.container("orders-2")["State"]["Status"] == "exited", "nothing starts it meanwhile"
    composed.compose.run("start", "worker")
    # Not `wait_healthy`: orders-2 has ended, as it has to be.
    until(lambda: composed.container("worker")["State"]["Health"]["Status"] == "healthy", 300, "the worker is healthy")
    run.join(900)
    assert state == ["failed"]
    outcome, sentence = composed.outcome("bounce")
    assert outcome == "stopped, changed"
    assert "orders-2 is DOWN" in sentence
    failed = [name for name, one in composed.airflow().tasks(BOUNCE, "bounce").items() if one["state"] == "failed"]
    composed.airflow().clear(BOUNCE, "bounce", min(set(failed) - {"conclude"}))
    assert composed.follow(BOUNCE, "bounce") == "success"
    assert composed.outcome("bounce")[0] == "completed"
    for one in INSTANCES:
        assert "STREAMS_NUM_STREAM_THREADS=2" in composed.container(one)["Config"]["Env"]


def test_nothing_is_lost_or_counted_twice(composed: Composed) -> None:
    """Over both runs, from the topics alone."""
    judgement = composed.judged()
    assert judgement["verdict"] == "ok", judgement
    assert {kind: judgement[kind] for kind in ("missing", "extra", "duplicate", "out_of_order")} == dict.fromkeys(
        ("missing", "extra", "duplicate", "out_of_order"), 0
    )
    assert judgement["inputs_seen"] > 0


def test_no_secret_is_shown(composed: Composed) -> None:
    """Nothing that was drawn: in logs of containers and tasks, in arguments, in both databases (XCom, evidence)."""
    drawn = composed.compose.variables()
    forms = with_forms(drawn[name] for name in (*DRAWN, "FERNET_KEY"))
    places = composed.places_of_secrets()
    assert {"task logs", "database ledger", "log of worker", "arguments of postgresql"} <= places.keys()
    assert "bounce 1" in places["task logs"]
    assert "bounce_1_first" in places["database ledger"]
    assert [place for place, text in places.items() if any(form in text for form in forms)] == []


def test_nothing_is_left_afterwards(composed: Composed) -> None:
    """No container, also none of a change, no network and no volume."""
    project = composed.compose.project
    names = {one["Names"][0].lstrip("/") for one in composed.compose.engine.containers(project)}
    assert {name for name in names if name.endswith((NEXT, BEFORE))} == set()
    composed.compose.down()
    assert composed.compose.engine.left(project) == []


def _completed(composed: Composed, dag_id: str, run_id: str, **form: str) -> None:
    state = composed.run(dag_id, run_id, **form)
    assert (state, composed.outcome(run_id)[0]) == ("success", "completed")


def _worker(composed: Composed) -> str:
    return str(composed.container("worker")["Config"]["Hostname"])
