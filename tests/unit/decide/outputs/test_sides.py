"""Two sides agree in an output only if every key was compared, and its class promises it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kstreams_runbooks.decide.outputs.sides import FEWEST_KEYS, sides_are_equal
from kstreams_runbooks.decide.registry import DECISIONS
from kstreams_runbooks.ledger.codec import call_again, encode_call
from kstreams_runbooks.model.output_classes import KINDS, OutputClass, OutputKind
from kstreams_runbooks.model.readings.outputs import (
    BehindEnds,
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
from kstreams_runbooks.model.readings.sides import ComparedSides, SideHistory
from kstreams_runbooks.model.verdicts import Outcome

NOTED_MS, READ_MS, HOUR_MS = 1_000_000_000, 1_000_060_000, 3_600_000
PACED = SideHistory(is_paced=True)
EXACT = OutputClass("totals", "exact", "exact", "latest")
WHOLE = OutputRange(0, 0, 5_000, 0, 5_000, 5_000, 5_000)
GROWN = replace(WHOLE, stable=6_000, log_end=6_000, grown_to=6_100)


def side(name: str, part: OutputRange = WHOLE, **changes: Any) -> ComparedOutput:
    """A topic of one partition, which is not compacted."""
    return ComparedOutput(name, f"id of {name}", **{"compacted": False, "ranges": (part,), **changes})


def compared(
    keys: UnlikeKeys | None = None,
    output: OutputClass = EXACT,
    first: ComparedOutput | None = None,
    second: ComparedOutput | None = None,
    **found: Any,
) -> ComparedSides:
    """2,000 equal keys, unless told otherwise."""
    read = (RecordsRead(0, 5_000),)
    reading = OutputsReading(
        taken=Taken(NOTED_MS + 1_000, "kafka b:1"),
        mode=output.compare,
        ignored=("headers", "timestamp"),
        first=first or side("totals"),
        second=second or side("totals-green"),
        limits=CompareLimits(100_000, 1_000_000, 60.0),
        bytes=500,
        comparison=OutputComparison(read, read, keys=keys or UnlikeKeys(equal=2_000), **found),
        ignored_paths=output.ignore,
    )
    return ComparedSides(output, NOTED_MS, READ_MS, reading)


def outcome(it: ComparedSides, history: SideHistory = PACED) -> tuple[Outcome, str]:
    """The verdict; it is the same from evidence."""
    verdict = sides_are_equal(it, history)
    kept = encode_call(sides_are_equal, {"compared": it, "history": history}, verdict)
    assert call_again(DECISIONS["sides_are_equal"], kept) == kept["result"]
    return verdict.outcome, verdict.text


def test_equal_last_values_are_equal() -> None:
    """Nothing more is said, also while traffic goes on behind the ends."""
    sentence = "the last values of 2,000 keys of totals and totals-green are equal"
    assert outcome(compared()) == (Outcome.PROCEED, sentence)
    later = (BehindEnds(0, READ_MS), BehindEnds(0, READ_MS))
    assert outcome(compared(first=side("totals", GROWN), behind=later)) == (Outcome.PROCEED, sentence)


def test_ignored_paths_and_windows_are_named() -> None:
    """An equal answer has what was not compared."""
    without = OutputClass("totals", "exact_without_fields", "exact", "latest", ("$.event", "$.seq"))
    assert outcome(compared(output=without))[1].endswith("are equal ($.event, $.seq not compared)")
    windows = OutputClass("totals", "exact", "exact", "windows")
    assert outcome(compared(output=windows))[1].endswith("are equal, each window once")


def test_every_difference_is_named_with_its_fields_and_keys() -> None:
    """Counts, the fields, and the keys of the examples; masked keys stay masked."""
    record = ShownRecord(0, 7, 1, "ada", "{}", ())
    examples = (
        UnlikeRecord("changed", None, None, ("value",), record, record, ("$.sum",)),
        UnlikeRecord("missing", None, None, (), replace(record, key="***"), None),
    )
    keys = UnlikeKeys(equal=99_996, missing=1, extra=1, changed=1, repeated=1)
    found = compared(keys, examples=examples, fields=(FieldChanges("$.sum", 1),))
    assert outcome(found) == (
        Outcome.REFUSE,
        "4 of 100,000 keys differ (limit 0): 1 missing from totals-green, 1 extra, 1 changed, 1 with a window more "
        "than once; fields that differ: $.sum of 1 keys; keys: ada (changed), *** (missing)",
    )


@pytest.mark.parametrize(
    ("equal", "behind", "expected"),
    [
        (0, 0, Outcome.INCONCLUSIVE),
        (1, 0, Outcome.PROCEED),
        (FEWEST_KEYS - 1, 0, Outcome.PROCEED),
        (FEWEST_KEYS - 1, 1, Outcome.INCONCLUSIVE),
        (5, 5_000, Outcome.INCONCLUSIVE),
        (FEWEST_KEYS, 5_000, Outcome.PROCEED),
    ],
)
def test_too_few_keys_prove_nothing(equal: int, behind: int, expected: Outcome) -> None:
    """Fewer than a thousand, unless the topics have no more now."""
    later = (BehindEnds(behind, READ_MS), BehindEnds(0))
    decided, text = outcome(compared(UnlikeKeys(equal=equal), behind=later))
    assert decided is expected
    assert ("too few" in text) is (expected is Outcome.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("first", "second", "keys", "sentence"),
    [
        (side("totals", replace(WHOLE, log_start=3)), None, None, "records are deleted: totals-0 begins at offset 3"),
        (side("totals", replace(WHOLE, stable=4_000)), None, None, "behind an open transaction"),
        (None, side("totals-green", replace(WHOLE, log_start=1)), None, "note new ends"),
        (
            None,
            side("totals-green", replace(WHOLE, start=9, log_start=9)),
            UnlikeKeys(equal=1_999, missing=1),
            "1 keys are not in totals-green, whose log began above offset 0",
        ),
        (
            side("totals", replace(WHOLE, start=9, log_start=9)),
            None,
            UnlikeKeys(equal=1_999, extra=1),
            "1 keys are not in totals, whose log began above offset 0",
        ),
    ],
)
def test_what_retention_or_a_transaction_hides_is_not_decided(
    first: ComparedOutput | None, second: ComparedOutput | None, keys: UnlikeKeys | None, sentence: str
) -> None:
    """A log start that moved after the note, or was above 0, explains a key that is not there."""
    decided, text = outcome(compared(keys, first=first, second=second))
    assert decided is Outcome.INCONCLUSIVE
    assert sentence in text


def test_a_log_that_began_above_zero_explains_no_other_difference() -> None:
    """The key is missing from the side that has all of its records, or both have it."""
    trimmed = side("totals", replace(WHOLE, start=9, log_start=9))
    assert outcome(compared(first=trimmed))[0] is Outcome.PROCEED
    assert outcome(compared(UnlikeKeys(equal=1_999, missing=1), first=trimmed))[0] is Outcome.REFUSE
    assert outcome(compared(UnlikeKeys(equal=1_999, changed=1), first=trimmed))[0] is Outcome.REFUSE


@pytest.mark.parametrize("policy", [True, None])
def test_compaction_may_have_taken_a_key_that_is_only_behind_the_ends(policy: bool | None) -> None:
    """Unless the topic keeps records for longer than the oldest one there is old, or nothing is behind the ends."""
    later = (BehindEnds(3, READ_MS - 1_000), BehindEnds(3, READ_MS - 1_000))

    def decided(lag_ms: int | None, part: OutputRange = GROWN, **parts: Any) -> tuple[Outcome, str]:
        one = side("totals", part, compacted=policy, lag_ms=lag_ms)
        return outcome(compared(first=one, **{"behind": later, **parts}))

    for lag_ms in (None, 0, 1_000):
        found, text = decided(lag_ms)
        assert found is Outcome.INCONCLUSIVE
        assert "3 keys of totals have records behind the noted ends alone (limit 0)" in text
        assert "set min.compaction.lag.ms of totals" in text
    assert decided(1_001)[0] is decided(HOUR_MS)[0] is Outcome.PROCEED
    assert decided(0, WHOLE)[0] is Outcome.PROCEED
    assert decided(0, behind=(BehindEnds(0, READ_MS), BehindEnds(3, READ_MS)))[0] is Outcome.PROCEED
    # Records that are older than that may be compacted at once, however new they are in the log.
    assert decided(HOUR_MS, behind=(BehindEnds(3, 1), BehindEnds()))[0] is Outcome.INCONCLUSIVE
    # It explains a difference: no key is proven to differ.
    taken = decided(0, keys=UnlikeKeys(equal=1_999, missing=1))
    assert taken[0] is Outcome.INCONCLUSIVE
    assert "1 of 2,000 keys differ" in taken[1]


def test_compaction_may_have_taken_a_window_that_was_written_twice() -> None:
    """No key has to be gone for that."""
    windows = OutputClass("totals", "exact", "exact", "windows")
    later = (BehindEnds(0, READ_MS), BehindEnds(0, READ_MS))

    def decided(**changes: Any) -> Outcome:
        return outcome(compared(output=windows, first=side("totals", GROWN, **changes), behind=later))[0]

    assert decided() is Outcome.PROCEED
    assert decided(compacted=True, lag_ms=0) is Outcome.INCONCLUSIVE
    assert decided(compacted=True, lag_ms=HOUR_MS) is Outcome.PROCEED


@pytest.mark.parametrize("keys", [UnlikeKeys(equal=2_000, split=1), UnlikeKeys(equal=2_000, null_keys=1)])
def test_keys_without_a_last_value_are_not_decided(keys: UnlikeKeys) -> None:
    """In several partitions, or no key at all."""
    assert outcome(compared(keys))[0] is Outcome.INCONCLUSIVE


def test_a_comparison_that_was_not_made_is_not_equal() -> None:
    """Above a limit, or without an answer; nothing to read is too few keys."""
    none = compared()
    none = replace(none, reading=replace(none.reading, comparison=None))
    assert outcome(none)[0] is Outcome.INCONCLUSIVE
    limits = CompareLimits(1, 1, 1.0)
    assert "(limit 1)" in outcome(replace(none, reading=replace(none.reading, limits=limits)))[1]
    empty = replace(WHOLE, end=0, stable=0, log_end=0, grown_to=0)
    both = compared(first=side("totals", empty), second=side("totals-green", empty))
    both = replace(both, reading=replace(both.reading, comparison=None))
    assert "0 keys of totals and totals-green were compared (limit 1" in outcome(both)[1]


LATE = OutputClass("totals", "late_sensitive", "late_sensitive", "latest", reasons=("store w has a grace of 10 s",))


@pytest.mark.parametrize(
    ("history", "expected", "sentence"),
    [
        (SideHistory(is_paced=True), Outcome.PROCEED, "are equal"),
        (SideHistory(is_paced=True, dropped=7), Outcome.PROCEED, "are equal"),
        (SideHistory(is_paced=False, dropped=0), Outcome.PROCEED, "are equal"),
        (
            SideHistory(is_paced=False, dropped=21_383),
            Outcome.INCONCLUSIVE,
            "21,383 late records were dropped (limit 0)",
        ),
        (SideHistory(is_paced=False), Outcome.INCONCLUSIVE, "whether late records were dropped is not known;"),
        (
            SideHistory(is_paced=False, unknown="a thread failed"),
            Outcome.INCONCLUSIVE,
            "is not known (a thread failed);",
        ),
    ],
)
def test_late_sensitive_outputs_are_decided_behind_a_paced_history(
    history: SideHistory, expected: Outcome, sentence: str
) -> None:
    """Or one in which no record came too late; otherwise neither equal nor different values prove anything."""
    decided, text = outcome(compared(output=LATE), history)
    assert decided is expected
    assert sentence in text
    unlike = outcome(compared(UnlikeKeys(equal=1_999, changed=1), output=LATE), history)
    assert unlike[0] is (Outcome.REFUSE if expected is Outcome.PROCEED else Outcome.INCONCLUSIVE)
    assert "1 of 2,000 keys differ" in unlike[1]


@pytest.mark.parametrize(
    ("kind", "finding"), [("wall_clock", "output-not-promised"), ("not_comparable", "output-not-comparable")]
)
def test_what_is_not_promised_is_named_and_never_equal(kind: OutputKind, finding: str) -> None:
    """A left join's ends may differ at rest: the run goes on, and a person reads the differences."""
    output = OutputClass("totals", kind, kind, "latest", reasons=("join j is left",))
    for keys in (UnlikeKeys(equal=2_000), UnlikeKeys(equal=1_985, missing=15)):
        verdict = sides_are_equal(compared(keys, output=output), PACED)
        assert verdict.outcome is Outcome.PROCEED
        assert [one.id for one in verdict.findings] == [finding]
        assert "are equal" not in verdict.text
        assert "are equal" not in verdict.findings[0].message
        assert ("15 missing from totals-green" in verdict.findings[0].message) is (keys.missing == 15)


