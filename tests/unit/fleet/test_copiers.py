"""Copiers of a fleet: their declaration, and what feeds an application."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from kstreams_runbooks.decide.runbooks import why_not_of_copiers
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import BadInput, WriteRefused
from kstreams_runbooks.fleet import application_names, copiers_of, feeding, load_fleet, require_copier
from kstreams_runbooks.fleet.loading import Fleet
from kstreams_runbooks.model.copying import AS_DEPLOYED
from kstreams_runbooks.model.target import Target

_PEOPLE = {"cluster": "demo", "owner": "team", "approvers": ["approver"]}
COPIER: dict[str, Any] = _PEOPLE | {
    "kind": "copier",
    "application_id": "passing",
    "inputs": ["sent"],
    "outputs": ["orders"],
    "delivery": "exactly_once",
    "deployer": {
        "kind": "supervisord",
        "url": "http://127.0.0.1:1",
        "instances": [{"name": f"p-{number}", "program": f"p-{number}"} for number in (1, 2)],
    },
}
_COMMANDS = {verb: {"run": [verb, "{instance}"]} for verb in ("stop", "start")} | {"instances": {"run": ["list"]}}
COMMAND = {"kind": "command", "instances": [{"name": "p-1"}, {"name": "p-2"}], "commands": _COMMANDS}
MANUAL = {"kind": "manual", "instances": [{"name": "p-1"}], "commands": {"instances": {"run": ["list"]}}}
STREAMS: dict[str, Any] = _PEOPLE | {
    "application_id": "orders",
    "inputs": ["orders"],
    "control": ["orders"],
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


@pytest.mark.parametrize("deployer", [COPIER["deployer"], COMMAND, MANUAL])
def test_a_copier_needs_no_release_no_topology_and_no_metrics(tmp_path: Path, deployer: dict[str, Any]) -> None:
    """It is in no list of applications, and every runbook about it is refused in one sentence."""
    found = fleet(tmp_path, passing=COPIER | {"deployer": deployer}, orders=STREAMS)
    assert found.problems == ()
    assert (set(found.applications), set(found.copiers)) == ({"orders"}, {"passing"})
    assert application_names(tmp_path) == ("orders",)
    assert found.side("passing").declared().releases == (AS_DEPLOYED,)
    with pytest.raises(
        BadInput,
        match=r"passing: is a copier as deployed \(expected .*\): it is stopped .* name one of them \(orders\)",
    ):
        found.application("passing")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"control": ["x"]}, "control"),
        ({"table_aggregations": "yes"}, "table_aggregations"),
        ({"processing_guarantee": "at_least_once"}, "processing_guarantee"),
        ({"deployer": COPIER["deployer"] | {"topology": ["x"]}}, "deployer.topology"),
        ({"deployer": COPIER["deployer"] | {"releases": {"4.3.1": "/a/b"}}}, "deployer.releases"),
        ({"deployer": COMMAND | {"commands": _COMMANDS | {"apply": {"run": ["x"]}}}}, "deployer.commands.apply"),
        ({"deployer": MANUAL | {"stated": {"release": "4.3.1"}}}, "deployer.stated"),
    ],
)
def test_a_field_of_a_streams_application_is_refused_by_name(
    tmp_path: Path, changes: dict[str, Any], field: str
) -> None:
    """One clear sentence."""
    [problem] = fleet(tmp_path, passing=COPIER | changes).problems
    assert problem.field == field
    assert problem.reason.startswith("has no meaning for a copier")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"outputs": ["sent"]}, "names sent, which is one of its inputs; a copier writes other topics than it reads"),
        ({"outputs": []}, "is empty; at least one is needed"),
        ({"delivery": "perhaps"}, "must be 'exactly_once' or 'at_least_once'"),
    ],
)
def test_what_a_copier_has_to_say(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    """It copies from one topic to another, and its delivery is known."""
    [problem] = fleet(tmp_path, passing=COPIER | changes).problems
    assert problem.reason == sentence


def test_an_unknown_kind_and_a_streams_application_without_metrics_are_refused(tmp_path: Path) -> None:
    """What a copier may leave out stays needed of the others."""
    instances = {"deployer": STREAMS["deployer"] | {"instances": [{"name": "o-1"}]}}
    found = fleet(tmp_path, one=STREAMS | {"kind": "relay"}, two=STREAMS | instances)
    assert {problem.field for problem in found.problems} >= {"kind", "deployer.instances[0].metrics"}


SHIPPED: dict[str, Any] = _PEOPLE | {
    "kind": "copier",
    "program": "topic-copier",
    "application_id": "passing",
    "routes": {"sent": "orders", "sent-too": "customers"},
    "libraries": {"0.1.0": "4.4.0"},
    "deployer": {
        "kind": "manual",
        "instances": [{"name": "p-1", "metrics": "http://127.0.0.1:1"}],
        "releases": {"0.1.0": "copier:0.1.0"},
        "settable": ["mode", "until"],
    },
}


def test_the_shipped_copier_is_an_application_and_a_copier(tmp_path: Path) -> None:
    """Its routes say what it reads and writes; it has releases and metrics, and forms offer it."""
    found = fleet(tmp_path, passing=SHIPPED, orders=STREAMS | {"inputs": ["orders", "customers"]})
    assert found.problems == ()
    assert set(found.applications) == {"orders", "passing"}
    assert set(found.copiers) == {"passing"}
    assert application_names(tmp_path) == ("orders", "passing")
    copier = found.application("passing")
    assert (copier.inputs, copier.outputs) == (("sent", "sent-too"), ("orders", "customers"))
    declared = copier.declared()
    assert declared.routes == (("sent", "orders"), ("sent-too", "customers"))
    assert (declared.copies, declared.as_deployed, declared.library("0.1.0")) == (True, False, "4.4.0")
    assert (declared.processing_guarantee, copier.reads_committed) == ("exactly_once_v2", True)
    assert copier.deployer.settable == ("mode", "until")
    assert require_copier(found, found.application("orders"), "passing").outputs == copier.outputs


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"inputs": ["sent"]}, "inputs", "follows from `program: topic-copier` and its routes; remove it"),
        ({"delivery": "at_least_once"}, "delivery", "follows from `program: topic-copier` and its routes; remove it"),
        ({"processing_guarantee": "exactly_once_v2"}, "processing_guarantee", "follows from `program: topic-copier`"),
        ({"control": ["sent"]}, "control", "has no meaning for a copier, which copies"),
        ({"routes": {}}, "routes", "is empty"),
        ({"routes": {"a": "x", "b": "x"}}, "routes", "names x twice; remove one"),
        ({"routes": {"a": "b", "b": "c"}}, "routes", "names b twice; remove one"),
        ({"program": "mirror"}, "program", "must be 'topic-copier'"),
        ({"kind": "streams"}, "program", "is not a known key"),
    ],
)
def test_what_the_shipped_copier_may_not_declare(
    tmp_path: Path, changes: dict[str, Any], field: str, sentence: str
) -> None:
    """Each in one sentence about its field."""
    found = [problem for problem in fleet(tmp_path, passing=SHIPPED | changes).problems if problem.field == field]
    assert len(found) == 1
    assert sentence in found[0].reason


def test_two_copiers_never_write_one_topic(tmp_path: Path) -> None:
    """Its readers would get each record twice; on another cluster it is another topic."""
    other = SHIPPED | {"application_id": "other", "routes": {"sent": "orders"}}
    found = fleet(tmp_path, passing=SHIPPED, other=other)
    assert set(found.disabled) == {"passing", "other"}
    with pytest.raises(BadInput, match='routes: "orders" is also a target of other on cluster demo'):
        found.side("passing")
    around = SHIPPED | {"application_id": "around", "routes": {"customers": "sent-again", "orders": "sent-too"}}
    circle = fleet(tmp_path / "circle", passing=SHIPPED | {"routes": {"sent-too": "orders"}}, around=around)
    assert set(circle.disabled) == {"passing", "around"}
    assert "copies in a circle (" in circle.problems[0].reason
    apart = fleet(tmp_path / "apart", passing=SHIPPED, other=other | {"routes": {"sent": "orders-again"}})
    assert apart.disabled == {}


@pytest.mark.parametrize("text", ["kind: copier\nprogram: x\n", "program: x\nkind: copier\n"])
def test_a_copier_with_a_program_is_in_the_forms(tmp_path: Path, text: str) -> None:
    """The program's line is at the top level: that of a supervised instance is not meant."""
    (tmp_path / "applications").mkdir()
    (tmp_path / "applications" / "shipped.yaml").write_text(text)
    nested = "kind: copier\ndeployer:\n  instances:\n  - name: p\n    program: p\n"
    (tmp_path / "applications" / "deployed.yaml").write_text(nested)
    assert application_names(tmp_path) == ("shipped",)


