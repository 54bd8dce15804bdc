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
ENTRY = yaml.safe_load((CONFIG / "applications" / "orders.yaml").read_text())
RELEASES, LIBRARIES = list(ENTRY["deployer"]["releases"]), ENTRY["libraries"]
KEPT = CHECKOUT / "tests" / "apps" / "orders" / "src" / "test" / "resources"
# Releases on one library have a description of their own, all others the same.
BUMP, COUNTED, FLUSH = ("library_bump",), ("stop_and_restart",), ("control_topic_flush",)


def side(release: str) -> Side:
    """The demo's application in one release."""
    declared = release_declaration("orders", release, LIBRARIES.get(release, release), CONFIG)
    assert declared is not None
    own = KEPT / f"topology-{release}.txt"
    return Side(parse_topology((own if own.exists() else KEPT / "topology.txt").read_text()), declared)


@pytest.mark.parametrize("release", RELEASES)
def test_the_demo_declares_what_its_description_leaves_out(release: str) -> None:
    """Every store, and nothing that the description does not have."""
    demo = side(release)
    check_declaration(demo)
    buffers = {store for name in demo.declared.suppressions for store in getattr(demo.nodes[name], "stores", ())}
    assert demo.declared.stores.keys() | buffers == demo.topology.stores


@pytest.mark.parametrize(
    ("pair", "runbooks"),
    list(zip((*pairwise(RELEASES[:-1]), ("4.3.1", RELEASES[-1])), (BUMP, BUMP, COUNTED, FLUSH, BUMP), strict=True)),
    ids=str,
)
def test_between_releases_of_the_demo_nothing_is_left_undeclared(
    pair: tuple[str, str], runbooks: tuple[str, ...]
) -> None:
    """Only the library changes, then an output is new, then a repartition topic goes; the plan is decided each time."""
    old, new = pair
    change = read_change(side(old), side(new), topology_change_rules(), upgrade_path_rules())
    assert change.plan.runbooks == runbooks, change.plan.reasons


def test_the_flush_of_the_demo_moves_its_store_and_drops_one_topic() -> None:
    """The store restores from the changelog that it keeps; only the repartition topic is no longer read."""
    before, after = side("4.3.1.1"), side("4.3.1.2")
    change = read_change(before, after, topology_change_rules(), upgrade_path_rules())
    assert {finding.id for finding in change.findings} == {
        "mixed-topology-roll",
        "repartition-removed",
        "store-moved-subtopology",
        "stale-task-directories",
        "suppress-memory-on-failover",
    }
    assert before.topology.stores == after.topology.stores


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
    assert (
        "5.0.0.yaml is not a release of orders (3.4.1, 3.9.1, 4.3.1, 4.3.1.1, 4.3.1.2, 4.4.0), so nothing reads "
        "the file" in unread
    )


def test_the_fleet_command_reads_the_settings_of_all_applications(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message about such a file leads to this command."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(config))
    assert json.loads(CliRunner().invoke(cli, ["fleet", "--format", "json"]).stdout)["problems"] == []
    (config / "notifications.yaml").write_text("notifier: {}\n")
    (config / "fleet_check.yaml").write_text("samples: 1\n")
    result = CliRunner().invoke(cli, ["fleet", "--format", "json"])
    notifications, check = json.loads(result.stdout)["problems"]
    assert result.exit_code == 2
    assert "did you mean notifiers?; messages are kept and not sent until it is corrected" in notifications
    assert "fleet_check.yaml" in check
    assert "nothing is checked until it is corrected" in check
