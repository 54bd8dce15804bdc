"""The orders application described with the settings that a run would set, while everything is down; no broker."""

import os
import sys
import time
from collections.abc import Iterator

import pytest
import yaml
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.deployers import Deployer, make_deployer
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings.readings import InstanceReading, Missing
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.topology.topology import Source, Topology
from kstreams_runbooks.observe.application.topologies import may_have_run, run_or_set
from lab import leftovers
from lab.application import FROM_RELEASE, TO_RELEASE, Deployed, write_instances
from lab.settings import CHECKOUT, Lab, Ports
from lab.supervise import Program, Supervisor, inherited
from world.given import command_deployer, manual_deployer

INPUTS, AUDIT = {"orders", "customers"}, "orders-audit-repartition"
SWAPPED = Target.of(FROM_RELEASE, {"topic.orders": "orders-control", "audit": "true"})


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A supervisord with both instances, which never ran, and a fleet entry of its own."""
    run_dir = tmp_path_factory.mktemp("described")
    made = Lab(run_dir, Ports(23_850), config=run_dir / "config")
    (made.config / "applications").mkdir(parents=True)
    (made.config / "clusters").mkdir()
    cluster = (CHECKOUT / "config" / "clusters" / "demo.yaml").read_text(encoding="utf-8")
    (made.config / "clusters" / "demo.yaml").write_text(cluster, encoding="utf-8")
    write_instances(made, Deployed())
    programs = [Program(name, (sys.executable, "-c", "import time; time.sleep(600)")) for name in Deployed().names]
    at = time.time()
    session = Supervisor(made).launch(programs, inherited(os.environ))
    leftovers.Started(session, at, made.ports.base).write(made.started_file)
    yield made
    leftovers.stop(made)


@pytest.fixture
def control(lab: Lab, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Deployer:
    """The deployer of this kind, as config/applications and the tests declare it."""
    for name, value in lab.fleet_environment().items():
        monkeypatch.setenv(name, value)
    return declared(lab, request.param)


def declared(lab: Lab, kind: str) -> Deployer:
    """Acts for real."""
    entry = yaml.safe_load((CHECKOUT / "config" / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    if kind != "supervisord":
        entry["deployer"] = {"command": command_deployer, "manual": manual_deployer}[kind](lab)
    entry["deployer"]["settable"] = list(dict(SWAPPED.settings))
    (lab.config / "applications" / "orders.yaml").write_text(yaml.safe_dump(entry), encoding="utf-8")
    return make_deployer(load_fleet().application("orders"), dry_run=False)


def down(control: Deployer) -> tuple[InstanceReading, ...]:
    """What is read while nothing answers."""
    found = control.instances()
    assert [one.process for one in found] == ["stopped", "stopped"]
    return tuple(InstanceReading(one.instance, one, Missing("nothing listens")) for one in found)


def topics(found: tuple[Topology, ...] | Missing) -> set[str]:
    """Every topic that they read."""
    assert not isinstance(found, Missing), found.missing
    nodes = [node for one in found for _, node in one.nodes()]
    return {topic for node in nodes if isinstance(node, Source) for topic in node.topics}


@pytest.mark.parametrize("control", ["supervisord", "command", "manual"], indirect=True)
def test_a_stopped_application_is_read_with_the_settings_that_are_set(lab: Lab, control: Deployer) -> None:
    """Before, once they are written, and once they are taken back; in between either may have run last."""
    writer = control if control.abilities.act else declared(lab, "command")
    assert control.abilities.topology_settings
    for name in Deployed().names:
        writer.apply(name, Target(FROM_RELEASE))
    assert topics(run_or_set(down(control), control.topology)) >= INPUTS
    writer.apply("orders-1", SWAPPED)
    one_set = may_have_run(down(control), control.topology, control.topology_target)
    assert {*INPUTS, "orders-control", AUDIT} <= topics(one_set)
    writer.apply("orders-2", SWAPPED)
    for found in (
        run_or_set(down(control), control.topology),
        may_have_run(down(control), control.topology, control.topology_target),
    ):
        assert {"orders-control", "customers", AUDIT} <= topics(found)
        assert "orders" not in topics(found)
    for name in Deployed().names:
        writer.apply(name, Target(FROM_RELEASE))
    assert "orders-control" not in topics(run_or_set(down(control), control.topology))


@pytest.mark.parametrize("control", ["supervisord", "command", "manual"], indirect=True)
def test_a_release_is_described_as_a_run_would_set_it(control: Deployer) -> None:
    """Neither written nor running anywhere; `upgrade.from` is no other description."""
    plain = parse_topology(control.topology(Target(TO_RELEASE)))
    assert AUDIT not in topics((plain,))
    wanted = Target.of(TO_RELEASE, {**dict(SWAPPED.settings), "upgrade.from": "3.4"})
    assert control.topology_target(wanted) == Target(TO_RELEASE, SWAPPED.settings)
    assert {"orders-control", "customers", AUDIT} <= topics((parse_topology(control.topology(wanted)),))
    assert all(one.target == Target(FROM_RELEASE) for one in control.instances())
