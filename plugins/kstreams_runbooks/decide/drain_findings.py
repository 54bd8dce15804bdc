"""What no waiting mends in a drain: each is a finding, with what a person has to do."""

from collections.abc import Iterator

from kstreams_runbooks.model.drain import DrainQuestion, DrainReading, OpenTransaction
from kstreams_runbooks.model.verdicts import Finding

# A coordinator looks for transactions past their timeout every 10 s, and writes the abort after that.
# Source: transaction.abort.timed.out.transaction.cleanup.interval.ms (Kafka documentation, broker settings).
ABORT_DUE_MS = 15_000

_PAUSE = "Kafka Streams reads its inputs for as long as somebody writes them (Kafka Streams developer guide)"
_IDS = "KIP-516: a topic's id changes when it is deleted and created again"
_STATES = "KafkaStreams.State (Javadoc): ERROR and NOT_RUNNING are not left again"
_HANGING = "KIP-664: detecting and aborting hanging transactions"


def drain_findings(readings: tuple[DrainReading, ...], question: DrainQuestion) -> Iterator[Finding]:
    """Inputs that nobody paused, topics that were created again, clients that ended, transactions that hang."""
    if question.pause is None:
        yield Finding(
            "inputs-not-paused",
            "danger",
            "inputs",
            "nobody says that they are paused (expected a switch, or --inputs-paused REASON): what is at zero now may "
            "not be in a second; pause them and say so",
            _PAUSE,
        )
    for topic in _recreated(readings):
        message = (
            "was deleted and created again while it was watched: records that were in it are lost, and the application "
            "may go on as if nothing had happened; look at what deleted it"
        )
        yield Finding("topic-recreated", "danger", topic, message, _IDS)
    for instance in readings[-1].instances:
        if instance.gone:
            message = (
                f"its process lives and its Streams client has ended ({instance.why}); it does not come back by itself"
            )
            yield Finding("instance-lost", "danger", instance.instance, message, _STATES)
    for transaction in readings[-1].open_transactions:
        if hangs(transaction):
            yield Finding("transaction-hangs", "danger", transaction.name, _hanging(transaction), _HANGING)


def hangs(transaction: OpenTransaction) -> bool:
    """Whether nothing will end it any more: past its own timeout and what a coordinator takes to notice."""
    if transaction.age_ms is None or transaction.producer_id is None:
        return False
    if transaction.timeout_ms is None:
        return transaction.transactional_id is None and transaction.age_ms > ABORT_DUE_MS
    return transaction.age_ms > transaction.timeout_ms + ABORT_DUE_MS


def open_sentence(transaction: OpenTransaction) -> str:
    """One that may still end by itself, for a person."""
    age = "" if transaction.age_ms is None else f", open for {transaction.age_ms // 1000} s"
    limit = "" if transaction.timeout_ms is None else f" (its timeout {transaction.timeout_ms // 1000} s)"
    return f"{transaction.name}: a transaction of {_who(transaction)}{age}{limit}; what lies behind it cannot be read"


def _who(transaction: OpenTransaction) -> str:
    if transaction.producer_id is None:
        return "a producer that is not known"
    return f"{transaction.transactional_id or 'an unnamed producer'} (producer id {transaction.producer_id})"


def _hanging(transaction: OpenTransaction) -> str:
    limit = (
        "which no coordinator knows any more"
        if transaction.timeout_ms is None
        else f"past its timeout of {transaction.timeout_ms // 1000} s and {ABORT_DUE_MS // 1000} s more"
    )
    return (
        f"a transaction of {_who(transaction)} is open for {(transaction.age_ms or 0) // 1000} s, {limit}; make sure "
        "that its producer is gone, then abort it with kafka-transactions.sh abort"
    )


def _recreated(readings: tuple[DrainReading, ...]) -> list[str]:
    ids: dict[str, set[str]] = {}
    for reading in readings:
        for one in reading.partitions:
            if one.topic_id is not None:
                ids.setdefault(one.topic, set()).add(one.topic_id)
    return sorted(topic for topic, seen in ids.items() if len(seen) > 1)
