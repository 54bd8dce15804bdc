"""Stages that change topics: everything is checked, then announced by undo cards, then written; a rerun goes on."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from kstreams_runbooks.act.kafka_writer import PartlyWritten
from kstreams_runbooks.act.topic_checks import certain, known
from kstreams_runbooks.act.topics import TopicWriter
from kstreams_runbooks.decide.drain.emptying import may_be_emptied
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.readings.emptying import CertifiedTopics
from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.model.readings.touched import TopicState
from kstreams_runbooks.model.runs.cards import RecordsDeleted, TopicCreated, TopicDeleted, TopicGrown
from kstreams_runbooks.model.runs.object_stages import CreateTopics, DeleteRecords, DeleteTopics, GrowTopics
from kstreams_runbooks.model.writes import Growth, ObjectWritten, TopicShape
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_at
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.kafka.touched import read_topic_states
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.announce import Announced
from kstreams_runbooks.steps.stages.certified import certified_reading
from kstreams_runbooks.steps.stages.rest import require_at_rest, require_down, require_gone, wait_until_gone
from kstreams_runbooks.steps.stages.targets import require_targets
from kstreams_runbooks.steps.stages.written import not_created_yet, rehearsed, written
from kstreams_runbooks.watch.emptying import read_emptying

# Settings of one topic that another one does not get: its replicas are others.
_THROTTLED = frozenset({"leader.replication.throttled.replicas", "follower.replication.throttled.replicas"})


def shaped_like(
    reader: ClusterReader,
    pairs: Iterable[tuple[str, str]],
    states: Mapping[str, TopicState],
    *,
    without: Collection[str] = (),
    also: tuple[tuple[str, str], ...] = (),
) -> tuple[TopicShape, ...]:
    """For each pair of a topic and a new name: its partitions, its replicas, and its own settings.

    Settings in `without` are left out, and `also` come on top; the brokers' defaults are the same for both.
    Inconclusive if settings are hidden from this login.
    """
    pairs = tuple(pairs)
    configs = {one.name: one.configs for one in reader.topics({of for of, _ in pairs}, configs=True)}
    left_out = _THROTTLED.union(without)
    return tuple(
        TopicShape(
            name,
            states[of].partitions,
            states[of].replication,
            tuple(sorted((*((key, value) for key, value in configs[of] if key not in left_out), *also))),
        )
        for of, name in pairs
    )


def create_topics(run: Run, stage: CreateTopics) -> None:
    """Create the topics; the cards learn their ids from the broker."""
    announced = Announced(run, stage)
    kept = announced.facts(TopicCreated)
    made = {name: facts.topic_id for name, facts in kept.items() if facts.topic_id}
    if run.dry_run:
        _rehearse_creation(run, stage)
        return
    if not kept:
        require_gone(run, stage)
    begun = kept.keys() - made.keys()
    TopicWriter(run.kafka).create(stage.topics, made=made, begun=begun)
    for topic in stage.topics:
        announced.write(topic.name, TopicCreated(topic), f"topic {topic.name}: created")
    unknown = [topic for topic in stage.topics if topic.name not in made]

    def create() -> tuple[ObjectWritten, ...]:
        writer = TopicWriter(run.kafka, dry_run=False)
        try:
            results = writer.create(stage.topics, made=made, begun=[topic.name for topic in unknown])
        except PartlyWritten as error:
            _learn(announced, unknown, error.written)
            raise
        _learn(announced, unknown, results)
        return results

    written(run, stage.kind, create)


def _rehearse_creation(run: Run, stage: CreateTopics) -> None:
    """Show the topics; those that the plan deletes before are still there, so nothing can be checked about them."""
    going = run.whole_plan().deleted_before(stage)
    for topic in stage.topics:
        if topic.name in going:
            run.say(f"would create topic {topic.name} with {topic.partitions} partitions, once it is deleted")
    if absent := [topic for topic in stage.topics if topic.name not in going]:
        checked = TopicWriter(run.kafka)
        checked.create(absent)
        rehearsed(run, checked)


def _learn(announced: Announced, topics: Iterable[TopicShape], results: Iterable[ObjectWritten]) -> None:
    ids = {one.object: one.topic_id for one in results if one.result != "failed" and one.topic_id}
    for topic in topics:
        if topic_id := ids.get(f"topic {topic.name}"):
            announced.learn(topic.name, TopicCreated(topic, topic_id))


def grow_topics(run: Run, stage: GrowTopics) -> None:
    """Add partitions; the number before the first try is on the cards. After a stop only while it holds."""
    if not run.dry_run and any(one.side == stage.side for one in run.whole_plan().stopped_before(stage)):
        require_down(run)
    announced = Announced(run, stage, no_way_back=True)
    kept = announced.facts(TopicGrown)
    now = _topics(run, [name for name, _ in stage.topics])
    grown = [
        kept.get(name) or TopicGrown(name, now[name].topic_id, now[name].partitions, to) for name, to in stage.topics
    ]
    growths = [Growth(one.name, one.topic_id, one.before, one.after) for one in grown]
    checked = TopicWriter(run.kafka)
    checked.grow(growths)
    if run.dry_run:
        rehearsed(run, checked)
        return
    for one in grown:
        announced.write(one.name, one, f"topic {one.name}: {one.before} to {one.after} partitions")
    written(run, stage.kind, lambda: TopicWriter(run.kafka, dry_run=False).grow(growths))


def delete_topics(run: Run, stage: DeleteTopics, ids: Mapping[str, str]) -> None:
    """Delete the topics with these ids; what they were is on the cards.

    Of a stage `at_rest` those that are still there are looked at first, and all of them have to be gone in the end.
    """
    if not_created_yet(run, stage):
        return
    announced = Announced(run, stage, no_way_back=True)
    kept = announced.facts(TopicDeleted)
    missing = [name for name in stage.topics if name not in kept]
    if unknown := [name for name in missing if name not in ids]:
        raise Refused(f"topic {unknown[0]} is not deleted: its id is not in the plan (expected: the id that it had)")
    with run.reader() as reader:
        states = known(read_topic_states(reader, stage.topics))
        shown = {one.name: one for one in reader.topics(missing, configs=True)}
    if stage.at_rest and not run.dry_run and (there := [name for name in stage.topics if states[name].exists]):
        require_at_rest(run, there)
        if not kept:
            # What cannot be set afterwards must not cost the state.
            require_targets(run)
    wanted = {name: kept[name].topic_id if name in kept else ids[name] for name in stage.topics}
    checked = TopicWriter(run.kafka)
    checked.delete(wanted)
    if run.dry_run:
        rehearsed(run, checked)
        return
    for name, found in shown.items():
        shape = TopicShape(name, found.partitions, states[name].replication, found.configs)
        announced.write(name, TopicDeleted(shape, found.topic_id, again=stage.again), f"topic {name}: deleted")
    written(run, stage.kind, lambda: TopicWriter(run.kafka, dry_run=False).delete(wanted))
    if stage.at_rest:
        wait_until_gone(run, stage.topics)


def delete_records(run: Run, stage: DeleteRecords) -> None:
    """Delete all records up to the ends at the first try, of a `certified` stage up to the certified ends."""
    if stage.certified:
        found = certified_topics(run, stage.topics)
        if found is None:
            run.say(f"would {stage.sentence}, which a dry run does not give")
        else:
            delete_certified_records(run, stage, found)
        return
    kept = Announced(run, stage).facts(RecordsDeleted)
    now = _topics(run, stage.topics)
    with run.reader() as reader:
        places = [(name, part) for name, one in now.items() if name not in kept for part in range(one.partitions)]
        ends = ends_at(reader, places)
    before: dict[Place, int] = {
        (name, part): offset for name, facts in kept.items() for part, offset in facts.first_left
    }
    before |= {place: end for place, (_, end) in certain(ends).items()}
    ids = {name: kept[name].topic_id if name in kept else one.topic_id for name, one in now.items()}
    delete_up_to(run, stage, before, ids)


def certified_topics(run: Run, topics: Iterable[str]) -> CertifiedTopics | None:
    """The ends of these topics in the run's newest drain certificate; None in a dry run, which gives none.

    Refused without a certificate, or if it did not read one of the topics.
    """
    wanted = set(topics)
    if (now := certified_reading(run)) is None:
        if run.dry_run:
            return None
        raise Refused(f"{', '.join(sorted(wanted))}: not emptied, since this run has no certificate; clear `certify`")
    ends = {name: end for name, end in now.ends_after.items() if name.rpartition("-")[0] in wanted}
    ids = {name: now.topic_ids[name] for name in wanted if name in now.topic_ids}
    read = {one.topic for one in now.partitions if one.role != "orphaned" and one.name in ends}
    if unread := sorted(wanted - (read & ids.keys())):
        raise Refused(
            f"topic {unread[0]} is not emptied: the certificate of this run does not prove it read (expected "
            "its ends and committed offsets); leave it, and look at `kstreams-runbooks orphans`"
        )
    return CertifiedTopics(ends, ids)


def delete_certified_records(run: Run, stage: DeleteRecords, certificate: CertifiedTopics) -> None:
    """Delete the records of the stage's topics up to the ends that are certified, and nothing behind them.

    Refused or Inconclusive before the first write if a topic is read, has another group's offsets or readable records
    behind its certified end, or has a record that the application's group would still read. Safe to run again.
    """
    instances = run.read().instances
    seen = run.patiently(lambda: read_emptying(run.application, run.kafka, certificate, instances))
    run.demand(run.decide(may_be_emptied, certified=certificate, seen=seen, group=run.application.application_id))
    before = {(name, part): end for name in stage.topics for part, end in certificate.of(name).items()}
    delete_up_to(run, stage, before, dict(certificate.ids))


def delete_up_to(run: Run, stage: DeleteRecords, before: Mapping[Place, int], ids: Mapping[str, str]) -> None:
    """Check, announce, and delete the records before these offsets; `ids` is the expected id of each topic."""
    announced = Announced(run, stage, no_way_back=True)
    checked = TopicWriter(run.kafka)
    checked.delete_records(before, ids)
    if run.dry_run:
        rehearsed(run, checked)
        return
    for name in stage.topics:
        first = tuple((part, offset) for (topic, part), offset in sorted(before.items()) if topic == name)
        announced.write(name, RecordsDeleted(name, ids[name], first), f"topic {name}: records deleted")
    written(run, stage.kind, lambda: TopicWriter(run.kafka, dry_run=False).delete_records(before, ids))


def _topics(run: Run, names: Iterable[str]) -> dict[str, TopicReading]:
    """The topics as they are now; Refused if one does not exist."""
    wanted = list(names)
    with run.reader() as reader:
        found = {one.name: replace(one, configs=()) for one in reader.topics(wanted)}
    for name in wanted:
        if name not in found:
            raise Refused(f"topic {name} does not exist (expected: as in the plan); look at who deleted it")
    return found
