"""Fields of a form have what the code takes."""

from kstreams_runbooks.decide.change.unchanged import UNCHANGED
from kstreams_runbooks.steps.run.fields import named_unchanged, paused_inputs, target_release
from kstreams_runbooks.steps.run.form import in_one_line, runbook


def test_each_field_that_may_be_named_as_unchanged_has_its_meaning() -> None:
    """The form offers the words that a declaration takes, in one order."""
    schema = named_unchanged()["unchanged"].schema
    assert tuple(schema["examples"]) == UNCHANGED
    assert [words.partition(":")[0] for words in schema["values_display"].values()] == list(UNCHANGED)


def test_the_list_of_dags_has_the_first_sentence_of_each_page() -> None:
    """Without the heading and the words that every page begins with."""
    page = "# Undo\nThis Airflow DAG reverts a run of any runbook,\nwith its cards. It asks first.\n\n1. **plan**\n"
    assert in_one_line(page) == "reverts a run of any runbook, with its cards"


def test_a_form_begins_with_what_the_run_is_about() -> None:
    """Application and change, then dry run and reason, then the limits; a field of the runbook's own counts."""
    form = runbook("library_bump", doc="x", params={"target": target_release()}, tags=(), limits=("max_lag",)).params
    assert list(form) == ["application", "target", "dry_run", "reason", "max_lag"]
    assert "OFF: THE RUN CHANGES" in (form.get_param("dry_run").description or "")
    own = runbook("certify_drain", doc="x", params=paused_inputs(), tags=(), limits=()).params
    assert list(own) == ["application", "inputs_paused", "dry_run", "reason", "accept_late_loss"]
    assert own.get_param("dry_run").value is False
