"""Settings that the library refuses, through every runbook that takes settings or a release: nothing was stopped."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from kstreams_runbooks.properties import dump, write_atomically
from lab.afresh import TELL_APART_S, afresh
from lab.application import FROM_RELEASE, TO_RELEASE, Deployed, wait_running
from lab.settings import Lab
from lab.stack import Stack
from world.endings import DRY_RUN, INCONCLUSIVE, NOTHING_CHANGED, begun, begun_other, ended
from world.given import command_deployer, declared_as, manual_deployer
from world.runs import log_of

pytestmark = pytest.mark.long

_INTERVAL, _TIMEOUT = "commit.interval.ms", "producer.transaction.timeout.ms"
_SETTABLE = (_INTERVAL, _TIMEOUT, "producer.acks", "group.protocol")
_LONG = {_INTERVAL: 30_000, _TIMEOUT: 10_000}
_HELD: dict[str, Any] = {"switch": "manual", "longest_hold_min": 60}
_DAGS = ("rolling_bounce", "stop_and_restart", "control_topic_flush", "reset_and_cleanup")
_RESET: dict[str, Any] = {"mode": "reset", "targets": {"orders": "earliest", "customers": "earliest"}}


@pytest.fixture(scope="module")
def exact(stack: Stack) -> Iterator[Stack]:
    """Two instances of 3.4.1 under exactly once, with more settings that a runbook may set."""
    afresh(stack, Deployed())
    entry = yaml.safe_load((stack.lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    deployer = entry["deployer"] | {"settable": [*entry["deployer"]["settable"], *_SETTABLE]}
    with declared_as(stack, deployer=deployer):
        yield stack


@pytest.mark.parametrize(
    ("dag", "params", "words"),
    [
        ("rolling_bounce", {"settings": _LONG}, "3.4.1 refuses commit.interval.ms=30000 with producer.transaction"),
        ("rolling_bounce", {"settings": {_INTERVAL: 30_000}}, "producer.transaction.timeout.ms=10000 (the default)"),
        ("rolling_bounce", {"settings": {"num.stream.threads": "two"}}, "3.4.1 refuses num.stream.threads=two"),
        ("stop_and_restart", {"settings": {"producer.acks": "1"}}, "3.4.1 refuses producer.acks=1 with processing."),
        ("stop_and_restart", {"settings": _LONG}, "3.4.1 refuses commit.interval.ms=30000 with producer.transaction"),
        ("control_topic_flush", _HELD | {"settings": {"producer.acks": "1"}}, "3.4.1 refuses producer.acks=1 with"),
        ("reset_and_cleanup", _RESET | {"settings": _LONG}, "3.4.1 refuses commit.interval.ms=30000 with producer"),
        ("reset_and_cleanup", _RESET | {"settings": {"num.stream.threads": "two"}}, "refuses num.stream.threads=two"),
    ],
)
def test_nothing_is_stopped_for_settings_that_the_library_refuses(
    exact: Stack, dag: str, params: dict[str, Any], words: str
) -> None:
    """The run ends at `plan`: no instance was restarted, and no card was written."""
    trial = begun_other(exact, dag, **params)
    ended(trial, state="failed", outcome=NOTHING_CHANGED, restarted=())
    assert words in log_of(exact, trial.run_id, "plan")


@pytest.mark.parametrize(
    ("deployer", "dag"),
    [
        *((command_deployer, dag) for dag in _DAGS),
        # A reset cannot see the local state of a person's instances: it ends before it asks for settings.
        *((manual_deployer, dag) for dag in _DAGS if dag != "reset_and_cleanup"),
    ],
)
def test_other_deployers_refuse_the_same(exact: Stack, deployer: Callable[[Lab], dict[str, Any]], dag: str) -> None:
    """A team's commands and a person: nothing was stopped, and nobody was asked to."""
    forms: dict[str, dict[str, Any]] = {"control_topic_flush": _HELD, "reset_and_cleanup": _RESET}
    with declared_as(exact, deployer=deployer(exact.lab) | {"settable": [*_SETTABLE, "num.stream.threads"]}):
        trial = begun_other(exact, dag, settings={"producer.acks": "1"}, **forms.get(dag, {}))
        ended(trial, state="failed", outcome=NOTHING_CHANGED, restarted=())
        log = log_of(exact, trial.run_id, "plan")
    assert "3.4.1 refuses producer.acks=1 with processing." in log
    assert "PLEASE" not in log


def test_settings_that_the_library_takes_are_planned(exact: Stack) -> None:
    """The nearest ones, and a bump, whose first bounce has `upgrade.from`."""
    near = begun_other(exact, "rolling_bounce", settings=_LONG | {_TIMEOUT: 30_000}, dry_run=True)
    ended(near, state="success", outcome=DRY_RUN, restarted=())
    bump = begun_other(exact, "library_bump", target=TO_RELEASE, dry_run=True)
    ended(bump, state="success", outcome=DRY_RUN, restarted=())


def test_a_bump_stops_nothing_for_what_is_set_already(exact: Stack) -> None:
    """3.4.1 does not know group.protocol; the topology command of 4.3.1 ends with the library's own refusal."""
    for name in ("orders-1", "orders-2"):
        exact.supervisor.stop(name)
        values = {"release": FROM_RELEASE, "group.protocol": "streams"}
        write_atomically(exact.lab.instances / name / "deployment.properties", dump(values))
    time.sleep(TELL_APART_S)
    exact.supervisor.start("orders-1", "orders-2")
    wait_running(exact.lab, exact.supervisor, ("orders-1", "orders-2"))
    trial = begun(exact)
    document = ended(trial, state="failed", outcome=INCONCLUSIVE, restarted=())
    assert "Streams rebalance protocol does not support static membership" in document["run"]["outcome_sentence"]
