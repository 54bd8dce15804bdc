"""Stages that change committed offsets: saved in the ledger and as a plain file before the first write."""

from kstreams_runbooks.act.offsets import OffsetWriter
from kstreams_runbooks.act.saved_offsets import save_offsets
from kstreams_runbooks.act.topic_checks import certain
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.runs.cards import GroupDeleted, OffsetFacts, OffsetsDeleted, OffsetsSet
from kstreams_runbooks.model.runs.object_stages import DeleteGroups, DeleteOffsets, OffsetStage, SetOffsets
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import read_ends
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.announce import Announced
from kstreams_runbooks.steps.stages.written import rehearsed, written


def set_offsets(run: Run, stage: SetOffsets, card: OffsetFacts | None) -> None:
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
    checked = _checking(run, stage)
    checked.set(stage.group, after, ids=ids, before=before)
    if empty:
        checked.delete(stage.group, empty, before=before)
    if run.dry_run:
        rehearsed(run, checked)
        return
    facts = kept or OffsetsSet(before, after, _file(run, before))
    announced.write(stage.group, facts, f"offsets of group {stage.group} on {', '.join(stage.topics)}: set")
    writer = OffsetWriter(run.kafka, dry_run=False)
    if after:
        written(run, stage.kind, lambda: writer.set(stage.group, after, ids=ids, before=before))
    if empty:
        written(run, stage.kind, lambda: writer.delete(stage.group, empty, before=before))


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
    checked = _checking(run, stage)
    checked.delete(stage.group, stage.topics, before=before)
    if run.dry_run:
        rehearsed(run, checked)
        return
    facts = kept or OffsetsDeleted(before, stage.topics, _file(run, before))
    announced.write(stage.group, facts, f"offsets of group {stage.group} on {', '.join(stage.topics)}: deleted")
    writer = OffsetWriter(run.kafka, dry_run=False)
    written(run, stage.kind, lambda: writer.delete(stage.group, stage.topics, before=before))


def delete_groups(run: Run, stage: DeleteGroups) -> None:
    """Delete groups with all that they have committed."""
    announced = Announced(run, stage)
    kept = announced.facts(GroupDeleted)
    with ClusterReader(run.kafka) as reader:
        before = [kept[name].before if name in kept else read_saved(reader, name) for name in stage.groups]
    checked = _checking(run, stage)
    checked.delete_groups(before)
    if run.dry_run:
        rehearsed(run, checked)
        return
    for saved in before:
        facts = kept.get(saved.group_id) or GroupDeleted(saved, _file(run, saved))
        announced.write(saved.group_id, facts, f"group {saved.group_id}: deleted")
    written(run, stage.kind, lambda: OffsetWriter(run.kafka, dry_run=False).delete_groups(before))


def _checking(run: Run, stage: OffsetStage) -> OffsetWriter:
    """A writer that only checks; a dry run has not made the stops after which groups of the plan have no member."""
    stops = run.whole_plan().stopped_before(stage) if run.dry_run else ()
    emptied = {run.side(one.side).application.application_id: f"stage {one.number}" for one in stops}
    return OffsetWriter(run.kafka, emptied=emptied)


def _file(run: Run, before: SavedOffsets) -> str:
    """The plain file with all offsets from before, usable without ledger and Airflow."""
    saved = save_offsets(before, run_key=run.key, cluster=run.about[0], config=run.kafka)
    restore = f"; to restore them: {saved.command}" if saved.command else ""
    run.say(f"offsets of group {before.group_id} are saved in {saved.path}{restore}")
    return saved.path
