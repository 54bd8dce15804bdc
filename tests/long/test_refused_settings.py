"""Settings that the library refuses, through every runbook that takes settings or a release: nothing was stopped."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed
from lab.stack import Stack
from world.endings import DRY_RUN, INCONCLUSIVE, NOTHING_CHANGED, begun_other, ended
from world.given import declared_as
from world.runs import log_of

pytestmark = pytest.mark.long

_INTERVAL, _TIMEOUT = "commit.interval.ms", "producer.transaction.timeout.ms"
_SETTABLE = (_INTERVAL, _TIMEOUT, "producer.acks", "group.protocol")
_LONG = {_INTERVAL: 30_000, _TIMEOUT: 10_000}


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
        ("rolling_bounce", {"settings": {"num.stream.threads": "two"}}, "3.4.1 refuses num.stream.threads=two"),
        ("stop_and_restart", {"settings": {"producer.acks": "1"}}, "3.4.1 refuses producer.acks=1 with processing."),
        ("stop_and_restart", {"settings": _LONG}, "3.4.1 refuses commit.interval.ms=30000 with producer.transaction"),
    ],
)
def test_nothing_is_stopped_for_settings_that_the_library_refuses(
    exact: Stack, dag: str, params: dict[str, Any], words: str
) -> None:
    """The run ends at `plan`: no instance was restarted, and no card was written."""
    trial = begun_other(exact, dag, **params)
    ended(trial, state="failed", outcome=NOTHING_CHANGED, restarted=())
    assert words in log_of(exact, trial.run_id, "plan")


def test_nothing_is_stopped_if_it_hangs_on_a_setting_of_the_program(exact: Stack) -> None:
    """Its topology command prints no settings: the program may set the timeout."""
    trial = begun_other(exact, "rolling_bounce", settings={_INTERVAL: 30_000})
    ended(trial, state="failed", outcome=INCONCLUSIVE, restarted=())
    assert "whether release 3.4.1 can start is not known" in log_of(exact, trial.run_id, "plan")


def test_settings_that_the_library_takes_are_planned(exact: Stack) -> None:
    """The nearest ones, and a bump, whose first bounce has `upgrade.from`."""
    near = begun_other(exact, "rolling_bounce", settings=_LONG | {_TIMEOUT: 30_000}, dry_run=True)
    ended(near, state="success", outcome=DRY_RUN, restarted=())
    bump = begun_other(exact, "library_bump", target=TO_RELEASE, dry_run=True)
    ended(bump, state="success", outcome=DRY_RUN, restarted=())
