"""Internal topics that a run deletes: their ends noted once the group is EMPTY, proven at rest, and gone afterwards."""

from collections.abc import Collection, Sequence
from typing import Any

from kstreams_runbooks.act.saved_offsets import save_offsets
from kstreams_runbooks.decide.instances.rolling import has_ended
from kstreams_runbooks.decide.reset.rest import at_rest, no_transaction
from kstreams_runbooks.decide.runbooks import GREEN
from kstreams_runbooks.errors import Drifted, Inconclusive, Refused
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.rest import TopicEnds
from kstreams_runbooks.model.readings.states import is_empty
from kstreams_runbooks.model.runs.object_stages import CreateTopics, SaveOffsets
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe.kafka.deleted import read_left
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.steps.plan.cards import own_changes
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.reset_rest import read_rest, read_topic_ends

_NOTED = "ends while the group was EMPTY"
# A producer of Kafka Streams gives its transactions 10 s; brokers end those of one that was killed within 10 s more.
_TRANSACTION_S = 60
_LOOK_EVERY_S = 1.0
# Brokers apply a deletion to their metadata, and to committed offsets, within a second.
_GONE_S = 30
_GONE_LOOK_S = 0.2


def save_group(run: Run, stage: SaveOffsets) -> None:
    """Save everything that the group has committed, and note the ends of the topics that a later stage deletes."""
    if run.dry_run:
        run.say(f"would {stage.sentence}")
        return
    # First: the end of a transaction may commit offsets too.
    ends = _settled(run, stage.topics).ends
    with run.reader() as reader:
        group = reader.group(stage.group)
        saved = read_saved(reader, stage.group, say=run.say)
    file = save_offsets(saved, run_key=run.key, cluster=run.about[0], config=run.kafka)
    restore = f"; to restore them: {file.command}" if file.command else ""
    run.say(f"{len(saved.offsets):,} offsets of group {stage.group} are saved in {file.path}{restore}")
    run.keep("note", "saved offsets", {"file": file.path, "saved": saved, "group": group})
    if stage.topics:
        kept = run.ledger.remember(run.key, _NOTED, dict(sorted(ends.items())))
        run.say(f"the ends of {len(kept):,} partitions of {len(stage.topics):,} internal topics are noted")


def _settled(run: Run, topics: Sequence[str]) -> TopicEnds:
    """The ends of these topics once no transaction is open: its end is a marker, which moves an end."""

    def look() -> tuple[TopicEnds, Verdict]:
        with run.reader() as reader:
            found = read_topic_ends(reader, topics, run.application.application_id)
        return found, no_transaction(found)

    seen = poll(run, Pace(_LOOK_EVERY_S, _TRANSACTION_S), look, lambda verdict: verdict.outcome is not Outcome.WAIT)
    verdict = no_transaction(seen)
    if verdict.outcome is not Outcome.PROCEED:
        raise Inconclusive(f"{verdict.text}; wait, then clear {run.task_id} and what follows it")
    return seen


def require_at_rest(run: Run, topics: Collection[str]) -> None:
    """Refused or Inconclusive unless nothing writes to these topics, and nothing else uses them."""
    noted = run.ledger.recall(run.key, _NOTED)
    if noted is None:
        raise Refused("no topic is deleted: this run has not noted their ends; clear save_offsets and what follows it")
    own = {name: end for name, end in noted.items() if name.rpartition("-")[0] in topics}
    looks, apart_s = max(2, int(run.limit("gate_good_readings"))), run.limit("gate_interval_s")
    plan = run.whole_plan()
    # The copier of a second application goes with it.
    going = {one.application for one in plan.sides} if plan.runbook == GREEN else set[str]()
    of: dict[str, Any] = {"looks": looks, "apart_s": apart_s, "say": run.say, "going": going}
    seen = run.patiently(lambda: read_rest(run.application, run.kafka, own, topics, **of))
    verdict = run.decide(at_rest, seen=seen, group=run.application.application_id)
    if verdict.outcome is Outcome.WAIT:
        raise Inconclusive(f"{verdict.text}; wait, then clear {run.task_id} and what follows it")
    run.demand(verdict)


def wait_until_gone(run: Run, topics: Collection[str]) -> None:
    """Return once no broker lists one of these topics and the group has no offset on one; Refused after 30 s."""
    group = run.application.application_id

    def look() -> tuple[tuple[str, ...], Verdict]:
        with run.reader() as reader:
            left = read_left(reader, topics, group)
        waits = Verdict(Outcome.WAIT, ("waits until the deleted topics are gone from every broker",))
        return left, waits if left else Verdict(Outcome.PROCEED, ("they are gone",))

    left = poll(run, Pace(_GONE_LOOK_S, _GONE_S), look, lambda verdict: verdict.outcome is not Outcome.WAIT)
    if left:
        raise Refused(
            f"{'; '.join(left[:3])} {_GONE_S} s after their deletion (expected none); find out what keeps them, then "
            f"clear {run.task_id} and what follows it"
        )
    run.say(f"{len(topics):,} topics are gone from every broker, and group {group} has no offset on them")


def require_down(run: Run) -> None:
    """Drifted unless every instance of the run's side is down and its group EMPTY; Inconclusive if that is not read."""
    reading = run.read(describes=False)
    then = f"then clear {run.task_id} and what follows it"
    if up := [one.instance for one in reading.instances if not has_ended(one)]:
        raise Drifted(f"{up[0]} is up (expected: every instance down before topics grow); stop it, {then}")
    if isinstance(reading.group, Missing):
        raise Inconclusive(f"group of {reading.application}: {reading.group.missing}")
    if not is_empty(reading.group.state):
        raise Drifted(
            f"group {reading.group.group_id} is {reading.group.state} (expected Empty before topics grow): a member "
            f"goes on with the old number of partitions; stop it, {then}"
        )


def require_gone(run: Run, stage: CreateTopics) -> None:
    """The topics that this run deleted and has not created again are gone: a new one could get what is left of them."""
    deleted: set[str] = set()
    for change in own_changes(run).topics:
        deleted = deleted | {change.name} if change.deleted else deleted - {change.name}
    if again := sorted(deleted & {one.name for one in stage.topics}):
        wait_until_gone(run, again)
