"""The run that an undo takes back, its cards, and its sides."""

from dataclasses import replace

from kstreams_runbooks.decide.change.preflight import may_be_rolled
from kstreams_runbooks.decide.change.without_topology import WITHOUT_TOPOLOGY
from kstreams_runbooks.decide.drain.copied import offsets_unmoved
from kstreams_runbooks.decide.instances.rolling import has_ended
from kstreams_runbooks.decide.plans.adopt import COPIER
from kstreams_runbooks.decide.plans.cutover import GREEN as GREEN_SIDE
from kstreams_runbooks.decide.plans.cutover import back_command, left_alone
from kstreams_runbooks.decide.plans.retire import NO_GROUP
from kstreams_runbooks.decide.plans.undo_cards import OtherCard
from kstreams_runbooks.decide.plans.way_back import Move, Undone, UndoneSide
from kstreams_runbooks.decide.releases.downgrade import clears_state
from kstreams_runbooks.decide.runbooks import ADOPT, GREEN
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger.card_facts import card_facts, instance_facts
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.copying import NOT_YET_KNOWN, UNTIL, with_until
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    GroupReading,
    InstanceReading,
    Missing,
)
from kstreams_runbooks.model.runs.cards import KINDS, TOPIC_KINDS, InstanceMoved, OffsetsSet
from kstreams_runbooks.model.runs.ledger import INSTANCE, Card, RunRecord
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan
from kstreams_runbooks.model.runs.stages import StartAll
from kstreams_runbooks.model.target import RunbookSettings
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.observe.kafka.groups import unknown_group
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.plan.cards import bytes_to_restore
from kstreams_runbooks.steps.plan.fitting import accepted_unread
from kstreams_runbooks.steps.plan.flushed import begun_adoption, begun_flush, begun_green, begun_starts, plan_of
from kstreams_runbooks.steps.plan.next_action import UNDONE
from kstreams_runbooks.steps.plan.releases import described_by
from kstreams_runbooks.steps.run.form import given_reason
from kstreams_runbooks.steps.run.run import Run

# The evidence of the write behind a card, by the kind of the card.
_WRITES = {"offsets_set": "set_offsets", "offsets_deleted": "delete_offsets", "group_deleted": "delete_groups"}


def undone_record(run: Run) -> RunRecord:
    """The run to undo; BadInput if it does not exist, or belongs to another application.

    It stays the run that was found first: its id may be used again while this run continues.
    """
    if key := run.ledger.recall(run.key, UNDONE):
        return run.ledger.run(key)
    record = run.ledger.find_run(str(run.record.params["run"]).strip())
    if record.application != run.record.application:
        raise BadInput(
            f"run {record.run_key} is one of {record.application} (asked for: {run.record.application}); give its own "
            "application"
        )
    run.ledger.remember(run.key, UNDONE, record.run_key)
    return record


def undone_of(run: Run) -> Undone:
    """The run to undo as the plan needs it: its first side, and its cards about other things over all sides."""
    record = undone_record(run)
    stored, cards = run.ledger.plan(record.run_key), run.ledger.cards(record.run_key)
    plan = plan_of(run, record)
    own = [card for card in cards if _is_move(card, record.cluster, record.application)]
    since = run.ledger.cards_since(record, min((card.entry for card in cards), default=0))
    roles = {(part.cluster, part.application): part.role for part in plan.parts} if plan else {}
    moved = moved_roles(run, record, plan)
    starts = {stage.number for stage in plan.stages if isinstance(stage, StartAll)} if plan else set()
    return Undone(
        record.run_key,
        record.dag_id,
        any(card.kind == INSTANCE and card.stage in starts for card in cards)
        if starts
        else bool(stored and stored.get("at_once")),
        tuple(_move(card, run.ledger.recall(card.run_key, UNTIL)) for card in own),
        unguarded=any(card.misreads for card in since),
        topics=tuple(name for name, *_ in plan.facts.topics) if plan else (),
        others=tuple(
            _other(run, card, roles.get((card.cluster, card.application), ""))
            for card in cards
            if card.kind != INSTANCE and roles.get((card.cluster, card.application), "") not in moved
        ),
        cards=tuple(card.seq for card in own),
        flush=begun_flush(run, record, plan),
        other_way=other_way(run, record, plan),
        fresh=fresh_of(plan),
    )


