"""Stages that change committed offsets: saved in the ledger and as a plain file before the first write."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kstreams_runbooks.act.offsets import OffsetWriter
from kstreams_runbooks.act.saved_offsets import save_offsets
from kstreams_runbooks.act.topic_checks import certain, place_text
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.fleet.copier import TopicCopier
from kstreams_runbooks.model.readings.copied_into import CopiedInto
from kstreams_runbooks.model.runs.cards import GroupDeleted, OffsetFacts, OffsetsDeleted, OffsetsSet
from kstreams_runbooks.model.runs.object_stages import DeleteGroups, DeleteOffsets, OffsetStage, SetOffsets
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.announce import Announced
from kstreams_runbooks.steps.stages.seam import seam_offsets
from kstreams_runbooks.steps.stages.targets import still_in_the_log, target_offsets
from kstreams_runbooks.steps.stages.written import not_created_yet, rehearsed, written
from kstreams_runbooks.watch.topic_ends import known_ends


def set_offsets(run: Run, stage: SetOffsets, card: OffsetFacts | None) -> None:
    """Set the offsets of a group; `card` is the one that the stage takes back, if it does.

    A topic on which the group had committed nothing loses its offsets again.
    """
    if not_created_yet(run, stage):
        return
    announced = Announced(run, stage)
    kept = announced.facts(OffsetsSet).get(stage.group)
    with run.reader() as reader:
        before = kept.before if kept else read_saved(reader, stage.group, stable=not run.dry_run, say=run.say)
        ids = {one.name: one.topic_id for one in reader.topics(stage.topics)}
        if gone := sorted(set(stage.topics) - ids.keys()):
            raise Refused(f"topic {gone[0]} does not exist (expected: as in the plan); look at who deleted it")
        if kept is None and stage.to == "card" and isinstance(card, OffsetsSet):
            # Never onto a topic that was created again.
            ids |= {name: topic_id for name, topic_id in card.ids if name in ids}
        wanted = () if kept else _wanted(run, reader, stage, before, card)
        after = kept.after if kept else _with_target(run, reader, stage, _with_time(stage, before, wanted))
        if kept and stage.to == "target":
            starts = {place: start for place, (start, _) in _ends(reader, stage.topics).items()}
            after = still_in_the_log(run, stage, kept.after, starts)
            # What the first try has set is its own, and not another client's.
            before = _with_own(before, kept.after, read_saved(reader, stage.group, say=run.say))
    holds = stage.to == "kept" or (isinstance(card, OffsetsSet) and card.holds)
    if kept is None and holds:
        after = _where_held(run, stage, before, after)
    goes_back = stage.to == "card" and not holds
    empty = sorted(set(stage.topics) - {one.topic for one in after}) if goes_back else []
    checked = _checking(run, stage)
    checked.set(stage.group, after, ids=ids, before=before)
    if empty:
        checked.delete(stage.group, empty, before=before)
    if run.dry_run:
        rehearsed(run, checked)
        return
    facts = kept or OffsetsSet(
        before, after, _file(run, before), holds=stage.to in {"same", "kept"}, ids=tuple(sorted(ids.items()))
    )
    announced.write(stage.group, facts, f"offsets of group {stage.group} on {', '.join(stage.topics)}: set")
    writer = OffsetWriter(run.kafka, dry_run=False, say=run.say)
    if after:
        written(run, stage.kind, lambda: writer.set(stage.group, after, ids=ids, before=before))
    if empty:
        written(run, stage.kind, lambda: writer.delete(stage.group, empty, before=before))


def _with_time(
    stage: SetOffsets, before: SavedOffsets, wanted: tuple[CommittedOffset, ...]
) -> tuple[CommittedOffset, ...]:
    """The offsets with the metadata that the group has committed on the topic with which each is paired."""
    pairs, own = dict(stage.pairs), before.by_place()
    times = {
        (topic, part): own[pairs[topic], part]
        for topic, part in (one.place for one in wanted)
        if topic in pairs and (pairs[topic], part) in own
    }
    return tuple(replace(one, metadata=times[one.place].metadata) if one.place in times else one for one in wanted)


def _with_target(
    run: Run, reader: ClusterReader, stage: SetOffsets, wanted: tuple[CommittedOffset, ...]
) -> tuple[CommittedOffset, ...]:
    """The offsets at which the shipped copier begins, each with the target of its route: it refuses others."""
    if not isinstance(run.application, TopicCopier) or stage.to in {"card", "same", "kept"}:
        return wanted
    routes = dict(run.application.route_pairs)
    targets = {one.name: one for one in reader.topics([routes[topic] for topic in stage.topics])}
    sources = {one.name: one.topic_id for one in reader.topics(stage.topics)}
    gone = sorted({routes[topic] for topic in stage.topics} - targets.keys())
    if gone and run.dry_run:
        # An earlier stage creates it.
        return wanted
    if gone:
        raise Refused(f"topic {gone[0]} does not exist (expected: as in the plan); look at who deleted it")
    into = {
        topic: CopiedInto(
            sources[topic], targets[target].topic_id, tuple(end.end for end in known_ends(reader, targets[target]))
        )
        for topic, target in routes.items()
        if target in targets
    }
    return tuple(replace(one, metadata=into[one.topic].at(one.offset)) for one in wanted)


def _with_own(before: SavedOffsets, own: tuple[CommittedOffset, ...], now: SavedOffsets) -> SavedOffsets:
    """The saved offsets with those that this run has set in their place, as far as they are committed now."""
    there = now.by_place()
    done = {one.place: there[one.place] for one in own if there.get(one.place) == one}
    return replace(before, offsets=tuple(one for _, one in sorted({**before.by_place(), **done}.items())))


def _wanted(
    run: Run, reader: ClusterReader, stage: SetOffsets, before: SavedOffsets, card: OffsetFacts | None
) -> tuple[CommittedOffset, ...]:
    """The offsets to set, by what the stage goes to."""
    if stage.to == "card":
        if card is None:
            raise Refused(f"offsets of group {stage.group}: no undo card has those to go back to; set them manually")
        back = card.back if isinstance(card, OffsetsSet) else card.before.offsets
        return tuple(one for one in back if one.topic in stage.topics)
    if stage.to == "kept":
        return held_offsets(run, stage.group)
    if stage.to == "target":
        return target_offsets(run, stage)
    if stage.to == "seam":
        return seam_offsets(run, reader, stage)
    ends = _ends(reader, stage.topics)
    if stage.to == "group":
        return _as_committed(run, reader, stage, ends)
    if stage.to == "same":
        own = {place: one for place, one in before.by_place().items() if place in ends}
        begin = {place: CommittedOffset(*place, _begin(run, stage, place, ends[place])) for place in ends.keys() - own}
        return tuple(one for _, one in sorted({**own, **begin}.items()))
    if stage.to == "unset":
        committed = before.by_place().keys()
        return tuple(CommittedOffset(*place, ends[place][0]) for place in sorted(ends.keys() - committed))
    if run.plan().input_holds:
        _require_empty(run, ends)
    at = 0 if stage.to == "start" else 1
    return tuple(CommittedOffset(*place, offsets[at]) for place, offsets in sorted(ends.items()))


def _as_committed(
    run: Run, reader: ClusterReader, stage: SetOffsets, ends: Mapping[Place, tuple[int, int]]
) -> tuple[CommittedOffset, ...]:
    """The offsets of another group; Refused for a partition with records that it has not committed.

    With `reset` that group has read none of its records: whether it begins in front of them or behind them, all of them
    are there for this group.
    """
    like = read_saved(reader, stage.like, stable=not run.dry_run, say=run.say).by_place()
    at = {place: like[place].offset if place in like else start for place, (start, _) in ends.items()}
    lacking = [place for place in sorted(ends.keys() - like.keys()) if ends[place][0] != ends[place][1]]
    if lacking and not stage.reset:
        raise Refused(
            f"{place_text(lacking[0])}: group {stage.like} has committed no offset ({len(lacking)} such partitions, "
            f"limit 0), so where group {stage.group} goes on is not known; start {stage.like} until it has, then clear "
            f"{run.task_id}"
        )
    return tuple(CommittedOffset(*place, at[place]) for place in sorted(ends))


def _where_held(
    run: Run, stage: SetOffsets, before: SavedOffsets, held: tuple[CommittedOffset, ...]
) -> tuple[CommittedOffset, ...]:
    """Of held offsets those that are still to be committed.

    A place that is committed further on was read meanwhile: setting it back would process its records twice. The first
    records of another may have been deleted meanwhile. The run that holds them refuses both; an undo leaves the first
    as it is, and goes on at the start of the log on the second.
    """
    now = before.by_place()
    read = [one for one in held if one.place in now and now[one.place].offset != one.offset]
    for one in read:
        moved = f"{place_text(one.place)} of group {stage.group}: {now[one.place].offset:,} is committed, held at"
        if stage.to == "kept":
            raise Refused(
                f"{moved} {one.offset:,} (expected the same): an instance has read it meanwhile; undo this run, which "
                "leaves it as it is"
            )
        run.say(f"{moved} {one.offset:,}: an instance has read it meanwhile; left as it is")
    left = [one for one in held if one not in read]
    with run.reader() as reader:
        starts = {place: start for place, (start, _) in _ends(reader, stage.topics).items()}
    for one in left:
        if one.offset < starts.get(one.place, 0):
            lost = (
                f"{place_text(one.place)}: offsets {one.offset:,} to {starts[one.place] - 1:,} were deleted while the "
                "input was held, and their records are lost"
            )
            if stage.to == "kept":
                raise Refused(f"{lost} (expected none); undo this run, which goes on at the start of the log")
            run.say(f"{lost}; the group goes on at the start of the log")
    return tuple(replace(one, offset=max(one.offset, starts.get(one.place, 0))) for one in left)


def held_offsets(run: Run, group: str) -> tuple[CommittedOffset, ...]:
    """The offsets that this run committed again to hold the inputs; Refused if it did not.

    In a dry run none are held.
    """
    stage = next((one for one in run.plan().stages if isinstance(one, SetOffsets) and one.to == "same"), None)
    kept = None if stage is None else Announced(run, stage).facts(OffsetsSet).get(group)
    if kept is None and not run.dry_run:
        raise Refused(f"offsets of group {group}: this run has not committed them again; clear pause_inputs")
    return () if kept is None else kept.after


def require_empty(run: Run, topics: Sequence[str]) -> None:
    """Refused if a topic that is read in place of an input has a record; one that does not exist yet has none."""
    with run.reader() as reader:
        ends = _ends(reader, topics)
    _require_empty(run, ends)


def _require_empty(run: Run, ends: Mapping[Place, tuple[int, int]]) -> None:
    """Refused if a topic that is read in place of an input has a record."""
    then = "undo this run" if run.record.wrote_at_ms else "trigger a new run"
    for place, (start, end) in sorted(ends.items()):
        if start != end:
            raise Refused(
                f"{place_text(place)}: {end - start:,} offsets in the log of an empty topic (expected 0): the "
                f"application would process its records; find their producer, then {then}"
            )


def note_ends(run: Run, stage: SetOffsets) -> None:
    """Keep the ends of an input's partitions while the group still reads them: there `latest` begins.

    These are the last stable offsets: behind them a transaction may be open, whose records the group has not read.
    """
    if stage.reset == "latest":
        with run.reader() as reader:
            noted = [
                [topic.name, number, known.stable]
                for topic in sorted(reader.topics(stage.topics), key=lambda topic: topic.name)
                for number, known in enumerate(known_ends(reader, topic))
            ]
        run.ledger.remember(run.key, _noted(stage), noted)


def _begin(run: Run, stage: SetOffsets, place: Place, ends: tuple[int, int]) -> int:
    """The place at which the group begins a partition that it has not committed; Inconclusive if it is not known."""
    start, end = ends
    if start == end or stage.reset == "earliest":
        return start
    if stage.reset == "latest" and run.dry_run:
        return end
    noted = {(topic, part): offset for topic, part, offset in run.ledger.recall(run.key, _noted(stage)) or ()}
    if stage.reset == "latest" and place in noted:
        return int(noted[place])
    raise Inconclusive(
        f"{place_text(place)}: group {stage.group} has no committed offset, and where it begins is not known; declare "
        "auto.offset.reset of the release, then trigger a new run"
    )


def _noted(stage: SetOffsets) -> str:
    return f"ends before stage {stage.number}"


def _ends(reader: ClusterReader, topics: Sequence[str]) -> dict[Place, tuple[int, int]]:
    """Start and end of each partition."""
    return certain(ends_of(reader, reader.topics(topics)))


def delete_offsets(run: Run, stage: DeleteOffsets) -> None:
    """Delete what a group has committed on these topics."""
    if not_created_yet(run, stage):
        return
    announced = Announced(run, stage)
    kept = announced.facts(OffsetsDeleted).get(stage.group)
    with run.reader() as reader:
        stable = not (run.dry_run or stage.running)
        before = kept.before if kept else read_saved(reader, stage.group, stable=stable, say=run.say)
    checked = _checking(run, stage)
    checked.delete(stage.group, stage.topics, before=before, running=stage.running)
    if run.dry_run:
        rehearsed(run, checked)
        return
    facts = kept or OffsetsDeleted(before, stage.topics, _file(run, before))
    announced.write(stage.group, facts, f"offsets of group {stage.group} on {', '.join(stage.topics)}: deleted")
    writer = OffsetWriter(run.kafka, dry_run=False, say=run.say)
    written(run, stage.kind, lambda: writer.delete(stage.group, stage.topics, before=before, running=stage.running))


def delete_groups(run: Run, stage: DeleteGroups) -> None:
    """Delete groups with all that they have committed."""
    announced = Announced(run, stage)
    kept = announced.facts(GroupDeleted)
    with run.reader() as reader:
        before = [
            kept[name].before if name in kept else read_saved(reader, name, stable=not run.dry_run, say=run.say)
            for name in stage.groups
        ]
    checked = _checking(run, stage)
    checked.delete_groups(before)
    if run.dry_run:
        rehearsed(run, checked)
        return
    for saved in before:
        facts = kept.get(saved.group_id) or GroupDeleted(saved, _file(run, saved))
        announced.write(saved.group_id, facts, f"group {saved.group_id}: deleted")
    written(run, stage.kind, lambda: OffsetWriter(run.kafka, dry_run=False, say=run.say).delete_groups(before))


def _checking(run: Run, stage: OffsetStage) -> OffsetWriter:
    """A writer that only checks; a dry run has not made the stops after which groups of the plan have no member."""
    stops = run.whole_plan().stopped_before(stage) if run.dry_run else ()
    emptied = {run.side(one.side).application.application_id: f"stage {one.number}" for one in stops}
    return OffsetWriter(run.kafka, emptied=emptied, say=run.say)


def _file(run: Run, before: SavedOffsets) -> str:
    """The plain file with all offsets from before, usable without ledger and Airflow."""
    saved = save_offsets(before, run_key=run.key, cluster=run.about[0], config=run.kafka)
    restore = f"; to restore them: {saved.command}" if saved.command else ""
    run.say(f"offsets of group {before.group_id} are saved in {saved.path}{restore}")
    return saved.path
