"""Every topic of a cluster from the log directories of its brokers, independent of the ACLs on topics."""

from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.kafka.read_only import ReadOnly

_CLUSTER_AUTHORIZATION_FAILED = 31
_GRANT = "grant this login Describe on Cluster, which lists the topics of every broker"


def read_every_topic(admin: ReadOnly) -> frozenset[str] | Missing:
    """Names of all topics; Missing with the right that this login lacks, or the broker that did not list its topics.

    A topic is in the log directories of the brokers that hold its replicas. So each broker has to answer, also one that
    is registered and not running: a topic may have no replica elsewhere. Raises kafka-python's errors if the cluster
    itself does not answer.
    """
    described = admin.describe_cluster()
    alive = {int(node["broker_id"]) for node in described["brokers"] if not node.get("is_fenced")}
    # Brokers before 4.0 do not list the brokers that are down (KIP-1073): a visible topic may have a replica there.
    known = {int(node["broker_id"]) for node in described["brokers"]} | _replicas(admin)
    if down := sorted(known - alive):
        return Missing(f"broker {down[0]} is down and may hold topics that are on no other; start it or unregister it")
    names: set[str] = set()
    for answer in admin.describe_every_log_dir(sorted(alive)):
        if why := _why_not(answer):
            return Missing(why)
        names |= {topic["name"] for directory in answer["log_dirs"] for topic in directory["topics"]}
    return frozenset(names)


def _replicas(admin: ReadOnly) -> set[int]:
    """Brokers that hold a replica of a visible topic."""
    return {
        int(node)
        for topic in admin.describe_topics()
        for partition in topic["partitions"]
        for node in partition["replica_nodes"]
    }


def _why_not(answer: Mapping[str, Any]) -> str:
    """Why a broker's list is not complete, empty if it is."""
    broker = answer["broker"]
    if answer["failure"]:
        return f"broker {broker} did not list its topics ({answer['failure']})"
    if answer["error_code"] == _CLUSTER_AUTHORIZATION_FAILED:
        return _GRANT
    if answer["error_code"]:
        return f"broker {broker} did not list its topics (broker error {answer['error_code']})"
    # Before version 3 the answer has no error code: a broker that denies access lists no directory.
    if not answer["log_dirs"]:
        return _GRANT
    for directory in answer["log_dirs"]:
        if directory["error_code"]:
            return f"broker {broker} cannot read {directory['log_dir']} (broker error {directory['error_code']})"
    return ""
