"""What a release declares stands beside its application's fleet entry."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.change.reading import read_change
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.contradictions import check_declaration
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import application_names, load_fleet, release_declaration
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from lab.settings import CHECKOUT

CONFIG = CHECKOUT / "config"
RELEASES = list(yaml.safe_load((CONFIG / "applications" / "orders.yaml").read_text())["deployer"]["releases"])
KEPT = CHECKOUT / "tests" / "apps" / "orders" / "src" / "test" / "resources" / "topology.txt"


def side(release: str) -> Side:
    """The demo's application in one release."""
    declared = release_declaration("orders", release, release, CONFIG)
    assert declared is not None
    return Side(parse_topology(KEPT.read_text()), declared)


@pytest.mark.parametrize("release", RELEASES)
def test_the_demo_declares_what_its_description_leaves_out(release: str) -> None:
    """Every store, and nothing that the description does not have."""
    demo = side(release)
    check_declaration(demo)
    buffers = {store for name in demo.declared.suppressions for store in getattr(demo.nodes[name], "stores", ())}
    assert demo.declared.stores.keys() | buffers == demo.topology.stores


@pytest.mark.parametrize(("old", "new"), list(pairwise(RELEASES)))
def test_between_releases_of_the_demo_nothing_is_left_undeclared(old: str, new: str) -> None:
    """Only the library changes, and that is what the plan says."""
    change = read_change(side(old), side(new), topology_change_rules(), upgrade_path_rules())
    assert change.plan.runbooks == ("library_bump",), change.plan.reasons


def test_a_folder_beside_the_entry_is_no_application(config: Path) -> None:
    """The forms and the fleet know the applications alone."""
    folder = config / "applications" / "orders"
    folder.mkdir()
    (folder / "3.4.1.yaml").write_text("stores: {}\n")
    assert application_names(config) == ("orders",)
    assert load_fleet(config).problems == ()


def test_a_release_without_a_file_declares_nothing(config: Path) -> None:
    """Which is another thing than a file with nothing in it."""
    assert release_declaration("orders", "3.4.1", "3.4.1", config) is None
    folder = config / "applications" / "orders"
    folder.mkdir()
    (folder / "3.4.1.yaml").write_text("stores: {}\n")
    declared = release_declaration("orders", "3.4.1", "3.4.1", config)
    assert declared is not None
    assert str(declared.library) == "3.4.1"


def test_a_library_that_is_not_the_one_of_the_entry_is_said(config: Path) -> None:
    """The file of another release, copied and not read again."""
    folder = config / "applications" / "orders"
    folder.mkdir()
    (folder / "4.3.1.yaml").write_text('library: "3.4.1"\n')
    with pytest.raises(BadInput, match=r"4\.3\.1\.yaml: library: 3\.4\.1, and the fleet entry of orders has 4\.3\.1"):
        release_declaration("orders", "4.3.1", "4.3.1", config)


def test_the_fleet_command_reads_what_releases_declare(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad file is found before a run needs it, and one that nothing would ever read too."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(config))
    folder = config / "applications" / "orders"
    folder.mkdir()
    (folder / "3.4.1.yaml").write_text("store: {}\n")
    (folder / "4.3.1.yaml").write_text('library: "4.3.0"\n')
    (folder / "5.0.0.yaml").write_text("stores: {}\n")
    result = CliRunner().invoke(cli, ["fleet", "--format", "json"])
    bad, other, unread = json.loads(result.stdout)["problems"]
    assert result.exit_code == 2
    assert "3.4.1.yaml: store" in bad
    assert '4.3.1.yaml: library: "4.3.0" is not the one of the fleet entry (4.3.1)' in other
    assert "5.0.0.yaml is not a release of orders (3.4.1, 3.9.1, 4.3.1), so nothing reads the file" in unread
