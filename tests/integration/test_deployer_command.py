"""The command deployer against a team's script: real processes that it starts and stops, every way to be wrong."""

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.deployers.command.deployer import CommandDeployer
from kstreams_runbooks.errors import (
    BadInput,
    Inconclusive,
    Interrupted,
    Refused,
    RunbookError,
    StillUp,
    Unreachable,
    WriteRefused,
)
from kstreams_runbooks.fleet.deployers.command import CommandSettings
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, FileTimes
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.observe.application.application import reading_instances
from lab.processes import started_since
from world.team_script import DEPLOY

Declare = Callable[..., CommandSettings]


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Path]:
    """Two instances on 3.4.1, stopped; what runs at the end is killed."""
    (tmp_path / "deploy.py").write_text(DEPLOY)
    for name in ("o1", "o2"):
        (tmp_path / name / "state").mkdir(parents=True)
        (tmp_path / name / "state" / "rocksdb").write_text("data")
        (tmp_path / name / "set.json").write_text('{"release": "3.4.1", "settings": {}}')
    yield tmp_path
    for file in tmp_path.glob("*/run.json"):
        pid = json.loads(file.read_text())["pid"]
        try:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            continue


@pytest.fixture
def declare(team: Path) -> Declare:
    """The fleet entry of the team's script; keywords replace single commands."""

    def declare(settable: tuple[str, ...] = (), **commands: Any) -> CommandSettings:
        def run(*words: str) -> dict[str, Any]:
            return {"run": [sys.executable, str(team / "deploy.py"), str(team), *words], "timeout_s": 20}

        return CommandSettings.model_validate(
            {
                "kind": "command",
                "instances": [{"name": name, "metrics": f"http://{name}:1/jolokia"} for name in ("o1", "o2")],
                "releases": {"3.4.1": "orders:17", "4.3.1": "orders:18"},
                "settable": settable,
                "commands": {
                    "instances": run("instances"),
                    "apply": run("apply", "{instance}", "{release}", "{settings}"),
                    "stop": run("stop", "{instance}"),
                    "start": run("start", "{instance}"),
                    "clear_state": run("clear_state", "{instance}"),
                    "topology": run("topology", "{release}", "{artifact}"),
                    **commands,
                },
            }
        )

    return declare


def deployer(settings: CommandSettings, *, dry_run: bool = False) -> CommandDeployer:
    """A deployer for real."""
    return CommandDeployer(settings, application_id="orders", dry_run=dry_run)


def described(control: CommandDeployer, instance: str = "o1") -> Deployment:
    """What it says of one instance."""
    return next(one for one in control.instances() if one.instance == instance)


def called(team: Path) -> list[list[str]]:
    """What the script was called with, but for instances."""
    calls = [json.loads(line) for line in (team / "calls").read_text().splitlines()]
    return [call for call in calls if call[0] != "instances"]


def test_life_of_an_instance(team: Path, declare: Declare) -> None:
    """Start, set, restart, stop; each of them twice calls the team's command once."""
    control = deployer(declare())
    assert described(control).process == "stopped"
    assert described(control).applied == Missing("whether its settings are in effect: it does not run")
    before_ms = time.time() * 1000
    control.start("o1")
    control.start("o1")
    first = described(control)
    assert (first.process, first.release, first.settings, first.applied) == ("running", "3.4.1", (), True)
    assert first.started_at_ms is not None
    assert started_since(before_ms, first.started_at_ms)

    control.apply("o1", Target.of("4.3.1", {"upgrade.from": "3.4"}))
    control.apply("o1", Target.of("4.3.1", {"upgrade.from": "3.4"}))
    set_ = described(control)
    assert (set_.release, set_.settings, set_.applied, set_.pid) == (
        "4.3.1",
        (("upgrade.from", "3.4"),),
        False,
        first.pid,
    )
    control.stop("o1")
    control.stop("o1")
    assert described(control).process == "stopped"
    control.start("o1")
    second = described(control)
    assert second.applied is True
    assert second.pid != first.pid
    assert [call[0] for call in called(team)] == ["start", "apply", "stop", "start"]
    assert called(team)[1] == ["apply", "o1", "4.3.1", '{"upgrade.from":"3.4"}']
    assert described(control, "o2").process == "stopped"


