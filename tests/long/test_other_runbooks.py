"""One application under traffic: two legs to a newer library, new settings rolled, new topics at once, undone."""

import time
from collections.abc import Iterator

import pytest
import yaml
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.rules import upgrade_path_rules
from lab import report
from lab.afresh import afresh
from lab.application import FROM_RELEASE, TO_RELEASE, Deployed, streams
from lab.judge import judged
from lab.stack import Stack
from world.endings import COMPLETED, NOTHING_CHANGED, begun, begun_other, ended
from world.given import declared_as
from world.runs import approve, log_of

pytestmark = pytest.mark.long

_SHORT = {"bake_s": 1, "gate_interval_s": 0.5, "gate_good_readings": 2}
_BETWEEN = "3.9.1"
_EACH_ONCE = ((1, "orders-1"), (1, "orders-2"))
_WARM_S = 10
_NEW_TOPIC = "orders-orders-audit-repartition"


@pytest.fixture(scope="module")
def busy(stack: Stack) -> Iterator[Stack]:
    """Two instances on the old release under traffic, `audit` settable; the judge looks at all of it at the end."""
    afresh(stack, Deployed())
    entry = yaml.safe_load((stack.lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    deployer = entry["deployer"] | {"settable": [*entry["deployer"]["settable"], "audit"]}
    with declared_as(stack, limits=_SHORT, deployer=deployer):
        stack.start_traffic()
        time.sleep(_WARM_S)
        yield stack
    assert judged(stack).faults() == {}


def versions(stack: Stack, name: str) -> list[tuple[str, str | None]]:
    """Release and upgrade.from of every start of an instance, by its own log."""
    text = (stack.lab.logs / f"{name}.log").read_text(encoding="utf-8")
    return [(start.version, start.upgrade_from) for start in report.starts_in(text)]


def alive_threads(stack: Stack) -> list[object]:
    found = [streams(stack.lab, number) for number in (1, 2)]
    return [one.missing if isinstance(one, Missing) else one.alive_threads for one in found]


def test_two_legs_are_two_runs_each_derived_from_what_runs(busy: Stack) -> None:
    """3.4.1 to 3.9.1 takes two bounces; from there one suffices to 4.3.1, and the second half says so."""
    first = begun(busy, target=_BETWEEN)
    approve(busy, first.run_id, "approve_plan")
    approve(busy, first.run_id, "approve_bounce_2")
    ended(first, state="success", outcome=COMPLETED, restarted=(*_EACH_ONCE, (2, "orders-1"), (2, "orders-2")))
    second = begun(busy)
    approve(busy, second.run_id, "approve_plan")
    ended(second, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)
    assert "nothing to ask: bounce 2 is not needed" in log_of(busy, second.run_id, "approve_bounce_2")
    for name in ("orders-1", "orders-2"):
        assert versions(busy, name) == [
            (FROM_RELEASE, None),
            (_BETWEEN, "3.4"),
            (_BETWEEN, None),
            (TO_RELEASE, None),
        ]


def test_new_settings_are_rolled_and_undone(busy: Stack) -> None:
    """One instance after another on the same release; undo puts back what was set before, without clearing state."""
    trial = begun_other(busy, "rolling_bounce", settings={"num.stream.threads": 2})
    approve(busy, trial.run_id, "approve_plan")
    ended(trial, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)
    assert alive_threads(busy) == [2, 2]
    back = begun_other(busy, "undo", run=trial.run_id)
    approve(busy, back.run_id, "approve_undo")
    document = ended(back, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)
    assert alive_threads(busy) == [1, 1]
    assert [bounce["clear_state"] for bounce in document["plan"]["stages"]] == [False]


@pytest.mark.parametrize(
    ("conf", "sentence"),
    [
        ({}, "nothing to change: every instance of orders is deployed as 4.3.1 already"),
        ({"settings": {"upgrade.from": "3.4"}}, "upgrade.from is set and unset by library_bump alone"),
        ({"settings": {"bootstrap.servers": "x:1"}}, "no runbook sets bootstrap.servers"),
        ({"release": FROM_RELEASE}, "trigger library_bump, which knows what lies between them"),
    ],
)
def test_what_a_rolling_bounce_does_not_do(busy: Stack, conf: dict[str, object], sentence: str) -> None:
    """One sentence each, before anything is changed."""
    trial = begun_other(busy, "rolling_bounce", **conf)
    document = ended(trial, state="failed", outcome=NOTHING_CHANGED)
    assert sentence in document["run"]["outcome_sentence"]


def test_new_topics_come_with_a_stop_and_restart(busy: Stack) -> None:
    """All down, the group emptied, all up: the new topic is read at once, and undo goes back the same way."""
    trial = begun_other(busy, "stop_and_restart", settings={"audit": True})
    approve(busy, trial.run_id, "approve_plan")
    document = ended(trial, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)
    assert document["plan"]["at_once"] is True
    assert "group orders is Empty: no member is left" in log_of(busy, trial.run_id, "stop_application")
    topics = {topic["name"] for topic in document["readings"][-1]["payload"]["topics"]}
    assert _NEW_TOPIC in topics
    back = begun_other(busy, "undo", run=trial.run_id)
    approve(busy, back.run_id, "approve_undo")
    document = ended(back, state="success", outcome=COMPLETED, restarted=_EACH_ONCE)
    known = {row.id for row in upgrade_path_rules().defects}
    own = [(one["id"], one["object"]) for one in document["plan"]["findings"] if one["id"] not in known]
    assert own == [("undo-leaves-a-topic", _NEW_TOPIC)]
    *_, counted = [one["payload"]["inputs"]["left"] for one in document["verdicts"] if one["name"] == "nothing_left"]
    assert {one["topic"] for one in counted} == {_NEW_TOPIC}
    # What was left in it is nobody's; its offsets go with the topic, and the judge waits for them no more.
    admin = AdminClient({"bootstrap.servers": busy.lab.bootstrap})
    admin.delete_topics([_NEW_TOPIC])[_NEW_TOPIC].result()