def moved_roles(run: Run, record: RunRecord, plan: Plan | None) -> tuple[str, ...]:
    """The roles of groups that a cutover has moved, and that its undo leaves where they are."""
    return left_alone(plan, begun_starts(run, record)) if plan else ()


def fresh_of(plan: Plan | None) -> tuple[str, ...]:
    """The roles of the sides that did not run before a run of this plan."""
    change = dict(plan.change) if plan else {}
    if plan and plan.runbook == ADOPT and change["mode"] == "adopt":
        return (COPIER,)
    is_green = plan is not None and plan.runbook == GREEN and change["mode"] == "start"
    return tuple(one.role for one in plan.parts) if plan and is_green else ()


def other_way(run: Run, record: RunRecord, plan: Plan | None) -> str:
    """The command that takes a run back whose application may have read its other topics; empty for another run.

    A second application that has started has topics of its own, and its deletion cannot be undone.

    The first has not if every instance is down, and the group has exactly the offsets that the run has set.
    """
    if command := begun_green(run, record, plan):
        return command
    if plan is not None and moved_roles(run, record, plan):
        change = dict(plan.change)
        return back_command(plan.application, change[GREEN_SIDE], change[COPIER])
    if not (command := begun_adoption(run, record, plan)) or plan is None:
        return ""
    own = run.first
    group = own.application.application_id
    if not all(map(has_ended, own.read(describes=False).instances)):
        return command
    with own.reader() as reader:
        now = read_saved(reader, group, say=own.say)
    cards = [card_facts(card) for card in run.ledger.cards(record.run_key) if card.kind == "offsets_set"]
    set_ = [
        one
        for facts in cards
        if isinstance(facts, OffsetsSet) and facts.before.group_id == group
        for one in facts.after
    ]
    verdict = own.decide(offsets_unmoved, expected=tuple(set_), now=now)
    return "" if verdict.outcome is Outcome.PROCEED else command


def other_applications(run: Run) -> tuple[str, ...]:
    """The names of the other applications of the run to undo."""
    plan = plan_of(run, undone_record(run))
    return tuple(part.application for part in plan.sides) if plan else ()


def topics_of_cards(run: Run) -> tuple[str, ...]:
    """The topics that the run to undo created, grew or deleted on the cluster of one of its sides."""
    cards = run.ledger.cards(undone_record(run.first).run_key)
    own = [card for card in cards if card.cluster == run.record.cluster and card.kind in TOPIC_KINDS]
    return tuple(dict.fromkeys(card.object for card in own))


def undone_sides(run: Run) -> tuple[UndoneSide, ...]:
    """The other applications of the run to undo, as `read_cards` read them."""
    record = undone_record(run)
    plan, cards = plan_of(run, record), run.ledger.cards(record.run_key)
    moved = moved_roles(run, record, plan)
    found = []
    for part in plan.sides if plan else ():
        side = run.on(part.application)
        reading = with_group(side, side.observed("read_cards"))
        own = [card for card in cards if _is_move(card, part.cluster, part.application)]
        moves, seqs = (
            tuple(_move(card, run.ledger.recall(card.run_key, UNTIL)) for card in own),
            tuple(card.seq for card in own),
        )
        if part.role in moved:
            # Forward alone: an instance that is down starts as the run has set it.
            moves = tuple(replace(move, before=move.after) for move in moves)
        found.append(
            UndoneSide(part.role, reading, side.declared, moves, seqs, bytes_to_restore(side, reading, record.run_key))
        )
    return tuple(found)


def with_group(side: Run, reading: ApplicationReading) -> ApplicationReading:
    """The reading of a side whose group is proven to be known to no broker: a copier that has never run has none."""
    group = side.application.application_id
    if not isinstance(reading.group, Missing):
        return reading
    with side.reader() as reader:
        if reader.unlisted([group])[group] != unknown_group(group):
            return reading
    return replace(reading, group=GroupReading(reading.taken, group, NO_GROUP, "Empty", ()))


