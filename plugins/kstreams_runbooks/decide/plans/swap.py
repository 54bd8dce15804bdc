"""Whether the inputs of an application may be swapped for empty topics.

Each refusal prevents lost or doubled records, or an application that dies: a swapped source of a global store or
of a table without a changelog of its own would be state that is gone; a pattern that matches nothing fails the
assignment (TaskAssignmentException); records in a topic that should be empty would be processed.
"""

from collections.abc import Iterator

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.swap import EmptyTopic, SwapReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of

_LONGEST_NAME = 249


def empty_topic_name(topic: str, group_id: str) -> str:
    """The name of the topic that is read in place of an input; it does not begin like the group's internal topics."""
    return f"empty-of-{topic}-for-{group_id}"


def may_swap(reading: SwapReading) -> Verdict:
    """Refuse a swap that would lose, double or fail; a certain refusal counts even if other readings failed."""
    if refused := tuple(_refusals(reading)):
        return Verdict(Outcome.REFUSE, refused)
    if unknown := tuple(_unknown(reading)):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    names = ", ".join(f"{one.input} by {one.name}" for one in reading.empties)
    return Verdict(Outcome.PROCEED, (f"inputs may be swapped: {names}",))


def _refusals(reading: SwapReading) -> Iterator[str]:
    if not reading.sources:
        yield f"group {reading.group_id}: no input to swap was found (expected at least one); look at its topology"
    named = {one.input for one in reading.empties}
    for topic in reading.sources:
        if topic not in named:
            yield (
                f"input {topic}: no setting names it (expected one in `input_settings` of the fleet entry); declare "
                "it, or hold it otherwise: trigger a new run with --param switch=manual"
            )
    for topic in sorted(named - set(reading.sources)):
        yield f"input {topic}: the application does not read it (expected a source); correct `input_settings`"
    for topic in reading.tables:
        yield (
            f"input {topic}: it is the changelog of its own table (reuse.ktable.source.topics), and an empty topic is "
            "an empty table; hold it otherwise: trigger a new run with --param switch=manual"
        )
    for topic in sorted(named & set(reading.global_sources)):
        yield (
            f"input {topic}: a global table reads it, and an empty topic is an empty table; hold it otherwise: trigger "
            "a new run with --param switch=manual"
        )
    for one in reading.empties:
        yield from _unfit(one)
    yield from _as_swapped(reading)


def _unfit(one: EmptyTopic) -> Iterator[str]:
    if len(one.name) > _LONGEST_NAME:
        yield (
            f"empty topic {one.name}: {len(one.name)} characters (limit {_LONGEST_NAME}); give another one for "
            f"{one.input} (empty_topics)"
        )
    if one.partitions is None and one.given:
        yield f"empty topic {one.name}: it does not exist; create it, or leave empty_topics without {one.input}"
    if one.partitions is not None and one.partitions != one.needed:
        yield (
            f"empty topic {one.name}: {one.partitions} partitions (expected {one.needed}, as {one.input} has); give "
            "another one (empty_topics)"
        )
    if not isinstance(one.records, Missing) and one.records:
        yield (
            f"empty topic {one.name}: {one.records:,} offsets in its log (expected 0): the application would process "
            "its records; give another one (empty_topics), or delete it"
        )
    if not isinstance(one.readers, Missing) and one.readers:
        yield (
            f"empty topic {one.name}: {first_of(one.readers)} reads it or has offsets on it (expected no group); give "
            "another one (empty_topics)"
        )


def _as_swapped(reading: SwapReading) -> Iterator[str]:
    """The description with the swapped settings, which is the proof that they are the right ones."""
    if isinstance(reading.swapped, Missing):
        return
    wanted = {*(one.name for one in reading.empties), *reading.kept}
    settings = ", ".join(one.setting for one in reading.empties)
    if lacking := sorted(wanted - set(reading.swapped)):
        yield (
            f"with {settings} set to the empty topics the release does not read {first_of(lacking)} (expected all of "
            "them and its internal topics); a pattern has to match the empty topic: correct `input_settings`"
        )
    if more := sorted(set(reading.swapped) - wanted):
        yield (
            f"with {settings} set to the empty topics the release still reads {first_of(more)} (expected the empty and "
            "the internal topics alone); correct `input_settings`"
        )
    if reading.written:
        yield (
            f"with {settings} set to the empty topics the release also writes {first_of(reading.written)} (expected: "
            "the topics that it writes now), and results of the flush would be lost there; let these settings name "
            "sources alone, or hold the inputs otherwise: trigger a new run with --param switch=manual"
        )


def _unknown(reading: SwapReading) -> Iterator[str]:
    if isinstance(reading.swapped, Missing):
        yield f"whether the settings of the inputs are the right ones is not known: {reading.swapped.missing}"
    for one in reading.empties:
        for value in (one.records, one.readers):
            if isinstance(value, Missing):
                yield f"empty topic {one.name}: {value.missing}"
    if reading.uncommitted and reading.reset not in {"earliest", "latest"}:
        yield (
            f"{first_of(reading.uncommitted)}: records and no committed offset, and where the group begins there is "
            "not known; declare auto.offset.reset of the release and offset_reset of its sources (docs/declaration.md)"
        )
