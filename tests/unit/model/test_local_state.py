"""Words for the directories that are deleted on an instance."""

import pytest
from kstreams_runbooks.deployers.requests import request_sentence
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories, in_words


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ((), ""),
        (("1_", "2_3"), "task directories 1_*, 2_3"),
        (("global",), "directory global"),
        (("1_", "global"), "task directories 1_* and directory global"),
    ],
)
def test_the_directory_of_global_stores_is_called_by_its_name(names: tuple[str, ...], words: str) -> None:
    """It belongs to no task; an undo card and a request to a person have the same words."""
    assert in_words(names) == words
    assert TaskDirectories(names).what == (words or "local state")
    request = request_sentence("clear_state", "orders-1", directories=names)
    assert request.startswith(f"delete the {words or 'local state'} of orders-1 while it is stopped")


def test_no_name_is_all_local_state() -> None:
    """As `clear_state` takes it."""
    assert NO_DIRECTORIES.what == "local state"
