"""The answer about two topics as text, as a document and as an exit code."""

import pytest
from kstreams_runbooks.decide.outputs.equal import outputs_are_equal
from kstreams_runbooks.model.readings.outputs import (
    ComparedOutput,
    CompareLimits,
    OutputComparison,
    OutputRange,
    OutputsReading,
    RecordsRead,
    ShownRecord,
    UnlikePartition,
    UnlikeRecord,
)
from kstreams_runbooks.model.readings.readings import Taken
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.present.outputs import as_text, document, exit_code

RANGES = (OutputRange(0, 0, 12, 0, 12, 12, 12),)
READ = (RecordsRead(0, 10),)


def reading(comparison: OutputComparison | None) -> OutputsReading:
    first, second = (ComparedOutput(name, "id", compacted=False, ranges=RANGES) for name in ("orders", "copy"))
    return OutputsReading(Taken(1, "b:1"), "record", (), first, second, CompareLimits(50, 50, 9.0), None, comparison)


@pytest.mark.parametrize(("outcome", "code"), [("proceed", 0), ("refuse", 1), ("inconclusive", 3), ("wait", 3)])
def test_the_exit_code(outcome: str, code: int) -> None:
    assert exit_code(Verdict(Outcome(outcome), ())) == code


def test_the_text_and_the_document_have_the_counts_and_the_examples() -> None:
    examples = (
        UnlikeRecord(
            "changed",
            0,
            3,
            ("value",),
            ShownRecord(0, 4, 1_700, "k\x1b", '{"a":1}', (("h", None), ("h", "0x"))),
            ShownRecord(0, 5, 1_700, None, None, ()),
        ),
        UnlikeRecord("missing", 0, None, (), ShownRecord(0, 9, 1_700, "k", "***", ()), None),
    )
    found = reading(OutputComparison(READ, READ, (UnlikePartition(0, 1, 0, 1, 3),), examples=examples))
    verdict = outputs_are_equal(found)
    assert as_text("demo", found, verdict).splitlines() == [
        "[orders ↔ copy @ demo] DIFFERENT (record)",
        r"  partition 0 differs: 10 records in orders, 10 in copy: 1 missing, 0 extra, 1 changed (limit 0); first "
        r"difference at record 3: orders-0@4 (key k\x1b) and copy-0@5 (no key) (value differs)",
        "  read: 10 records on 12 offsets of orders; 10 records on 12 offsets of copy",
        "    changed in partition 0, at record 3 (value):",
        r'      orders-0@4: key k\x1b, value {"a":1}, at 1700 ms, headers [h=null, h=0x]',
        "      copy-0@5: key null, value null (a tombstone), at 1700 ms, headers []",
        "    missing in partition 0:",
        "      orders-0@9: key k, value ***, at 1700 ms, headers []",
        "      copy: no record",
    ]
    shown = document("demo", found, verdict)
    assert (shown["verdict"], shown["cluster"], shown["bytes_on_disk"]) == ("refuse", "demo", None)
    assert shown["comparison"]["partitions"] == (
        {"partition": 0, "missing": 1, "extra": 0, "changed": 1, "first_place": 3},
    )


def test_topics_that_were_not_compared_have_no_comparison() -> None:
    found = reading(None)
    verdict = outputs_are_equal(found)
    assert document("demo", found, verdict)["comparison"] is None
    assert as_text("demo", found, verdict).startswith("[orders ↔ copy @ demo] INCONCLUSIVE (record)\n  orders and copy")
    assert "read:" not in as_text("demo", found, verdict)
    equal = reading(OutputComparison(READ, READ))
    assert as_text("demo", equal, outputs_are_equal(equal)).startswith("[orders ↔ copy @ demo] EQUAL (record)\n")