def test_settings_arrive_as_they_are(team: Path, declare: Declare) -> None:
    """One argument of JSON: quotes, spaces, dollars and braces are nobody's syntax on the way."""
    odd = {"processing.guarantee": "a \"b\" 'c' $(touch x) {d} \\ é", "num.stream.threads": "4"}
    control = deployer(declare(settable=("num.stream.threads",)))
    control.apply("o1", Target.of("3.4.1", odd))
    assert dict(described(control).settings) == odd
    assert json.loads((team / "o1" / "set.json").read_text())["settings"] == odd


def test_unknown_things_are_refused_before_anything_is_called(team: Path, declare: Declare) -> None:
    """Each with what there is."""
    control = deployer(declare())
    with pytest.raises(BadInput, match=r"'9\.9' is not declared \(declared: 3\.4\.1, 4\.3\.1\)"):
        control.apply("o1", Target("9.9"))
    with pytest.raises(WriteRefused, match=r"o1: no runbook sets num\.stream\.threads \(allowed: processing"):
        control.check_apply("o1", Target.of("4.3.1", {"num.stream.threads": "9"}))
    with pytest.raises(BadInput, match="'o9' is not declared"):
        control.stop("o9")
    (team / "o1" / "set.json").write_text('{"release": "3.4.1", "settings": {"sasl.jaas.config": "hunter2"}}')
    with pytest.raises(
        WriteRefused, match=r"o1: the instances command prints sasl\.jaas\.config among its settings"
    ) as raised:
        control.apply("o1", Target("4.3.1"))
    assert described(control).settings == (("sasl.jaas.config", "(hidden)"),)
    assert "hunter2" not in str(raised.value) + repr(described(control))
    assert called(team) == []


def test_restart_that_would_be_refused_stops_nothing(team: Path, declare: Declare) -> None:
    """The process that runs is the one that ran."""
    control = deployer(declare())
    control.start("o1")
    before = described(control)
    with pytest.raises(WriteRefused, match=r"no runbook sets num\.stream\.threads"):
        restart(control, "o1", Target.of("4.3.1", {"num.stream.threads": "9"}), remove_members=None, log=lambda _: None)
    assert described(control).pid == before.pid
    assert [call[0] for call in called(team)] == ["start"]


def test_dry_run_calls_nothing_but_describe(team: Path, declare: Declare) -> None:
    """Guards run, sentences are kept; a call that goes around the deployer is refused."""
    deployer(declare()).start("o1")
    dry = deployer(declare(), dry_run=True)
    restart(dry, "o1", Target.of("4.3.1", {"upgrade.from": "3.4"}), remove_members=None, log=lambda _: None)
    dry.start("o2")
    dry.clear_state("o2")
    assert dry.would_write == [
        "set o1 to release=4.3.1, upgrade.from=3.4",
        "stop o1",
        "start o2",
        "delete the local state of o2",
    ]
    with pytest.raises(BadInput):
        dry.apply("o1", Target("9.9"))
    with pytest.raises(WriteRefused, match="o1: stop is refused: this deployer only reads"):
        dry._done("o1", "stop", declare().commands.stop)
    assert [call[0] for call in called(team)] == ["start"]


def test_state_is_cleared_only_while_down(team: Path, declare: Declare) -> None:
    """Refused while the process lives; told beforehand where no command can do it."""
    control = deployer(declare())
    control.start("o1")
    with pytest.raises(
        WriteRefused, match=r"o1: the instances command prints the process running, pid \d+; its state is not "
    ):
        control.clear_state("o1")
    control.stop("o1")
    control.check_clear_state("o1")
    control.clear_state("o1")
    assert list((team / "o1" / "state").iterdir()) == []
    (team / "o1" / "state" / "0_0").touch()
    (team / "o1" / "state" / "1_0").touch()
    with pytest.raises(BadInput, match=r"task directories 1_\* cannot be deleted alone: .* add \{directories\} to it"):
        control.check_clear_state("o1", ("1_",))
    script = [sys.executable, str(team / "deploy.py"), str(team)]
    clearing = {"run": [*script, "clear_state", "{instance}", "{directories}"], "timeout_s": 20}
    some = deployer(declare(clear_state=clearing))
    some.clear_state("o1", ("1_", "2_3"))
    assert [path.name for path in (team / "o1" / "state").iterdir()] == ["0_0"]
    assert called(team)[-1][-1] == "1_*,2_3"
    some.clear_state("o1")
    assert called(team)[-1][-1] == "*"
    without = deployer(declare(clear_state=None))
    for call in (without.check_clear_state, without.clear_state):
        with pytest.raises(BadInput, match=r"no clear_state command is declared; declare deployer\.commands\.clear_st"):
            call("o2")


