"""How the side that takes over came to its outputs: what was late for it since the run that started it.

A run that starts a side notes the times of the records that this side had read when it was verified: a cutover of those
since the seam, and the start of a second side of its history. If none of them can have been late, the counters of its
tasks are needed only from there on: instances that start together give tasks to each other, and counters go with them.
"""

from kstreams_runbooks.decide.catch_up.disorder import why_late
from kstreams_runbooks.decide.change.described import side_of
from kstreams_runbooks.decide.instances.verification import change_verified, undo_verified
from kstreams_runbooks.decide.outputs.late_drops import closed_before, late_drops
from kstreams_runbooks.decide.plans.cutover import CUTOVER
from kstreams_runbooks.decide.plans.longest_stop import dropping_stores
from kstreams_runbooks.decide.runbooks import GREEN
from kstreams_runbooks.decide.runs.commands import UNDO
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.partitions import task_counts
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.disorder import HistorySpan
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing, Start
from kstreams_runbooks.model.readings.sides import SideHistory, SideStart
from kstreams_runbooks.model.runs.ledger import Evidence, RunRecord
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.steps.instances.together import FIRST_SEEN
from kstreams_runbooks.steps.plan.releases import known_of, running_or_missing
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.read_since import READ_SINCE

# By the runbook that has started a side: the decision about what runs then.
_PROOFS = {GREEN: change_verified.__name__, CUTOVER: change_verified.__name__, UNDO: undo_verified.__name__}


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
        return Missing(
            f"no completed run of {GREEN} or {CUTOVER}, and no undo of one after its seam, has started {name} and "
            "verified it"
        )
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

    That is its start as a second side, a cutover from it, which starts it again, or the undo of one after the seam. A
    cutover to it, or one that it is a neighbour of, has found its processes: they may have been restarted before.
    """
    for record in reversed(run.ledger.runs()):
        if record.outcome != RunOutcome.COMPLETED.value:
            continue
        if (record.cluster, record.application) != (run.record.cluster, name):
            continue
        proof = _PROOFS.get(record.dag_id, "")
        proofs = run.ledger.evidence(record.run_key, kind="verdict", name=proof) if proof else []
        own = [one for one in proofs if one.payload["application"] == name]
        if own and (record.dag_id != UNDO or _notes(run, record, name)):
            return own[-1]
    return None


def _notes(run: Run, record: RunRecord, name: str) -> bool:
    """Whether an undo has noted what was read: it has started a side that was at the seam of a cutover."""
    notes = run.ledger.evidence(record.run_key, kind="note", name=READ_SINCE)
    return any(note.payload["application"] == name for note in notes)


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
    notes = run.ledger.evidence(proof.run_key, kind="note", name=READ_SINCE)
    of = proof.payload["application"]
    own = [note for note in notes if note.payload["application"] == of and note.id > proof.id]
    if not own:
        return Missing("the times of what it had read by then are not kept")
    spans: tuple[HistorySpan, ...] | Missing = decode(tuple[HistorySpan, ...] | Missing, own[-1].payload["spans"])
    return spans
