"""The fleet as a whole: names, cross-checks, cache, five hundred files."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from kstreams_runbooks.documents import yaml_document
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import application_names, load_fleet, release_names
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings

Write = Callable[..., Path]

_recorders: list[tuple[str, list[str]]] = []


def _record(event: str, arguments: tuple[object, ...]) -> None:
    for below, opened in _recorders if event == "open" else ():
        # A folder is listed, and a file that is open already has a number.
        if isinstance(arguments[0], str) and arguments[0].startswith(below) and not os.path.isdir(arguments[0]):  # noqa: PTH112 - pathlib would call the hook again
            opened.append(arguments[0])


sys.addaudithook(_record)


@contextmanager
def opened_below(folder: Path) -> Iterator[list[str]]:
    """The files below a folder that the block opens, each as often as it does."""
    opened: list[str] = []
    _recorders.append((os.fspath(folder), opened))
    try:
        yield opened
    finally:
        _recorders.clear()


def test_unknown_names_are_answered_with_the_nearest(config: Path, write: Write) -> None:
    """Or with all of them where none is near, or with the folder where there are none."""
    write("payments", ("application_id: orders", "application_id: payments"))
    fleet = load_fleet(config)
    with pytest.raises(BadInput, match=r"^application ordes: unknown; did you mean orders\?$"):
        fleet.application("ordes")
    with pytest.raises(BadInput, match="application xyz: unknown; known are orders, payments"):
        fleet.application("xyz")
    with pytest.raises(BadInput, match=r"cluster dmo: unknown; did you mean demo\?"):
        fleet.cluster("dmo")


def test_a_folder_that_is_not_there_declares_nothing(tmp_path: Path) -> None:
    """It is said when an application is asked for; loading does not fail."""
    fleet = load_fleet(tmp_path / "nothing")
    assert application_names(tmp_path / "nothing") == ()
    with pytest.raises(BadInput, match="nothing/applications declares none"):
        fleet.application("orders")


def test_a_folder_that_cannot_be_looked_at_is_a_problem(tmp_path: Path) -> None:
    """Such as a path that no file system takes, or one that this login may not enter; loading does not fail."""
    fleet = load_fleet(tmp_path / ("x" * 300))
    assert ["cannot be listed (File name too long)" in str(one) for one in fleet.problems] == [True, True]
    with pytest.raises(BadInput, match=r"application orders: not known; .*applications cannot be listed"):
        fleet.application("orders")


def test_a_bad_cluster_disables_its_applications(config: Path) -> None:
    """With the cluster's own reason."""
    (config / "clusters" / "demo.yaml").write_text("connection: kafka_demo\nmax_concurrent_runs: 0\n")
    fleet = load_fleet(config)
    with pytest.raises(
        BadInput, match=r'cluster: "demo" cannot be used, its file is bad: .*max_concurrent_runs: 0 must'
    ):
        fleet.application("orders")
    with pytest.raises(BadInput, match=r"cluster demo is disabled: .*max_concurrent_runs"):
        fleet.cluster("demo")
    assert len(fleet.problems) == 2


def test_one_group_cannot_be_two_applications(config: Path, write: Write) -> None:
    """Holds are by name: two names would let two runs change it. On another cluster it is another group."""
    write("copy")
    fleet = load_fleet(config)
    assert set(fleet.disabled) == {"copy", "orders"}
    with pytest.raises(BadInput, match='application_id: "orders" is also the application_id of orders on cluster demo'):
        fleet.application("copy")
    (config / "clusters" / "second.yaml").write_text("connection: kafka_second\n")
    write("copy", ("cluster: demo", "cluster: second"))
    assert set(load_fleet(config).applications) == {"copy", "orders"}


def test_an_id_that_begins_another_is_a_warning(config: Path, write: Write) -> None:
    """Kafka's reset tool deletes internal topics by `<application.id>-` (KAFKA-14922); nothing is disabled."""
    write("orders-v2", ("application_id: orders", "application_id: orders-v2"))
    write("ordersx", ("application_id: orders", "application_id: ordersx"))
    fleet = load_fleet(config)
    assert (fleet.problems, len(fleet.applications)) == ((), 3)
    (warning,) = fleet.warnings
    assert 'orders.yaml: application_id: "orders" begins the application_id orders-v2' in str(warning)
    assert "KAFKA-14922" in str(warning)


