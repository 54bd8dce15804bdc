"""Topics that lead back to themselves."""

import pytest
from kstreams_runbooks.decide.topology.graph import rounds
from kstreams_runbooks.decide.topology.names import passes_each_on
from world.pairs import described


def test_a_topic_that_is_written_behind_its_own_source_goes_round() -> None:
    """With the operators on the way; a topic of one's own that leads on does not."""
    assert rounds(described("output-written-to-own-input")[1]) == {
        "clicks": {"KSTREAM-SOURCE-0000000000", "KSTREAM-MAPVALUES-0000000001", "marked-sink"}
    }
    assert rounds(described("retry-topic-added")[1]) == {"clicks-retry": {"clicks-source", "failed", "retry-sink"}}
    for pair in ("output-written-to-own-input", "retry-topic-added", "count-behind-own-topic"):
        assert rounds(described(pair)[0]) == {}


@pytest.mark.parametrize(
    ("name", "each"),
    [
        ("KSTREAM-MAPVALUES-0000000001", True),
        ("KSTREAM-MAP-0000000001", True),
        ("KTABLE-TOSTREAM-0000000004", True),
        ("KSTREAM-FILTER-0000000001", False),
        ("KSTREAM-FLATMAP-0000000001", False),
        ("KSTREAM-PROCESSOR-0000000001", False),
        ("KSTREAM-JOIN-0000000001", False),
        ("KSTREAM-MAP-of-mine", False),
        ("marked", False),
    ],
)
def test_a_generated_name_shows_what_passes_each_record_on(name: str, *, each: bool) -> None:
    """A chosen name shows nothing."""
    assert passes_each_on(name) is each
