"""A restart leaves the instance up, whatever arrives in the middle."""

import os
import signal
from collections.abc import Callable
from dataclasses import replace

import pytest
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.deployers.builds import WithoutBuilds
from kstreams_runbooks.deployers.requests import Wish
from kstreams_runbooks.errors import Inconclusive, Interrupted, Refused, StillUp, Unreachable, WriteRefused
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, Directories, LeftState, TaskDirectories
from kstreams_runbooks.model.readings.readings import Deployment, Missing, ProcessState, Taken
from kstreams_runbooks.model.target import RunbookSettings, Target


class Recorder(WithoutBuilds):
    """A deployer that keeps what it is asked; `at` is called with each step before it is done."""

    def __init__(self, *, up: bool = True, at: Callable[[str], None] = lambda _: None) -> None:
        self.would_write: list[str] = []
        self.abilities = Abilities(instances=True, topology=True, clear=True, act=True, clear_directories=True)
        self.steps: list[str] = []
        self.cleared: list[Directories] = []
        self.up = up
        self.pid = 7
        self.started_at_ms: int | None = None
        self.declared = Target("3.4.1")
        self.runs: Target | None = Target("3.4.1")
        self.at = at

    def instances(self) -> tuple[Deployment, ...]:
        """One instance."""
        process: ProcessState = "running" if self.up else "stopped"
        pid = self.pid if self.up else None
        release, settings = self.declared.release, self.declared.settings
        return (Deployment(Taken(0, "here"), "o1", process, self.started_at_ms, pid, release, settings, True),)

    def check_apply(self, instance: str, target: Target) -> None:
        """Nothing speaks against it unless `at` does."""
        assert target == NEW
        self._step("check", instance)

    def check_clear_state(self, instance: str, directories: Directories = ()) -> None:
        """Nothing speaks against it unless `at` does."""
        self.cleared.append(directories)
        self._step("check_clear", instance)

    def apply(self, instance: str, target: Target) -> None:
        """Keep it."""
        self._step("apply", instance)
        self.declared = target

    def stop(self, instance: str) -> None:
        """Down."""
        self._step("stop", instance)
        self.up, self.runs = False, None

    def check_start(self, instance: str, once: RunbookSettings) -> None:
        """Nothing speaks against it unless `at` does."""
        if once:
            self._step("check_start", instance)

    def start(self, instance: str, once: RunbookSettings = ()) -> None:
        """Up, with what is declared, and with `once` over it."""
        self._step("start", instance)
        self.pid += 1
        self.up, self.runs = True, Target.of(self.declared.release, {**dict(self.declared.settings), **dict(once)})

    def clear_state(self, instance: str, directories: Directories = ()) -> None:
        """Only while it is down."""
        assert not self.up
        self.cleared.append(directories)
        self._step("clear", instance)

    def state_times(self, instance: str) -> Missing:
        """Not seen."""
        return Missing(f"{instance}: not seen")

    def log_end(self, instance: str) -> str:
        """Not asked here."""
        raise AssertionError(instance)

    def state_sizes(self, instance: str) -> Missing:
        """Not asked here."""
        raise AssertionError(instance)

    def kept_aside(self, instance: str) -> str:
        """Not asked here."""
        raise AssertionError(instance)

    def facts(self, target: Target, *, started: bool = False) -> None:
        """It prints descriptions."""

    def topology_target(self, target: Target) -> Target:
        """Settings change nothing in it."""
        return target.release_alone

    def topology(self, target: Target) -> str:
        """Not asked here."""
        raise AssertionError(target)

    def manual_commands(self, instance: str, target: Target, *, clears: TaskDirectories | None = None) -> list[str]:
        """Not asked here."""
        raise AssertionError((instance, target, clears))

    def request(
        self,
        wish: Wish,
        instance: str,
        target: Target | None = None,
        directories: Directories = (),
        once: RunbookSettings = (),
    ) -> str:
        """In one sentence."""
        assert not once
        return f"{wish} {instance}: {target and target.text}{directories or ''}"

    def _step(self, name: str, instance: str) -> None:
        assert instance == "o1"
        self.steps.append(name)
        self.at(name)


