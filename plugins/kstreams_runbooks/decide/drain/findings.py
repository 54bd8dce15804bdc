"""Conditions in a drain that waiting does not fix: each is a finding, with the action for a person."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from kstreams_runbooks.model.readings.drain import DrainQuestion, DrainReading, OpenTransaction
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.wording import first_of, pasted

# A coordinator checks for transactions past their timeout every 10 s, and writes the abort after that.
# Source: transaction.abort.timed.out.transaction.cleanup.interval.ms (Kafka documentation, broker settings).
ABORT_DUE_MS = 15_000

_PAUSE = "Kafka Streams reads its inputs for as long as somebody writes them (Kafka Streams developer guide)"
_IDS = "KIP-516: a topic's id changes when it is deleted and created again"
_STATES = "KafkaStreams.State (Javadoc): ERROR and NOT_RUNNING are not left again"
_HANGING = "KIP-664: detecting and aborting hanging transactions"
_RETENTION = "Kafka documentation, topic settings: retention deletes what nobody has read as well"
_OFFSETS = "KIP-496: offsets on a topic that is not read any more stay until they are deleted"


def drain_findings(readings: tuple[DrainReading, ...], question: DrainQuestion) -> Iterator[Finding]:
    """Topics that were created again, records deleted unread, clients that ended, transactions that hang, leftovers."""
    last = readings[-1]
    for topic in recreated(question.topic_ids, *(one.topic_ids for one in readings)):
        message = (
            "was deleted and created again while it was watched: records that were in it are lost, and the application "
            "may go on as if nothing had happened; look at what deleted it"
        )
        yield Finding("topic-recreated", "danger", topic, message, _IDS)
    if lost := tuple(_deleted(readings)):
        message = "had unread records that were deleted while it was watched; they were never processed"
        yield Finding("deleted-unread", "danger", first_of(lost), message, _RETENTION)
    for instance in last.instances:
        if _stays_gone(instance.instance, readings[-question.readings :], question.readings):
            message = (
                f"its process lives and its Streams client has ended ({instance.why or instance.state}); it does not "
                "come back by itself"
            )
            yield Finding("instance-lost", "danger", instance.instance, message, _STATES)
    for transaction in last.open_transactions:
        if hangs(transaction):
            yield Finding("transaction-hangs", "danger", transaction.name, _hanging(transaction), _HANGING)
    if not last.instances and (left := _left_over(last)):
        message = (
            "have records that the release which is set does not read, and nothing runs that could: start the release "
            "that last ran and let it read them, or delete the group's offsets on them if they are not needed"
        )
        yield Finding("leftovers-unread", "danger", first_of(left), message, _OFFSETS)


def not_paused() -> Finding:
    """Nothing is left, but there is no statement that inputs stay paused."""
    message = (
        "nothing is left now, and nothing states that the inputs stay paused: a second later something may come; pause "
        "them, then trigger a new run with a reason in inputs_paused (of the command: --inputs-paused)"
    )
    return Finding("inputs-not-paused", "danger", "inputs", message, _PAUSE)


def recreated(*ids: Mapping[str, str]) -> list[str]:
    """Topics that have another id in one of these than in another."""
    seen: dict[str, set[str]] = {}
    for each in ids:
        for topic, topic_id in each.items():
            seen.setdefault(topic, set()).add(topic_id)
    return sorted(topic for topic, found in seen.items() if len(found) > 1)


def hangs(transaction: OpenTransaction) -> bool:
    """Whether a transaction will never end by itself: past its timeout and the time a coordinator takes to notice.

    By its age according to its coordinator, and seen here for as long as that takes to notice: neither a wrong clock
    nor a transaction that has just ended counts. Without a coordinator's answer the whole time has to be seen here.
    """
    if transaction.timeout_ms is None:
        return False
    due_ms = transaction.timeout_ms + ABORT_DUE_MS
    if transaction.age_ms is None:
        return transaction.seen_ms > due_ms
    return transaction.age_ms > due_ms and transaction.seen_ms >= ABORT_DUE_MS


def open_sentence(transaction: OpenTransaction) -> str:
    """A transaction that may still end by itself, for a person."""
    age = "" if transaction.producer_id is None else f", {_age(transaction)}"
    limit = "" if transaction.timeout_ms is None else f" ({_limit(transaction)})"
    why = f" ({transaction.why})" if transaction.why else ""
    who = _who(transaction)
    return f"{transaction.name}: a transaction of {who}{age}{limit}; records behind it cannot be read{why}"


def _who(transaction: OpenTransaction) -> str:
    if transaction.producer_id is None:
        return "a producer that is not known"
    return f"{transaction.transactional_id or 'an unnamed producer'} (producer id {transaction.producer_id})"


def _age(transaction: OpenTransaction) -> str:
    if transaction.age_ms is None:
        return f"seen for {transaction.seen_ms // 1000} s"
    return f"open for {transaction.age_ms // 1000} s"


def _limit(transaction: OpenTransaction) -> str:
    seconds = (transaction.timeout_ms or 0) // 1000
    if transaction.transactional_id is None:
        return f"no broker allows more than {seconds} s, transaction.max.timeout.ms"
    return f"its timeout {seconds} s"


def _hanging(transaction: OpenTransaction) -> str:
    topic, _, number = transaction.name.rpartition("-")
    return (
        f"a transaction of {_who(transaction)} is {_age(transaction)} ({_limit(transaction)}, and "
        f"{ABORT_DUE_MS // 1000} s more to notice); make sure that its producer is gone, then abort it with "
        f"kafka-transactions.sh --bootstrap-server … abort --topic {pasted([topic])} --partition {number} "
        f"--start-offset {transaction.start_offset}"
    )


def _stays_gone(name: str, readings: tuple[DrainReading, ...], needed: int) -> bool:
    """In each of as many readings as a certificate needs: a restarting instance is gone for a moment too."""
    seen = [one.gone for reading in readings for one in reading.instances if one.instance == name]
    return len(seen) >= needed and all(seen)


def _deleted(readings: tuple[DrainReading, ...]) -> Iterator[str]:
    """Partitions of inputs with records to read, whose log now begins after the group's offset.

    Repartition topics have no retention limit, and Streams itself deletes committed records there (every
    repartition.purge.interval.ms, Kafka documentation). The offset is read before the log's start: a commit and a purge
    in between look like a loss.
    """
    for before, after in pairwise(readings):
        now = {one.name: one for one in after.partitions if one.role == "source"}
        for one in before.partitions:
            later = now.get(one.name)
            if later is None or not one.records or later.log_start_offset is None or one.log_start_offset is None:
                continue
            begins = later.log_start_offset > one.log_start_offset
            if begins and (later.committed is None or later.committed < later.log_start_offset):
                yield one.name


def _left_over(reading: DrainReading) -> tuple[str, ...]:
    rows = [one for one in reading.partitions if one.role == "orphaned" and one.records != 0]
    return tuple(f"{one.name} ({'not known' if one.records is None else f'{one.records:,}'})" for one in rows)
