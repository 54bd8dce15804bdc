"""Windows on the disk of an application whose new version cuts its store into segments of another length."""

from datetime import UTC, datetime, timedelta

import pytest
from kstreams_runbooks.model.local_state import TaskDirectories
from kstreams_runbooks.model.times import DAY_MS
from lab.application import FROM_RELEASE, TO_RELEASE
from lab.trial import Begin, Trial
from world.plans import told

pytestmark = [pytest.mark.long, pytest.mark.parametrize("release", [FROM_RELEASE, TO_RELEASE])]

TOPICS = {"readings": 1, "reading-counts": 1}
STORE = "readings-store"
# Half of a retention of seven days.
LONG_MS = 7 * DAY_MS // 2


def evening() -> int:
    """Half past six in the evening of a day that begins an old segment of one day, and none of three and a half."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    day = next(ms for days in (1, 2) if (ms := int((today - timedelta(days=days)).timestamp() * 1000)) % LONG_MS)
    return day + 37 * DAY_MS // 48


def counts(trial: Trial) -> list[int]:
    """Every count of the window that was written, the oldest first."""
    return [int.from_bytes(one.value() or b"") for one in trial.records("reading-counts")]


@pytest.mark.parametrize("deleted", [False, True], ids=["kept", "deleted"])
def test_a_count_begins_again_in_a_segment_of_another_length(begin: Begin, release: str, *, deleted: bool) -> None:
    """The directory of the day is that of its first twelve hours now: nothing restores, and the evening is not found.

    The plan's stop and restart deletes the directory: the store restores, and the fourth reading is counted as such.
    """
    trial = begin("retention-made-shorter", TOPICS, release)
    reading = ("meter", b"1", evening())
    plan = trial.run_before({"readings": [reading] * 3})
    assert plan["runbooks"] == ["stop_and_restart"]
    assert told(plan, STORE) == {"retention-changed", "segments-changed"}
    gone = trial.to_delete()
    assert gone == TaskDirectories(("0_",), (f"{trial.application_id}-{STORE}-changelog",))
    trial.delete_directories(gone.names if deleted else ())
    assert trial.run_after({"readings": [reading]}) == ({STORE: 3} if deleted else {})
    assert counts(trial) == [1, 2, 3, 4 if deleted else 1]


def test_a_release_with_offsets_in_its_stores_restores_if_no_old_segment_fits(begin: Begin, release: str) -> None:
    """No directory of three and a half days is named as one of the old ones: 4.3.1 restores, 3.4.1 counts from 1."""
    trial = begin("retention-made-longer", TOPICS, release)
    reading = ("meter", b"1", evening())
    plan = trial.run_before({"readings": [reading] * 3})
    assert plan["runbooks"] == ["stop_and_restart"]
    restores = release == TO_RELEASE
    assert trial.run_after({"readings": [reading]}) == ({STORE: 3} if restores else {})
    assert counts(trial) == [1, 2, 3, 4 if restores else 1]
