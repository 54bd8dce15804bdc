"""The wait for a person who was asked to deploy, with readings of our own, on a real SQLite ledger."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.errors import Drifted
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Start
from kstreams_runbooks.model.runs.gate import Awaited
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.instances.deploy_trigger import DeployTrigger
from kstreams_runbooks.steps.instances.watch_trigger import SAW
from kstreams_runbooks.steps.run.run import Run
from world.samples import BOUNCE_1, NEW, down, instance, member, reading

BEFORE = Start(500, 41)
DONE = instance("orders-1", release=NEW, settings=BOUNCE_1.settings, start=Start(900, 50))

Wait = Callable[..., dict[str, Any]]


@pytest.fixture
def wait(run: Run, monkeypatch: pytest.MonkeyPatch) -> Wait:
    """Lets the trigger see these readings, one after another, and answers its event."""

    def wait(*readings: ApplicationReading, wait_h: float = 8.0, **changes: Any) -> dict[str, Any]:
        left = list(readings)
        monkeypatch.setattr(Run, "again", classmethod(lambda *_: run))
        monkeypatch.setattr(
            "kstreams_runbooks.steps.instances.deploy_trigger.reading_of",
            lambda _: left.pop(0) if len(left) > 1 else left[0],
        )
        awaited = encode(Awaited("orders-1", BOUNCE_1, BEFORE, **changes))
        trigger = DeployTrigger(
            run_key=run.key, task_id="bounce_1_first", try_number=1, awaited=awaited, interval_s=0.01, wait_h=wait_h
        )
        path, arguments = trigger.serialize()
        assert path.endswith("deploy_trigger.DeployTrigger")
        again = DeployTrigger(**json.loads(json.dumps(arguments)))

        async def first() -> dict[str, Any]:
            async for event in again.run():
                return dict(event.payload)
            raise AssertionError("no event")

        return asyncio.run(asyncio.wait_for(first(), 20))

    return wait


def test_the_wait_ends_when_it_is_deployed(run: Run, wait: Wait) -> None:
    """What changed in between is kept, once each; nobody having done anything is not kept again and again."""
    halfway = instance("orders-1", release=NEW, settings=BOUNCE_1.settings, start=BEFORE)
    other = instance("orders-2")
    event = wait(reading(), reading(), reading(), reading(halfway, other), reading(DONE, other))
    assert event["outcome"] == Outcome.PROCEED
    kept = run.ledger.evidence(run.key, kind="verdict", name="deployed")
    assert [one.payload["result"]["outcome"] for one in kept] == ["wait", "wait", "proceed"]


def test_the_wait_ends_at_its_limit_with_what_is_missing(wait: Wait) -> None:
    """Refused, or inconclusive where it cannot be seen; the sentence says how to go on."""
    event = wait(reading(), wait_h=0.00001)
    assert event["outcome"] == Outcome.REFUSE
    assert event["reasons"][0].startswith("orders-1 is not deployed as asked after 1e-05 h (limit deploy_wait_h): ")
    assert event["reasons"][0].endswith("deploy it and clear bounce_1_first, or go back")


def test_the_wait_is_inconclusive_where_nothing_can_be_seen(wait: Wait) -> None:
    """For as long as it may still come back it is waited for."""
    unseen = replace(instance("orders-1"), deployment=Missing("the instances command is away"))
    event = wait(reading(unseen, instance("orders-2")), wait_h=0.00001)
    assert event["outcome"] == Outcome.INCONCLUSIVE
    assert "the instances command is away" in event["reasons"][0]


def test_the_limit_survives_another_triggerer(run: Run, wait: Wait) -> None:
    """It is kept in the ledger, and is not counted from the start of the process."""
    run.ledger.remember(run.key, "until/deploy/bounce_1_first/orders-1/1/0/try 1", {"until_ms": 1, "after": 0})
    assert wait(reading(), wait_h=8.0)["outcome"] == Outcome.REFUSE


def test_members_of_the_old_start_interrupt_the_wait_once(wait: Wait) -> None:
    """A task removes them; without any it is waited on."""
    stopped = reading(down("orders-1"), instance("orders-2"))
    event = wait(reading(), stopped, members=(member("orders-1"),))
    assert (event["outcome"], event["reasons"]) == ("wait", ["orders-1: its old start is gone, its members are left"])
    done = reading(DONE, instance("orders-2"))
    assert wait(reading(), stopped, done)["outcome"] == Outcome.PROCEED


def test_a_wait_that_breaks_is_a_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is, a person gets to read it."""

    def broken(*_: object) -> Run:
        raise KeyError("bug")

    monkeypatch.setattr(Run, "again", broken)
    awaited = encode(Awaited("orders-1", BOUNCE_1, None))
    trigger = DeployTrigger(run_key=run.key, task_id="t", try_number=1, awaited=awaited, interval_s=1, wait_h=1)

    async def first() -> Any:
        async for event in trigger.run():
            return event.payload
        return None

    payload = asyncio.run(first())
    assert payload == {"outcome": "inconclusive", "reasons": ["the watch broke: KeyError: 'bug'"], "drifted": False}


def test_what_was_seen_before_a_wait_broke_is_told_with_it(
    run: Run, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error explains itself, and takes nothing of what was seen before with it."""
    looks: list[int] = []

    def once(*_: object) -> bool:
        looks.append(1)
        if len(looks) > 1:
            raise Drifted("topic orders is gone")
        return False

    monkeypatch.setattr("kstreams_runbooks.steps.instances.deploy_trigger.old_start_gone", once)
    unseen = replace(instance("orders-1"), deployment=Missing("the instances command is away"))
    event = wait(reading(unseen, instance("orders-2")), members=(member("orders-1"),))
    assert (event["outcome"], event["drifted"]) == (Outcome.REFUSE, True)
    assert event["reasons"][0] == "topic orders is gone"
    assert event["reasons"][1].startswith("the last that was seen before: orders-1: inconclusive: ")
    (kept,) = run.ledger.evidence(run.key, kind="note", name=SAW)
    assert "the instances command is away" in kept.payload["sentence"]
