"""The docker deployer, interrupted at each of its calls: the configuration of the container is never lost."""

from typing import Any

import pytest
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.deployers.docker.deployer import DockerDeployer
from kstreams_runbooks.deployers.docker.engine import Engine
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.target import Target
from lab.engine import OwnEngine
from world.containers import created, deployer, described, differences, inspected, settings, starts

pytestmark = pytest.mark.long

BUMP = Target.of("4.3.1", {"upgrade.from": "3.4"})
# Stop, create, connect, two names, start, remove.
CALLS = 7


class Killed(BaseException):
    """The process ends here: nothing after it happens."""


def cut(monkeypatch: pytest.MonkeyPatch, at: int, *, done: bool) -> list[str]:
    """Let the deployers of this test end at their `at`-th change, before it or once it is `done`; returns the calls."""
    calls: list[str] = []
    write = Engine._write

    def counted(self: Engine, verb: str, name: str, call: Any, **given: Any) -> None:
        calls.append(f"{verb} {name}")
        if len(calls) > at:
            raise Killed
        if len(calls) == at and not done:
            raise Killed
        write(self, verb, name, call, **given)
        if len(calls) == at:
            raise Killed

    monkeypatch.setattr(Engine, "_write", counted)
    return calls


def roll(control: DockerDeployer, target: Target) -> None:
    """As a runbook does it, without its second thoughts after an error: a kill leaves no time for any."""
    control.stop("o1")
    control.apply("o1", target)
    control.start("o1")


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("at", range(1, CALLS + 1))
def test_a_kill_at_each_call_is_made_good_by_a_rerun(
    engine: OwnEngine, monkeypatch: pytest.MonkeyPatch, at: int, *, done: bool
) -> None:
    """At least one whole container is there, at most one runs, and the rerun ends as if nothing had happened."""
    engine.api.create_network("inside", driver="bridge")
    engine.api.create_network("outside", driver="bridge")
    given = {
        "Env": ["SECRET=x"],
        "Labels": {"team": "orders"},
        "HostConfig": {"NetworkMode": "inside", "Memory": 2**26},
    }
    created(engine, **given)
    engine.api.connect_container_to_network("o1", "outside", aliases=["shop"])
    made = settings(engine)
    deployer(made).start("o1")
    before = inspected(engine)
    with monkeypatch.context() as patched:
        calls = cut(patched, at, done=done)
        with pytest.raises(Killed):
            roll(deployer(made), BUMP)
    assert len(calls) == at
    names = engine.names()
    whole = [name for name in names if _is_whole(engine, name)]
    assert whole, f"after {calls}: {names}"
    running = [name for name in names if inspected(engine, name)["State"]["Running"]]
    found = described(made)
    assert (found.process == "running") == (running == ["o1"]), calls
    assert len(running) <= 1
    assert found.target in {Target("3.4.1"), BUMP}
    restart(deployer(made), "o1", BUMP, remove_members=None, log=lambda _: None)
    deployer(made).start("o1")
    assert (described(made).target, described(made).applied) == (BUMP, True)
    assert engine.names() == ["o1"]
    assert starts(engine)[-1] == "4.3.1 STREAMS_UPGRADE_FROM=3.4"
    assert differences(before, inspected(engine)) == [
        "/Config/Env/RELEASE: 3.4.1 → 4.3.1",
        "/Config/Env/STREAMS_UPGRADE_FROM: None → 3.4",
    ]


@pytest.mark.parametrize("at", range(1, CALLS + 1))
def test_a_kill_at_each_call_leaves_the_way_back(engine: OwnEngine, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """Undo in place of a rerun: the instance is what it was."""
    created(engine, Env=["SECRET=x"], HostConfig={"NetworkMode": "none", "Memory": 2**26})
    made = settings(engine)
    deployer(made).start("o1")
    before = inspected(engine)
    with monkeypatch.context() as patched:
        cut(patched, at, done=True)
        with pytest.raises(Killed):
            roll(deployer(made), BUMP)
            raise Killed  # without networks there are fewer calls
    restart(deployer(made), "o1", Target("3.4.1"), remove_members=None, log=lambda _: None)
    deployer(made).start("o1")
    assert (described(made).process, described(made).target) == ("running", Target("3.4.1"))
    assert engine.names() == ["o1"]
    assert differences(before, inspected(engine)) == []


@pytest.mark.parametrize("name", ["o1.before", "o1.next"])
def test_a_container_of_a_change_that_somebody_starts_is_seen(
    engine: OwnEngine, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The process is unknown, nothing is done to the instance, and the sentence has the command."""
    created(engine)
    made = settings(engine)
    deployer(made).start("o1")
    with monkeypatch.context() as patched:
        cut(patched, 3, done=True)  # stop, create, the first name
        with pytest.raises(Killed):
            roll(deployer(made), BUMP)
    assert engine.names() == ["o1.before", "o1.next"]
    engine.api.start(name)
    assert described(made).process == "unknown"
    for call in ("stop", "start"):
        with pytest.raises(RunbookError, match=rf"container {name} runs, .* run `docker stop {name}`"):
            getattr(deployer(made), call)("o1")
    engine.api.kill(name)
    deployer(made).start("o1")
    assert (engine.names(), described(made).target) == (["o1"], BUMP)


def _is_whole(engine: OwnEngine, name: str) -> bool:
    found = inspected(engine, name)
    networks = set(found["NetworkSettings"]["Networks"])
    return "SECRET=x" in found["Config"]["Env"] and networks == {"inside", "outside"}
