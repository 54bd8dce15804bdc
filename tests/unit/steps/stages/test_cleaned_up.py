"""Instances that delete their state as they start are seen one by one; one that kept it stops all. On a real ledger."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, Unreachable
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.local_state import FileTimes
from kstreams_runbooks.model.readings.readings import Missing, StreamsReading
from kstreams_runbooks.model.runs.ledger import Card
from kstreams_runbooks.model.runs.stages import ClearState
from kstreams_runbooks.steps.reset.plan import clean_up_of
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages import cleaned_up
from world.samples import card, instance

ROOM = "kstreams_runbooks.steps.stages.cleaned_up"
OLD, NEW = FileTimes(1_000, 2_000), FileTimes(3_000, 4_000)
USED = FileTimes(1_000, 4_000)
NAMES = ("orders-1", "orders-2")


class Host:
    """A deployer of two instances with local state; `does` is what an instance does with it as it starts."""

    def __init__(self) -> None:
        self.state: dict[str, dict[str, FileTimes] | Missing] = {name: {"0_0": OLD} for name in NAMES}
        self.up: list[str] = []
        self.held: set[str] = set()

    def start(self, name: str, state: dict[str, FileTimes] | Missing) -> None:
        """Up, with this local state."""
        self.up.append(name)
        self.state[name] = state

    def stop(self, name: str) -> None:
        """Down, unless it is held."""
        if name in self.held:
            raise Unreachable(f"{name}: no answer")
        if name in self.up:
            self.up.remove(name)

    def state_times(self, name: str) -> dict[str, FileTimes] | Missing:
        """What it has."""
        return self.state[name]


@pytest.fixture
def host(run: Run, monkeypatch: pytest.MonkeyPatch) -> Host:
    """Both instances are down, and what they have is noted; their client has begun once they are up."""
    made = replace(run.plan(), stages=(*run.plan().stages, ClearState(3, at_start=True)))
    run.ledger.store_plan(run.key, made.digest, encode(made))
    found = Host()
    streams: StreamsReading | Missing = instance("orders-1", state="REBALANCING").streams
    own = SimpleNamespace(instances=tuple(SimpleNamespace(name=name, metrics="http://here") for name in NAMES))
    application = SimpleNamespace(application_id="orders", deployer=own)
    vars(run).update(application=application, deployer=found)
    monkeypatch.setattr(f"{ROOM}.read_streams", lambda *_, **__: streams)
    cleaned_up.note_state(run)
    return found


def started(run: Run, host: Host, name: str, state: dict[str, FileTimes] | Missing) -> None:
    """Start one instance, and look."""
    with cleaned_up.stopped_if_kept(run, name):
        host.start(name, state)


def failed_late(run: Run, host: Host) -> None:
    """A start that ends with an error once the instance is up."""
    with cleaned_up.stopped_if_kept(run, "orders-2"):
        host.start("orders-2", {"0_0": USED})
        raise Refused("without its setting")


@pytest.mark.parametrize("state", [{"0_0": NEW}, {}])
def test_new_state_goes_on(run: Run, host: Host, state: dict[str, FileTimes]) -> None:
    """Also if no task is assigned yet; its card says that it was deleted."""
    for name in NAMES:
        started(run, host, name, state)
    assert host.up == [*NAMES]
    assert [one.kind for one in run.ledger.cards(run.key)] == ["state_cleared"] * 2
    cleaned_up.require_not_kept(run, NAMES)
    cleaned_up.require_new_state(run)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"0_0": OLD}, "orders-2: still has 0_0 from before the stop"),
        ({"0_0": USED, "1_0": NEW}, "orders-2: still has 0_0 from before the stop"),
        (Missing("permission denied"), "orders-2: whether it kept local state is not known: permission denied"),
    ],
)
def test_kept_state_stops_every_instance_and_no_start_follows(
    run: Run, host: Host, state: dict[str, FileTimes] | Missing, said: str
) -> None:
    """State that cannot be read counts as kept; a rerun refuses, also once it is deleted."""
    started(run, host, "orders-1", {"0_0": NEW})
    with pytest.raises(Refused) as raised:
        started(run, host, "orders-2", state)
    assert said in str(raised.value)
    assert str(raised.value).endswith("trigger reset_and_cleanup again, which does all of it once more")
    assert host.up == []
    host.state = {name: {} for name in NAMES}
    with pytest.raises(Refused, match="this run starts no instance again"):
        cleaned_up.require_not_kept(run, ())


def test_an_instance_that_cannot_be_stopped_is_named(run: Run, host: Host) -> None:
    """The others are stopped all the same."""
    started(run, host, "orders-1", {"0_0": NEW})
    host.held.add("orders-2")
    with pytest.raises(Refused, match=r"orders-2 is still up \(orders-2: no answer\): stop it manually at once"):
        started(run, host, "orders-2", {"0_0": USED})
    assert host.up == ["orders-2"]


def test_a_start_that_failed_before_it_used_the_state_may_be_made_again(run: Run, host: Host) -> None:
    """Nothing has changed in it: the others stay up. If it has, all are stopped."""
    started(run, host, "orders-1", {"0_0": NEW})
    with pytest.raises(Refused, match="its program does not start"), cleaned_up.stopped_if_kept(run, "orders-2"):
        raise Refused("its program does not start")
    assert host.up == ["orders-1"]
    cleaned_up.require_not_kept(run, ())
    with pytest.raises(Refused, match=r"its state was not seen \(without its setting\)"):
        failed_late(run, host)
    assert host.up == []


def test_one_that_an_earlier_try_started_is_seen_before_another_starts(run: Run, host: Host) -> None:
    """The task may have been killed in between."""
    host.start("orders-1", {"0_0": USED})
    with pytest.raises(Refused, match="orders-1: still has 0_0"):
        cleaned_up.require_not_kept(run, ["orders-1"])
    assert host.up == []


def test_it_may_be_old_until_the_client_has_begun(run: Run, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program deletes it between the start of its process and that of its client."""
    looks = iter([Missing("nothing listens"), instance("orders-1", state="CREATED").streams])

    def read(*_: object, **__: object) -> StreamsReading | Missing:
        found = next(looks, None)
        if found is None:
            host.state["orders-1"] = {}
        return found or instance("orders-1", state="REBALANCING").streams

    monkeypatch.setattr(f"{ROOM}.read_streams", read)
    started(run, host, "orders-1", {"0_0": OLD})
    assert host.up == ["orders-1"]


