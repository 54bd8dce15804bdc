"""Every instance is cleared before the first is started, where the run demands it; on a real ledger."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from kstreams_runbooks.errors import Inconclusive, Refused, Unreachable, WriteRefused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.local_state import Directories
from kstreams_runbooks.model.readings.readings import Deployment, GroupReading, Missing, Start, Taken
from kstreams_runbooks.model.runs.stages import Bounce, ClearState
from kstreams_runbooks.model.target import RunbookSettings, Target
from kstreams_runbooks.steps.instances.together import FIRST_SEEN, _note_first, rehearse_at_once, start_all
from kstreams_runbooks.steps.run.run import Run
from world.samples import BOUNCE_1, down, reading

CLEARS = replace(BOUNCE_1, clear_state=True, must_clear=True)


class Directory:
    """A deployer of instances that are files: their state, and whether they run. Each call has one of its own."""

    abilities = Abilities(instances=True, topology=False, clear=True, act=True, clear_directories=True)

    def __init__(self, root: Path) -> None:
        self.root = root
        self.would_write: list[str] = []

    def instances(self) -> tuple[Deployment, ...]:
        """Nothing runs."""
        names = sorted({path.stem for path in self.root.glob("*.state")} | {"orders-1", "orders-2"})
        return tuple(
            Deployment(Taken(0, "here"), name, "stopped", None, None, "3.4.1", (), applied=False) for name in names
        )

    def check_apply(self, instance: str, target: Target) -> None:
        """Anything goes."""

    apply = check_apply

    def stop(self, instance: str) -> None:
        """It is down."""

    def clear_state(self, instance: str, directories: Directories = ()) -> None:
        """Delete it, unless it is held."""
        assert directories == ()
        if (self.root / f"{instance}.held").exists():
            raise WriteRefused(f"{instance}.state is in use")
        (self.root / f"{instance}.state").unlink(missing_ok=True)

    def state_sizes(self, instance: str) -> dict[str, int]:
        """One task directory while it has state."""
        return {"0_0": 7} if (self.root / f"{instance}.state").exists() else {}

    def check_start(self, instance: str, once: RunbookSettings) -> None:
        """Anything goes."""

    def start(self, instance: str, once: RunbookSettings = ()) -> None:
        """Up, unless it is broken; its file has the settings of this start."""
        if (self.root / f"{instance}.broken").exists():
            raise Refused(f"{instance} does not start")
        (self.root / f"{instance}.up").write_text(repr(once))

    def request(self, wish: str, instance: str, *_: object, directories: Directories = ()) -> str:
        """In one sentence."""
        return f"{wish} {instance}{directories or ''}"


@pytest.fixture
def started(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., set[str]]:
    """Start both instances, which have state and are down; returns those that are up."""
    room = "kstreams_runbooks.steps.instances.together"
    group = reading().group
    assert isinstance(group, GroupReading)
    now = reading(down("orders-1"), down("orders-2"), group=replace(group, members=(), state="Empty"))
    for name in ("orders-1", "orders-2"):
        (tmp_path / f"{name}.state").touch()
    application = SimpleNamespace(application_id="orders", as_deployed=None)
    vars(run).update(application=application, deployer=Directory(tmp_path))
    monkeypatch.setattr(Run, "read", lambda _, **__: now)
    monkeypatch.setattr(f"{room}._guard", lambda *_: None)
    monkeypatch.setattr(f"{room}.require_topics_still", lambda *_, **__: None)
    monkeypatch.setattr(Run, "new_deployer", lambda _: Directory(tmp_path))
    monkeypatch.setattr(f"{room}.let_it_start", lambda _, name: (tmp_path / f"{name}.watched").touch())

    def start(bounce: Bounce = CLEARS) -> set[str]:
        try:
            start_all(run, bounce)
        finally:
            start.up = {path.stem for path in tmp_path.glob("*.up")}  # type: ignore[attr-defined] # read by the tests
        return {path.stem for path in tmp_path.glob("*.up")}

    return start


def kept(run: Run, name: str) -> list[object]:
    """Payloads of the writes with this name."""
    return [one.payload for one in run.ledger.evidence(run.key, kind="write", name=name)]


def test_no_instance_starts_before_every_instance_is_cleared(
    run: Run, tmp_path: Path, started: Callable[..., set[str]]
) -> None:
    """One that cannot be cleared keeps all of them down; a rerun goes on from there."""
    (tmp_path / "orders-2.held").touch()
    with pytest.raises(Refused) as raised:
        started()
    assert str(raised.value) == (
        "orders-2 is not started: its local state was not deleted (orders-2.state is in use), and on kept state it "
        "could lose data silently; clear_state orders-2, then clear this step"
    )
    assert started.up == set()  # type: ignore[attr-defined] # set by the fixture
    assert not (tmp_path / "orders-1.state").exists()
    assert kept(run, "clear") == [{"instances": ["orders-1"], "what": "local state"}]
    (tmp_path / "orders-2.held").unlink()
    assert started() == {"orders-1", "orders-2"}
    assert list(tmp_path.glob("*.state")) == []


def test_no_instance_starts_before_its_state_is_seen_gone(
    run: Run, tmp_path: Path, started: Callable[..., set[str]]
) -> None:
    """A stage of the plan deleted it: what is there again, or was left, keeps all of them down."""
    made = replace(run.plan(), stages=(*run.plan().stages, ClearState(3, seen=True)))
    run.ledger.store_plan(run.key, made.digest, encode(made))
    (tmp_path / "orders-1.state").unlink()
    bounce = replace(BOUNCE_1, must_clear=True)
    with pytest.raises(Refused, match=r"orders-2: still has 0_0 \(expected: deleted"):
        started(bounce)
    assert started.up == set()  # type: ignore[attr-defined] # set by the fixture
    (tmp_path / "orders-2.state").unlink()
    assert started(bounce) == {"orders-1", "orders-2"}


def test_without_that_demand_each_is_cleared_and_started_by_itself(
    run: Run, tmp_path: Path, started: Callable[..., set[str]]
) -> None:
    """An instance that cannot be cleared is started as it is, and the error names it."""
    (tmp_path / "orders-2.held").touch()
    with pytest.raises(WriteRefused, match=r"orders-2\.state is in use"):
        started(replace(CLEARS, must_clear=False))
    assert started.up == {"orders-1", "orders-2"}  # type: ignore[attr-defined] # set by the fixture
    assert kept(run, "clear") == []


def test_settings_of_one_start_reach_every_instance_and_no_other_start(
    run: Run, tmp_path: Path, started: Callable[..., set[str]]
) -> None:
    """One that does not start with them is not started without them; a rerun starts it, its state deleted again."""
    bounce = replace(CLEARS, once=(("cleanup.on.start", "true"),))
    (tmp_path / "orders-2.broken").touch()
    with pytest.raises(Refused, match=r"orders-2 is not started again \(orders-2 does not start\): its run starts it"):
        started(bounce)
    assert started.up == {"orders-1"}  # type: ignore[attr-defined] # set by the fixture
    assert (tmp_path / "orders-1.up").read_text() == "(('cleanup.on.start', 'true'),)"
    (tmp_path / "orders-2.broken").unlink()
    (tmp_path / "orders-2.state").touch()
    assert started(bounce) == {"orders-1", "orders-2"}
    assert (tmp_path / "orders-2.up").read_text() == "(('cleanup.on.start', 'true'),)"
    assert list(tmp_path.glob("*.state")) == []
    assert len(kept(run, "clear")) == 2


@pytest.mark.usefixtures("started")
def test_a_rehearsal_shows_that_all_is_deleted_first_and_the_settings_of_one_start(run: Run) -> None:
    """In the order of a real run, where no instance starts before every instance is cleared."""
    rehearse_at_once(run, replace(CLEARS, once=(("cleanup.on.start", "true"),)))
    assert run.deployer.would_write == [
        "remove every member of group orders until it is EMPTY",
        "delete local state of orders-1",
        "delete local state of orders-2",
        "start orders-1 with cleanup.on.start=true for this start alone",
        "start orders-2 with cleanup.on.start=true for this start alone",
    ]


def test_a_bounce_that_deletes_nothing_clears_nothing(
    run: Run, tmp_path: Path, started: Callable[..., set[str]]
) -> None:
    """There is nothing that must be deleted."""
    assert started(BOUNCE_1) == {"orders-1", "orders-2"}
    assert len(list(tmp_path.glob("*.state"))) == 2
    assert {path.stem for path in tmp_path.glob("*.watched")} == {"orders-1", "orders-2"}
    assert kept(run, "clear") == []


def test_a_look_at_the_group_that_failed_voids_no_proof(
    run: Run, started: Callable[..., set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all instances down it would keep every rerun from starting them."""
    proof = [one.payload for one in run.ledger.evidence(run.key, kind="verdict", name="group_is_empty")]
    unread = replace(reading(down("orders-1"), down("orders-2")), group=Missing("broker 1 did not answer"))
    with monkeypatch.context() as patch:
        patch.setattr(Run, "read", lambda _, **__: unread)
        with pytest.raises(Inconclusive, match="broker 1 did not answer"):
            started()
    assert [one.payload for one in run.ledger.evidence(run.key, kind="verdict", name="group_is_empty")] == proof
    assert started() == {"orders-1", "orders-2"}


