"""The drain certificate: whether an application still has a record to process, proven from readings in a row.

Committed offsets only: a position or `records-lag` runs ahead of what a restart would read again. There is no
tolerance: one readable record is "not yet". Internal topics are looked at together, in one reading: a foreign-key join
sends records in a circle, so that no order of topics would prove anything.
"""

from collections.abc import Iterator

from kstreams_runbooks.decide.lag import named
from kstreams_runbooks.model.drain import DrainQuestion, DrainReading, OpenTransaction, RunningInstance
from kstreams_runbooks.model.verdicts import Outcome, Verdict

# A coordinator looks for transactions past their timeout every 10 s, and writes the abort after that.
# Source: transaction.abort.timed.out.transaction.cleanup.interval.ms (Kafka documentation, broker settings).
ABORT_DUE_MS = 15_000


def drained(readings: tuple[DrainReading, ...], question: DrainQuestion) -> Verdict:
    """Proceed where the last `question.readings` prove it, wait with what is left, inconclusive with what is not known.

    `readings` are consecutive, oldest first.
    """
    if question.pause is None:
        return Verdict(
            Outcome.INCONCLUSIVE,
            (
                "nobody says that the inputs are paused (expected a switch, or --inputs-paused REASON): what is at "
                "zero now may not be in a second; pause them and say so",
            ),
        )
    if not readings:
        return Verdict(Outcome.WAIT, ("no reading yet",))
    last = readings[-1]
    if unknown := tuple(_unknown(last)):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    if left := tuple(_left(last)):
        return Verdict(Outcome.WAIT, (*left, *_eta(readings)))
    good = _good(readings)
    if good < question.readings:
        return Verdict(Outcome.WAIT, (f"reading {good} of {question.readings} in a row with nothing left",))
    return Verdict(Outcome.PROCEED, tuple(_proven(readings[-question.readings :], question)))


def still_drained(certified: DrainReading, now: DrainReading) -> Verdict:
    """Whether a certificate still holds, right before the step that relies on it: void once any offset has moved."""
    if unknown := tuple(_unknown(now)):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    if moved := tuple(sorted(_moved(certified, now))):
        return Verdict(Outcome.REFUSE, (f"the certificate is void, offsets have moved: {named(moved)}",))
    if left := tuple(_left(now)):
        return Verdict(Outcome.REFUSE, tuple(f"the certificate is void: {one}" for one in left))
    return Verdict(Outcome.PROCEED, ("no offset has moved since the certificate",))


def _good(readings: tuple[DrainReading, ...]) -> int:
    """Readings in a row, from the last, with nothing left and everything where it was in the last."""
    last = readings[-1]
    count = 0
    for reading in reversed(readings):
        if tuple(_unknown(reading)) or tuple(_left(reading)) or tuple(_moved(reading, last)):
            break
        count += 1
    return count


def _unknown(reading: DrainReading) -> Iterator[str]:
    """What could not be read: never taken for zero."""
    yield from reading.problems
    if all(one.role == "orphaned" for one in reading.partitions):
        yield "no partition is known that the application reads (expected at least one)"
    for one in reading.partitions:
        if one.role != "orphaned" and (one.records is None or one.state in {"missing", "unknown"}):
            yield f"{one.name}: {one.why or 'not read'} (expected the number of readable records)"
    for instance in reading.instances:
        yield from _unclear(instance)
    if reading.instances and reading.all_tasks is None:
        yield "the tasks that the application should have are not known (expected its topology and partition counts)"


def _unclear(instance: RunningInstance) -> Iterator[str]:
    if not instance.fresh:
        yield f"{instance.instance}: what it says of itself is not of its present start"
    elif instance.state is None or instance.failed_threads is None or instance.tasks is None:
        yield f"{instance.instance}: state, failed threads or tasks not read"


