"""Two sides and the classes of outputs as text, as documents, as a table and as exit codes."""

from dataclasses import replace

import pytest
from kstreams_runbooks.model.output_classes import OutputClass
from kstreams_runbooks.model.readings.outputs import (
    ComparedOutput,
    CompareLimits,
    FieldChanges,
    OutputComparison,
    OutputRange,
    OutputsReading,
    RecordsRead,
    ShownRecord,
    UnlikeKeys,
    UnlikeRecord,
)
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.readings.sides import ComparedSides
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.present import output_classes, sides
from kstreams_runbooks.present.sides import JudgedSides

TABLE = OutputClass("totals", "exact", "exact", "latest")


def judged(outcome: str, output: OutputClass = TABLE, reason: str = "why") -> JudgedSides:
    """One output with an example."""
    parts = (OutputRange(0, 0, 12, 0, 12, 12, 12),)
    first, second = (ComparedOutput(name, "id", compacted=False, ranges=parts) for name in ("totals", "green"))
    record = ShownRecord(0, 3, 7, "ada", "***", ())
    comparison = OutputComparison(
        (RecordsRead(0, 10),),
        (RecordsRead(0, 11),),
        keys=UnlikeKeys(equal=9, changed=1),
        examples=(UnlikeRecord("changed", None, None, ("value",), record, record, ("$.sum",)),),
        fields=(FieldChanges("$.sum", 1),),
    )
    limits = CompareLimits(50, 50, 9.0)
    reading = OutputsReading(Taken(1, "b:1"), "latest", (), first, second, limits, None, comparison)
    return JudgedSides(ComparedSides(output, 1, 2, reading), Verdict(Outcome(outcome), (reason,)))


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (["proceed"], 0),
        (["proceed", "proceed"], 0),
        (["proceed", "inconclusive"], 3),
        (["inconclusive", "refuse", "proceed"], 1),
        (["wait"], 0),
    ],
)
def test_the_exit_code_is_that_of_the_worst_output(outcomes: list[str], code: int) -> None:
    """A difference outranks what is not proven."""
    assert sides.exit_code([judged(one) for one in outcomes]) == code


@pytest.mark.parametrize(
    ("outcome", "output", "word"),
    [
        ("proceed", TABLE, "EQUAL (exact, latest)"),
        ("proceed", replace(TABLE, kind="wall_clock"), "NOT PROMISED (paced by wall clock, latest)"),
        ("proceed", replace(TABLE, kind="not_comparable"), "NOT PROMISED (not comparable, latest)"),
        ("refuse", replace(TABLE, kind="late_sensitive"), "DIFFERENT (late-sensitive, latest)"),
        ("inconclusive", replace(TABLE, kind=None), "INCONCLUSIVE (class not known, latest)"),
    ],
)
def test_the_text_never_calls_equal_what_is_not_promised(outcome: str, output: OutputClass, word: str) -> None:
    """The class is next to the verdict."""
    text = sides.as_text("blue", "green", [judged(outcome, output)])
    assert text.splitlines()[:3] == [
        f"[blue totals ↔ green green] {word}",
        "  why",
        "  read: 10 records on 12 offsets of totals; 11 records on 12 offsets of green",
    ]
    assert "    changed ($.sum):" in text
    document = sides.document("blue", "green", [judged(outcome, output)])
    assert document["schema_version"] == 1
    assert document["outputs"][0]["comparison"]["fields"] == ({"field": "$.sum", "keys": 1},)
    assert document["outputs"][0]["output"]["kind"] == output.kind


CLASSES = (
    replace(TABLE, ignore=("$.event",), kind="exact_without_fields"),
    OutputClass(
        "windows",
        None,
        "late_sensitive",
        "windows",
        reasons=("store a|b drops records that come more than 1.0 s late",),
        asked=("output_semantics.windows",),
    ),
)


def test_each_class_has_its_reason_and_what_to_declare() -> None:
    """One line an output; a class that is not known has its least."""
    assert output_classes.as_text("orders", CLASSES).splitlines() == [
        "totals: exact without fields; compared: the last value of each key, without $.event",
        "windows: not known, at least late-sensitive; compared: each window once",
        "  store a|b drops records that come more than 1.0 s late",
        "  declare output_semantics.windows",
    ]
    assert output_classes.as_text("orders", ()) == "orders: its topology writes no output"
    rows = output_classes.as_markdown(CLASSES).splitlines()
    assert len(rows) == 4
    assert all(row.replace("\\|", "").count("|") == 5 for row in rows)
    document = output_classes.document("orders", CLASSES)
    assert [(one["topic"], one["kind"], one["gates"]) for one in document["outputs"]] == [
        ("totals", "exact_without_fields", True),
        ("windows", None, False),
    ]


def test_the_exit_code_of_classes() -> None:
    """A contradiction outranks what is not known."""
    assert output_classes.exit_code(CLASSES[:1]) == 0
    assert output_classes.exit_code(CLASSES) == 3
    assert output_classes.exit_code([*CLASSES, replace(TABLE, refused=("declared exact",))]) == 1
    assert "REFUSED declared exact" in output_classes.as_text("orders", [replace(TABLE, refused=("declared exact",))])
