"""Consumers of a fleet: groups that read outputs of applications, and are none themselves."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from kstreams_runbooks.decide.fleet_graph import downstream, fleet_graph
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import BadInput, WriteRefused
from kstreams_runbooks.fleet import application_names, load_fleet
from kstreams_runbooks.fleet.loading import Fleet
from kstreams_runbooks.model.copying import AS_DEPLOYED
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.present.fleet_graph import graph_mermaid

_PEOPLE = {"cluster": "demo", "owner": "team-billing", "approvers": ["approver"]}
_INSTANCES = [{"name": f"b-{number}", "program": f"b-{number}", "directory": f"/srv/b-{number}"} for number in (1, 2)]
SUPERVISED = {
    "kind": "supervisord",
    "url": "http://127.0.0.1:1",
    "instances": _INSTANCES,
    "releases": {"1.8.0": "/opt/billing/1.8.0"},
    "settable": ["billing.topic"],
}
_VERBS = {verb: {"run": [verb, "{instance}"]} for verb in ("stop", "start")} | {"instances": {"run": ["list"]}}
_APPLY = {"run": ["apply", "{instance}", "{release}", "{settings}"]}
_MORE = _VERBS | {"apply": _APPLY, "topology": {"run": ["topology", "{release}"]}}
COMMAND = {
    "kind": "command",
    "instances": [{"name": "b-1"}],
    "releases": {"1.8.0": "billing:1.8.0"},
    "commands": _VERBS | {"apply": _APPLY},
}
MANUAL = {
    "kind": "manual",
    "instances": [{"name": "b-1"}],
    "releases": {"1.8.0": "billing:1.8.0"},
    "commands": {"instances": {"run": ["list"]}},
}
DOCKER = {
    "kind": "docker",
    "instances": [{"name": "b-1"}],
    "releases": {"1.8.0": "billing:1.8.0"},
    "variable_prefix": "BILLING_",
}
CONSUMER: dict[str, Any] = _PEOPLE | {
    "kind": "consumer",
    "application_id": "billing",
    "inputs": ["totals"],
    "outputs": ["invoices"],
    "input_settings": {"billing.topic": "totals"},
    "delivery": "exactly_once",
    "transactional_ids": ["billing-1", "billing-2"],
    "deployer": SUPERVISED,
}
STREAMS: dict[str, Any] = _PEOPLE | {
    "application_id": "orders",
    "inputs": ["orders"],
    "outputs": ["totals"],
    "deployer": {
        "kind": "manual",
        "instances": [{"name": "o-1", "metrics": "http://127.0.0.1:1"}],
        "releases": {"4.3.1": "o:4.3.1"},
    },
}


def fleet(folder: Path, **applications: dict[str, Any]) -> Fleet:
    """The fleet of these files, by name."""
    entries = {f"applications/{name}": entry for name, entry in applications.items()}
    for name, entry in (entries | {"clusters/demo": {"connection": "kafka"}}).items():
        file = folder / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(entry), encoding="utf-8")
    return load_fleet(folder)


@pytest.mark.parametrize("deployer", [SUPERVISED, COMMAND, MANUAL, DOCKER], ids=lambda one: str(one["kind"]))
def test_a_consumer_needs_no_topology_and_no_metrics(tmp_path: Path, deployer: dict[str, Any]) -> None:
    """It is in no list of applications, and every runbook about it is refused in one sentence."""
    found = fleet(tmp_path, billing=CONSUMER | {"deployer": deployer}, orders=STREAMS)
    assert found.problems == ()
    assert (set(found.applications), set(found.copiers), set(found.consumers)) == ({"orders"}, set(), {"billing"})
    assert application_names(tmp_path) == ("orders",)
    declared = found.side("billing").declared()
    assert (declared.consumes, declared.copies, declared.as_deployed) == (True, False, True)
    with pytest.raises(BadInput, match=r"billing: is a consumer \(expected .*\): it has no topology; name an appl"):
        found.application("billing")


def test_a_consumer_has_releases_and_settings_as_any_program(tmp_path: Path) -> None:
    """Unlike a copier as deployed: a cutover changes the setting that names its topic."""
    instances = [{**_INSTANCES[0], "directory": str(tmp_path)}]
    entry = fleet(tmp_path, billing=CONSUMER | {"deployer": SUPERVISED | {"instances": instances}}).side("billing")
    made = make_deployer(entry)
    made.check_apply("b-1", Target("1.8.0", (("billing.topic", "totals-v2"),)))
    for target in (Target("1.8.0", (("other", "x"),)), Target(AS_DEPLOYED)):
        with pytest.raises((BadInput, WriteRefused)):
            made.check_apply("b-1", target)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"control": ["totals"]}, "control"),
        ({"table_aggregations": "yes"}, "table_aggregations"),
        ({"libraries": {"1.8.0": "4.3.1"}}, "libraries"),
        ({"punctuators": ["x"]}, "punctuators"),
        ({"deployer": SUPERVISED | {"topology": ["x"]}}, "deployer.topology"),
        ({"deployer": SUPERVISED | {"once_file": "once"}}, "deployer.once_file"),
        (
            {"deployer": COMMAND | {"commands": _VERBS | {"apply": _APPLY, "topology": {"run": ["x"]}}}},
            "deployer.commands.topology",
        ),
        ({"deployer": MANUAL | {"stated": {"release": "1.8.0"}}}, "deployer.stated"),
        ({"deployer": DOCKER | {"state": "/data"}}, "deployer.state"),
    ],
)
def test_a_field_of_a_streams_application_is_refused_by_name(
    tmp_path: Path, changes: dict[str, Any], field: str
) -> None:
    """One clear sentence."""
    [problem] = fleet(tmp_path, billing=CONSUMER | changes).problems
    assert problem.field == field
    assert problem.reason.startswith("has no meaning for a consumer")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"inputs": [], "input_settings": {}}, "is empty; at least one is needed"),
        ({"delivery": "perhaps", "transactional_ids": []}, "must be 'exactly_once' or 'at_least_once'"),
        (
            {"transactional_ids": []},
            "is empty, so an open transaction of it would not be seen; name the transactional.id of each producer",
        ),
        (
            {"delivery": "at_least_once"},
            "has billing-1 with delivery at_least_once; remove it, or declare exactly_once",
        ),
        ({"transactional_ids": ["a", "a"]}, "names a twice; each producer has its own"),
        (
            {"input_settings": {"billing.topic": "others"}},
            "has others for billing.topic, which is not one of its inputs; correct it",
        ),
    ],
)
def test_what_a_consumer_has_to_say(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    """What it reads, and how a cutover sees that it has committed its last word."""
    [problem] = fleet(tmp_path, billing=CONSUMER | changes).problems
    assert problem.reason == sentence


def test_at_least_once_needs_no_transactional_id(tmp_path: Path) -> None:
    """A consumer without a producer has none."""
    entry = fleet(tmp_path, billing=CONSUMER | {"delivery": "at_least_once", "transactional_ids": []}).side("billing")
    assert not entry.reads_committed


def test_two_entries_of_one_group_are_refused(tmp_path: Path) -> None:
    """A consumer and an application too."""
    found = fleet(tmp_path, billing=CONSUMER | {"application_id": "orders"}, orders=STREAMS)
    assert {problem.field for problem in found.problems} == {"application_id"}


def test_a_consumer_is_downstream_of_what_it_reads(tmp_path: Path) -> None:
    """In the graph it has a shape of its own."""
    found = fleet(tmp_path, billing=CONSUMER, orders=STREAMS)
    graph = fleet_graph(one.declared() for one in found.entries.values())
    [entry] = downstream(graph, "orders")
    assert (entry.entry, entry.topics, entry.steps) == ("billing", ("totals",), 1)
    drawn = graph_mermaid(graph)
    assert '(["billing"])' in drawn
    assert "class e0 consumer" in drawn
