"""Stages that change committed offsets: saved in the ledger and as a plain file before the first write."""

from collections.abc import Iterable

from kstreams_runbooks.act.offsets import OffsetWriter
from kstreams_runbooks.act.saved_offsets import save_offsets
from kstreams_runbooks.act.topic_checks import certain
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.cards import OffsetsDeleted, OffsetsSet
from kstreams_runbooks.model.runs.stages import DeleteOffsets, SetOffsets, StopAll
from kstreams_runbooks.model.writes import CommittedOffset, ObjectWritten, SavedOffsets
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import read_ends
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.announce import Announced


def set_offsets(run: Run, stage: SetOffsets, card: OffsetsSet | OffsetsDeleted | None) -> None:
    """Set the offsets of a group; `card` is the one that the stage takes back, if it does.

    A topic on which the group had committed nothing loses its offsets again.
    """
    announced = Announced(run, stage)
    kept = announced.facts(OffsetsSet).get(stage.group)
    with ClusterReader(run.kafka) as reader:
        before = kept.before if kept else read_saved(reader, stage.group)
        ids = {one.name: one.topic_id for one in reader.topics(stage.topics)}
        after = kept.after if kept else _wanted(reader, stage, card.before if card else None)
    empty = sorted(set(stage.topics) - {one.topic for one in after})
    checked = OffsetWriter(run.kafka, emptied=_is_emptied(run, stage))
    checked.set(stage.group, after, ids=ids, before=before)
    if empty:
        checked.delete(stage.group, empty, before=before)
    if run.dry_run:
        for line in checked.would_write:
            run.say(f"would {line}")
        return
    facts = kept or OffsetsSet(before, after, _file(run, before))
    announced.write(stage.group, facts, f"offsets of group {stage.group} on {', '.join(stage.topics)}: set")
    writer = OffsetWriter(run.kafka, dry_run=False)
    written = [*writer.set(stage.group, after, ids=ids, before=before)] if after else []
    written += writer.delete(stage.group, empty, before=before) if empty else ()
    _keep(run, stage.kind, written)


def _wanted(reader: ClusterReader, stage: SetOffsets, saved: SavedOffsets | None) -> tuple[CommittedOffset, ...]:
    """The offsets to set, by what the stage goes to."""
    if stage.to == "card":
        if saved is None:
            raise Refused(f"offsets of group {stage.group}: no undo card has those to go back to; set them manually")
        return tuple(one for one in saved.offsets if one.topic in stage.topics)
    topics = reader.topics(stage.topics)
    ends = read_ends(reader.librdkafka, [(one.name, part) for one in topics for part in range(one.partitions)])
    at = 0 if stage.to == "start" else 1
    return tuple(CommittedOffset(*place, offsets[at]) for place, offsets in sorted(certain(ends).items()))


def delete_offsets(run: Run, stage: DeleteOffsets) -> None:
    """Delete what a group has committed on these topics."""
    announced = Announced(run, stage)
    kept = announced.facts(OffsetsDeleted).get(stage.group)
    with ClusterReader(run.kafka) as reader:
        before = kept.before if kept else read_saved(reader, stage.group)
    checked = OffsetWriter(run.kafka, emptied=_is_emptied(run, stage))
    checked.delete(stage.group, stage.topics, before=before)
    if run.dry_run:
        for line in checked.would_write:
            run.say(f"would {line}")
        return
    facts = kept or OffsetsDeleted(before, stage.topics, _file(run, before))
    announced.write(stage.group, facts, f"offsets of group {stage.group} on {', '.join(stage.topics)}: deleted")
    _keep(run, stage.kind, OffsetWriter(run.kafka, dry_run=False).delete(stage.group, stage.topics, before=before))


def _is_emptied(run: Run, stage: SetOffsets | DeleteOffsets) -> bool:
    """Whether this is a dry run of a plan that stops every member of the group before the stage."""
    if not run.dry_run:
        return False
    stopped = {one.side for one in run.whole_plan().stages if isinstance(one, StopAll) and one.number < stage.number}
    return stage.group in {run.side(role).application.application_id for role in stopped}


def _file(run: Run, before: SavedOffsets) -> str:
    """The plain file with all offsets from before, usable without ledger and Airflow."""
    saved = save_offsets(before, run_key=run.key, cluster=run.about[0], config=run.kafka)
    restore = f"; to restore them: {saved.command}" if saved.command else ""
    run.say(f"offsets of group {before.group_id} are saved in {saved.path}{restore}")
    return saved.path


def _keep(run: Run, kind: str, written: Iterable[ObjectWritten]) -> None:
    results = tuple(written)
    run.keep("write", kind, {"written": encode(results)})
    run.say(f"{kind.replace('_', ' ')}: {len(results)} objects as wanted")
