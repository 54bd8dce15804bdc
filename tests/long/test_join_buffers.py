"""The buffer of a join of a stream with a table that has a grace: its changelog does not restore what waits in it."""

import time

import pytest
from lab.trial import Begin

JOIN = "grace-of-join-with-table-made-longer"
_HOUR_MS = 3_600_000


@pytest.mark.long
@pytest.mark.parametrize("release", ["3.9.1", "4.3.1"])
@pytest.mark.parametrize("files", ["kept", "deleted"])
def test_what_waits_in_the_buffer_is_on_the_disk_alone(begin: Begin, release: str, files: str) -> None:
    """With its files a sale waits over a restart until stream time has passed; without them it is never joined."""
    trial = begin(JOIN, {"sales": 1, "prices": 1, "priced": 1}, release)
    now = int(time.time() * 1000)
    trial.run({"prices": [("a", b"1", now)], "sales": [("a", b"sold", now)]}, "before")
    assert trial.latest("priced") == {}
    if files == "deleted":
        trial.delete_directories(("0_",))
    trial.run({"sales": [("b", b"sold later", now + _HOUR_MS)]}, "before")
    assert set(trial.latest("priced")) == ({"a"} if files == "kept" else set())