def test_a_class_that_is_not_known_is_never_equal() -> None:
    """The fields that decide it are in the answer."""
    output = OutputClass("totals", None, "late_sensitive", "latest", asked=("stores.w.window",))
    decided, text = outcome(compared(output=output))
    assert decided is Outcome.INCONCLUSIVE
    assert "the class of output totals is not known (at least late-sensitive); declare stores.w.window" in text
    assert "are equal" not in text


def test_a_declaration_that_contradicts_the_facts_is_refused() -> None:
    """Whatever the topics have."""
    output = OutputClass("totals", "exact", "late_sensitive", "latest", refused=("output totals: is declared exact",))
    assert outcome(compared(output=output)) == (Outcome.REFUSE, "output totals: is declared exact")


COUNTS = st.integers(0, 3)


@given(
    kind=st.sampled_from([*KINDS, None]),
    keys=st.builds(
        UnlikeKeys,
        equal=st.sampled_from([0, 5, 2_000]),
        missing=COUNTS,
        extra=COUNTS,
        changed=COUNTS,
        repeated=COUNTS,
        split=COUNTS,
        null_keys=COUNTS,
    ),
    behind=st.integers(0, 2_000),
    compacted=st.sampled_from([True, False, None]),
    lag_ms=st.sampled_from([None, 0, HOUR_MS]),
    start=st.integers(0, 1),
    is_paced=st.booleans(),
    dropped=st.sampled_from([None, 0, 4]),
)
def test_equal_is_said_only_where_nothing_speaks_against_it(
    kind: OutputKind | None,
    keys: UnlikeKeys,
    behind: int,
    compacted: bool | None,
    lag_ms: int | None,
    start: int,
    is_paced: bool,
    dropped: int | None,
) -> None:
    """Whatever else is true, no output with an unlike or undecided key is equal."""
    output = OutputClass("totals", kind, kind or "exact", "latest")
    one = side("totals", replace(GROWN, start=start, log_start=start), compacted=compacted, lag_ms=lag_ms)
    later = (BehindEnds(behind, READ_MS), BehindEnds())
    verdict = sides_are_equal(compared(keys, output, first=one, behind=later), SideHistory(is_paced, dropped))
    if "are equal" in verdict.text:
        assert keys.unlike + keys.split + keys.null_keys == 0
        assert keys.equal
        assert kind in {"exact", "exact_without_fields", "late_sensitive"}
        assert not (behind and compacted is not False and lag_ms != HOUR_MS)