@pytest.mark.parametrize(
    ("runbook", "refused"),
    [
        *((name, True) for name in ("control_topic_flush", "reset_and_cleanup", "blue_green_cutover")),
        *((name, False) for name in ("library_bump", "rolling_bounce", "stop_and_restart", "undo", "of_a_team")),
    ],
)
def test_runbooks_that_are_not_for_a_copier(runbook: str, refused: bool) -> None:
    """A reset would copy records twice or leave some out, and nothing flushes into a copier."""
    assert bool(why_not_of_copiers(runbook)) is refused


def test_its_copiers_write_its_control_topics(tmp_path: Path) -> None:
    """By name; an input without one is named."""
    other = COPIER | {"application_id": "other", "outputs": ["elsewhere"]}
    found = fleet(tmp_path, passing=COPIER, other=other, orders=STREAMS | {"inputs": ["orders", "customers"]})
    application = found.application("orders")
    assert [one.name for one in copiers_of(found, application)] == ["passing"]
    assert feeding(found, application).copiers == {"orders": ("passing",)}
    assert feeding(found, application).unfed == ("customers",)


@pytest.mark.parametrize(
    ("name", "orders", "passing", "sentence"),
    [
        ("orders", {}, {}, "copier orders: not a copier of the fleet"),
        ("gone", {}, {}, "copier gone: not a copier of the fleet"),
        ("passing", {}, {"outputs": ["x"]}, "copier passing: writes no control topic of orders (its outputs: x"),
        ("passing", {"inputs": ["orders", "customers"]}, {}, "copier passing: customers of orders would go on while"),
    ],
)
def test_a_copier_that_does_not_hold_every_input_is_refused(
    tmp_path: Path, name: str, orders: dict[str, Any], passing: dict[str, Any], sentence: str
) -> None:
    """Stopping it would not be enough."""
    found = fleet(tmp_path, passing=COPIER | passing, orders=STREAMS | orders)
    with pytest.raises(BadInput) as error:
        require_copier(found, found.application("orders"), name)
    assert str(error.value).startswith(sentence)


