"""KafkaStreams#pause and #resume with standby tasks (KAFKA-20731), and held inputs in place of it.

The state updater ends with an IllegalStateException, and the instance with it. Runbooks hold inputs and never pause.
"""

import time

import pytest
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.rules import upgrade_path_rules
from lab.application import FROM_RELEASE, TO_RELEASE
from lab.supervise import until
from lab.trial import WAIT_S, Begin, Instance, Trial

pytestmark = pytest.mark.long

BITTEN = ["3.9.1", TO_RELEASE, "4.4.0"]
KEYS = [f"{number:03}" for number in range(40)]
ORDERS = {"orders": [(key, b"1") for key in KEYS]}
# The state updater looks at paused tasks in each of its rounds, and at resumed ones when it is woken up.
_PAUSED_S, _ENDS_S, _ROUNDS = 5, 60, 3


def begun(begin: Begin, release: str) -> Trial:
    """A count with a standby of each task, where the row says whether the release is bitten."""
    [row] = [one for one in upgrade_path_rules().defects if one.id == "KAFKA-20731"]
    assert within(Release(release), row.releases) is (release in BITTEN)
    topics = {"orders": 4, "order-counts": 1}
    return begin("commit-interval-changed", topics, release, num_standby_replicas="1")


def process_with_standbys(trial: Trial, running: list[Instance]) -> None:
    """Both have processed, and have standbys."""
    trial.process(running, ORDERS)
    until(lambda: all(one.said("standbys")[-1:] not in ([], [""]) for one in running), WAIT_S, "standbys")


def has_ended(instance: Instance) -> bool:
    """Whether it has reported ERROR, or its process has ended by itself."""
    return "ERROR" in instance.said("state") or bool(instance.said("failed"))


def pause_and_resume(running: list[Instance], rounds: int = _ROUNDS) -> bool:
    """Pause and resume all of them until one ends; returns whether one has."""
    for _ in range(rounds):
        for call in ("pause", "resume"):
            for instance in running:
                instance.order(call)
            time.sleep(_PAUSED_S)
        end = time.monotonic() + _ENDS_S
        while time.monotonic() < end:
            if any(map(has_ended, running)):
                return True
            time.sleep(0.5)
    return False


@pytest.mark.parametrize("release", BITTEN)
def test_a_resume_ends_instances_with_standbys(begin: Begin, release: str) -> None:
    """The application loses instances by what was to be a rest."""
    trial = begun(begin, release)
    with trial.instance("before", 1) as first, trial.instance("before", 2) as second:
        process_with_standbys(trial, [first, second])
        assert pause_and_resume([first, second])
        assert "IllegalStateException" in "".join(line for one in (first, second) for line in one.said("failed"))


def test_a_release_without_a_state_updater_goes_on(begin: Begin) -> None:
    """It processes what came in the pause."""
    trial = begun(begin, FROM_RELEASE)
    with trial.instance("before", 1) as first, trial.instance("before", 2) as second:
        process_with_standbys(trial, [first, second])
        assert not pause_and_resume([first, second], rounds=1)
        trial.process([first, second], ORDERS)
    assert trial.longs("order-counts") == dict.fromkeys(KEYS, 2)


@pytest.mark.parametrize("release", BITTEN)
def test_instances_whose_inputs_are_held_go_on(begin: Begin, release: str) -> None:
    """What a runbook does: nothing arrives for as long, and the instances process what is released after it."""
    trial = begun(begin, release)
    with trial.instance("before", 1) as first, trial.instance("before", 2) as second:
        process_with_standbys(trial, [first, second])
        time.sleep(_ENDS_S)
        assert not has_ended(first)
        assert not has_ended(second)
        trial.process([first, second], ORDERS)
    assert trial.longs("order-counts") == dict.fromkeys(KEYS, 2)
