"""Undo cards: written before each write, because a task that is killed in between must leave one."""

from collections.abc import Collection

from kstreams_runbooks.decide.instances.members import members_of
from kstreams_runbooks.decide.plans.basis import deployed_instance, restore_cost
from kstreams_runbooks.decide.plans.local_state import RESTORED
from kstreams_runbooks.decide.releases.downgrade import clears_state
from kstreams_runbooks.decide.topology.names import is_changelog
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.ledger.card_facts import card_facts, instance_facts
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.local_state import NO_DIRECTORIES
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    InstanceReading,
    MemberReading,
    Missing,
    Start,
)
from kstreams_runbooks.model.runs.cards import (
    GroupDeleted,
    InstanceMoved,
    OffsetsDeleted,
    OffsetsSet,
    changed_offsets,
    changed_topic,
)
from kstreams_runbooks.model.runs.ledger import INSTANCE, Card
from kstreams_runbooks.model.runs.own_changes import OwnChanges, TopicChange
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan
from kstreams_runbooks.model.runs.stages import Bounce, StartAll
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.wording import first_of

# The ledger's entry for a card whose write did not happen: it has the number of the card.
UNTOUCHED = "untouched"
_RESTORING = "restoring topics"


def write_card(
    run: Run,
    reading: ApplicationReading,
    instance: InstanceReading,
    bounce: Bounce,
    members: tuple[MemberReading, ...],
    previous: Start | None,
) -> None:
    """Keep the way back of `instance` before the write; from here on the run has written.

    `previous` is the start that must not pass as the new one, `members` are its members in the group.
    """
    plan, before = run.plan(), _before(run, instance, bounce)
    final = plan.ends_way_back(bounce)
    start = next((one for one in plan.stages if isinstance(one, StartAll) and one.number == bounce.number), None)
    clear = clears_state(before.version, bounce.version, upgrade_path_rules())
    deletes = bounce.undo_deletes
    clears = NO_DIRECTORIES if clear else deletes if deletes.names else None
    restored = bytes_to_restore(run, reading) if clear else bytes_of_topics(run, reading, deletes.changelogs)
    topics = (kept_restoring(run) or ()) if clear else deletes.changelogs
    restore = restore_cost(restored, topics=topics) if clear else restore_cost(restored, RESTORED, topics)
    cost = "one restart" + (f", and {restore}" if clear or deletes.changelogs else "")
    empty = f"; {first_of(plan.losses)}, and no undo brings that back" if plan.emptied else ""
    if plan.emptied and bounce.clears is not None:
        kept = run.deployer.kept_aside(instance.instance)
        empty += f"; the directories are kept in {kept}" if kept else "; nothing keeps the directories"
    card = Card(
        run_key=run.key,
        seq=len(run.ledger.cards(run.key)) + 1,
        task_id=run.task_id,
        step=f"{'start' if start else 'bounce'} {bounce.number}",
        object=instance.instance,
        what=f"{instance.instance}: {'stop, ' + start.sentence if start else bounce.sentence}{empty}{_killed(plan)}",
        undo=f"set {instance.instance} back to {before.deployed}"
        + ("" if clears is None else f", with {clears.what} cleared first (no way back in place)"),
        cost=cost,
        data_affected=final,
        point_of_no_return=False,
        facts=encode(
            InstanceMoved(
                bounce=bounce.number,
                before=before,
                after=DeployedInstance(instance.instance, bounce.release, bounce.settings, bounce.version),
                previous=previous,
                members=members,
                by_hand=tuple(run.deployer.manual_commands(instance.instance, before.target, clears=clears)),
                deletes=deletes,
            )
        ),
        at_ms=now_ms(),
        cluster=run.about[0],
        application=run.about[1],
        misreads=final,
        stage=bounce.number,
    )
    run.ledger.write_card(card)
    run.ledger.mark_written(run.key, now_ms())


def _killed(plan: Plan) -> str:
    """What becomes of the local state of the instance if its stop ends with a kill."""
    return "".join(
        f"; if it is killed, {'it stays down for a person' if one.unclear else one.clears.what + ' deleted first'}"
        for one in plan.after_kill
    )


def cards_that_count(run: Run) -> list[Card]:
    """The cards of this run, first to last, without those whose write is known not to have happened."""
    untouched = {one.payload["card"] for one in run.ledger.evidence(run.key, kind="note", name=UNTOUCHED)}
    return [card for card in run.ledger.cards(run.key) if card.seq not in untouched]


def instance_cards(run: Run) -> list[Card]:
    """The cards of this run about instances of its application, first to last."""
    return [
        card
        for card in run.ledger.cards(run.key)
        if card.kind == INSTANCE and (card.cluster, card.application) == run.about
    ]


def has_stopped(run: Run) -> bool:
    """Whether this run has begun to stop all instances at once: the bounces before that are over then."""
    start = run.plan().start
    return start is not None and any(instance_facts(card).bounce == start.number for card in instance_cards(run))