def test_state_is_moved_by_a_command_that_can(team: Path, declare: Declare) -> None:
    """`{aside}` is the directory's name, and empty unless the form names a store; without it nothing is kept."""
    script = [sys.executable, str(team / "deploy.py"), str(team)]
    moving = declare(clear_state={"run": [*script, "clear_state", "{instance}", "{directories}", "{aside}"]})
    kept = CommandDeployer(moving, application_id="orders", dry_run=False, aside="kept-1a2b")
    assert kept.abilities.keeps_aside
    assert kept.kept_aside("o1") == "<state.dir>/orders.kept-1a2b"
    kept.clear_state("o1", ("1_",))
    assert called(team)[-1][-2:] == ["1_*", "orders.kept-1a2b"]
    dry = CommandDeployer(moving, application_id="orders", dry_run=True, aside="kept-1a2b")
    dry.clear_state("o1")
    assert dry.would_write == ["move the local state of o1 to <state.dir>/orders.kept-1a2b"]
    by_hand = kept.manual_commands("o1", Target("4.3.1"), clears=NO_DIRECTORIES)
    assert shlex.split(by_hand[1])[-1] == "orders.kept-1a2b"
    deletes = deployer(moving)
    assert deletes.kept_aside("o1") == ""
    deletes.clear_state("o1")
    assert called(team)[-1][-2:] == ["*", ""]
    cannot = CommandDeployer(declare(), application_id="orders", dry_run=False, aside="kept-1a2b")
    assert (cannot.kept_aside("o1"), cannot.abilities.keeps_aside) == ("", False)


def test_topology_of_a_release(declare: Declare) -> None:
    """With what the release is called there; not declared is one sentence."""
    assert deployer(declare()).topology(Target("4.3.1")) == "Topologies:\n 4.3.1 orders:18\n"
    control = deployer(declare())
    assert control.topology_target(Target.of("4.3.1", {"a": "b"})) == Target("4.3.1")
    assert not control.abilities.topology_settings
    with pytest.raises(BadInput, match=r"topology of 4\.3\.1 cannot be read: no topology command is declared"):
        deployer(declare(topology=None)).topology(Target("4.3.1"))
    other = says('{"schema_version": 1, "release": "3.4.1", "topology": "Topologies:"}', "{release}")
    with pytest.raises(Inconclusive, match=r"topology of 4\.3\.1: the command printed that of 3\.4\.1"):
        deployer(declare(topology=other)).topology(Target("4.3.1"))


def test_topology_of_a_release_with_settings(team: Path, declare: Declare) -> None:
    """As one argument; without `upgrade.from`, on which no topology depends."""
    script = [sys.executable, str(team / "deploy.py"), str(team)]
    control = deployer(declare(topology={"run": [*script, "topology", "{release}", "{settings}"], "timeout_s": 20}))
    assert control.abilities.topology_settings
    swapped = Target.of("4.3.1", {"topic.orders": "control", "upgrade.from": "3.4"})
    assert control.topology(swapped) == 'Topologies:\n 4.3.1 {"topic.orders":"control"}\n'
    assert control.topology(Target("4.3.1")) == "Topologies:\n 4.3.1 {}\n"
    with pytest.raises(Inconclusive, match=r"the value of a\.b is hidden"):
        control.topology(Target.of("4.3.1", {"a.b": "(hidden)"}))


