"""The list for a reviewer."""

from kstreams_runbooks.decide.comparison.code import CodeChange, ReviewedCode
from kstreams_runbooks.present.change.changed_code import code_document, code_text

SUM = ReviewedCode(
    CodeChange("operators.sum", "code", "other", ("App.added",), ("App.sum",), ("App.gone",)), "1", ("totals",)
)
HIDDEN = ReviewedCode(CodeChange("stores.totals", "value_serde", "unknown", reason="it is native"), "", ())


def test_methods_stand_below_the_part_that_runs_them() -> None:
    """With the stores that it reaches, and what is not proven."""
    assert code_text((SUM, HIDDEN)).splitlines() == [
        "operator sum (subtopology 1, reaches totals)",
        "  added App.added",
        "  changed App.sum",
        "  removed App.gone",
        "store totals value_serde (subtopology -, reaches no store)",
        "  not proven: it is native",
    ]


def test_values_that_objects_keep_are_named_as_such() -> None:
    """The methods are equal."""
    one = ReviewedCode(CodeChange("operators.sum", "code", "other"), "1", ())
    assert code_text((one,)).endswith("  changed values that its objects keep")


def test_no_change_is_one_sentence() -> None:
    """Nothing is not an empty page."""
    assert code_text(()) == "no part of the program has other code, and each one is proven"


def test_the_document_has_the_same() -> None:
    """For a script."""
    [entry] = code_document((SUM,))["changed_code"]
    assert (entry["where"], entry["stores"]) == ("operators.sum", ["totals"])
    assert (entry["added"], entry["changed"], entry["removed"]) == (["App.added"], ["App.sum"], ["App.gone"])