def _left(reading: DrainReading) -> Iterator[str]:
    """What speaks against it now, one sentence each."""
    if reading.ends_before != reading.ends_after:
        moved = sorted(
            name
            for name in reading.ends_before.keys() | reading.ends_after.keys()
            if reading.ends_before.get(name) != reading.ends_after.get(name)
        )
        yield f"somebody wrote while it was read: the ends of {named(tuple(moved))} moved"
    for role in ("source", "repartition"):
        unread = [one for one in reading.partitions if one.role == role and one.records]
        if unread:
            counts = tuple(f"{one.name} ({one.records:,})" for one in unread)
            total = sum(one.records or 0 for one in unread)
            yield f"{total:,} records left to read on {role} topics (limit 0): {named(counts)}"
    for transaction in reading.open_transactions:
        yield _open(transaction)
    for instance in reading.instances:
        if instance.state != "RUNNING" or instance.failed_threads:
            failed = instance.failed_threads
            yield f"{instance.instance}: {instance.state} with {failed} failed threads (expected RUNNING with none)"
    assigned = {task for instance in reading.instances for task in instance.tasks or ()}
    if reading.instances and reading.all_tasks is not None and assigned != reading.all_tasks:
        lacking = tuple(sorted(reading.all_tasks - assigned)) or tuple(sorted(assigned - reading.all_tasks))
        yield f"{len(assigned)} tasks are assigned, of {len(reading.all_tasks)}: {named(lacking)} differ"


def _open(transaction: OpenTransaction) -> str:
    who = f"{transaction.transactional_id or 'an unnamed producer'} (producer id {transaction.producer_id})"
    age = f"open for {transaction.age_ms // 1000} s"
    if transaction.age_ms <= transaction.due_ms + ABORT_DUE_MS:
        return f"{transaction.partition}: a transaction of {who}, {age}; it ends by itself within its timeout"
    return (
        f"{transaction.partition}: a transaction of {who}, {age}, past its timeout of {transaction.due_ms // 1000} s: "
        "look for it with kafka-transactions.sh find-hanging, and abort it if its producer is gone"
    )


def _moved(one: DrainReading, other: DrainReading) -> Iterator[str]:
    """Everything whose offsets differ between two readings: inputs, internal topics, outputs, what is committed."""
    for before, after in ((one.ends_after, other.ends_after), (one.sinks, other.sinks)):
        yield from (name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    was = {each.name: each.committed for each in one.partitions}
    now = {each.name: each.committed for each in other.partitions}
    yield from (name for name in was.keys() | now.keys() if was.get(name) != now.get(name))


def _eta(readings: tuple[DrainReading, ...]) -> Iterator[str]:
    """How long the rest takes at the pace of the readings so far; nothing where it does not get less."""
    totals = [
        (reading.taken.at_ms, sum(one.records or 0 for one in reading.partitions if one.role != "orphaned"))
        for reading in readings
        if not tuple(_unknown(reading))
    ]
    (began, most), (now, left) = totals[0], totals[-1]
    if now > began and left < most:
        yield f"about {round(left * (now - began) / (most - left) / 1000)} s more at this pace"


def _proven(readings: tuple[DrainReading, ...], question: DrainQuestion) -> Iterator[str]:
    last = readings[-1]
    read = [one for one in last.partitions if one.role != "orphaned"]
    yield (
        f"nothing left to read on {len(read)} partitions, in {len(readings)} readings in a row over "
        f"{(last.taken.at_ms - readings[0].taken.at_ms) / 1000:.0f} s, with every end where it was"
    )
    if question.pause:
        yield f"inputs paused: {question.pause.how}, {question.pause.by}: {question.pause.reason}"
    if orphaned := [one for one in last.partitions if one.role == "orphaned" and one.records]:
        counts = tuple(f"{one.name} ({one.records:,})" for one in orphaned)
        yield f"on topics that nothing reads any more, and in no total: {named(counts)}"
    for held in question.held_back:
        yield f"held back by {held.what} until stream time moves: {_due(held.until_ms, held.stream_time_ms)}"
    if question.punctuators:
        yield f"may still write by the clock: {', '.join(question.punctuators)}"


def _due(until_ms: int | None, stream_time_ms: int | None) -> str:
    if until_ms is None or stream_time_ms is None:
        return "not known for how long"
    left = until_ms - stream_time_ms
    return f"{left / 1000:.0f} s of stream time to go" if left > 0 else "due"
