"""Fields of a form have what the code takes."""

from kstreams_runbooks.decide.change.unchanged import UNCHANGED
from kstreams_runbooks.steps.run.form import named_unchanged


def test_each_field_that_may_be_named_as_unchanged_has_its_meaning() -> None:
    """The form offers the words that a declaration takes, in one order."""
    schema = named_unchanged()["unchanged"].schema
    assert tuple(schema["examples"]) == UNCHANGED
    assert [words.partition(":")[0] for words in schema["values_display"].values()] == list(UNCHANGED)
