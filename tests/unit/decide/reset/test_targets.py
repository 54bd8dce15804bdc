"""Targets of offsets as people write them: every kind, and one sentence for each that has no meaning."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.reset.targets import parse_target, parse_targets, target_text, with_defaults
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.offset_targets import AFTER_ITS_OWN, EARLIEST, UNDECIDED, OffsetTarget

NOW = 1_794_000_000_000
HOUR = 3_600_000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("earliest", OffsetTarget("earliest", "earliest")),
        (" latest ", OffsetTarget("latest", "latest")),
        ("1970-01-01T00:00:10Z", OffsetTarget("time", "1970-01-01T00:00:10Z", at_ms=10_000)),
        ("1970-01-01T02:00:10+02:00", OffsetTarget("time", "1970-01-01T02:00:10+02:00", at_ms=10_000)),
        ("-2h", OffsetTarget("time", "-2h", at_ms=NOW - 2 * HOUR)),
        ("-1d12h", OffsetTarget("time", "-1d12h", at_ms=NOW - 36 * HOUR)),
        ("-90s or latest", OffsetTarget("time", "-90s or latest", at_ms=NOW - 90_000, without="latest")),
        (
            "1970-01-01T00:00:10Z or earliest",
            OffsetTarget("time", "1970-01-01T00:00:10Z or earliest", at_ms=10_000, without="earliest"),
        ),
        ("-100", OffsetTarget("shift", "-100", offset=-100)),
        ("+7", OffsetTarget("shift", "+7", offset=7)),
        ("1234", OffsetTarget("offset", "1234", offset=1234)),
        (1234, OffsetTarget("offset", "1234", offset=1234)),
        ("1:5, 0:12", OffsetTarget("offsets", "1:5, 0:12", offsets=((0, 12), (1, 5)))),
        ({"1": 5, "0": 12}, OffsetTarget("offsets", "{1: 5, 0: 12}", offsets=((0, 12), (1, 5)))),
        ("run:undo/r", OffsetTarget("saved", "run:undo/r", saved="run:undo/r")),
        ("file:/tmp/a.csv", OffsetTarget("saved", "file:/tmp/a.csv", saved="file:/tmp/a.csv")),
    ],
)
def test_each_kind(value: Any, expected: OffsetTarget) -> None:
    assert parse_target("orders", value, NOW) == expected


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("", "is not a target"),
        (None, "is not a target"),
        (True, "is not a target"),
        (1.5, "is not a target"),
        ([1], "is not a target"),
        ({}, "is not a target"),
        ("soon", "is not a target"),
        ("-", "is not a target"),
        ("-2x", "is not a target"),
        ("run:", "is not a target"),
        ("0:1,x", "is not a target"),
        ("١٢", "is not a target"),
        ("2026-11-01T00:00:00", "a time without a zone"),
        ("2999-01-01T00:00:00Z", "is in the future"),
        ("1969-12-31T00:00:00Z", "is before 1970"),
        ("-0h", "expected more than 0"),
        ("-999999d", "expected more than 0, and a time after 1970"),
        ("+0", "moves nothing"),
        ("-9999999999999999999", "moves nothing, or past every log"),
        ("9999999999999999999", "is not an offset"),
        (-1, "is not an offset"),
        ("earliest or latest", "goes with a time"),
        ("-2h or 5", "goes with a time"),
        ("0:1,0:2", "partition 0 has two offsets"),
        ({"0": -1}, "is not a partition with an offset"),
        ({"0": True}, "is not a partition with an offset"),
        ({"x": 1}, "is not a partition with an offset"),
    ],
)
def test_one_sentence_for_a_value_without_meaning(value: Any, said: str) -> None:
    with pytest.raises(BadInput) as raised:
        parse_target("orders", value, NOW)
    assert said in str(raised.value)
    assert str(raised.value).startswith("target of orders: ")
    assert len(raised.value.args) == 1


def test_only_inputs_have_targets() -> None:
    """Neither another topic nor the topic of a global store."""
    assert parse_targets({"orders": "latest", "*": "-1h"}, {"orders"}, NOW).keys() == {"orders", "*"}
    with pytest.raises(BadInput, match=r"target of results: is not an input \(inputs: customers, orders\)"):
        parse_targets({"results": "latest"}, {"orders", "customers"}, NOW)
    with pytest.raises(BadInput, match="target of rates: fills a global store"):
        parse_targets({"rates": "latest"}, {"orders"}, NOW, restored={"rates"})


def test_tables_default_to_earliest() -> None:
    """Whatever the streams get; with kept state an input without a target stays."""
    given = parse_targets({"*": "latest"}, {"orders"}, NOW)
    inputs, tables = ("orders", "clicks", "customers"), ("customers",)
    latest = given["*"]
    assert with_defaults(given, inputs, tables, rebuilds=True) == {
        "clicks": latest,
        "orders": latest,
        "customers": EARLIEST,
    }
    assert with_defaults(given, inputs, tables, rebuilds=False) == {"clicks": latest, "orders": latest}
    assert with_defaults({}, inputs, tables, rebuilds=True) == dict.fromkeys(inputs, EARLIEST)
    own = with_defaults(given, ("orders", "back"), (), rebuilds=True, written={"back"})
    assert own == {"orders": latest, "back": AFTER_ITS_OWN}
    assert with_defaults(given, ("back",), (), rebuilds=False, written={"back"}, shared={"back"}) == {}
    named = {"customers": latest}
    assert with_defaults(named, inputs, tables, rebuilds=True)["customers"] == latest


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("earliest", "earliest"),
        ("latest", "latest"),
        ("-2h", "2026-11-06T19:20:00.000+00:00"),
        ("-90s or latest", "2026-11-06T21:18:30.000+00:00 or latest"),
        ("1970-01-01T00:00:10.123Z", "1970-01-01T00:00:10.123+00:00"),
        ("-100", "-100"),
        ("+7", "+7"),
        (1234, "1234"),
        ({"1": 5, "0": 12}, "0:12,1:5"),
        ("run:undo/r", "run:undo/r"),
        ("file:/tmp/a.csv", "file:/tmp/a.csv"),
    ],
)
def test_a_target_as_a_text_means_the_same_later(value: Any, text: str) -> None:
    """A plan binds it; what it goes to is resolved when the offsets are written."""
    target = parse_target("orders", value, NOW)
    assert target_text(target) == text
    later = parse_target("orders", text, NOW + HOUR)
    assert replace(later, given="") == replace(target, given="")


def test_a_default_has_a_text_too() -> None:
    assert parse_target("orders", target_text(AFTER_ITS_OWN), NOW).kind == "latest"


@pytest.mark.parametrize("ms", [1, 122, 123, 999])
def test_a_time_keeps_its_milliseconds(ms: int) -> None:
    """As a text and back."""
    target = OffsetTarget("time", "-1s", at_ms=1_700_000_000_000 + ms)
    assert parse_target("orders", target_text(target), NOW).at_ms == target.at_ms


def test_an_input_that_others_and_the_application_write_has_no_default() -> None:
    """From earliest its own records are processed twice, and at latest those of others never."""
    given = parse_targets({"*": "latest"}, {"orders"}, NOW)
    own = with_defaults(given, ("orders", "back"), (), rebuilds=True, written={"back"}, shared={"back"})
    assert own == {"orders": given["*"], "back": UNDECIDED}
    named = {"back": EARLIEST}
    own = with_defaults(named, ("orders", "back"), (), rebuilds=True, written={"back"}, shared={"back"})
    assert own == {"orders": EARLIEST, "back": EARLIEST}