NEW = Target.of("4.3.1", {"upgrade.from": "3.4"})


def run(
    deployer: Recorder, remove: Callable[[], None] | None = None, log: Callable[[str], None] = lambda _: None
) -> None:
    """One restart to NEW."""
    times = restart(deployer, "o1", NEW, remove_members=remove, log=log)
    assert times.stop_requested_ms <= times.stopped_ms <= times.started_ms


def signalled(step: str, number: signal.Signals) -> Callable[[str], None]:
    """The process gets a signal at `step`."""
    return lambda name: os.kill(os.getpid(), number) if name == step else None


def failing(step: str, times: int = 1) -> Callable[[str], None]:
    """`step` fails as often as asked."""
    left = [times]

    def at(name: str) -> None:
        if name == step and left[0]:
            left[0] -= 1
            raise Unreachable(f"{step} failed")

    return at


def test_members_are_removed_when_the_process_is_gone() -> None:
    """Guards, settings, stop, members, start: it is not down while its settings are written."""
    deployer = Recorder()

    def remove() -> None:
        assert not deployer.up
        deployer.steps.append("remove")

    run(deployer, remove)
    assert deployer.steps == ["check", "apply", "stop", "remove", "start"]
    assert deployer.runs == NEW


def test_instance_that_is_down_goes_on_from_there() -> None:
    """A rerun after a kill."""
    deployer = Recorder(up=False)
    assert restart(deployer, "o1", NEW, remove_members=None, log=lambda _: None).already_stopped
    assert deployer.runs == NEW


def test_state_is_cleared_between_stop_and_start() -> None:
    """What speaks against it is told before the stop: an instance is not stopped for what cannot be done."""
    deployer = Recorder()
    restart(deployer, "o1", NEW, remove_members=None, clears=NO_DIRECTORIES, log=lambda _: None)
    assert deployer.steps == ["check", "check_clear", "stop", "clear", "apply", "start"]
    some = Recorder()
    restart(some, "o1", NEW, remove_members=None, clears=TaskDirectories(("1_",)), log=lambda _: None)
    assert (deployer.cleared, some.cleared) == ([(), ()], [("1_",), ("1_",)])
    deployer = Recorder(at=failing("check_clear"))
    with pytest.raises(Unreachable, match="check_clear failed"):
        restart(deployer, "o1", NEW, remove_members=None, clears=NO_DIRECTORIES, log=lambda _: None)
    assert deployer.up
    assert "stop" not in deployer.steps


def test_deployer_that_does_not_act_is_never_asked_to() -> None:
    """A person does it: refused before anything, with the way to go."""
    deployer = Recorder()
    deployer.abilities = replace(deployer.abilities, act=False)
    with pytest.raises(WriteRefused, match=r"o1: its deployer changes nothing itself.*ask a person: deploy"):
        run(deployer)
    assert deployer.steps == []


def test_what_cannot_be_applied_is_refused_before_the_stop() -> None:
    """The instance is not even asked to stop: nothing was changed."""
    deployer = Recorder(at=failing("check"))
    with pytest.raises(Unreachable, match="check failed"):
        run(deployer)
    assert deployer.steps == ["check"]
    assert (deployer.up, deployer.runs) == (True, Target("3.4.1"))


