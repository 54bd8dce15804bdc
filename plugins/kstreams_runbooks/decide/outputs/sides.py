"""Whether two sides of an application agree in an output, below ends that were noted while both were at rest."""

from collections.abc import Iterator
from typing import Final

from kstreams_runbooks.decide.outputs.equal import above_limits, cut, names_of
from kstreams_runbooks.model.output_classes import OutputClass, OutputKind
from kstreams_runbooks.model.readings.outputs import (
    BehindEnds,
    ComparedOutput,
    OutputComparison,
    OutputsReading,
    UnlikeKeys,
)
from kstreams_runbooks.model.readings.sides import ComparedSides, SideHistory
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of, outside

# Fewer compared keys prove too little, unless the topics have no more.
FEWEST_KEYS: Final = 1_000
SOURCE: Final = "docs/compare_outputs.md"
_LONGEST_KEY = 80


def sides_are_equal(compared: ComparedSides, history: SideHistory) -> Verdict:
    """Whether an output of the second side equals that of the first one, as far as its class promises it.

    Proceed: every key below the ends has the same last value in both, without what is ignored; or the class promises
    nothing: a finding then has the differences, and nothing is called equal. Refuse: keys differ, and nothing else
    explains that; or a declaration contradicts the facts. Inconclusive: the class is not known; records below the ends
    were deleted, compacted or cannot be read; fewer than `FEWEST_KEYS` keys were compared of those that the topics have
    now; or the output is late-sensitive, and the catch-up was not paced and has dropped records, or that is not known.

    Source: Kafka Streams core concepts, "Out-of-Order Handling"; Apache Kafka documentation, "Log Compaction".
    """
    output, reading = compared.output, compared.reading
    if output.refused:
        return Verdict(Outcome.REFUSE, output.refused)
    strict = _strict(compared)
    if output.kind is None:
        asked = first_of(output.asked) or "its facts"
        why = f"the class of output {output.topic} is not known (at least {words(output.at_least)}); declare {asked}"
        return Verdict(Outcome.INCONCLUSIVE, (why, *_without_promise(reading, strict)))
    if not output.gates:
        return _not_promised(output, output.kind, reading, strict)
    if output.kind == "late_sensitive" and not history.is_paced and history.dropped != 0:
        return Verdict(Outcome.INCONCLUSIVE, (_unpaced(output, history), *_without_promise(reading, strict)))
    return strict


def words(kind: OutputKind) -> str:
    """A class for a person: exact, exact without fields, late-sensitive, paced by wall clock, not comparable."""
    return {"late_sensitive": "late-sensitive", "wall_clock": "paced by wall clock"}.get(kind, kind.replace("_", " "))


def _unpaced(output: OutputClass, history: SideHistory) -> str:
    why = f" ({history.unknown})" if history.unknown else ""
    dropped = f"whether late records were dropped is not known{why}"
    if history.dropped is not None:
        dropped = f"{history.dropped:,} late records were dropped (limit 0)"
    return (
        f"output {output.topic} is late-sensitive ({_why(output)}), and the second side has caught up unpaced: "
        f"{dropped}; fill its history merged by time and paced, then compare again"
    )


def _not_promised(output: OutputClass, kind: OutputKind, reading: OutputsReading, strict: Verdict) -> Verdict:
    found = "; ".join(_without_promise(reading, strict))
    about = f"is {words(kind)} ({_why(output)}); {found}; accept it, or compare results downstream"
    finding = (
        Finding("output-not-promised", "warning", output.topic, about, SOURCE)
        if kind == "wall_clock"
        else Finding("output-not-comparable", "danger", output.topic, about, SOURCE)
    )
    text = f"output {output.topic} is {words(kind)}: it was not decided whether the sides agree in it; {found}"
    return Verdict(Outcome.PROCEED, (text,), (finding,))


def _why(output: OutputClass) -> str:
    return output.reasons[0] if output.reasons else "declared"


def _without_promise(reading: OutputsReading, strict: Verdict) -> tuple[str, ...]:
    """What was found, where equal last values prove nothing."""
    if strict.outcome is not Outcome.PROCEED:
        return strict.reasons
    keys = _keys(reading)
    return (f"{keys.equal:,} keys have the same last value below these ends, which does not prove the next ones",)


def _strict(compared: ComparedSides) -> Verdict:
    """The verdict on the topics alone."""
    reading = compared.reading
    unread, differences = tuple(_unread(compared)), tuple(_differences(reading))
    if unread:
        return Verdict(Outcome.INCONCLUSIVE, (*unread, *differences))
    if differences:
        return Verdict(Outcome.REFUSE, differences)
    if undecided := tuple(_undecided(reading)):
        return Verdict(Outcome.INCONCLUSIVE, undecided)
    keys, ignored = _keys(reading), reading.ignored_paths
    once = ", each window once" if reading.mode == "windows" else ""
    without = f" ({first_of(list(ignored))} not compared)" if ignored else ""
    both = f"{reading.first.name} and {reading.second.name}"
    return Verdict(Outcome.PROCEED, (f"the last values of {keys.equal:,} keys of {both} are equal{once}{without}",))