def test_a_person_answers_that_state_is_deleted_also_if_all_run_already(
    run: Run, started: Callable[..., set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who knows the plan may have deployed before the question came."""
    room, asked = "kstreams_runbooks.steps.instances.together", list[Bounce]()
    monkeypatch.setattr(f"{room}.started_by", lambda *_: True)
    monkeypatch.setattr(f"{room}.require_cleared", lambda _, bounce: asked.append(bounce))
    started()
    assert asked == []
    run.deployer.abilities = replace(Directory.abilities, act=False)  # type: ignore[misc] # a double of the fixture
    started()
    assert asked == [CLEARS]


def test_the_first_process_of_each_instance_is_noted(
    run: Run, started: Callable[..., set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As its Streams client was seen, or as it answers afterwards; one that does not answer is not known."""
    first = {"orders-1": Start(500, 41), "orders-2": None}
    monkeypatch.setattr("kstreams_runbooks.steps.instances.together.let_it_start", lambda _, name: first[name])
    started()
    [note] = run.ledger.evidence(run.key, kind="note", name=FIRST_SEEN)
    assert note.payload == {"application": "orders", "starts": {"orders-1": {"started_at_ms": 500, "pid": 41}}}
    monkeypatch.setattr(Run, "read", lambda _, **__: reading())
    _note_first(run, {"orders-1": None, "orders-2": None})
    [_, note] = run.ledger.evidence(run.key, kind="note", name=FIRST_SEEN)
    assert note.payload["starts"] == {name: {"started_at_ms": 500, "pid": 41} for name in first}


def test_a_look_that_fails_ends_no_start(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The instances are up: only their first process is not known."""

    def unread(_: Run, **__: object) -> None:
        raise Unreachable("no broker answers")

    monkeypatch.setattr(Run, "read", unread)
    _note_first(run, {"orders-1": None})
    [note] = run.ledger.evidence(run.key, kind="note", name=FIRST_SEEN)
    assert note.payload["starts"] == {}
