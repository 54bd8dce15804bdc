"""The digests of a running application are those of its build: the agent's document next to the command's."""

from pathlib import Path

import pytest
from kstreams_runbooks.decide.comparison.code import code_changes
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.instances.of_build import with_code_of_build
from kstreams_runbooks.decide.instances.running_facts import of_a_release
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.topology.declaration import Declaration, Described, TopologyFacts
from kstreams_runbooks.rules import release_settings
from lab.facts_agent import RELEASES, orders
from lab.topology_facts import COMMAND, jar, java

OLD, NEW = "3.4.1", "4.3.1"
FACTORY = "orders.OrdersApplication::topology"


def build_of(release: str, settings: str, folder: Path) -> TopologyFacts:
    """What the topology command of a release prints with these settings."""
    file = folder / f"{release}.properties"
    file.write_text(settings, encoding="latin-1")
    classes = f"{jar()}:{RELEASES / release}/*"
    ran = java(classes, COMMAND, "--factory", FACTORY, "--properties", str(file))
    assert ran.returncode == 0, ran.stderr
    return read_facts(ran.stdout, release)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[TopologyFacts, str]:
    """What the agent shows of the old release, and the settings that it was started with."""
    folder = tmp_path_factory.mktemp("running")
    with orders(OLD, folder, [f"-javaagent:{jar()}"]) as jvm:
        [bean] = jvm.beans().values()
    return read_facts(bean["Facts"], "agent"), (folder / "orders.properties").read_text(encoding="latin-1")


def running(shown: TopologyFacts, build: TopologyFacts, wanted: TopologyFacts) -> Described:
    """The running version with what the command of its release prints."""
    read = of_a_release(shown.read)
    version = Described(OLD, OLD, "orders-1", shown.text or "", read, read=True)
    printed = Described(OLD, "", f"topology command of {OLD}", build.text or "", of_a_release(build.read))
    return with_code_of_build(version, read, printed, wanted.read.code, release_settings())


def test_a_running_application_has_the_code_of_its_build(shown: tuple[TopologyFacts, str], tmp_path: Path) -> None:
    """Its launcher has settings of its own in the file of the command; every part compares with the other release."""
    facts, settings = shown
    build, wanted = (build_of(release, f"{settings}\nmetrics.port=1\n", tmp_path) for release in (OLD, NEW))
    found = running(facts, build, wanted)
    assert found.unread == ()
    sides = [
        Side(parse_topology(text or ""), Declaration(code=code, library=library))
        for text, code, library in (
            (found.text, found.declaration.code, found.declaration.library),
            (wanted.text, wanted.read.code, wanted.read.library),
        )
    ]
    states = [one.state for one in code_changes(Compared(*sides))]
    assert (set(states), len(states) > 30) == ({"same"}, True)


def test_a_build_with_other_settings_is_not_what_runs(shown: tuple[TopologyFacts, str], tmp_path: Path) -> None:
    """A store without a changelog is a fact that the agent shows otherwise."""
    facts, settings = shown
    build = build_of(OLD, f"{settings}\nwindowed.changelog=false\n", tmp_path)
    found = running(facts, build, build)
    assert not found.declaration.code
    [why] = found.unread
    assert "stores.orders-windowed-store.logging (True and False)" in why
