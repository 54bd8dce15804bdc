"""The mark of a process of Connect, which several threads need at once."""

import os
from threading import Event, Thread

import pytest
from kstreams_runbooks.frames.connect import MODE, connect_mode


@pytest.mark.parametrize("before", [None, "of somebody else"])
def test_a_count_that_ends_leaves_the_mark_to_one_that_goes_on(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    """The second begins while the first counts, and ends after it; then the environment is as it was."""
    if before is None:
        monkeypatch.delenv(MODE, raising=False)
    else:
        monkeypatch.setenv(MODE, before)
    first_may_end, second_is_in, second_may_end = Event(), Event(), Event()
    seen: list[str | None] = []

    def first() -> None:
        with connect_mode():
            assert first_may_end.wait(10)

    def second() -> None:
        with connect_mode():
            second_is_in.set()
            assert second_may_end.wait(10)
            seen.append(os.environ.get(MODE))

    threads = Thread(target=first), Thread(target=second)
    for thread in threads:
        thread.start()
    assert second_is_in.wait(10)
    first_may_end.set()
    threads[0].join(10)
    second_may_end.set()
    threads[1].join(10)
    assert seen == ["1"]
    assert os.environ.get(MODE) == before
