"""The manual deployer: a person edits a real file and restarts a real process, the deployer only sees it."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.deployers.manual import ManualDeployer
from kstreams_runbooks.errors import BadInput, Inconclusive, WriteRefused
from kstreams_runbooks.fleet.deployers.manual import ManualSettings
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.properties import write_atomically

# How a team may let it be seen: the file that the person edits, and the process that the person starts.
DESCRIBE = r"""
import json, sys
from pathlib import Path
import psutil

directory = Path(sys.argv[1])
values = dict(line.split("=", 1) for line in (directory / "deployment.properties").read_text().splitlines())
try:
    process = psutil.Process(int((directory / "pid").read_text()))
    up = process.is_running() and process.status() != psutil.STATUS_ZOMBIE
except (FileNotFoundError, psutil.NoSuchProcess):
    up = False
started = int(process.create_time() * 1000) if up else None
written = (directory / "deployment.properties").stat().st_mtime * 1000
one = {
    "instance": directory.name,
    "process": "running" if up else "stopped",
    "started_at_ms": started,
    "pid": process.pid if up else None,
    "release": values.pop("release", None),
    "settings": values,
    "applied": started > written + 1000 if up else None,
    "missing": "" if up else "nothing runs",
}
print(json.dumps({"schema_version": 1, "instances": [one]}))
"""


class Person:
    """Does manually what a deployer would do."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.process: subprocess.Popen[bytes] | None = None

    def writes(self, text: str) -> None:
        """Edits the file; a start is told from it by whole seconds."""
        write_atomically(self.directory / "deployment.properties", text)
        time.sleep(2.1)

    def starts(self) -> None:
        """Starts the instance."""
        self.process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        (self.directory / "pid").write_text(str(self.process.pid))

    def stops(self) -> None:
        """Stops it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    """With one instance on 3.4.1, stopped."""
    directory = tmp_path / "o1"
    directory.mkdir()
    (tmp_path / "instances.py").write_text(DESCRIBE)
    one = Person(directory)
    (directory / "deployment.properties").write_text("release=3.4.1\n")
    yield one
    one.stops()


def declared(tmp_path: Path, *, seen: bool = True) -> ManualSettings:
    """The fleet entry, with or without a way to look."""
    look = {"run": [sys.executable, str(tmp_path / "instances.py"), str(tmp_path / "o1")]}
    return ManualSettings.model_validate(
        {
            "kind": "manual",
            "instances": [{"name": "o1", "metrics": "http://o1:1/jolokia"}],
            "releases": {"3.4.1": "orders:17", "4.3.1": "orders:18"},
            "how": "edit o1/deployment.properties",
            "commands": {"instances": look} if seen else {},
        }
    )


def deployer(tmp_path: Path, *, dry_run: bool = False) -> ManualDeployer:
    """A deployer for real."""
    return ManualDeployer(declared(tmp_path), application_id="orders", dry_run=dry_run)


def described(tmp_path: Path) -> Deployment:
    """What a new deployer sees."""
    [one] = deployer(tmp_path).instances()
    return one


def test_what_a_person_does_is_seen(person: Person, tmp_path: Path) -> None:
    """Each stage of it: set, not in effect yet, restarted."""
    assert (described(tmp_path).process, described(tmp_path).release) == ("stopped", "3.4.1")
    person.writes("release=3.4.1\n")
    person.starts()
    first = described(tmp_path)
    assert (first.process, first.settings, first.applied) == ("running", (), True)
    person.writes("release=4.3.1\nupgrade.from=3.4\n")
    set_ = described(tmp_path)
    assert (set_.release, set_.settings, set_.applied) == ("4.3.1", (("upgrade.from", "3.4"),), False)
    assert set_.pid == first.pid
    person.stops()
    assert described(tmp_path).applied == Missing("whether its settings are in effect: nothing runs")
    person.starts()
    assert described(tmp_path).applied is True
    assert described(tmp_path).pid != first.pid


def test_it_changes_nothing_itself(person: Person, tmp_path: Path) -> None:
    """Every mutating verb says what to ask a person for; a restart is refused before anything."""
    person.starts()
    before = described(tmp_path)
    control = deployer(tmp_path)
    assert not control.abilities.act
    wanted = (
        r"ask a person: set o1 to release 4\.3\.1 \(orders:18\) without settings .* \(edit o1/deployment\.properties\)"
    )
    with pytest.raises(WriteRefused, match=wanted):
        control.apply("o1", Target("4.3.1"))
    for call, asked in (
        (control.stop, "stop o1 and leave it stopped"),
        (control.start, "start o1"),
        (control.clear_state, "delete the local state of o1"),
    ):
        with pytest.raises(WriteRefused, match=f"the manual deployer changes nothing itself; ask a person: {asked}"):
            call("o1")
    with pytest.raises(WriteRefused, match="o1: its deployer changes nothing itself, so nothing is restarted"):
        restart(control, "o1", Target("4.3.1"), remove_members=None, log=lambda _: None)
    assert described(tmp_path).pid == before.pid
    assert (person.directory / "deployment.properties").read_text() == "release=3.4.1\n"


def test_dry_run_records_the_requests(person: Person, tmp_path: Path) -> None:
    """With the same guards."""
    dry = deployer(tmp_path, dry_run=True)
    dry.apply("o1", Target.of("4.3.1", {"upgrade.from": "3.4"}))
    dry.stop("o1")
    assert [line.split(" (")[0] for line in dry.would_write] == [
        "ask a person: set o1 to release 4.3.1",
        "ask a person: stop o1 and leave it stopped",
    ]
    some = deployer(tmp_path).manual_commands("o1", Target("3.4.1"), clears=TaskDirectories(("1_",)))
    assert some[1].startswith("# delete the task directories 1_* of o1 while it is stopped")
    assert person.process is None


def test_a_person_is_asked_to_move_what_the_form_lets_a_run_lose(tmp_path: Path) -> None:
    """From where to where; the card has the same place."""
    asks = ManualDeployer(deployer(tmp_path)._settings, application_id="orders", dry_run=True, aside="kept-1a2b")
    assert asks.kept_aside("o1") == "<state.dir>/orders.kept-1a2b"
    wanted = asks.request("clear_state", "o1")
    assert wanted.startswith(
        "move the local state of o1 while it is stopped (<state.dir>/<application.id>/*, nothing else) to "
        "<state.dir>/orders.kept-1a2b"
    )
    some = asks.request("clear_state", "o1", directories=("1_",))
    assert some.startswith("move the task directories 1_* of o1 while it is stopped")
    assert asks.abilities.keeps_aside
    assert deployer(tmp_path).kept_aside("o1") == ""


def test_guards_speak_before_anybody_is_asked(person: Person, tmp_path: Path) -> None:
    """What could never be observed is not asked for."""
    control = deployer(tmp_path)
    with pytest.raises(BadInput, match=r"release '9\.9' is not declared \(declared: 3\.4\.1, 4\.3\.1\)"):
        control.check_apply("o1", Target("9.9"))
    with pytest.raises(BadInput, match="instance 'o9' is not declared"):
        control.check_apply("o9", Target("4.3.1"))
    with pytest.raises(WriteRefused, match=r"o1: no runbook sets num\.stream\.threads"):
        control.check_apply("o1", Target.of("4.3.1", {"num.stream.threads": "2"}))
    person.writes("release=3.4.1\nsasl.jaas.config=hunter2\n")
    with pytest.raises(
        WriteRefused, match=r"o1: the instances command prints sasl\.jaas\.config among its settings"
    ) as raised:
        control.check_apply("o1", Target("4.3.1"))
    assert "hunter2" not in str(raised.value)


def test_without_a_way_to_look_everything_is_missing(tmp_path: Path) -> None:
    """Never fine for want of data: the sentence says what to declare."""
    control = ManualDeployer(declared(tmp_path, seen=False), application_id="orders")
    [one] = control.instances()
    assert (one.process, one.settings, one.obstacles) == ("unknown", (), ())
    for part in (one.release, one.applied):
        assert isinstance(part, Missing)
        assert part.missing.endswith("no instances command; declare deployer.commands.instances")
    with pytest.raises(BadInput, match="no topology command is declared"):
        control.topology(Target("4.3.1"))
    assert one.autorestart == Missing("its deployer does not report autorestart")
    assert control.state_sizes("o1") == Missing(
        "the size of its local state is not seen from here: a person deploys it; look at its disk"
    )
    assert "when its local state changed is not seen from here" in control.state_times("o1").missing


def test_a_setting_for_one_start_is_in_the_request(tmp_path: Path) -> None:
    """With what becomes of it afterwards; what no runbook sets is requested of nobody."""
    once = (("processing.guarantee", "at_least_once"),)
    control = ManualDeployer(declared(tmp_path), application_id="orders", dry_run=False)
    alone = "with processing.guarantee=at_least_once for this start alone, and remove it from its settings afterwards"
    with pytest.raises(WriteRefused, match=f"ask a person: start o1 {alone}"):
        control.start("o1", once)
    assert f", then restart o1 {alone}" in control.request("deploy", "o1", Target("4.3.1"), once=once)
    with pytest.raises(WriteRefused, match=r"o1: no runbook sets sasl\.jaas\.config"):
        control.check_start("o1", (("sasl.jaas.config", "x"),))
    dry = ManualDeployer(declared(tmp_path), application_id="orders")
    dry.start("o1", once)
    assert alone in dry.would_write[-1]


def test_a_dry_run_takes_what_is_stated_and_a_real_run_does_not(tmp_path: Path) -> None:
    """By somebody's word: good enough to plan with, marked as such, and never where something is changed."""
    entry = declared(tmp_path, seen=False).model_dump() | {
        "stated": {"release": "3.4.1", "settings": {"upgrade.from": "3.3", "secret.key": "hunter2"}}
    }
    settings = ManualSettings.model_validate(entry)
    [one] = ManualDeployer(settings, application_id="orders", dry_run=True).instances()
    assert (one.release, one.applied, one.stated, one.process) == ("3.4.1", True, True, "unknown")
    assert dict(one.settings) == {"upgrade.from": "3.3", "secret.key": "(hidden)"}
    [real] = ManualDeployer(settings, application_id="orders", dry_run=False).instances()
    assert isinstance(real.release, Missing)
    assert real.stated is False
    looking = {**entry, "commands": {"instances": {"run": ["/bin/false"]}}}
    with pytest.raises(Exception, match="it refused"):
        ManualDeployer(ManualSettings.model_validate(looking), application_id="orders").instances()
    with pytest.raises(ValueError, match=r"has release 9\.9\.9, which is not one of 3\.4\.1, 4\.3\.1"):
        ManualSettings.model_validate({**entry, "stated": {"release": "9.9.9"}})