def test_files_that_are_not_declarations(config: Path) -> None:
    """Hidden files are editors'; .yml is a mistake worth a warning; a name must be usable everywhere."""
    applications = config / "applications"
    (applications / ".orders.yaml").write_text("broken: [")
    (applications / "README.md").write_text("about")
    (applications / "late.yml").write_text("owner: x")
    (applications / "with space.yaml").write_text("owner: x")
    (applications / "bytes.yaml").write_bytes(b"\xff\xfe\x00\xd8")
    (applications / "empty.yaml").write_text("")
    fleet = load_fleet(config)
    assert set(fleet.applications) == {"orders"}
    assert application_names(config) == ("bytes", "empty", "orders", "with space")
    assert "late.yml is not read" in str(fleet.warnings[0])
    reasons = {name: str(problems[0]) for name, problems in fleet.disabled.items()}
    assert "empty.yaml must be a mapping" in reasons["empty"]
    assert "has a name that is not made of letters" in reasons["with space"]
    assert "bytes.yaml: line 1 has bytes that are not UTF-8" in reasons["bytes"]


def test_the_fleet_is_read_again_when_something_changed(
    config: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file changed, added, removed; a variable that a file uses. Nothing else."""
    first = load_fleet(config)
    monkeypatch.setenv("SOMETHING_ELSE", "x")
    assert load_fleet(config) is first
    added = write("payments", ("application_id: orders", "application_id: payments"))
    second = load_fleet(config)
    assert set(second.applications) == {"orders", "payments"}
    added.unlink()
    assert set(load_fleet(config).applications) == {"orders"}
    monkeypatch.setenv("DEMO_DIR", "/srv/other")
    deployer = load_fleet(config).application("orders").deployer
    assert isinstance(deployer, SupervisordSettings)
    assert deployer.instances[0].directory == Path("/srv/other/instances/orders-1")
    monkeypatch.delenv("DEMO_DIR")
    assert "orders" in load_fleet(config).disabled


def test_the_folder_comes_from_the_environment(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """KSTREAMS_RUNBOOKS_CONFIG, else the checkout's."""
    assert application_names() == ("orders",)
    (config / "applications" / "other.yaml").write_text("owner: x")
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(config))
    assert application_names() == ("orders", "other")
    assert load_fleet().directory == config


def test_releases_are_found_without_a_parser(config: Path, write: Write) -> None:
    """Those of every application, newest first; a file in another form of YAML has none, which costs an example."""
    assert release_names(config) == ("4.4.0", "4.3.1.2", "4.3.1.1", "4.3.1", "3.9.1", "3.4.1")
    write(
        "payments",
        ("application_id: orders", "application_id: payments"),
        ('    "3.9.1"', "    # one more\n    3.10.2"),
    )
    assert release_names(config)[4:] == ("3.10.2", "3.9.1", "3.4.1")
    (config / "applications" / "flow.yaml").write_text('deployer: {releases: {"5.0.0": /srv}}')
    (config / "applications" / "copier.yaml").write_text("kind: copier\ndeployer:\n  releases:\n    1.0.0: /srv\n")
    assert release_names(config)[0] == "4.4.0"
    assert release_names(config)[-1] == "3.4.1"


def test_five_hundred_applications(config: Path, write: Write) -> None:
    """Each file is opened once for its name and parsed once; one bad file among them disables one application."""
    for number in range(499):
        write(f"app-{number:03}", ("application_id: orders", f"application_id: app{number:03}"))
    (config / "applications" / "app-250.yaml").write_text("owner: [")
    with opened_below(config) as for_names:
        names = application_names(config)
        assert application_names(config) == names
    assert max(Counter(for_names).values()) == 1
    with opened_below(config) as for_fleet:
        fleet = load_fleet(config)
    assert len(for_fleet) >= 500, "the files that are opened are seen"
    with opened_below(config) as for_nothing:
        assert load_fleet(config) is fleet
    assert for_nothing == []
    assert (len(names), len(fleet.applications), len(fleet.problems)) == (500, 499, 1)
    # A parser in Python takes ten times as long.
    assert yaml_document.LOADER is yaml.CSafeLoader


def test_names_need_neither_pydantic_nor_yaml() -> None:
    """A DAG file imports them at every parse."""
    code = (
        "import sys; from kstreams_runbooks.fleet import application_names; application_names(); "
        "sys.exit(any(name in sys.modules for name in ('pydantic', 'yaml')))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
