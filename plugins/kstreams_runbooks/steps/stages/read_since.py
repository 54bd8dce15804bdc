"""The times of the records that an application has read since a run started it, noted once it is verified."""

from typing import Final

from kstreams_runbooks.act.topic_checks import certain
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.disorder import HistorySpan
from kstreams_runbooks.model.readings.hold import seconds_text
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.lag.count import count_readable
from kstreams_runbooks.steps.run.run import Run

# The note, with the name of the application.
READ_SINCE: Final = "read before it was verified"
# As long as the last records of the inputs may be read before a stop. A longer history takes longer than any grace.
_READ_S: Final = 120.0
_MOST_OFFSETS: Final = 5_000_000


def keep_read_since(run: Run, begins: dict[Place, int] | Missing) -> None:
    """Note the times of the records of its inputs from these offsets on: all that the side can have read by now.

    To be called after the reading that verifies it. What cannot be read is kept as not known: nothing depends on it but
    whether this side can take over.
    """
    try:
        spans = begins if isinstance(begins, Missing) else _times_since(run, begins)
    except RunbookError as error:
        spans = Missing(str(error))
    run.keep("note", READ_SINCE, {"application": run.record.application, "spans": encode(spans)})
    if isinstance(spans, Missing):
        run.say(f"whether records came too late after its start is not known: {spans.missing}")
        return
    oldest = [one.first_ms for one in spans if isinstance(one.first_ms, int)]
    newest = [one.newest_ms for one in spans if isinstance(one.newest_ms, int)]
    if oldest and newest:
        apart = seconds_text((max(newest) - min(oldest)) / SECOND_MS)
        run.say(f"the records that it has read since its start are at most {apart} apart")


def _times_since(run: Run, begins: dict[Place, int]) -> tuple[HistorySpan, ...] | Missing:
    """The oldest and the newest time of the records that each partition of these topics has from there on.

    Missing for a long history; Inconclusive or Unreachable if one cannot be read to its present end.
    """
    with run.reader() as reader:
        ends = certain(ends_of(reader, reader.topics({topic for topic, _ in begins})))
    ranges = {place: (begins.get(place, start), end) for place, (start, end) in ends.items()}
    if (offsets := sum(end - start for start, end in ranges.values())) > _MOST_OFFSETS:
        return Missing(f"it has read {offsets:,} offsets (limit {_MOST_OFFSETS:,}), and their times were not read")
    counted = count_readable(run.kafka, ranges, _READ_S, "read_uncommitted")
    return tuple(HistorySpan(*place, one.oldest_ms, one.newest_ms) for place, one in sorted(counted.items()))
