"""The orders application's own deploy script behind the command deployer, on a real supervisord without a broker."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.deployers.command.deployer import CommandDeployer
from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.fleet.deployers.command import CommandSettings
from kstreams_runbooks.model.readings.readings import Deployment
from kstreams_runbooks.model.target import Target
from lab import leftovers
from lab.application import FROM_RELEASE, Deployed, write_instances
from lab.settings import CHECKOUT, Lab, Ports
from lab.supervise import Program, Supervisor, inherited
from world.given import command_deployer


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """A supervisord with both instances, which only sleep."""
    lab = Lab(tmp_path, Ports(23_900), CHECKOUT)
    programs = []
    for name in ("orders-1", "orders-2"):
        (lab.instances / name / "state" / "orders" / "0_0").mkdir(parents=True)
        (lab.instances / name / "deployment.properties").write_text("release=3.4.1\n")
        programs.append(Program(name, (sys.executable, "-c", "import time; time.sleep(600)")))
    at = time.time()
    session = Supervisor(lab).launch(programs, inherited(os.environ))
    leftovers.Started(session, at, lab.ports.base).write(lab.started_file)
    yield lab
    leftovers.stop(lab)


def deployer(lab: Lab) -> CommandDeployer:
    """For real."""
    return CommandDeployer(
        CommandSettings.model_validate(command_deployer(lab)), application_id="orders", dry_run=False
    )


def described(lab: Lab, name: str = "orders-1") -> Deployment:
    """What it says of one instance."""
    return next(one for one in deployer(lab).instances() if one.instance == name)


def test_a_restart_with_a_new_release_and_settings(lab: Lab) -> None:
    """Stop, set, start; at once one after another, and still told apart."""
    control = deployer(lab)
    control.start("orders-1")
    first = described(lab)
    assert (first.process, first.release, first.settings, first.applied) == ("running", "3.4.1", (), True)
    restart(control, "orders-1", Target.of("4.3.1", {"upgrade.from": "3.4"}), remove_members=None, log=lambda _: None)
    second = described(lab)
    assert (second.release, second.settings, second.applied) == ("4.3.1", (("upgrade.from", "3.4"),), True)
    assert second.pid != first.pid
    assert second.started_at_ms is not None
    assert first.started_at_ms is not None
    assert second.started_at_ms > first.started_at_ms
    control.apply("orders-1", Target("4.3.1"))
    assert described(lab).applied is False
    assert described(lab, "orders-2").process == "stopped"


def test_state_is_cleared(lab: Lab) -> None:
    """Of the one instance."""
    deployer(lab).clear_state("orders-2")
    assert list((lab.instances / "orders-2" / "state" / "orders").iterdir()) == []
    assert [path.name for path in (lab.instances / "orders-1" / "state" / "orders").iterdir()] == ["0_0"]


def test_sizes_of_local_state(lab: Lab) -> None:
    """By task directory."""
    (lab.instances / "orders-1" / "state" / "orders" / "0_0" / "rocksdb").mkdir()
    (lab.instances / "orders-1" / "state" / "orders" / "0_0" / "rocksdb" / "1.sst").write_bytes(b"x" * 1000)
    assert deployer(lab).state_sizes("orders-1") == {"0_0": 1000}
    assert deployer(lab).state_sizes("orders-2") == {"0_0": 0}
    times = deployer(lab).state_times("orders-1")
    assert isinstance(times, dict)
    assert times.keys() == {"0_0"}
    assert 0 < times["0_0"].oldest_ms <= times["0_0"].newest_ms <= time.time() * 1000


def test_a_setting_for_one_start_is_passed_to_it(lab: Lab) -> None:
    """In the file that run-instance deletes; what is declared stays as it is, so nothing drifts."""
    control, file = deployer(lab), lab.instances / "orders-1" / "once.properties"
    control.start("orders-1", (("processing.guarantee", "at_least_once"),))
    assert file.read_text() == "processing.guarantee=at_least_once\n"
    file.unlink()
    assert (described(lab).settings, described(lab).applied) == ((), True)
    control.stop("orders-1")
    control.start("orders-1")
    assert not file.exists()


def test_the_launcher_reads_it_once(lab: Lab) -> None:
    """The application ends on a value that cannot be; the next start does not have it."""
    directory = lab.instances / "orders-1"
    write_instances(lab, Deployed())
    (directory / "once.properties").write_text("window.size.ms=0\n")
    command = [str(lab.apps / "orders" / "bin" / "run-instance"), str(directory)]
    first = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (first.returncode, "window.size.ms is 0" in first.stderr) == (2, True)
    assert not (directory / "once.properties").exists()
    (directory / "deployment.properties").write_text(f"release={FROM_RELEASE}\nwindow.grace.ms=x\n")
    second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (second.returncode, "window.grace.ms is 'x'" in second.stderr) == (2, True)


def test_what_is_wrong_is_its_exit_code(lab: Lab) -> None:
    """An instance that is not there, a supervisord that is not there."""
    (lab.instances / "orders-2" / "deployment.properties").unlink()
    with pytest.raises(BadInput, match=r"orders-2: stop \(\S+\): its input was wrong \(exit 2: deploy: ther"):
        deployer(lab)._done("orders-2", "stop", deployer(lab)._settings.commands.stop)
    elsewhere = Lab(lab.run_dir, Ports(23_950), CHECKOUT)
    with pytest.raises(Unreachable, match=r"exit 4: deploy: supervisord does not answer \(ConnectionRefusedError\)"):
        deployer(elsewhere).instances()