def test_instance_that_is_down_is_started_although_nothing_can_be_applied() -> None:
    """A rerun never leaves it down: the settings are refused after that, and it starts with what is declared."""
    deployer = Recorder(up=False, at=failing("apply"))
    with pytest.raises(Unreachable, match="apply failed"):
        run(deployer)
    assert deployer.steps == ["stop", "apply", "start"]
    assert (deployer.up, deployer.runs) == (True, Target("3.4.1"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    ("step", "runs"),
    [("stop", NEW), ("remove", NEW), ("start", NEW)],
    ids=str,
)
def test_signal_in_the_middle_starts_the_instance(number: signal.Signals, step: str, runs: object) -> None:
    """It starts with the new settings: they were written before the stop."""
    before = signal.getsignal(number)
    deployer = Recorder(at=signalled(step, number))
    remove = signalled("remove", number) if step == "remove" else lambda _: None
    with pytest.raises(Interrupted, match="is started again"):
        run(deployer, lambda: remove("remove"))
    assert deployer.up
    assert deployer.runs == runs
    assert deployer.steps[-1] == "start"
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_before_the_stop_leaves_the_instance_as_it_was(number: signal.Signals) -> None:
    """It runs on, and its next start is the one from before."""
    deployer = Recorder(at=signalled("apply", number))
    with pytest.raises(Interrupted, match=r"^o1: SIG\w+ arrived before its stop; it runs as before$"):
        run(deployer)
    assert (deployer.steps, deployer.declared) == (["check", "apply", "apply"], Target("3.4.1"))
    assert deployer.runs == Target("3.4.1")


@pytest.mark.parametrize(("step", "declared"), [("stop", Target("3.4.1")), ("start", NEW)])
def test_error_in_the_middle_starts_the_instance(step: str, declared: Target) -> None:
    """The error is raised after it. An instance that was not stopped is set back."""
    deployer = Recorder(at=failing(step))
    with pytest.raises(Unreachable, match=f"{step} failed"):
        run(deployer)
    assert (deployer.up, deployer.declared) == (True, declared)
    assert deployer.steps[-1] == "start"


def test_an_instance_whose_settings_fail_is_not_stopped() -> None:
    """What was written in part is set back."""
    deployer = Recorder(at=failing("apply"))
    with pytest.raises(Unreachable, match=r"^apply failed$"):
        run(deployer)
    assert (deployer.steps, deployer.runs) == (["check", "apply"], Target("3.4.1"))


def test_an_instance_that_is_not_set_back_is_named() -> None:
    """Its next start is another one than before: a person has to know."""
    failures = iter(["", "stop", "apply"])

    def at(name: str) -> None:
        if name in {"stop", "apply"} and next(failures) == name:
            raise Unreachable(f"{name} failed")

    with pytest.raises(Refused) as raised:
        run(Recorder(at=at))
    assert str(raised.value) == (
        "stop failed; and o1 was not set back to release=3.4.1: apply failed; its next start is with release=4.3.1, "
        "upgrade.from=3.4: set it back manually"
    )


def test_an_instance_whose_settings_are_unknown_is_stopped_first() -> None:
    """Nothing could set it back."""
    deployer = Recorder()
    hidden = [replace(one, release=Missing("not shown")) for one in deployer.instances()]
    vars(deployer)["instances"] = lambda: hidden if deployer.up and deployer.pid == 7 else Recorder.instances(deployer)
    run(deployer)
    assert deployer.steps == ["check", "stop", "apply", "start"]


@pytest.mark.parametrize("error", [StillUp("o1: is up"), Refused("o1: still there")])
def test_an_instance_that_does_not_stop_keeps_what_it_had(error: Exception) -> None:
    """Its old process lives: what it reads at its next start is what it reads now."""

    def at(name: str) -> None:
        if name == "stop":
            raise error

    deployer = Recorder(at=at)
    with pytest.raises(type(error)):
        run(deployer)
    assert (deployer.declared, deployer.runs is not None) == (Target("3.4.1"), True)


def test_error_of_the_group_starts_the_instance() -> None:
    """A broker that removes no member costs a session timeout, not an instance."""

    def remove() -> None:
        raise Refused("not removed")

    deployer = Recorder()
    with pytest.raises(Refused, match="not removed"):
        run(deployer, remove)
    assert deployer.runs == NEW


def test_instance_that_cannot_be_started_is_named() -> None:
    """Both reasons, and that it is down."""
    deployer = Recorder(at=failing("start", times=2))
    with pytest.raises(Refused, match=r"o1 is DOWN: start failed; and starting it again failed: start failed"):
        run(deployer)


def test_unexpected_error_starts_the_instance_too() -> None:
    """Whatever it is."""

    def at(name: str) -> None:
        if name == "start" and deployer.steps.count("start") == 1:
            raise KeyError("bug")

    deployer = Recorder(at=at)
    with pytest.raises(KeyError):
        run(deployer)
    assert deployer.up


@pytest.mark.parametrize("clears", [NO_DIRECTORIES, TaskDirectories(("1_",))])
def test_an_instance_that_must_be_cleared_stays_down_if_it_is_not(clears: TaskDirectories) -> None:
    """One sentence: why, what to delete, what to clear. A rerun starts it once its state is gone."""
    deployer = Recorder(at=failing("clear"))

    def again() -> None:
        restart(deployer, "o1", NEW, remove_members=None, clears=clears, must_clear=True, log=lambda _: None)

    with pytest.raises(Refused) as raised:
        again()
    asked = "clear_state o1: None" + (str(clears.names) if clears.names else "")
    assert str(raised.value) == (
        f"o1 is not started: its {clears.what} was not deleted (clear failed), and on kept state it could lose data "
        f"silently; {asked}, then clear this step"
    )
    assert (deployer.up, deployer.steps[-1]) == (False, "clear")
    again()
    assert deployer.runs == NEW


@pytest.mark.parametrize("step", ["stop", "apply", "start"])
def test_what_must_be_cleared_is_never_started_otherwise(step: str) -> None:
    """An error leaves the instance down, also once its state is deleted: what it was set to may be another release."""
    deployer = Recorder(at=failing(step))
    with pytest.raises(Refused, match=rf"o1 is not started.*\({step} failed\)"):
        restart(deployer, "o1", NEW, remove_members=None, clears=NO_DIRECTORIES, must_clear=True, log=lambda _: None)
    assert deployer.steps.count("start") == {"stop": 0, "apply": 0, "start": 1}[step]
    assert deployer.up == (step == "stop")


def test_a_signal_before_the_clearing_leaves_it_down() -> None:
    """It is interrupted, and says that it did not start the instance; a signal after that lets the start happen."""
    deployer = Recorder(at=signalled("stop", signal.SIGTERM))
    with pytest.raises(Interrupted, match=r"o1 is not started: its local state was not deleted \(SIGTERM arrived"):
        restart(deployer, "o1", NEW, remove_members=None, clears=NO_DIRECTORIES, must_clear=True, log=lambda _: None)
    assert deployer.steps == ["check", "check_clear", "stop"]
    deployer = Recorder(at=signalled("stop", signal.SIGTERM))
    with pytest.raises(Interrupted, match=r"o1 is not started again \(SIGTERM arrived.*only; correct this, then clear"):
        restart(deployer, "o1", NEW, remove_members=None, must_clear=True, log=lambda _: None)
    assert not deployer.up
    deployer = Recorder(at=signalled("clear", signal.SIGTERM))
    with pytest.raises(Interrupted, match="is started again"):
        restart(deployer, "o1", NEW, remove_members=None, clears=NO_DIRECTORIES, must_clear=True, log=lambda _: None)
    assert deployer.runs == NEW


def test_a_bug_leaves_what_must_be_cleared_down_too() -> None:
    """The error stays what it is."""

    def at(name: str) -> None:
        if name == "clear":
            raise KeyError("bug")

    deployer = Recorder(at=at)
    with pytest.raises(KeyError):
        restart(deployer, "o1", NEW, remove_members=None, clears=NO_DIRECTORIES, must_clear=True, log=lambda _: None)
    assert not deployer.up


ONCE = (("cleanup.on.start", "true"),)


def test_a_setting_for_one_start_is_checked_before_the_stop_and_in_that_start_alone() -> None:
    """It is not among what is declared; an instance that is started again after an error does not have it."""
    deployer = Recorder()
    restart(deployer, "o1", NEW, remove_members=None, once=ONCE, log=lambda _: None)
    assert deployer.steps == ["check", "check_start", "apply", "stop", "start"]
    assert deployer.runs == Target(NEW.release, (*NEW.settings, *ONCE))
    assert deployer.declared == NEW
    deployer = Recorder(at=failing("check_start"))
    with pytest.raises(Unreachable, match="check_start failed"):
        restart(deployer, "o1", NEW, remove_members=None, once=ONCE, log=lambda _: None)
    assert "stop" not in deployer.steps
    deployer = Recorder(at=failing("start"))
    with pytest.raises(Unreachable, match="start failed"):
        restart(deployer, "o1", NEW, remove_members=None, once=ONCE, log=lambda _: None)
    assert deployer.runs == NEW


class Liar(Recorder):
    """Each call succeeds, and the process is the one from before."""

    def stop(self, instance: str) -> None:
        """It reports the end of a process that lives."""
        self._step("stop", instance)
        self.up = False

    def start(self, instance: str, once: RunbookSettings = ()) -> None:
        """Nothing is started: what was there is shown again."""
        assert not once
        self._step("start", instance)
        self.up = True


def test_a_start_that_shows_the_old_process_is_refused_at_once() -> None:
    """Whatever the deployer is; and it is not asked to start a second one."""
    deployer = Liar()
    with pytest.raises(StillUp) as raised:
        run(deployer)
    assert str(raised.value) == (
        "o1: its deployer reported a start, but shows the process from before (pid 7; expected a new one); nothing "
        "more is done to it: look at it"
    )
    assert deployer.steps == ["check", "apply", "stop", "start", "apply"]
    assert deployer.declared == Target("3.4.1")


def test_an_instance_whose_settings_are_dropped_is_not_stopped() -> None:
    """What is declared is read back first: a start with less than was asked for is never begun."""

    class Dropping(Recorder):
        """It reports success, and sets the release alone."""

        def apply(self, instance: str, target: Target) -> None:
            super().apply(instance, target.release_alone)

    deployer = Dropping()
    with pytest.raises(Refused) as raised:
        run(deployer)
    assert str(raised.value) == (
        "o1: is not stopped: its deployer reported release=4.3.1, upgrade.from=3.4 as set, but shows release=4.3.1; "
        "correct the deployer, then clear this step"
    )
    assert deployer.steps == ["check", "apply", "apply"]
    assert (deployer.declared, deployer.runs) == (Target("3.4.1"), Target("3.4.1"))


def test_a_start_after_an_earlier_stop_is_compared_with_the_process_of_then() -> None:
    """All instances are stopped by one task, and started by another one."""
    deployer = Liar(up=False)
    deployer.started_at_ms = 5_000
    with pytest.raises(StillUp, match=r"\(pid 7 since 1970-01-01 00:00:05 UTC; expected a new one\)"):
        restart(deployer, "o1", NEW, remove_members=None, log=lambda _: None, was=(5_000, 7))
    assert restart(Liar(up=False), "o1", NEW, remove_members=None, log=lambda _: None, was=(5_000, 8)).already_stopped


def test_a_look_that_is_missed_after_a_start_costs_nothing() -> None:
    """The gate judges it."""
    deployer = Recorder()

    def instances() -> tuple[Deployment, ...]:
        if "start" in deployer.steps:
            raise Unreachable("no answer")
        return Recorder.instances(deployer)

    vars(deployer)["instances"] = instances
    run(deployer)
    assert deployer.runs == NEW


def test_a_dry_run_has_started_nothing() -> None:
    """Its process from before is the one that runs."""
    deployer = Liar()
    deployer.would_write.append("start o1")
    run(deployer)
    assert deployer.steps == ["check", "apply", "stop", "start"]


KILLED = LeftState(TaskDirectories(("1_",)), "it was killed")


def left_by(*found: LeftState) -> Callable[[Deployment | None, bool], LeftState]:
    """What each process in turn has left; later ones nothing."""
    rest = list(found)

    def left(shown: Deployment | None, started: bool) -> LeftState:  # noqa: ARG001 - as `restart` calls it
        assert shown is not None
        assert shown.process == "stopped"
        return rest.pop(0) if rest else LeftState()

    return left


def restart_killed(deployer: Recorder, *found: LeftState, **more: object) -> None:
    """One restart to NEW of a process that leaves this."""
    restart(deployer, "o1", NEW, remove_members=None, log=lambda _: None, left=left_by(*found), **more)  # type: ignore[arg-type]


def test_state_that_a_kill_left_is_cleared_before_the_start() -> None:
    """Its settings are written ahead all the same, as nobody knows before that the stop ends with a kill."""
    deployer = Recorder()
    restart_killed(deployer, KILLED)
    assert deployer.steps == ["check", "apply", "stop", "clear", "apply", "start"]
    assert (deployer.cleared, deployer.runs) == ([("1_",)], NEW)


def test_state_after_a_clean_end_is_kept() -> None:
    """Nothing is cleared, and nothing more is asked."""
    deployer = Recorder()
    restart_killed(deployer, LeftState())
    assert deployer.steps == ["check", "apply", "stop", "start"]


def test_a_kill_deletes_next_to_what_the_run_deletes() -> None:
    """Both, each once; a run that deletes everything needs nothing more."""
    some, every = Recorder(), Recorder()
    restart_killed(some, KILLED, clears=TaskDirectories(("0_",)))
    assert some.cleared == [("0_",), ("0_", "1_")]
    restart_killed(every, KILLED, clears=NO_DIRECTORIES)
    assert every.cleared == [(), ()]


def test_state_that_a_run_may_not_delete_keeps_the_instance_down() -> None:
    """A start on it would double records."""
    deployer = Recorder()
    with pytest.raises(Inconclusive, match=r"^o1 is not started: a person deletes it$"):
        restart_killed(deployer, LeftState(stays_down="o1 is not started: a person deletes it"))
    assert not deployer.up
    assert deployer.steps[-1] == "stop"


def test_a_failed_deletion_keeps_the_instance_down() -> None:
    """With what to delete, and the step to clear."""
    deployer = Recorder(at=failing("clear"))
    with pytest.raises(Refused, match=r"o1 is not started: its task directories 1_\* was not deleted \(clear failed\)"):
        restart_killed(deployer, KILLED)
    assert not deployer.up
    restart_killed(deployer, KILLED)
    assert deployer.runs == NEW


def test_a_signal_before_the_deletion_keeps_the_instance_down() -> None:
    """A rerun finds how it ended, and deletes."""
    deployer = Recorder(at=signalled("stop", signal.SIGTERM))
    with pytest.raises(Interrupted, match="o1 is not started"):
        restart_killed(deployer, KILLED)
    assert not deployer.up


def test_a_start_that_fails_is_judged_too() -> None:
    """What the new release has left is deleted before the next start, as what the old one has."""
    deployer = Recorder(at=failing("start"))
    with pytest.raises(Unreachable, match="start failed"):
        restart_killed(deployer, LeftState(), KILLED)
    assert deployer.up
    assert deployer.steps[-2:] == ["clear", "start"]


def test_a_process_that_is_killed_after_the_stop_request_is_judged_too() -> None:
    """A supervisor may kill it once the request has given up."""
    deployer = Recorder()

    def stop(instance: str) -> None:
        deployer.steps.append("stop")
        deployer.up = False
        raise Refused(f"{instance}: still there 60 s after the stop request")

    deployer.stop = stop  # type: ignore[method-assign]
    with pytest.raises(Refused, match="still there"):
        restart_killed(deployer, KILLED)
    assert deployer.steps == ["check", "apply", "stop", "apply", "clear", "start"]
    assert deployer.runs == Target("3.4.1")


def test_a_process_that_does_not_end_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start request would start it on its state as soon as it is killed."""
    monkeypatch.setattr("kstreams_runbooks.act.instance._END_S", 0)
    deployer = Recorder()

    def stop(instance: str) -> None:
        raise Refused(f"{instance}: still there 60 s after the stop request")

    deployer.stop = stop  # type: ignore[method-assign]
    with pytest.raises(Refused, match="still there"):
        restart_killed(deployer, KILLED)
    assert "start" not in deployer.steps
