"""The drain certificate: whether an application still has a record to process, proven from readings in a row.

Committed offsets only: a position or `records-lag` is ahead of the records that a restart would read again. There is
no tolerance: one readable record is "not yet". Internal topics are checked together, in one reading: a foreign-key join
sends records in a circle, and checking topics one after another would prove nothing.
"""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.drain.findings import drain_findings, not_paused, open_sentence, recreated
from kstreams_runbooks.decide.drain.pace import eta_ms
from kstreams_runbooks.model.readings.drain import DrainQuestion, DrainReading
from kstreams_runbooks.model.readings.states import is_stable
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of


def drained(readings: tuple[DrainReading, ...], question: DrainQuestion) -> Verdict:
    """Proceed if the last `question.readings` prove it, wait with the rest, inconclusive with the unknown facts.

    `readings` are consecutive, oldest first. A finding means that waiting does not help, and a person is needed.
    """
    if not readings:
        return Verdict(Outcome.WAIT, ("no reading yet",))
    last = readings[-1]
    unknown, left = tuple(_unknown(last)), tuple(_left(last))
    if findings := tuple(drain_findings(readings, question)):
        return Verdict(Outcome.INCONCLUSIVE, (*map(_shown, findings), *unknown, *left), findings)
    if unknown:
        return Verdict(Outcome.INCONCLUSIVE, (*unknown, *left))
    if left:
        return Verdict(Outcome.WAIT, (*left, *_eta(readings)))
    if question.pause is None:
        return Verdict(Outcome.INCONCLUSIVE, (_shown(not_paused()),), (not_paused(),))
    good = _good(readings)
    if good < question.readings:
        begun = f"reading {good} of {question.readings} in a row with nothing left"
        return Verdict(Outcome.WAIT, (begun, *_since_the_last(readings)))
    return Verdict(Outcome.PROCEED, tuple(_proven(readings[-question.readings :], question)))


def certified(readings: tuple[DrainReading, ...], question: DrainQuestion, now: DrainReading) -> Verdict:
    """The certificate: proven by `readings`, and confirmed by a separate reading taken when it is issued."""
    verdict = drained(readings, question)
    if verdict.outcome is not Outcome.PROCEED:
        return verdict
    again = still_drained(readings[-1], now)
    if again.outcome is not Outcome.PROCEED:
        return again
    return Verdict(Outcome.PROCEED, (*verdict.reasons, *again.reasons))


def still_drained(certified: DrainReading, now: DrainReading) -> Verdict:
    """Whether a certificate still holds, right before the step that relies on it: void once any offset has moved."""
    if unknown := tuple(_unknown(now)):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    if again := recreated(certified.topic_ids, now.topic_ids):
        return Verdict(Outcome.REFUSE, (f"the certificate is void, created again: {first_of(tuple(again))}",))
    if moved := tuple(sorted(set(_moved(certified, now)))):
        return Verdict(Outcome.REFUSE, (f"the certificate is void, offsets have moved: {first_of(moved)}",))
    if left := tuple(_left(now)):
        return Verdict(Outcome.REFUSE, tuple(f"the certificate is void: {one}" for one in left))
    return Verdict(Outcome.PROCEED, ("no offset has moved since the certificate",))


def _good(readings: tuple[DrainReading, ...]) -> int:
    """Consecutive readings, from the last, with nothing left and all offsets as in the last."""
    last = readings[-1]
    count = 0
    for reading in reversed(readings):
        if tuple(_unknown(reading)) or tuple(_left(reading)) or tuple(_moved(reading, last)):
            break
        count += 1
    return count


def _unknown(reading: DrainReading) -> Iterator[str]:
    """Facts that could not be read: never taken for zero."""
    yield from reading.problems
    if not reading.problems and all(one.role == "orphaned" for one in reading.partitions):
        yield "no partition is known that the application reads (expected at least one)"
    lacking: dict[str, list[str]] = {}
    for one in reading.partitions:
        if one.role != "orphaned" and (one.records is None or one.state in {"missing", "unknown"}):
            lacking.setdefault(one.why or "not read", []).append(one.name)
    for why, names in lacking.items():
        if why not in reading.problems:
            yield f"{first_of(tuple(names))}: {why} (expected the number of readable records)"
    for instance in reading.instances:
        if instance.why or instance.state is None or instance.failed_threads is None or instance.tasks is None:
            yield f"{instance.instance}: {instance.why or 'its state, failed threads or tasks are not known'}"
    if reading.instances and reading.all_tasks is None:
        yield "the tasks that the application should have are not known (expected one topology and its partitions)"


