"""An orphaned repartition topic on each way back, with the real library: what a start does, and that it is refused."""

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.act.offsets import OffsetWriter
from kstreams_runbooks.decide.fitting.uncommitted import uncommitted_records
from kstreams_runbooks.model.readings.topics_seen import RepartitionsSeen
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.watch.repartitions import read_repartitions
from lab.application import TO_RELEASE
from lab.trial import Trial, class_path
from world.given import Kafka
from world.samples import declared

pytestmark = pytest.mark.long

_KEYS = 40
_SENT = {"payments": [(f"{number:03}", f"{number:03},1".encode()) for number in range(_KEYS)]}
_READS_S = 5


@pytest.fixture(scope="module")
def classes() -> str:
    """The pairs, compiled for the release, and what runs them."""
    return class_path(TO_RELEASE)


@pytest.fixture
def trial(request: pytest.FixtureRequest, kafka: Kafka, classes: str, tmp_path: Path) -> Iterator[Trial]:
    """groupBy, which a release later replaces by groupByKey, with this `auto.offset.reset`."""
    pair, topics = "group-by-to-group-by-key", {"payments": 3, "payment-counts": 1}
    settings = {"auto.offset.reset": request.param}
    made = Trial(pair, topics, kafka.bootstrap, classes, tmp_path, f"orphaned-{request.param}", settings)
    try:
        yield made
    finally:
        made.clean()


def orphan(trial: Trial) -> str:
    """The repartition topic of the old version."""
    return f"{trial.application_id}-by-user-repartition"


def judged(trial: Trial, text: str) -> tuple[Verdict, RepartitionsSeen]:
    """The decision about a start of the version with this description, and what it was made from."""
    entry: Any = SimpleNamespace(
        application_id=trial.application_id, processing_guarantee="at_least_once", reads_committed=False
    )
    seen = read_repartitions(entry, {"bootstrap.servers": trial.bootstrap}, [orphan(trial)])
    wanted = (Described(TO_RELEASE, TO_RELEASE, "test", text),)
    resets = frozenset({trial.settings["auto.offset.reset"]})
    return uncommitted_records(wanted, seen, None, resets, declared(application_id=trial.application_id)), seen


def counted(trial: Trial) -> int:
    """The sum of the counts that the application wrote last for each key."""
    return sum(trial.longs("payment-counts").values())


def gone_over_to_group_by_key(trial: Trial) -> str:
    """The old version and then the new one process as many records each; returns the old one's description."""
    with trial.instance("before") as instance:
        instance.wait_running()
        text = instance.described("before")
        assert judged(trial, text)[0].outcome is Outcome.PROCEED
        trial.process([instance], _SENT)
    trial.empty_the_group()
    trial.run_after(_SENT)
    assert counted(trial) == 2 * _KEYS
    return text


def forget(trial: Trial) -> None:
    """What the broker does to offsets of a topic to which a stable group no longer subscribes."""
    config = {"bootstrap.servers": trial.bootstrap}
    with ClusterReader(config) as reader:
        before = read_saved(reader, trial.application_id)
    OffsetWriter(config, dry_run=False).delete(trial.application_id, [orphan(trial)], before=before)


@pytest.mark.parametrize("trial", ["earliest"], indirect=True)
def test_the_way_back_counts_twice_and_is_refused(trial: Trial) -> None:
    """While its offsets are there it is not; after they are gone it is, and the counter-experiment doubles."""
    text = gone_over_to_group_by_key(trial)
    assert judged(trial, text)[0].outcome is Outcome.PROCEED
    forget(trial)
    verdict, seen = judged(trial, text)
    assert verdict.outcome is Outcome.REFUSE
    left = sum(one.records or 0 for one in seen.uncommitted)
    assert left == _KEYS
    assert f"topic {orphan(trial)} has {_KEYS} records on partitions 0, 1, 2 without a committed" in verdict.sentence
    trial.run_again({})
    assert counted(trial) == 2 * _KEYS + left


@pytest.mark.parametrize("trial", ["latest"], indirect=True)
def test_the_way_back_under_latest_never_reads_what_is_left_and_is_refused(trial: Trial) -> None:
    """Records that no version has read: skipped without an error."""
    with trial.instance("before") as instance:
        instance.wait_running()
        text = instance.described("before")
    trial.empty_the_group()
    trial.send(orphan(trial), _SENT["payments"])
    verdict, _ = judged(trial, text)
    assert verdict.outcome is Outcome.REFUSE
    assert f"has {_KEYS} records on partitions 0, 1, 2" in verdict.sentence
    with trial.instance("before") as instance:
        instance.wait_running()
        time.sleep(_READS_S)
    assert counted(trial) == 0