def test_a_setting_for_one_start_is_one_argument(team: Path, declare: Declare) -> None:
    """`{}` for a start without one; a command that does not take it refuses before anything is stopped."""
    script = [sys.executable, str(team / "deploy.py"), str(team)]
    settings = declare(start={"run": [*script, "start", "{instance}", "{once}"], "timeout_s": 20})
    control, once = deployer(settings), (("processing.guarantee", "at_least_once"),)
    control.start("o1", once)
    assert called(team)[-1] == ["start", "o1", '{"processing.guarantee":"at_least_once"}']
    assert (described(control).settings, described(control).applied) == ((), True)
    with pytest.raises(WriteRefused, match=r"o1 runs already: processing\.guarantee would have no effect"):
        control.start("o1", once)
    restart(control, "o1", Target("3.4.1"), remove_members=None, log=lambda _: None)
    assert called(team)[-1] == ["start", "o1", "{}"]
    before, without = described(control).pid, deployer(declare())
    with pytest.raises(BadInput, match=r"for one start: deployer\.commands\.start takes no \{once\}; add it"):
        restart(without, "o1", Target("3.4.1"), remove_members=None, once=once, log=lambda _: None)
    assert described(control).pid == before
    assert (control.abilities.once, without.abilities.once) == (True, False)
    dry = deployer(settings, dry_run=True)
    dry.start("o2", once)
    assert dry.would_write == ["start o2 with processing.guarantee=at_least_once for this start alone"]


def test_sizes_of_local_state(declare: Declare) -> None:
    """As the team's command prints them; strictly, and Missing without one."""
    document = '{"schema_version": 1, "instance": "o1", "directories": {"0_1": 5, "global": 0}}'
    control = deployer(declare(state_sizes=says(document, "{instance}")))
    assert control.state_sizes("o1") == {"0_1": 5, "global": 0}
    with pytest.raises(Inconclusive, match=r"o2: state_sizes \(\S+\) printed the sizes of o1; correct it"):
        control.state_sizes("o2")
    broken = deployer(declare(state_sizes=says(document.replace("5", "-5"), "{instance}")))
    with pytest.raises(Inconclusive, match=r"directories\.0_1: Input should be greater than or equal to 0"):
        broken.state_sizes("o1")
    aged = document[:-1] + ', "times": {"0_1": {"oldest_ms": %d, "newest_ms": %d}%s}}'
    first, last = 1_700_000_000_000, 1_700_000_000_001
    both = aged % (first, last, f', "global": {{"oldest_ms": {last}, "newest_ms": {last}}}')
    seen = deployer(declare(state_sizes=says(both, "{instance}"))).state_times("o1")
    assert seen == {"0_1": FileTimes(first, last), "global": FileTimes(last, last)}
    for less in (document, aged % (first, last, "")):
        unseen = deployer(declare(state_sizes=says(less, "{instance}"))).state_times("o1")
        assert isinstance(unseen, Missing)
        assert "state_sizes prints no `times` of every task directory" in unseen.missing
    missing = deployer(declare()).state_sizes("o1")
    assert deployer(declare()).state_times("o1") == missing
    assert isinstance(missing, Missing)
    assert missing.missing.endswith("no state_sizes command is declared; declare deployer.commands.state_sizes")


def test_restart_is_told_to_go_in_the_middle(declare: Declare) -> None:
    """SIGTERM while the script stops it: the script ends its work, the instance is started with what is set."""
    control = deployer(declare())
    control.start("o1")
    before = described(control).pid
    killer = threading.Thread(target=_kill_at_stop, args=(control,))
    killer.start()
    with pytest.raises(Interrupted, match="SIGTERM arrived during its restart"):
        restart(control, "o1", Target("4.3.1"), remove_members=None, log=lambda _: None)
    killer.join()
    after = described(control)
    assert (after.process, after.release, after.applied) == ("running", "4.3.1", True)
    assert after.pid != before
    restart(control, "o1", Target("4.3.1"), remove_members=None, log=lambda _: None)
    assert (described(control).release, described(control).applied) == ("4.3.1", True)


def _kill_at_stop(control: CommandDeployer) -> None:
    """SIGTERM to this process while the script stops an instance."""
    calls = Path(control._settings.commands.stop.run[2]) / "calls"
    while '"stop"' not in calls.read_text():
        time.sleep(0.01)
    os.kill(os.getpid(), 15)


