"""A runbook's form filled from a terminal."""

from typing import Any

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.terminal.airflow.form import filled, pairs_of


def field(value: Any = None, **schema: Any) -> dict[str, Any]:
    """One field as Airflow's API describes it."""
    return {"value": value, "description": "What it is.", "schema": {"type": "string", **schema}}


FORM = {
    "application": field(examples=["orders", "payments"]),
    "target": field(title="Target release"),
    "dry_run": field(value=True, type="boolean"),
    "reason": field(type=["null", "string"]),
    "max_lag": field(type=["null", "number"]),
    "readings": field(type=["null", "integer"], title="Good readings"),
    "all_at_once": field(value=False, type="boolean"),
    "instances": field(value=[], type="array"),
    "ticket": field(type=["null", "string"]),
    "clean_outputs": field(type=["null", "array"], items={"type": "string"}),
}


def conf(*pairs: str, application: str | None = "orders", execute: bool = False, reason: str | None = None) -> Any:
    """What a bump is triggered with."""
    given = pairs_of([*pairs, "target=4.3.1"])
    return filled("library_bump", FORM, given, application=application, execute=execute, reason=reason)


@pytest.mark.parametrize(
    ("given", "topics"),
    [("totals", ["totals"]), ("totals, maxima", ["totals", "maxima"]), ('["totals"]', ["totals"])],
)
def test_a_list_of_names_is_taken_as_words_too(given: str, topics: list[str]) -> None:
    """As `unchanged=key,aggregate` is."""
    assert conf(f"clean_outputs={given}")["clean_outputs"] == topics


def test_dry_run_is_what_is_asked_for_unless_execute_is_given() -> None:
    """As in Airflow's own form."""
    assert conf() == {"application": "orders", "target": "4.3.1", "dry_run": True}
    assert conf(execute=True, reason="OPS-7") == {
        "application": "orders",
        "target": "4.3.1",
        "dry_run": False,
        "reason": "OPS-7",
    }


def test_values_are_of_the_fields_types() -> None:
    """A number for a number, text as it stands, also where it looks like one."""
    given = conf("max_lag=10", "readings=3", "all_at_once=true", 'instances=["orders-1"]', "ticket=7")
    assert [given[name] for name in ("max_lag", "readings", "all_at_once", "instances", "ticket")] == [
        10,
        3,
        True,
        ["orders-1"],
        "7",
    ]
    assert conf("max_lag=0.5")["max_lag"] == 0.5
    assert conf("max_lag=null")["max_lag"] is None


@pytest.mark.parametrize(
    ("pair", "sentence"),
    [
        ("max_lag", "--param max_lag: is not NAME=VALUE; correct it"),
        ("=7", "--param =7: is not NAME=VALUE; correct it"),
        ("target=4.3.0", "--param target: is given twice; remove one"),
        ("application=orders", "--param application: has an option of its own; use --application"),
        ("dry_run=false", "--param dry_run: has an option of its own; use --execute"),
        ("max_lga=7", r"--param max_lga: library_bump has no such field; did you mean max_lag\?"),
        ("max_lag=many", r"--param max_lag: 'many' is not of type number \(max_lag\)"),
        ("max_lag=true", "--param max_lag: 'true' is not of type number"),
        ("readings=3.5", r"--param readings: '3\.5' is not of type integer \(Good readings\)"),
        ("all_at_once=yes", "--param all_at_once: 'yes' is not of type boolean"),
        ("instances=orders-1", "--param instances: 'orders-1' is not of type array"),
    ],
)
def test_a_bad_field_is_one_sentence(pair: str, sentence: str) -> None:
    """Before anything is triggered."""
    with pytest.raises(BadInput, match=sentence):
        conf(pair)


def test_an_unknown_application_is_told_with_the_nearest() -> None:
    """Airflow itself would take it, and the run's first step refuse."""
    with pytest.raises(BadInput, match=r"application ordres: unknown; did you mean orders\?"):
        conf(application="ordres")
    with pytest.raises(BadInput, match="application x: unknown; known are orders, payments"):
        conf(application="x")


def test_what_is_missing_is_told_with_its_option() -> None:
    """All of it at once, with what the first one is."""
    with pytest.raises(BadInput, match=r"application, target: give --application, --param target=….*What it is\)"):
        filled("library_bump", FORM, {}, application=None, execute=False, reason=None)


def test_a_runbook_without_an_application_takes_none() -> None:
    """One that goes back from a run knows its application from there."""
    form = {"run": field()}
    assert filled("undo", form, {"run": "r"}, application=None, execute=False, reason=None) == {"run": "r"}
    with pytest.raises(BadInput, match="--application orders: undo does not take it; leave it out"):
        filled("undo", form, {"run": "r"}, application="orders", execute=False, reason=None)