def _keys(reading: OutputsReading) -> UnlikeKeys:
    return (reading.comparison and reading.comparison.keys) or UnlikeKeys()


def _unread(compared: ComparedSides) -> Iterator[str]:
    """What is missing from the comparison, and may explain any difference or hide one."""
    reading = compared.reading
    above = tuple(above_limits(reading))
    yield from above
    outputs = (reading.first, reading.second)
    for output in outputs:
        yield from cut(output, "they were there when the ends were noted; note new ends, and compare again")
    comparison = reading.comparison
    if comparison is None:
        if reading.offsets and not above:
            yield f"{outputs[0].name} and {outputs[1].name} were not compared (expected an answer of Spark); repeat"
        return
    for output, behind in zip(outputs, comparison.behind or (BehindEnds(), BehindEnds()), strict=True):
        if output.compacted is not False:
            yield from _compacted(compared, output, behind)
    keys = _keys(reading)
    for output, lacking in ((outputs[0], keys.extra), (outputs[1], keys.missing)):
        if lacking and (trimmed := [one for one in output.ranges if one.start > 0]):
            worst = max(trimmed, key=lambda one: one.start)
            yield (
                f"{lacking:,} keys are not in {output.name}, whose log began above offset 0 when the ends were noted "
                f"({names_of(output, trimmed)}; {output.name}-{worst.partition} at {worst.start:,}): retention may "
                "have deleted them; compare a side whose output still has all of its records"
            )


def _compacted(compared: ComparedSides, output: ComparedOutput, behind: BehindEnds) -> Iterator[str]:
    """Why compaction may have removed a record below the ends: a newer one of its key replaces it.

    It removes all older records of a key or none, and leaves the newest: a key with a record below its end has its last
    one there.
    """
    policy = "it is compacted" if output.compacted else "whether it is compacted is not known"
    grown = [one for one in output.ranges if one.grown_to > one.end]
    if not grown:
        return
    is_kept = (
        output.lag_ms is not None
        and behind.oldest_ms is not None
        and behind.oldest_ms > compared.read_at_ms - output.lag_ms
    )
    if compared.reading.mode == "windows" and not is_kept:
        yield (
            f"{names_of(output, grown)}: {policy}, and has grown behind the noted ends: compaction may have removed a "
            f"window that was written twice; set min.compaction.lag.ms of {output.name} above the time of a comparison "
            "(3600000), and note new ends"
        )
    elif behind.only_there and not is_kept:
        yield (
            f"{behind.only_there:,} keys of {output.name} have records behind the noted ends alone (limit 0), and "
            f"{policy}: they are new, or compaction has removed their records below the ends; set "
            f"min.compaction.lag.ms of {output.name} above the time of a comparison (3600000), and note new ends"
        )


def _differences(reading: OutputsReading) -> Iterator[str]:
    comparison, keys = reading.comparison, _keys(reading)
    if comparison is None or not keys.unlike:
        return
    counts = (
        (keys.missing, f"missing from {reading.second.name}"),
        (keys.extra, "extra"),
        (keys.changed, "changed"),
        (keys.repeated, "with a window more than once"),
    )
    found = ", ".join(f"{number:,} {what}" for number, what in counts if number)
    fields = [f"{one.field} of {one.keys:,} keys" for one in comparison.fields]
    changed = f"; fields that differ: {first_of(fields)}" if fields else ""
    compared = keys.equal + keys.unlike
    yield f"{keys.unlike:,} of {compared:,} keys differ (limit 0): {found}{changed}{_named(comparison)}"


def _named(comparison: OutputComparison) -> str:
    shown = [
        f"{'no key' if record.key is None else outside(record.key, _LONGEST_KEY)} ({one.kind})"
        for one in comparison.examples
        if (record := one.first or one.second) is not None
    ]
    return f"; keys: {first_of(shown)}" if shown else ""


def _undecided(reading: OutputsReading) -> Iterator[str]:
    """Why equal last values do not prove equal topics; none of it explains a difference."""
    keys = _keys(reading)
    both = f"{reading.first.name} and {reading.second.name}"
    if keys.split:
        yield (
            f"{keys.split:,} keys are in several partitions of {reading.first.name} or {reading.second.name} (limit "
            "0): they have no last value; write each key to one partition"
        )
    if keys.null_keys:
        yield f"{keys.null_keys:,} records of {both} have no key (limit 0): they have no last value"
    behind = (reading.comparison and reading.comparison.behind) or ()
    compared = keys.equal + keys.unlike
    there = compared + keys.split + max((one.only_there for one in behind), default=0)
    fewest = min(FEWEST_KEYS, there)
    if compared < fewest or not compared:
        yield (
            f"{compared:,} keys of {both} were compared (limit {max(1, fewest):,}; the topics have {there:,} now): too "
            "few; note new ends once they have more, and compare again"
        )