def test_manual_commands_do_the_same(team: Path, declare: Declare) -> None:
    """The team's own commands, quoted for a shell; without one for the state the person is told in words."""
    control = deployer(declare())
    lines = control.manual_commands("o1", Target.of("4.3.1", {"upgrade.from": "3.4"}), clears=NO_DIRECTORIES)
    assert [shlex.split(line)[3] for line in lines] == ["stop", "clear_state", "apply", "start"]
    subprocess.run(["bash", "-c", lines[2]], check=True, stdout=subprocess.DEVNULL)
    assert described(control).settings == (("upgrade.from", "3.4"),)
    told = deployer(declare(clear_state=None)).manual_commands("o1", Target("4.3.1"), clears=NO_DIRECTORIES)
    assert told[1].startswith("# delete the local state of o1 while it is stopped")
    with pytest.raises(WriteRefused, match="no runbook sets"):
        control.manual_commands("o1", Target.of("4.3.1", {"sasl.jaas.config": "(hidden)"}))
    assert team.is_dir()


def says(text: str = "", *words: str, code: int = 0, stderr: str = "") -> dict[str, Any]:
    """A command that prints and ends."""
    program = f"import sys; sys.stdout.write({text!r}); sys.stderr.write({stderr!r}); sys.exit({code})"
    escaped = program.replace("{", "{{").replace("}", "}}")
    return {"run": [sys.executable, "-c", escaped, *words]}


@pytest.mark.parametrize(
    ("code", "error", "sentence"),
    [
        (1, Refused, r"orders: instances \(\S+\): it refused \(exit 1: the last\)"),
        (2, BadInput, r"its input was wrong \(exit 2: the last\); correct the fleet entry"),
        (3, Inconclusive, r"the answer is unknown \(exit 3: the last\)"),
        (4, Unreachable, r"a system that it needs is unreachable \(exit 4: the last\)"),
        (7, Inconclusive, r"exit 7 \(expected 0 to 4: the last\); its effect is unknown"),
    ],
)
def test_exit_codes_are_the_errors_of_the_tree(
    declare: Declare, code: int, error: type[RunbookError], sentence: str
) -> None:
    """With the last line of stderr; a code outside of the contract is never taken for anything."""
    with pytest.raises(error, match=sentence):
        deployer(declare(instances=says("{}", code=code, stderr="first\nthe last\n\n"))).instances()


def test_a_script_that_refuses_is_quoted_without_its_credentials(team: Path, declare: Declare) -> None:
    """Passwords do not reach the log, however the script says them."""
    (team / "o1" / "refuses").touch()
    with pytest.raises(Refused, match=r"o1: start \(\S+\): it refused \(exit 1: no, start of o1 is forb") as raised:
        deployer(declare()).start("o1")
    assert "hunter2" not in str(raised.value)


def test_a_start_that_fails_has_the_last_error_of_the_log(team: Path, declare: Declare) -> None:
    """Also if the command reports it by its exit code; a log command that fails costs no sentence."""
    died = says("INFO begins\nERROR no such topic, DB_PASS=hunter2\nINFO closed\n", "{instance}")
    nothing = {"run": [*declare().commands.instances.run, "{instance}"]}
    end = r"; last error in its log: ERROR no such topic, DB_PASS=\(hidden\)"
    with pytest.raises(Refused, match=rf"start ended with 0, but prints the process stopped{end}; read its log$"):
        deployer(declare(start=nothing, log=died)).start("o2")
    (team / "o1" / "refuses").touch()
    with pytest.raises(Refused, match=rf"it refused \(exit 1: no, start of o1 is forb.*\){end}$"):
        deployer(declare(log=died)).start("o1")
    broken = deployer(declare(log=says("ERROR lost", "{instance}", code=1)))
    assert broken.log_end("o1") == ""
    with pytest.raises(Refused, match=r"it refused \(exit 1: no, start of o1 is forb[^;]*$"):
        broken.start("o1")


