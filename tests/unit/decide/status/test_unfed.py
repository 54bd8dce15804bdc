"""An application behind a copier that does not copy reads everything there is, and is not well."""

import pytest
from kstreams_runbooks.decide.status.status import Status, Word
from kstreams_runbooks.decide.status.unfed import CopierStatus, fed

WELL = Status("healthy", "0 records to read (limit 10,000)")


def copier(word: Word, unread: int | None = 1_200, name: str = "passing", *, stopped: bool = False) -> CopierStatus:
    """A copier of the control topic `orders`."""
    return CopierStatus(name, "team-passing", ("orders",), Status(word, "why"), unread, stopped)


@pytest.mark.parametrize("word", ["recreated", "failed", "stalled", "stopped"])
def test_a_copier_that_does_not_copy_makes_its_application_unfed(word: Word) -> None:
    """With the copier, its owner and what waits."""
    assert fed(WELL, [copier(word)]) == Status(
        "unfed",
        "control topic orders does not grow and its sources do: copier passing (owner team-passing) is "
        f"{word}, 1,200 records wait",
    )
    assert "an unknown number of records wait" in fed(WELL, [copier(word, None)]).sentence


@pytest.mark.parametrize("word", ["expiring", "rewound", "unknown"])
def test_a_worse_word_does_not_hide_that_a_copier_has_stopped(word: Word) -> None:
    """Its offsets or its records may expire next."""
    assert fed(WELL, [copier(word, stopped=True)]).word == "unfed"


@pytest.mark.parametrize(
    "copiers",
    [
        [],
        [copier("healthy")],
        [copier("behind", 50_000)],
        # Nothing is kept from the application.
        [copier("stopped", 0)],
        [copier("stalled", 0)],
        # Records are copied still.
        [copier("expiring")],
        [copier("rewound")],
    ],
)
def test_what_looks_alike_and_feeds_it(copiers: list[CopierStatus]) -> None:
    """Its own status stays."""
    assert fed(WELL, copiers) == WELL


def test_a_copier_that_is_not_known_leaves_its_application_unknown() -> None:
    """Never healthy; a copier that is known to stand still counts more."""
    assert fed(WELL, [copier("unknown")]).word == "unknown"
    assert "copier passing (owner team-passing) is unknown" in fed(WELL, [copier("unknown")]).sentence
    both = fed(WELL, [copier("unknown"), copier("stopped", name="other")])
    assert (both.word, "copier other" in both.sentence) == ("unfed", True)


@pytest.mark.parametrize("word", ["recreated", "rewound", "failed", "expiring", "stalled", "stopped", "unknown"])
def test_its_own_fault_comes_first(word: Word) -> None:
    """And is what its owner has to look after."""
    own = Status(word, "its own")
    assert fed(own, [copier("stopped")]) == own


def test_one_that_is_behind_is_unfed() -> None:
    """What it still has to read ends soon."""
    assert fed(Status("behind", "20,000 records to read"), [copier("stopped")]).word == "unfed"
