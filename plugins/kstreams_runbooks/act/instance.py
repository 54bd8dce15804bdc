"""Stop, settings and start of one instance as one function: an instance that was stopped is always started again."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from kstreams_runbooks.deployers.protocol import Deployer
from kstreams_runbooks.errors import Inconclusive, Interrupted, NotStarted, Refused, RunbookError, StillUp, WriteRefused
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, LeftState, TaskDirectories
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.target import RunbookSettings, Target
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.patience import going_on

# The start of a process as its deployer shows it: time in Unix ms and process id.
ProcessStart = tuple[int | None, int | None]

# What a process has left, from the instance as its deployer shows it after an end. True if it was one that this call
# has started.
ProcessLeft = Callable[[Deployment | None, bool], LeftState]

# A supervisor kills a process that does not stop: its own limit may be longer than that of the stop request.
_END_S, _LOOK_S = 60, 0.5
# Airflow asks a task to stop with SIGINT or SIGTERM and kills it some seconds later.
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True)
class RestartTimes:
    """Times of each stage, in Unix ms; `already_stopped`: the instance was down before this call."""

    stop_requested_ms: int
    stopped_ms: int
    started_ms: int
    already_stopped: bool


def restart(
    deployer: Deployer,
    instance: str,
    target: Target,
    *,
    remove_members: Callable[[], None] | None,
    log: Callable[[str], None],
    clears: TaskDirectories | None = None,
    must_clear: bool = False,
    once: RunbookSettings = (),
    had: Target | None = None,
    still_up: Callable[[], str] = lambda: "",
    was: ProcessStart | None = None,
    at_stop: Callable[[], None] = lambda: None,
    left: ProcessLeft | None = None,
) -> RestartTimes:
    """Stop one instance, delete the local state `clears`, set `target`, remove its members, start it.

    If nothing is deleted, `target` is set, and read back, just before the stop: so the instance is down for a shorter
    time. It is set back if the old process goes on.

    `clears` without a directory is all local state, None none of it. With `must_clear` the instance is started only as
    this call asks, its state deleted, on `target` and with `once`: on kept state with empty changelogs it would lose
    data silently, and another release next to older ones could write what they misread.

    `once` are settings for this start alone: an instance that is started again after an error does not have them.

    `remove_members` is called once the process is gone, without static membership: the others would wait out the
    session timeout (45 s by default) for a member that does not come back under its name. `at_stop` is called before
    that.

    `left` decides after each end of a process what is deleted, too, before the next start (None: nothing, however it
    ended). The instance stays down if that fails or is left to a person (Inconclusive), as with `must_clear`.

    WriteRefused, and nothing done, for a deployer that does not act itself: a step asks a person instead. A target or a
    deletion that `apply` and `clear_state` would refuse is refused while the instance still runs; an instance that is
    down is started in any case.

    `had` is what was declared before its run changed anything (None: what is declared now). `still_up` is asked once
    the deployer reported the end: why the old process still lives, empty if it does not. Then it raises StillUp, and
    does nothing more. It raises the same if the deployer reports a start, and shows the process from before: that of
    this call, or of an instance that is down already the one that it `was`.

    From the request to stop on, no exit leaves the instance down, unless it `must_clear`: it is started again before an
    error is raised, on `target` or on what it `had`. If the deployer sets neither, it stays down: with fewer settings
    it could write what older releases misread. A SIGTERM or SIGINT (seen in the main thread only) does not abort the
    sequence, it shortens it: the instance is started with what is declared at that moment, then Interrupted is raised.
    A rerun continues from where this stopped, also from an instance that is down.
    """
    if not deployer.abilities.act:
        raise WriteRefused(
            f"{instance}: its deployer changes nothing itself, so nothing is restarted; ask a person: "
            f"{deployer.request('deploy', instance, target)}"
        )
    with _signals() as told:
        if told:
            raise Interrupted(f"{instance}: interrupted before anything was done; nothing was changed")
        found = _present(deployer, instance)
        if not (already := _is_stopped(found)):
            _check(deployer, instance, target, clears, once)
        back = _allowed(had, None if already else found, target)
        was = was if already or found is None else process_start(found)
        between = _Between(deployer, instance, target, clears, log, None if already else _declared(found), must_clear)
        between.set_ahead(told)
        requested = _now_ms()
        try:
            log(f"{instance}: is down already, goes on from there" if already else f"{instance}: stop")
            with between.set_back(BaseException):
                _stop(deployer, instance, still_up, log)
            stopped = _now_ms()
            log(f"{instance}: down after {stopped - requested} ms")
            at_stop()
            between.look(left, started=False)
            if not told:
                between.prepare()
            between.require(told)
            if remove_members is not None:
                remove_members()
            with between.set_back(StillUp):
                between.started = True
                with going_on(f"{instance}: starts", log):
                    deployer.start(instance, once)
                started = _now_ms()
                _require_new(deployer, instance, was)
        except BaseException as error:
            _after_error(between, error, back, left, starts=not must_clear)
            raise
        log(f"{instance}: started {started - requested} ms after it was asked to stop")
        if told:
            raise Interrupted(f"{instance}: {told[0]} arrived during its restart; it is started again, clear this step")
    return RestartTimes(requested, stopped, started, already)


@dataclass(slots=True)
class _Between:
    """What is done between a stop and a start; with `must` nothing is started before all of it is done.

    `before` is what was declared when this call found the instance up, None if it was down or that is unknown.
    """

    deployer: Deployer
    instance: str
    target: Target
    clears: TaskDirectories | None
    log: Callable[[str], None]
    before: Target | None
    must: bool
    cleared: bool = False
    asked: bool = False
    ready: bool = False
    stays_down: bool = False
    started: bool = False

    def set_ahead(self, told: list[str]) -> None:
        """Set the target while the instance still runs, unless state goes first or nothing is known to set back to.

        Refused if it is declared otherwise afterwards, Interrupted if a signal arrived: set back, and nothing stopped.
        """
        if self.before is None or self.must or self.clears is not None:
            return
        with self.set_back(BaseException):
            self.prepare()
            if not self.deployer.would_write and (now := self._declared_now()) != self.target:
                raise Refused(
                    f"{self.instance}: is not stopped: its deployer reported {self.target.text} as set, but shows "
                    f"{_text(now)}; correct the deployer, then clear this step"
                )
            if told:
                raise Interrupted(f"{self.instance}: {told[0]} arrived before its stop; it runs as before")

    @contextmanager
    def set_back(self, kinds: type[BaseException]) -> Iterator[None]:
        """Set the declaration back after an error of these kinds: the process that goes on would start with it."""
        try:
            yield
        except kinds as error:
            if self.before is not None and self.asked:
                self._set_back(error, self.before)
            raise

    def _set_back(self, error: BaseException, before: Target) -> None:
        try:
            if (now := self._declared_now()) != before:
                self.log(f"{self.instance}: is set to {_text(now)}; set back to {before.text}")
                self.deployer.apply(self.instance, before)
        except RunbookError as second:
            kind = type(error) if isinstance(error, Interrupted | StillUp) else Refused
            raise kind(
                f"{error}; and {self.instance} was not set back to {before.text}: {second}; its next start is with "
                f"{self._shown_now()}: set it back manually"
            ) from error
        self.asked = self.ready = False

    def _declared_now(self) -> Target | None:
        return _declared(_present(self.deployer, self.instance))

    def _shown_now(self) -> str:
        try:
            return _text(self._declared_now())
        except RunbookError:
            return _text(None)

    @property
    def is_open(self) -> bool:
        """Whether state that must not be started on is still there."""
        return self.must and not self.cleared

    def clear(self) -> None:
        """Delete it."""
        if self.is_open and self.clears is not None:
            self.deployer.clear_state(self.instance, self.clears.names)
            self.log(f"{self.instance}: {self.clears.what} cleared")
            self.cleared = True

    def prepare(self) -> None:
        """Delete the local state and set the target, unless that was done ahead."""
        if self.ready:
            return
        if self.clears is not None:
            self.deployer.clear_state(self.instance, self.clears.names)
            self.log(f"{self.instance}: {self.clears.what} cleared")
        self.cleared = True
        self.log(f"{self.instance}: set {self.target.text}")
        self.asked = True
        self.deployer.apply(self.instance, self.target)
        self.ready = True

    def look(self, left: ProcessLeft | None, *, started: bool) -> None:
        """Take in what the ended process has left; Inconclusive if the instance stays down for a person.

        A dry run has stopped nothing.
        """
        if left is None or self.deployer.would_write:
            return
        found = left(_present(self.deployer, self.instance), started)
        if found.stays_down:
            self.stays_down = True
            raise Inconclusive(found.stays_down)
        if found.clears is not None:
            self.log(f"{self.instance}: {found.why}")
            everything = self.clears is not None and not self.clears.names
            self.clears = self.clears if everything else (self.clears or NO_DIRECTORIES).joined(found.clears)
            self.must, self.ready, self.cleared = True, False, False

    def require(self, told: list[str]) -> None:
        if self.must and not self.ready:
            raise Interrupted(f"{told[0]} arrived before that")

    def left_down(self, error: RunbookError) -> RunbookError:
        """The error for an instance that is not started again."""
        if self.clears is not None and not self.cleared:
            return _not_cleared(self.deployer, self.instance, self.clears, error)
        kind = type(error) if isinstance(error, Interrupted | StillUp) else Refused
        return kind(
            f"{self.instance} is not started again ({error}): its run starts it with {self.target.text} only; correct "
            "this, then clear this step"
        )


def _check(
    deployer: Deployer, instance: str, target: Target, clears: TaskDirectories | None, once: RunbookSettings
) -> None:
    """Refuse what would be refused once the instance is down."""
    deployer.check_apply(instance, target)
    deployer.check_start(instance, once)
    if clears is not None:
        deployer.check_clear_state(instance, clears.names)


def clear(deployer: Deployer, instance: str, clears: TaskDirectories) -> None:
    """Delete local state of an instance that is down and has to be cleared before it starts.

    Refused, with what to delete manually, if that fails: the instance must not be started then.
    """
    try:
        deployer.clear_state(instance, clears.names)
    except RunbookError as error:
        raise _not_cleared(deployer, instance, clears, error) from error


def _not_cleared(deployer: Deployer, instance: str, clears: TaskDirectories, error: RunbookError) -> RunbookError:
    """The error for an instance that stays down."""
    kind = Interrupted if isinstance(error, Interrupted) else Refused
    manually = deployer.request("clear_state", instance, directories=clears.names)
    return kind(
        f"{instance} is not started: its {clears.what} was not deleted ({error}), and on kept state it could lose data "
        f"silently; {manually}, then clear this step"
    )


def _after_error(
    between: _Between,
    error: BaseException,
    allowed: tuple[Target, Target] | None,
    left: ProcessLeft | None,
    *,
    starts: bool,
) -> None:
    """Start the instance again unless it has to stay down: then the error of a run has what is left to do."""
    if between.stays_down:
        return
    if starts and not between.is_open:
        _start_again(between, error, allowed, left)
    elif isinstance(error, RunbookError):
        raise between.left_down(error) from error


def _start_again(
    between: _Between, error: BaseException, allowed: tuple[Target, Target] | None, left: ProcessLeft | None
) -> None:
    """Start the instance after `error` on one of the `allowed` targets (None: on any), the first one if neither is set.

    NotStarted, with both reasons, if that fails too. Nothing is done if its old process still lives. What a process has
    left is deleted first (`left`).
    """
    if isinstance(error, StillUp):
        return
    deployer, instance, log, wanted = between.deployer, between.instance, between.log, ""
    try:
        if left is not None and not between.started and not _has_ended(deployer, instance):
            log(f"{instance}: {error}; its process lives, so nothing is started")
            return
        between.look(left, started=between.started)
        between.clear()
        declared = _declared(_present(deployer, instance))
        if allowed is not None and declared not in allowed:
            wanted = f" with {allowed[0].text}"
            log(f"{instance}: is set to {_text(declared)}; set back to {allowed[0].text}")
            deployer.apply(instance, allowed[0])
        log(f"{instance}: {type(error).__name__} during its restart: {error}; it is started with what is declared now")
        with going_on(f"{instance}: starts", log):
            deployer.start(instance)
    except StillUp as alive:
        raise StillUp(f"{error}; {alive}") from error
    except RunbookError as second:
        if between.stays_down:
            raise Inconclusive(f"{error}; {second}") from error
        raise NotStarted(
            f"{instance} is DOWN: {error}; and starting it again{wanted} failed: {second}; correct that, then clear "
            "this step, which starts it"
        ) from error


def _has_ended(deployer: Deployer, instance: str) -> bool:
    """Whether its process has ended: one that was asked to stop may do so, or be killed, after the request."""
    until = time.monotonic() + _END_S
    while not _is_stopped(_present(deployer, instance)):
        if time.monotonic() >= until:
            return False
        time.sleep(_LOOK_S)
    return True


def _stop(deployer: Deployer, instance: str, still_up: Callable[[], str], log: Callable[[str], None]) -> None:
    """Stop the instance; StillUp if its process lives although the deployer reported its end."""
    with going_on(f"{instance}: stops", log):
        deployer.stop(instance)
    if why := still_up():
        raise StillUp(f"{instance}: its deployer reported its end, but {why}; nothing more is done to it")


def process_start(found: Deployment) -> ProcessStart | None:
    """The start of a process as its deployer shows it, None if it does not."""
    start = (found.started_at_ms, found.pid)
    return None if start == (None, None) else start


def _require_new(deployer: Deployer, instance: str, was: ProcessStart | None) -> None:
    """StillUp if the deployer shows the start from before; the gate judges one that it does not show now.

    A dry run has started nothing.
    """
    if deployer.would_write:
        return
    try:
        found = None if was is None else _present(deployer, instance)
    except RunbookError:
        return
    if was is None or found is None or process_start(found) != was:
        return
    since = "" if was[0] is None else f" since {utc_second(was[0])}"
    raise StillUp(
        f"{instance}: its deployer reported a start, but shows the process from before (pid "
        f"{'unknown' if was[1] is None else was[1]}{since}; expected a new one); nothing more is done to it: look at it"
    )


def _is_stopped(found: Deployment | None) -> bool:
    return found is not None and is_down(found.process) and found.pid is None


def _allowed(had: Target | None, found: Deployment | None, target: Target) -> tuple[Target, Target] | None:
    """The targets on which an instance may be started again, the one from before first; None if that is unknown."""
    before = had or _declared(found)
    return None if before is None else (before, target)


def _present(deployer: Deployer, instance: str) -> Deployment | None:
    """What the deployer shows of the instance now, None if it does not show it."""
    return next((found for found in deployer.instances() if found.instance == instance), None)


def _declared(found: Deployment | None) -> Target | None:
    """What is set for the next start; None if that is unknown, or partly hidden."""
    target = None if found is None else found.target
    return None if target is None or isinstance(target, Missing) else target


def _text(declared: Target | None) -> str:
    return declared.text if declared else "an unknown release"


@contextmanager
def _signals() -> Iterator[list[str]]:
    """Names of the signals that arrived, in place of their usual effect; the handlers before are restored."""
    told: list[str] = []
    if threading.current_thread() is not threading.main_thread():
        yield told
        return

    def note(number: int, _: FrameType | None) -> None:
        told.append(signal.Signals(number).name)

    before = {number: signal.signal(number, note) for number in _SIGNALS}
    try:
        yield told
    finally:
        for number, handler in before.items():
            # None is a handler that was not set from Python: the default is the nearest that can be restored.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