def test_exit_code_zero_is_not_taken_for_it(team: Path, declare: Declare) -> None:
    """A stop whose process is still there, a command that does nothing, one that shows another instance."""
    control = deployer(declare())
    control.start("o1")
    (team / "o1" / "stubborn").touch()
    with pytest.raises(Refused, match=r"o1: stop ended with 0, but prints the process running, pid \d+ \(expected"):
        control.stop("o1")
    nothing = {"run": [*declare().commands.instances.run, "{instance}", "{release}", "{settings}"]}
    with pytest.raises(Refused, match=r"o1: apply ended with 0, but prints release 3\.4\.1 with no setting \(asked fo"):
        deployer(declare(apply=nothing)).apply("o1", Target("4.3.1"))
    with pytest.raises(Refused, match="o2: start ended with 0, but prints the process stopped"):
        deployer(declare(start={"run": nothing["run"][:-2]})).start("o2")
    empty = says('{"schema_version": 1, "instances": []}', "{instance}")
    with pytest.raises(Inconclusive, match="ended with 0, but does not print o1; its effect is unknown"):
        deployer(declare(stop=empty)).stop("o1")


OLD, NEW = Target("3.4.1"), Target.of("4.3.1", {"upgrade.from": "3.4"})
HAD = Target.of("3.4.1", {"upgrade.from": "2.8"})


def brought(control: CommandDeployer, said: list[str] | None = None) -> None:
    """The restart that a bounce makes of the first instance."""
    restart(control, "o1", NEW, remove_members=None, log=(said if said is not None else []).append)


def test_a_stop_that_is_a_lie_is_refused_and_starts_nothing(team: Path, declare: Declare) -> None:
    """It prints that the instance is stopped, and its process lives: a second one would fight with it."""
    control = deployer(declare(("upgrade.from",)))
    control.start("o1")
    before = described(control)
    (team / "o1" / "lies-stop").touch()
    (team / "calls").unlink()
    with pytest.raises(StillUp, match=rf"o1: stop reported its end, but the instances .*\(pid {before.pid} since"):
        brought(control)
    assert [call[0] for call in called(team)] == ["apply", "stop", "apply"]
    assert (described(control).pid, described(control).target) == (before.pid, OLD)


def test_an_agent_that_still_answers_outdoes_the_deployer(team: Path, declare: Declare) -> None:
    """Where all its commands lie."""
    control = deployer(declare(("upgrade.from",)))
    control.start("o1")
    with pytest.raises(StillUp, match="o1: its deployer reported its end, but its agent answers; nothing more is done"):
        restart(control, "o1", NEW, remove_members=None, log=lambda _: None, still_up=lambda: "its agent answers")
    assert [call[0] for call in called(team)] == ["start", "apply", "stop", "apply"]


def test_a_start_that_reports_the_old_one_is_refused(team: Path, declare: Declare) -> None:
    """At once, with the start that was seen."""
    control = deployer(declare(("upgrade.from",)))
    control.start("o1")
    before = described(control)
    (team / "o1" / "lies-start").touch()
    with pytest.raises(
        Refused, match=rf"start ended with 0, but prints the start from before \(pid {before.pid} since"
    ):
        brought(control)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("forgets", "apply ended with 0, but prints release 4.3.1 with no setting"),
        (
            "lies-apply",
            "its deployer reported release=4.3.1, upgrade.from=3.4 as set, but shows release=4.3.1",
        ),
    ],
)
def test_settings_that_are_dropped_stop_nothing(team: Path, declare: Declare, how: str, why: str) -> None:
    """Neither what was asked for nor what it had: the old process runs on, and the sentence has what to set."""
    control = deployer(declare(("upgrade.from",)))
    control.apply("o1", HAD)
    control.start("o1")
    before = described(control)
    (team / "o1" / how).touch()
    (team / "calls").unlink()
    with pytest.raises(Refused) as raised:
        brought(control)
    assert why in str(raised.value)
    assert {call[0] for call in called(team)} == {"apply"}
    assert described(control).pid == before.pid
    if how == "forgets":
        assert f"o1 was not set back to {HAD.text}: " in str(raised.value)
        assert str(raised.value).endswith("its next start is with release=3.4.1: set it back manually")


