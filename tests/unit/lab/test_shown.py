"""Which runbook the demo shows."""

import pytest
from kstreams_runbooks.errors import BadInput
from lab.application import WITH_REPARTITION, WITHOUT_REPARTITION
from lab.shown import DEFAULT, shown


def test_without_a_name_it_is_the_bump() -> None:
    """As before there was a choice."""
    assert shown("") is shown(DEFAULT)
    assert (shown("").deployed.release, dict(shown("").form)) == ("3.4.1", {"target": "4.4.0"})


def test_the_flush_starts_from_the_release_with_the_repartition_topic() -> None:
    """And has the topic of its fifth output."""
    flush = shown("control_topic_flush")
    assert flush.deployed.release == WITH_REPARTITION
    assert "customers-counted" in flush.deployed.topics
    assert flush.form["release"] == WITHOUT_REPARTITION


def test_the_reset_writes_to_new_outputs() -> None:
    """In the old ones its results would be duplicates."""
    reset = shown("reset_and_cleanup")
    assert reset.form["settings"]["topic.per-customer"] == f"{reset.new_outputs}per-customer"
    assert not shown("").new_outputs


def test_any_other_runbook_is_one_sentence() -> None:
    """With those that there are."""
    with pytest.raises(
        BadInput,
        match=r"RUNBOOK=undo: .* one of library_bump, control_topic_flush, adopt_control_topic, blue_green_cutover, "
        r"reset_and_cleanup",
    ):
        shown("undo")