def test_without_its_age_nothing_is_deleted(run: Run, host: Host) -> None:
    """Of any instance; the note of an earlier try stays."""
    host.state["orders-2"] = Missing("no times")
    with pytest.raises(Inconclusive, match="orders-2: nothing would show that it has deleted its local state"):
        cleaned_up.note_state(run)


def test_verify_demands_it_too(run: Run, host: Host) -> None:
    """A person can mark the start successful."""
    host.state["orders-1"] = {"0_0": NEW}
    with pytest.raises(Refused, match="orders-2: still has 0_0"):
        cleaned_up.require_new_state(run)


def test_an_undo_does_not_start_on_state_from_before_the_deletion(run: Run, host: Host) -> None:
    """Only if topics were deleted; not after a run that saw kept state, whatever is there now."""
    cleaned_up.require_newer_than_topics(run, run.key)
    deleted: Card = card("orders-counts-changelog", run_key=run.key, kind="topic_deleted")
    run.ledger.write_card(deleted)
    with pytest.raises(Refused, match=f"orders-1, orders-2: still has 0_0 .* let run {run.key} go on, delete the"):
        cleaned_up.require_newer_than_topics(run, run.key)
    host.state = {name: {"0_0": NEW} for name in NAMES}
    cleaned_up.require_newer_than_topics(run, run.key)
    with pytest.raises(Refused):
        started(run, host, "orders-1", {"0_0": USED})
    host.state = {name: {} for name in NAMES}
    with pytest.raises(Refused, match="then trigger reset_and_cleanup again"):
        cleaned_up.require_newer_than_topics(run, run.key)


@pytest.mark.parametrize(
    ("params", "declared", "said"),
    [
        ({}, {}, ""),
        ({"cleared_by": "deployer", "mode": "offsets"}, {}, ""),
        ({"cleared_by": "person"}, {}, "cleared_by: person (expected deployer or application); choose one"),
        ({"cleared_by": "application"}, {}, "the fleet entry orders has no clean_up"),
        ({"mode": "offsets"}, {"clean.up": "true"}, "with mode offsets (expected: a mode that clears local state)"),
        ({"directories": "1_*"}, {"clean.up": "true"}, "with task directories (expected none: KafkaStreams#cleanUp"),
        ({"mode": "state"}, {"clean.up": "true"}, ""),
    ],
)
def test_the_form(run: Run, params: dict[str, Any], declared: dict[str, str], said: str) -> None:
    """Only where the fleet entry declares the setting, and where all local state goes."""
    given = {"mode": "reset"} | ({"cleared_by": "application"} if declared else {}) | params
    vars(run).update(record=replace(run.record, params=given), application=SimpleNamespace(clean_up=declared))
    if not said:
        assert clean_up_of(run) == tuple(declared.items())
        return
    with pytest.raises(BadInput) as raised:
        clean_up_of(run)
    assert said in str(raised.value)


def test_a_plan_without_that_looks_at_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deployer deletes the state then."""
    look: Callable[..., object] = lambda *_: pytest.fail("it looked")  # noqa: E731 - one line
    monkeypatch.setattr(f"{ROOM}.local_times", look)
    with cleaned_up.stopped_if_kept(run, "orders-1"):
        """Anything."""
    cleaned_up.require_not_kept(run, NAMES)
    cleaned_up.require_new_state(run)
    cleaned_up.require_newer_than_topics(run, run.key)
