"""The judge: decides for each output, from the content of the topics alone, whether a record is wrong.

Pure: records in, verdicts out. `running`, `latest` and `windowed` know the right content of each output; this module
combines them and decides which outputs are in doubt. `customers-counted` is judged where it was collected.

**Lateness.** Which record of a windowed count is late depends on the order in which the records of several input
partitions met in one repartition partition, and the topics do not store that order as such. They do show:

- The running count reads the same repartition topic in the same subtopology, one output record per input record, so
  if `orders-running` is complete and right for a partition, its record order IS the interleaving, and lateness
  follows exactly from it: a record whose window end + grace <= the largest event time before it was late.
- If `orders-running` of that partition is not perfect, every merge of the input partitions that keeps each one's
  own order is possible. A record could be late if and only if some record that is not after it in its own input
  partition (any record of another input partition) has an event time >= its window end + grace.

A late record is dropped (or, if the application was restarted in between and its stream time started again, counted
and its window emitted again): both are right, so the window is left out of the figures, and the output is
inconclusive, never missing or extra.

Sources: KIP-328 (suppress emits a window once stream time reaches its end + grace); "Windowing" in the Kafka Streams
DSL developer guide (grace: a record is dropped once stream time reaches window end + grace).

**Doubt.** An input that could not be read as it is (unreadable records, records deleted by retention, ends that still
move) makes every output that derives from it inconclusive. The same in an output leaves only faults that a
longer reading could not remove: extra, duplicate and out-of-order records of outputs judged record by record.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from kstreams_runbooks.demo.judge.collected import Collected
from kstreams_runbooks.demo.judge.figures import OutputVerdict
from kstreams_runbooks.demo.judge.latest import judge_enriched, judge_per_customer
from kstreams_runbooks.demo.judge.running import judge_running
from kstreams_runbooks.demo.judge.windowed import JudgedWindow, judge_windowed
from kstreams_runbooks.demo.traffic.topics import TopicRole

SOURCES: Final[Mapping[TopicRole, tuple[TopicRole, ...]]] = {
    TopicRole.RUNNING: (TopicRole.ORDERS,),
    TopicRole.WINDOWED: (TopicRole.ORDERS,),
    TopicRole.ENRICHED: (TopicRole.ORDERS, TopicRole.CUSTOMERS),
    TopicRole.PER_CUSTOMER: (TopicRole.ORDERS,),
    TopicRole.CUSTOMERS_COUNTED: (TopicRole.CUSTOMERS,),
}
"""Which inputs an output derives from."""


def judge(
    collected: Collected, window: JudgedWindow, doubts: Mapping[TopicRole, Sequence[str]] | None = None
) -> tuple[OutputVerdict, ...]:
    """Judge every output of the application; `doubts` are the reasons, per topic, why it could not be read as it is."""
    given = doubts or {}
    of_inputs = {role: _input_doubts(collected, role, given) for role in SOURCES}
    both = {role: (*of_inputs[role], *given.get(role, ())) for role in SOURCES}
    definite = {role: not of_inputs[role] for role in SOURCES}
    running = judge_running(collected, both[TopicRole.RUNNING], definite[TopicRole.RUNNING])
    windowed = judge_windowed(
        collected, window, running.perfect, both[TopicRole.WINDOWED], definite[TopicRole.WINDOWED]
    )
    four = (
        running.verdict,
        windowed,
        judge_enriched(collected, both[TopicRole.ENRICHED]),
        judge_per_customer(collected, both[TopicRole.PER_CUSTOMER]),
    )
    if collected.counted is None:
        return four
    fifth = TopicRole.CUSTOMERS_COUNTED
    return (*four, judge_running(collected.counted, both[fifth], definite[fifth]).verdict)


def exit_code(verdicts: Sequence[OutputVerdict]) -> int:
    """Return 0 if all are ok, 1 if one is wrong, else 3: wrong beats inconclusive."""
    given = {verdict.verdict for verdict in verdicts}
    return 1 if "wrong" in given else 3 if "inconclusive" in given else 0


def _input_doubts(collected: Collected, output: TopicRole, given: Mapping[TopicRole, Sequence[str]]) -> tuple[str, ...]:
    """Collect the doubts about the inputs of one output."""
    doubts = [sentence for source in SOURCES[output] for sentence in given.get(source, ())]
    doubts += collected.unreadable(SOURCES[output])
    if output in {TopicRole.ENRICHED, TopicRole.PER_CUSTOMER, TopicRole.CUSTOMERS_COUNTED}:
        # a repartition topic corrects misplaced keys of the other outputs; a table, and a count by its key, keep them
        doubts += collected.misplaced(SOURCES[output])
    return tuple(doubts)