def check_builds(run: Run, made: Plan) -> None:
    """Refuse a release that is another build now than the one that an instance of this side ran, by its first card."""
    first: dict[str, DeployedInstance] = {}
    for card in run.ledger.cards(undone_record(run.first).run_key):
        if card.kind == INSTANCE and (card.cluster, card.application) == run.about:
            first.setdefault(card.object, instance_facts(card).before)
    for before in first.values():
        if before.build and any(one.takes(before.instance) and one.target == before.target for one in made.bounces):
            run.deployer.check_build(before.instance, before.release, before.build)


def kept_descriptions(run: Run) -> dict[str, Described]:
    """What ran before the run to undo, by release: as that run compared it, else as its instances showed it.

    An undo has to work while a registry is down, which a topology command may need.
    """
    key, found = undone_record(run.first).run_key, dict[str, Described]()
    for kept in run.ledger.evidence(key, kind="verdict", name=may_be_rolled.__name__):
        if kept.payload.get("application") == run.record.application:
            compared: tuple[Described, ...] = decode(tuple[Described, ...], kept.payload["inputs"]["before"])
            found = {one.release: one for one in compared} | found
    for kept in run.ledger.evidence(key, kind="reading", name="application", task_id="observe"):
        reading: ApplicationReading = decode(ApplicationReading, kept.payload)
        for one in reading.instances if reading.application == run.record.application else ():
            release, text, settings = _shown(one)
            if text and release not in found:
                found[release] = described_by(run, release, one.instance, text, settings=dict(settings))
    return found


def _shown(instance: InstanceReading) -> tuple[str, str, RunbookSettings]:
    """Release, description and settings of an instance that runs what is declared, empty if one is not known."""
    deployment, streams = instance.deployment, instance.streams
    if not isinstance(deployment, Deployment) or deployment.applied is not True or isinstance(streams, Missing):
        return "", "", ()
    release, text = deployment.release, streams.topology
    if isinstance(release, Missing) or isinstance(text, Missing):
        return "", "", ()
    return release, text, deployment.settings


def accepted_before(run: Run) -> str | None:
    """The reason to go on without a look at the topology: of the undo's form, else that of the run to undo."""
    own = accepted_unread(run)
    return own or given_reason(undone_record(run.first).params, WITHOUT_TOPOLOGY) or own


def _is_move(card: Card, cluster: str, application: str) -> bool:
    return card.kind == INSTANCE and not card.done and (card.cluster, card.application) == (cluster, application)


def _other(run: Run, card: Card, role: str) -> OtherCard:
    facts = card_facts(card) if card.kind in KINDS else None
    known = None if isinstance(facts, InstanceMoved) else facts
    return OtherCard(card.seq, card.kind, card.what, card.undo, known, role, card.done, _is_kept(run, card))


def _is_kept(run: Run, card: Card) -> bool:
    """Whether the run kept the result of the change of offsets that a card announces; of other kinds none is needed."""
    name = _WRITES.get(card.kind)
    kept = run.ledger.evidence(card.run_key, kind="write", name=name) if name else ()
    return name is None or any(one.id > card.entry for one in kept)


def _move(card: Card, until: str | None = None) -> Move:
    """One card as undo needs it; BadInput if its facts cannot be read.

    `until` are the offsets before which a copier of the run ends, None if they were not known yet.
    """
    try:
        facts = instance_facts(card)
    except ValueError:
        raise BadInput(
            f"run {card.run_key}: the facts of undo card {card.seq} ({card.what}) cannot be read (expected the release "
            f"before and after it); go back manually: {card.undo}"
        ) from None
    clears = clears_state(facts.before.version, facts.after.version, upgrade_path_rules())
    after = replace(facts.after, settings=with_until(facts.after.settings, until or NOT_YET_KNOWN))
    return Move(card.object, facts.bounce, facts.before, after, clears, facts.deletes)