def test_what_was_dropped_once_is_set_back(team: Path, declare: Declare) -> None:
    """The instance runs on with what it had, and would start with it."""
    control = deployer(declare(("upgrade.from",)))
    control.apply("o1", HAD)
    control.start("o1")
    before = described(control)
    (team / "o1" / "forgets").touch()

    def log(line: str) -> None:
        if "set back" in line:
            (team / "o1" / "forgets").unlink()

    with pytest.raises(Refused, match=r"apply ended with 0, but prints release 4\.3\.1 with no setting"):
        restart(control, "o1", NEW, remove_members=None, log=log)
    after = described(control)
    assert (after.process, after.pid, after.target) == ("running", before.pid, HAD)


def test_a_command_that_takes_too_long_is_ended(declare: Declare) -> None:
    """Unreachable after its own limit, with what it said last."""
    program = "import sys, time; print('waiting for the lock', file=sys.stderr, flush=True); time.sleep(60)"
    slow = {"run": [sys.executable, "-c", program], "timeout_s": 1.5}
    with pytest.raises(Unreachable, match=r"not done after 1\.5 s \(limit timeout_s: waiting for the lock\); it was"):
        deployer(declare(instances=slow)).instances()


def test_a_command_that_cannot_be_run(team: Path, declare: Declare) -> None:
    """Not there, or not executable."""
    for path, why in ((team / "gone", "No such file"), (team / "deploy.py", "Permission denied")):
        with pytest.raises(BadInput, match=f"cannot be run .{why}.*correct the command in the fleet entry"):
            deployer(declare(instances={"run": [str(path)]})).instances()


def test_what_is_airflows_is_not_given_to_a_script(declare: Declare, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections and keys of the worker are none of its business, nor is anything else that is not declared."""
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA", "secret")
    monkeypatch.setenv("TEAM_SETTING", "kept")
    show = "import os, sys; sys.exit(' '.join(n for n in os.environ if n in ('AIRFLOW_CONN_KAFKA', 'TEAM_SETTING')))"
    with pytest.raises(Refused, match=r"exit 1, nothing on stderr\)"):
        deployer(declare(instances={"run": [sys.executable, "-c", show]})).instances()


def test_an_instance_that_nobody_knows_is_not_touched(team: Path, declare: Declare) -> None:
    """Not printed, or printed with a process that is unknown: inconclusive before anything is called."""
    (team / "o1" / "set.json").unlink()
    control = deployer(declare())
    assert [one.instance for one in control.instances()] == ["o2"]
    with pytest.raises(Inconclusive, match="o1: the instances command does not print it"):
        restart(control, "o1", Target("4.3.1"), remove_members=None, log=lambda _: None)
    one: dict[str, Any] = {"instance": "o1", "process": "unknown", "started_at_ms": None, "pid": None, "settings": {}}
    document = {"schema_version": 1, "instances": [one | {"release": None, "applied": None}]}
    unknown = deployer(declare(instances=says(json.dumps(document))))
    assert described(unknown).release == Missing("its release: the instances command does not know it")
    with pytest.raises(Inconclusive, match="o1: the instances command does not know its process"):
        restart(unknown, "o1", Target("4.3.1"), remove_members=None, log=lambda _: None)
    assert called(team) == []


def test_the_reading_of_a_dead_instance_has_its_last_error(declare: Declare) -> None:
    """Nothing is read of one that was stopped, whose log is that of an orderly end."""
    shown: dict[str, Any] = {
        "instance": "o1",
        "process": "failed",
        "started_at_ms": None,
        "pid": None,
        "release": "3.4.1",
    }
    shown |= {"settings": {}, "applied": None}
    both = {"schema_version": 1, "instances": [shown, shown | {"instance": "o2", "process": "stopped"}]}
    died = says("ERROR no such topic\n", "{instance}")
    control = deployer(declare(instances=says(json.dumps(both)), log=died))
    instances = tuple(SimpleNamespace(name=name, metrics="http://127.0.0.1:1/jolokia") for name in ("o1", "o2"))
    entry: Any = SimpleNamespace(
        name="orders",
        as_deployed=False,
        application_id="orders",
        static_membership=False,
        deployer=SimpleNamespace(instances=instances),
    )
    with reading_instances(entry, control) as read:
        found = read()
    assert [one.ended for one in found] == [
        "o1 is DEAD (its process has failed): last error in its log: ERROR no such topic",
        "o2 is DOWN (its process is stopped)",
    ]