def test_two_copiers_of_one_topic_are_refused(tmp_path: Path) -> None:
    """The other one would go on."""
    found = fleet(tmp_path, passing=COPIER, also=COPIER | {"application_id": "also"}, orders=STREAMS)
    with pytest.raises(BadInput, match="orders of orders is written by also and passing"):
        require_copier(found, found.application("orders"), "passing")


def test_a_copier_that_holds_every_input_is_the_one(tmp_path: Path) -> None:
    """It alone writes them."""
    found = fleet(tmp_path, passing=COPIER, orders=STREAMS)
    assert require_copier(found, found.application("orders"), "passing").name == "passing"


@pytest.mark.parametrize(
    ("deployer", "commands", "start"),
    [
        (
            COPIER["deployer"],
            ["supervisorctl -s http://127.0.0.1:1 stop p-1", "supervisorctl -s http://127.0.0.1:1 start p-1"],
            "start p-1",
        ),
        (COMMAND, ["stop p-1", "start p-1"], "start p-1"),
        (MANUAL, ["# stop p-1 and leave it stopped", "# start p-1"], "start p-1"),
    ],
)
def test_a_copier_is_stopped_and_started_and_nothing_else(
    tmp_path: Path, deployer: dict[str, Any], commands: list[str], start: str
) -> None:
    """Each kind of deployer; what else it could do is refused."""
    entry = fleet(tmp_path, passing=COPIER | {"deployer": deployer}).side("passing")
    made = make_deployer(entry)
    abilities = made.abilities
    assert (abilities.topology, abilities.clear, abilities.once) == (False, False, False)
    target = Target(AS_DEPLOYED)
    made.apply("p-1", target)
    assert made.would_write == []
    assert made.manual_commands("p-1", target) == commands
    assert made.request("deploy", "p-1", target) == start
    for refused in (
        lambda: made.check_apply("p-1", Target("4.3.1")),
        lambda: made.clear_state("p-1"),
        lambda: made.check_start("p-1", (("a", "b"),)),
        lambda: made.topology(target),
    ):
        with pytest.raises((BadInput, WriteRefused), match="copier"):
            refused()
