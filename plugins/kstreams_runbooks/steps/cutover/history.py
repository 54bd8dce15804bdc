"""How the side that takes over came to its outputs: what was late for it since the run that started it.

A run that starts a side notes the times of the records that this side had read when it was verified: a cutover of those
since the seam, and the start of a second side of its history. If none of them can have been late, the counters of its
tasks are needed only from there on: instances that start together give tasks to each other, and counters go with them.
"""

from typing import Final

from kstreams_runbooks.act.topic_checks import certain
from kstreams_runbooks.decide.catch_up.disorder import why_late
from kstreams_runbooks.decide.change.described import side_of
from kstreams_runbooks.decide.drain.certificate import certified
from kstreams_runbooks.decide.instances.verification import change_verified
from kstreams_runbooks.decide.outputs.late_drops import closed_before, late_drops
from kstreams_runbooks.decide.plans.cutover import CUTOVER
from kstreams_runbooks.decide.plans.longest_stop import dropping_stores
from kstreams_runbooks.decide.runbooks import GREEN
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.partitions import task_counts
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.disorder import HistorySpan
from kstreams_runbooks.model.readings.drain import DrainReading
from kstreams_runbooks.model.readings.hold import seconds_text
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Start
from kstreams_runbooks.model.readings.sides import SideHistory, SideStart
from kstreams_runbooks.model.runs.ledger import Evidence
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.lag.count import count_readable
from kstreams_runbooks.steps.instances.together import FIRST_SEEN
from kstreams_runbooks.steps.plan.releases import known_of, running_or_missing
from kstreams_runbooks.steps.run.run import Run

_READ = "read before it was verified"
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
    run.keep("note", _READ, {"application": run.record.application, "spans": encode(spans)})
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


def inputs_at_seam(run: Run) -> dict[Place, int] | Missing:
    """The ends of the inputs at the seam, up to which the old side had read everything."""
    for kept in reversed(run.verdicts(certified.__name__)):
        if kept.payload["result"]["outcome"] != Outcome.PROCEED:
            continue
        drain: DrainReading = decode(DrainReading, kept.payload["inputs"]["now"])
        rows = [one for one in drain.partitions if one.role == "source"]
        ends = {(one.topic, one.partition): one.last_stable_offset for one in rows}
        known = {place: end for place, end in ends.items() if end is not None}
        if known and len(known) == len(rows):
            return known
    return Missing("the ends of its inputs at the seam are not kept")


def side_history(run: Run, name: str) -> SideHistory:
    """How this application, which takes over, came to its outputs."""
    dropped = _dropped(run, name)
    if isinstance(dropped, Missing):
        return SideHistory(is_paced=False, unknown=dropped.missing)
    return SideHistory(is_paced=False, dropped=dropped)


def way_back_text(run: Run) -> str:
    """What a way back would know about late records of the old side, which this run has started and verified."""
    old = run.first
    try:
        dropped = _of_proof(run, old, old.verdicts(change_verified.__name__)[-1])
    except RunbookError as error:
        dropped = Missing(str(error))
    if isinstance(dropped, Missing):
        return f"a way back of late-sensitive outputs would be inconclusive: {dropped.missing}"
    return f"{old.record.application} has dropped {dropped:,} late records since its start (a way back: limit 0)"


def _dropped(run: Run, name: str) -> int | Missing:
    """The late records that its tasks have dropped since it began; Missing if that is not known."""
    if (proof := proof_of_start(run, name)) is None:
        return Missing(f"no completed run of {GREEN} or {CUTOVER} has started {name} and verified it")
    return _of_proof(run, run.on(name), proof)


def _of_proof(run: Run, side: Run, proof: Evidence) -> int | Missing:
    """The same of a side that the run of this proof has started."""
    now = side.read(describes=False)
    versions = list[Described]()
    for version in running_or_missing(side, now):
        if isinstance(version, Missing):
            return version
        versions.append(version)
    known, tasks = known_of(side, now), dict[str, int]()
    compared = [side_of(parsed(one), known) for one in versions]
    for one in compared:
        for subtopology, count in task_counts(one.topology, one.counts).items():
            tasks[subtopology] = max(count, tasks.get(subtopology, 0))
    late = dropping_stores(versions, known)
    began = start_of(run, proof, why_late(compared, late, read_by(run, proof)))
    dropped = late_drops(began, now, {one.subtopology for one in late}, tasks)
    if not isinstance(dropped, Missing) and (moved := closed_before(began)):
        side.say(f"its threads closed {moved} tasks as it started: nothing that it had read by then can have been late")
    return dropped


def proof_of_start(run: Run, name: str) -> Evidence | None:
    """The last proof of this application in the newest completed run that has started it.

    That is its start as a second side, or a cutover from it, which starts it again. A cutover to it, or one that it is
    a neighbour of, has found its processes: they may have been restarted before.
    """
    for record in reversed(run.ledger.runs()):
        if record.dag_id not in {GREEN, CUTOVER} or record.outcome != RunOutcome.COMPLETED.value:
            continue
        if (record.cluster, record.application) != (run.record.cluster, name):
            continue
        proofs = run.ledger.evidence(record.run_key, kind="verdict", name=change_verified.__name__)
        if own := [proof for proof in proofs if proof.payload["application"] == name]:
            return own[-1]
    return None


def start_of(run: Run, proof: Evidence, early: str) -> SideStart:
    """How the run of this proof found what it had started."""
    first: dict[str, Start] = {}
    for note in run.ledger.evidence(proof.run_key, kind="note", name=FIRST_SEEN):
        if note.payload["application"] == proof.payload["application"]:
            # Of several starts of an instance the first one counts: a later process has counters of its own.
            first = decode(dict[str, Start], note.payload["starts"]) | first
    return SideStart(decode(ApplicationReading, proof.payload["inputs"]["after"]), first, early)


def read_by(run: Run, proof: Evidence) -> tuple[HistorySpan, ...] | Missing:
    """The times of what the application had read by this proof; Missing if the run has not noted them after it."""
    notes = run.ledger.evidence(proof.run_key, kind="note", name=_READ)
    of = proof.payload["application"]
    own = [note for note in notes if note.payload["application"] == of and note.id > proof.id]
    if not own:
        return Missing("the times of what it had read by then are not kept")
    spans: tuple[HistorySpan, ...] | Missing = decode(tuple[HistorySpan, ...] | Missing, own[-1].payload["spans"])
    return spans
