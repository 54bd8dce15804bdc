"""The ends that a run has noted at its seam, kept once: the places at which downstream groups go on."""

from typing import Final

from kstreams_runbooks.decide.drain.certificate import certified
from kstreams_runbooks.decide.drain.seam import seeds
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.drain import DrainReading
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.sides import NotedEnds
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.steps.run.run import Run

_SEAM: Final = "ends at the seam"


def keep_seam(run: Run, ends: NotedEnds) -> NotedEnds:
    """Keep the ends once: a rerun gets those of the first time."""
    kept = run.ledger.remember(run.key, _SEAM, encode(ends))
    noted: NotedEnds = decode(NotedEnds, kept)
    return noted


def seam_of(run: Run) -> NotedEnds | None:
    """The ends that this run has noted; None before that."""
    return seam_of_run(run, run.key)


def seam_of_run(run: Run, run_key: str) -> NotedEnds | None:
    """The same of the run with this key, which an undo takes back."""
    kept = run.ledger.recall(run_key, _SEAM)
    if kept is None:
        return None
    noted: NotedEnds = decode(NotedEnds, kept)
    return noted


def seam_offsets(run: Run, reader: ClusterReader, stage: SetOffsets) -> tuple[CommittedOffset, ...]:
    """The noted end of every partition of these topics; none in a dry run, which has no seam.

    Refused before the run has noted one, Inconclusive if an end of it is not known.
    """
    noted = seam_of(run)
    if noted is None:
        if run.dry_run:
            return ()
        raise Refused(f"group {stage.group}: this run has not noted a seam; clear certify and what follows it")
    counts = {one.name: one.partitions for one in reader.topics(stage.topics)}
    wanted = seeds(noted, stage.topics, counts)
    if isinstance(wanted, Missing):
        raise Inconclusive(f"group {stage.group}: where it goes on is not known: {wanted.missing}; undo this run")
    return wanted


def inputs_at_seam(run: Run, run_key: str) -> dict[Place, int] | Missing:
    """The ends of the inputs at the seam of the run with this key, up to which the old side had read everything."""
    for kept in reversed(run.ledger.evidence(run_key, kind="verdict", name=certified.__name__)):
        about, outcome = kept.payload["application"], kept.payload["result"]["outcome"]
        if about != run.record.application or outcome != Outcome.PROCEED:
            continue
        drain: DrainReading = decode(DrainReading, kept.payload["inputs"]["now"])
        rows = [one for one in drain.partitions if one.role == "source"]
        ends = {(one.topic, one.partition): one.last_stable_offset for one in rows}
        known = {place: end for place, end in ends.items() if end is not None}
        if known and len(known) == len(rows):
            return known
    return Missing("the ends of its inputs at the seam are not kept")