def own_changes(run: Run) -> OwnChanges:
    """What this run has announced to change, or changed, in the cluster of its application."""
    topics, offsets = list[TopicChange](), list[str]()
    for card in run.ledger.cards(run.key):
        if card.cluster != run.about[0] or card.kind == INSTANCE:
            continue
        facts = card_facts(card)
        if (change := changed_topic(facts)) is not None:
            topics.append(change)
        elif isinstance(facts, OffsetsSet) and facts.holds:
            # They stay where they were: this run does not explain an offset that is gone or went back.
            continue
        elif (
            isinstance(facts, OffsetsSet | OffsetsDeleted | GroupDeleted)
            and facts.before.group_id == run.application.application_id
        ):
            offsets += changed_offsets(facts)
    return OwnChanges(tuple(topics), tuple(dict.fromkeys(offsets)))


def last_card(run: Run, instance: str) -> Card | None:
    """The newest card of an instance in this run."""
    return next((card for card in reversed(instance_cards(run)) if card.object == instance), None)


def had_before(run: Run, instance: str) -> Target | None:
    """What was set for an instance before this run changed it; None if it did not."""
    card = last_card(run, instance)
    return None if card is None else instance_facts(card).before.target


def members_in_group(run: Run, reading: ApplicationReading, instance: InstanceReading) -> tuple[MemberReading, ...]:
    """Members of an instance in the group, whether it is down or not: the known ones, and those of its last card."""
    group = reading.group
    if isinstance(group, Missing):
        raise Inconclusive(*reading.lacking("group"))
    known = {member.member_id: member for member in members_of(group, instance)}
    if card := last_card(run, instance.instance):
        present = {member.member_id for member in group.members}
        known |= {member.member_id: member for member in instance_facts(card).members if member.member_id in present}
    return tuple(known.values())


def bytes_of_topics(run: Run, reading: ApplicationReading, topics: tuple[str, ...]) -> int | Missing:
    """Bytes of those of `topics` that the cluster has; those of global stores are not among the topics of a reading.

    Missing if this login may not see one of them.
    """
    if isinstance(reading.topics, Missing):
        return reading.topics
    if not topics:
        return 0
    with run.reader() as reader:
        names = reader.names()
        if hidden := names.unseen(topics):
            return Missing("; ".join(hidden.values()))
        there = names.visible & set(topics)
        return reader.log_bytes(sorted(there)) if there else 0


def keep_restoring(run: Run, topics: Collection[str]) -> None:
    """Keep the topics that restore the stores of its application, by the facts of what ran when the run was planned."""
    run.keep("note", _RESTORING, {"application": run.record.application, "topics": sorted(topics)})


def kept_restoring(run: Run, of_run: str = "") -> tuple[str, ...] | None:
    """The topics that the plan of `of_run` (default: this run) kept, None if it kept none."""
    kept = run.ledger.evidence(of_run or run.key, kind="note", name=_RESTORING)
    found = [one.payload["topics"] for one in kept if one.payload["application"] == run.record.application]
    return tuple(found[-1]) if found else None


def bytes_to_restore(run: Run, reading: ApplicationReading, of_run: str = "") -> int | Missing:
    """Bytes of the topics that restore the stores: the most that one instance may have to read.

    They are those that the plan of `of_run` (default: this run) was made with. Without it they are the topics with its
    prefix and the names of changelogs. Missing if not all of them are known: without offsets, those are the ones that
    this login sees.
    """
    if (found := kept_restoring(run, of_run)) is not None:
        return bytes_of_topics(run, reading, found)
    if isinstance(reading.topics, Missing):
        return reading.topics
    if isinstance(reading.partitions, Missing):
        return reading.partitions
    names = [topic.name for topic in reading.topics if is_changelog(topic.name)]
    if not names:
        return 0
    with run.reader() as reader:
        return reader.log_bytes(names)


def _before(run: Run, instance: InstanceReading, bounce: Bounce) -> DeployedInstance:
    """The state to go back to: for a rerun of a bounce the one before its first try, not an intermediate state."""
    for card in instance_cards(run):
        facts = instance_facts(card)
        if card.object == instance.instance and facts.bounce == bounce.number:
            return facts.before
    return deployed_instance(instance, run.declared)


def to_restart(run: Run, bounce: Bounce, instance: InstanceReading) -> bool:
    """Whether an instance that runs what its bounce wants is restarted all the same.

    It is if the plan restarts every instance and this one still has the start of before. A start that cannot be read is
    left to the gate, which waits for another one than on the card (`previous_start`).
    """
    if not bounce.again:
        return False
    card = last_card(run, instance.instance)
    if card is None:
        return True
    previous = instance_facts(card).previous
    return previous is not None and instance.streams.start == previous


def previous_start(run: Run, instance: str) -> Start | None:
    """The start of the process that ran when the instance's newest card was written, None if none ran."""
    card = last_card(run, instance)
    return instance_facts(card).previous if card else None
