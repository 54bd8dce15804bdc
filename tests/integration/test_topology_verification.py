"""The orders application's own build is red once its code would run another topology, or compute something else."""

import shutil
import subprocess
from pathlib import Path

import pytest
from lab.application import TO_RELEASE
from lab.settings import CHECKOUT

_BUILD_S = 300
_EXPECTED = Path("src/test/resources/topology.txt")
_PRESENT = Path("target/topology.txt")
_LOGIC = Path("src/main/java/orders/RunningCount.java")


@pytest.fixture
def application(tmp_path: Path) -> Path:
    """A copy of its own: what is built in the checkout may be running, and a test changes it."""
    copy = tmp_path / "orders"
    shutil.copytree(CHECKOUT / "tests" / "apps" / "orders", copy, ignore=shutil.ignore_patterns("target"))
    return copy


def maven_test(application: Path) -> subprocess.CompletedProcess[str]:
    """The tests of the application on one release, as its CI runs them."""
    return subprocess.run(
        ["mvn", "-q", "-B", "-Dstyle.color=never", "test", "-DskipTests=false", f"-Dkafka.version={TO_RELEASE}"],
        cwd=application,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_BUILD_S,
        check=False,
    )


def replace(file: Path, old: str, new: str) -> None:
    """One change; it has to be one."""
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


@pytest.mark.long
def test_the_committed_description_is_what_the_application_builds(application: Path) -> None:
    """Both files are there for `kstreams-runbooks verify`, and say the same."""
    built = maven_test(application)
    assert built.returncode == 0, built.stdout[-4000:]
    assert (application / _PRESENT).read_text("utf-8") == (application / _EXPECTED).read_text("utf-8")


@pytest.mark.long
def test_another_topology_and_other_logic_are_named(application: Path) -> None:
    """Another store is named with its node; a changed sum, which no description shows, with its result."""
    replace(application / _EXPECTED, "[orders-windowed-store]", "[orders-hourly-store]")
    replace(application / _LOGIC, "sum + order.amount()", "sum - order.amount()")
    built = maven_test(application)
    assert built.returncode == 1, built.stdout[-4000:]
    node = "Sub-topology: 1 Processor: orders-windowed (stores: [{}]) --> orders-windowed-closed"
    assert f"- {node.format('orders-hourly-store')}" in built.stdout
    assert f"+ {node.format('orders-windowed-store')}" in built.stdout
    assert "kstreams-runbooks verify --expected src/test/resources/topology.txt --actual target/topology.txt" in (
        built.stdout
    )
    assert "TopologyVerificationTest.resultsAreTheOnesThatRun" in built.stdout
    assert "orders-windowed-store" in (application / _PRESENT).read_text("utf-8")
