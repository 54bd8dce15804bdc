"""Global stores that the version before leaves on the disk: what the plan says of them, and what a release does.

3.9.1 leaves no checkpoint of a small global table. A payment counts if its currency has a rate. Each user pays once in
EUR before the change, and in EUR and USD after it.
"""

from types import SimpleNamespace

import pytest
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.steps.plan.cards import bytes_of_topics
from lab.application import FROM_RELEASE, TO_RELEASE
from lab.trial import Begin, Trial
from world.plans import told
from world.samples import reading

pytestmark = [pytest.mark.long, pytest.mark.parametrize("release", [FROM_RELEASE, "3.9.1", TO_RELEASE])]

KEYS = [f"{number:03}" for number in range(10)]
EUR = [(key, b"EUR5") for key in KEYS]
USD = [(key, b"USD5") for key in KEYS]
REFUSED = "Encountered a topic-partition not associated with any global state store"
_TOPICS = {"payments": 2, "users": 1, "rates": 1, "rates-v2": 1, "payment-counts": 1}


def _paid_once(begin: Begin, release: str, pair: str, runbook: str) -> Trial:
    """The old version has counted, and is stopped; rates has EUR, rates-v2 has USD."""
    trial = begin(pair, _TOPICS, release)
    trial.send("rates", [("EUR", b"1")])
    trial.send("rates-v2", [("USD", b"2")])
    plan = trial.run_before({"payments": EUR})
    assert plan["runbooks"] == [runbook]
    assert bool(plan["restores"]) == (runbook == "stop_and_restart")
    assert told(plan, "rates") == {"global-store-changed"}
    assert trial.longs("payment-counts") == dict.fromkeys(KEYS, 1)
    return trial


def _counted(trial: Trial) -> set[int]:
    """The counts of all users once the new version has processed the payments."""
    trial.run_after({"payments": EUR + USD})
    counts = trial.longs("payment-counts")
    assert counts.keys() == set(KEYS)
    return set(counts.values())


def test_another_name_makes_an_empty_store(begin: Begin, release: str) -> None:
    """3.4.1 counts no payment after the change, without an error; the others read the topic again. 2 is right."""
    trial = _paid_once(begin, release, "global-table-store-renamed", "stop_and_restart")
    assert _counted(trial) == {1 if release == FROM_RELEASE else 2}


def test_another_topic_kills_or_joins_old_rows(begin: Begin, release: str) -> None:
    """3.4.1 dies of the old topic; the others join EUR with the rate that the old topic had. 2 is right."""
    trial = _paid_once(begin, release, "global-table-topic-changed", "stop_and_restart")
    if release != FROM_RELEASE:
        assert _counted(trial) == {3}
    else:
        assert REFUSED in trial.run_into_failure()


def test_a_table_that_goes_kills_the_others(begin: Begin, release: str) -> None:
    """3.9.1 and 4.3.1 start with the files of a global store that they do not have; 3.4.1 does not."""
    trial = begin("one-of-two-global-tables-removed", _TOPICS, release)
    trial.send("rates", [("EUR", b"1")])
    trial.send("users", [(key, b"user") for key in KEYS])
    plan = trial.run_before({"payments": EUR})
    assert plan["runbooks"] == ["stop_and_restart"]
    assert told(plan, "users") == {"global-store-changed"}
    if release != FROM_RELEASE:
        assert _counted(trial) == {2}
        return
    assert REFUSED in trial.run_into_failure()
    trial.delete_directories(trial.to_delete().names)
    assert _counted(trial) == {2}


def _bytes(trial: Trial, topics: tuple[str, ...]) -> int | Missing:
    """What a plan adds for these topics; none of them is one that the group reads."""
    run = SimpleNamespace(kafka={"bootstrap.servers": trial.bootstrap})
    return bytes_of_topics(run, reading(), topics)  # type: ignore[arg-type]


def _joined_with_a_second_table(begin: Begin, release: str) -> Trial:
    """The second table was added by a roll, each version has counted one payment, and the new one is stopped."""
    trial = begin("second-global-table-added", _TOPICS, release)
    trial.send("rates", [("EUR", b"1")])
    trial.send("users", [(key, b"user") for key in KEYS])
    assert trial.run_before({"payments": EUR})["runbooks"] == ["rolling_bounce"]
    assert trial.run_after({"payments": EUR})["users-store"] == len(KEYS)
    return trial


def test_the_undo_of_a_second_table_kills_without_the_plan(begin: Begin, release: str) -> None:
    """The old version of 3.4.1 dies of the checkpoint of the new one; 3.9.1 and 4.3.1 count."""
    trial = _joined_with_a_second_table(begin, release)
    if release == FROM_RELEASE:
        assert REFUSED in trial.run_into_failure(side="before")
        return
    trial.run_again({"payments": EUR})
    assert trial.longs("payment-counts") == dict.fromkeys(KEYS, 3)


def test_the_undo_of_a_second_table_works_by_its_card(begin: Begin, release: str) -> None:
    """Exactly the directory of the card is deleted; the counts are kept, and the rates are read again."""
    trial = _joined_with_a_second_table(begin, release)
    assert trial.to_delete_in_undo() == TaskDirectories(("global",), ("rates",))
    trial.delete_directories(trial.to_delete_in_undo().names)
    assert trial.run_again({"payments": EUR}) == {"rates-store": 1}
    assert trial.longs("payment-counts") == dict.fromkeys(KEYS, 3)


@pytest.mark.parametrize(
    ("pair", "store", "topic"),
    [
        ("global-table-store-renamed", "exchange-rates", "rates"),
        ("global-table-topic-changed", "rates-store", "rates-v2"),
    ],
)
def test_every_release_is_right_without_the_global_directory(
    begin: Begin, release: str, pair: str, store: str, topic: str
) -> None:
    """Exactly the directory of the plan is deleted, and the topic that it restores from is read in full."""
    trial = _paid_once(begin, release, pair, "stop_and_restart")
    assert trial.to_delete() == TaskDirectories(("global",), (topic,))
    assert isinstance(_bytes(trial, (topic,)), int)
    assert _bytes(trial, (topic,)) == _bytes(trial, (topic, "no-such-topic")) != 0
    trial.delete_directories(["global"])
    assert trial.run_after({"payments": EUR + USD}) == {store: trial.held([topic])[topic]}
    assert trial.longs("payment-counts") == dict.fromkeys(KEYS, 2)


@pytest.mark.parametrize(
    ("pair", "count"),
    [
        ("global-store-in-memory-renamed", 2),
        ("global-store-in-memory-reads-other-topic", 2),
        ("only-global-table-removed", 3),
    ],
)
def test_files_that_nobody_opens_are_left(begin: Begin, release: str, pair: str, count: int) -> None:
    """A store in memory has none; without a global store the directory is not opened, and every payment counts."""
    trial = _paid_once(begin, release, pair, "rolling_bounce")
    assert trial.to_delete() == NO_DIRECTORIES
    assert _counted(trial) == {count}