def test_an_instances_command_that_breaks_is_inconclusive(person: Person, tmp_path: Path) -> None:
    """A traceback with exit code 1 and without the contract's document is not taken for anything."""
    (person.directory / "deployment.properties").write_text("not a property\n")
    with pytest.raises(Exception, match=r"orders: instances .*exit 1: ValueError"):
        deployer(tmp_path).instances()
    (tmp_path / "instances.py").write_text(f"print({json.dumps({'ok': True})!r})")
    with pytest.raises(Inconclusive, match="printed output that does not match the contract"):
        deployer(tmp_path).instances()


def test_manual_commands_are_requests(person: Person, tmp_path: Path) -> None:
    """As comments, so that pasting them into a shell does nothing."""
    lines = deployer(tmp_path).manual_commands("o1", Target("3.4.1"), clears=NO_DIRECTORIES)
    assert [line.split(" (")[0] for line in lines] == [
        "# stop o1 and leave it stopped",
        "# delete the local state of o1 while it is stopped",
        "# set o1 to release 3.4.1",
    ]
    with pytest.raises(WriteRefused, match="no runbook sets"):
        deployer(tmp_path).manual_commands("o1", Target.of("3.4.1", {"sasl.jaas.config": "(hidden)"}))
    assert person.process is None


def test_the_fleet_entry_decides(tmp_path: Path) -> None:
    """By its kind."""

    class Application:
        application_id = "orders"
        as_deployed = False
        copies = False
        deployer = declared(tmp_path)

    assert isinstance(make_deployer(Application()), ManualDeployer)
