"""Resets the orders application: empty topics, empty state, no group, and no run that holds it."""

import shutil
import time
from contextlib import suppress

from confluent_kafka.admin import AdminClient
from kstreams_runbooks.act.groups import GroupWriter
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.readings import GroupReading
from kstreams_runbooks.observe import ClusterReader

from lab import application, kafka
from lab.application import Deployed
from lab.stack import TRAFFIC, Stack
from lab.supervise import until

_CALL_S = 30
TELL_APART_S = 0.2


def afresh(stack: Stack, deployed: Deployed) -> None:
    """Stop traffic and instances, delete their data, start `deployed` and wait until it is RUNNING."""
    lab, names = stack.lab, deployed.names
    if stack.parts.airflow:
        _end_runs(stack)
    stack.supervisor.stop(TRAFFIC, *names)
    forget_group(lab.bootstrap, deployed.application_id)
    _delete_topics(lab.bootstrap)
    for name in names:
        shutil.rmtree(lab.instances / name, ignore_errors=True)
        (lab.logs / f"{name}.log").write_text("", encoding="utf-8")
    kafka.create_topics(lab.bootstrap, deployed.topics)
    application.write_instances(lab, deployed)
    # The times distinguish a start from the write before it; a deployer waits like this too.
    time.sleep(TELL_APART_S)
    stack.supervisor.start(*names)
    application.wait_running(lab, stack.supervisor, names)


def _end_runs(stack: Stack) -> None:
    """End the run that a failed test left: its hold would refuse the runs of every test after it.

    What checks have read is forgotten: the topics that are created again now would be taken for recreated ones.
    """
    api, ledger = stack.api(), Ledger.open(stack.environment()["KSTREAMS_RUNBOOKS_LEDGER"])
    for run_key in {hold.run_key for hold in ledger.holds()}:
        dag_id, _, run_id = run_key.partition("/")
        path = f"/dags/{dag_id}/dagRuns/{run_id}"
        # The holder may be known to the ledger alone.
        with suppress(BadInput):
            api.call("PATCH", path, {"state": "failed"})
        ledger.release_holds(run_key)
    ledger.forget_lag(time.time_ns() // 1_000_000)


def empty_group(bootstrap: str, group_id: str) -> bool:
    """Remove the members of a group whose application is stopped; False if there is no such group."""
    config = {"bootstrap.servers": bootstrap}
    with ClusterReader(config) as reader:
        group = reader.group(group_id)
    if not isinstance(group, GroupReading):
        return False
    if group.members:
        GroupWriter(config, dry_run=False).remove_members(group_id, group.members)
    return True


def forget_group(bootstrap: str, group_id: str) -> None:
    """A stopped application stays in its group until its session times out: its members are removed here."""
    if not empty_group(bootstrap, group_id):
        return
    admin = AdminClient({"bootstrap.servers": bootstrap})

    def deleted() -> bool:
        try:
            admin.delete_consumer_groups([group_id])[group_id].result()
        except Exception as error:  # noqa: BLE001 - librdkafka has one class for all of them
            return "GROUP_ID_NOT_FOUND" in str(error)
        return True

    until(deleted, _CALL_S, f"group {group_id} is deleted")


def _delete_topics(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    names = [name for name in admin.list_topics(timeout=_CALL_S).topics if not name.startswith("__")]
    for future in admin.delete_topics(names).values() if names else ():
        future.result()

    def gone() -> bool:
        return not set(names) & set(admin.list_topics(timeout=_CALL_S).topics)

    until(gone, _CALL_S, "the topics are gone")