def _left(reading: DrainReading) -> Iterator[str]:
    """Reasons against it now, one sentence each."""
    if moved := tuple(sorted(_differing(reading.ends_before, reading.ends_after))):
        yield f"records were written during the reading: the ends of {first_of(moved)} moved"
    for role in ("source", "repartition"):
        unread = [one for one in reading.partitions if one.role == role and one.records]
        if unread:
            counts = tuple(f"{one.name} ({one.records:,})" for one in unread)
            total = sum(one.records or 0 for one in unread)
            some = "at least " if any(one.at_least for one in unread) else ""
            some = some if all(one.exact for one in unread) else "at most "
            yield f"{some}{total:,} records left to read on {role} topics (limit 0): {first_of(counts)}"
    for transaction in reading.open_transactions:
        yield open_sentence(transaction)
    if reading.group_state is not None and not is_stable(reading.group_state):
        yield f"the group is {reading.group_state} (expected Stable or Empty)"
    for instance in reading.instances:
        if instance.state is None:
            yield f"{instance.instance}: its state is not known (expected RUNNING)"
        elif instance.state != "RUNNING" or instance.failed_threads:
            failed = instance.failed_threads
            expected = "RUNNING with none; one that was replaced counts until a restart" if failed else "RUNNING"
            yield f"{instance.instance}: {instance.state} with {failed} failed threads (expected {expected})"
    assigned = {task for instance in reading.instances for task in instance.tasks or ()}
    if reading.instances and reading.all_tasks is not None and assigned != reading.all_tasks:
        lacking = tuple(sorted(reading.all_tasks - assigned)) or tuple(sorted(assigned - reading.all_tasks))
        yield f"{len(assigned)} tasks are assigned, of {len(reading.all_tasks)}: {first_of(lacking)} differ"


def _moved(one: DrainReading, other: DrainReading) -> Iterator[str]:
    """Everything whose offsets differ between two readings: inputs, internal topics, outputs, committed offsets."""
    yield from _differing(one.ends_after, other.ends_after)
    yield from _differing(one.sinks, other.sinks)
    was = {each.name: each.committed for each in one.partitions}
    now = {each.name: each.committed for each in other.partitions}
    yield from _differing(was, now)


def _differing(one: Mapping[str, int | None], other: Mapping[str, int | None]) -> Iterator[str]:
    """Names that only one side has, or with another value there."""
    for name in one.keys() | other.keys():
        if name not in one or name not in other or one[name] != other[name]:
            yield name


def _shown(finding: Finding) -> str:
    return f"{finding.object}: {finding.message}"


def _since_the_last(readings: tuple[DrainReading, ...]) -> Iterator[str]:
    """Offsets that moved since the previous reading although nothing is left: something still writes or commits."""
    if len(readings) > 1 and (moved := tuple(sorted(set(_moved(readings[-2], readings[-1]))))):
        yield f"moved since the reading before: {first_of(moved)}"


def _eta(readings: tuple[DrainReading, ...]) -> Iterator[str]:
    left = eta_ms(readings)
    if left is not None:
        yield f"about {round(left / 1000)} s more at this pace"


def _proven(readings: tuple[DrainReading, ...], question: DrainQuestion) -> Iterator[str]:
    last = readings[-1]
    read = [one for one in last.partitions if one.role != "orphaned"]
    yield (
        f"nothing left to read on {len(read)} partitions, in {len(readings)} readings in a row over "
        f"{max(0, last.taken.at_ms - readings[0].taken.at_ms) / 1000:.0f} s, with every end where it was"
    )
    if question.pause:
        yield f"inputs paused: {question.pause.how}, {question.pause.by}: {question.pause.reason}"
    if lost := tuple(f"{one.name} ({one.why})" for one in read if one.why and one.state == "ok"):
        yield f"not all of it was read: {first_of(lost)}"
    if orphaned := [one for one in last.partitions if one.role == "orphaned" and one.records]:
        counts = tuple(f"{one.name} ({one.records:,})" for one in orphaned)
        yield f"on topics that nothing reads any more, and in no total: {first_of(counts)}"
    for held in last.held_back:
        yield f"held back by {held.what} until stream time moves: {_due(held.until_ms, held.stream_time_ms)}"
    if question.punctuators:
        yield f"may still write by the clock: {', '.join(question.punctuators)}"


def _due(until_ms: int | None, stream_time_ms: int | None) -> str:
    if until_ms is None or stream_time_ms is None:
        return "not known for how long"
    left = until_ms - stream_time_ms
    return f"{left / 1000:.0f} s of stream time to go" if left > 0 else "due"
