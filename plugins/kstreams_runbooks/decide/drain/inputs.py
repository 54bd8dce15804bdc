"""Whether the ends of inputs rest, which proves that their producers are stopped, and whether they have since.

A pause by a person has no acknowledgement but this: the ends do not move, and no transaction is open that could still
end in records.
"""

from collections.abc import Iterator

from kstreams_runbooks.decide.drain.findings import open_sentence
from kstreams_runbooks.model.readings.inputs import InputsReading
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of


def inputs_stand_still(readings: tuple[InputsReading, ...], needed: int) -> Verdict:
    """Proceed if the last `needed` readings in a row have the same ends and no open transaction.

    Inconclusive if the last one has a problem; wait otherwise, with what moved. `readings` are consecutive, oldest
    first.
    """
    if not readings:
        return Verdict(Outcome.WAIT, ("no reading of the inputs yet",))
    last = readings[-1]
    if unknown := tuple(_unknown(last)):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    if left := tuple(_open(last)):
        return Verdict(Outcome.WAIT, left)
    good = 0
    for reading in reversed(readings):
        if tuple(_unknown(reading)) or tuple(_open(reading)) or tuple(_came(reading, last)):
            break
        good += 1
    if good < needed:
        came = first_of(tuple(_came(readings[-2], last)), between="; ") if len(readings) > 1 else ""
        begun = f"reading {good} of {needed} in a row with every end of the inputs where it was"
        return Verdict(Outcome.WAIT, (begun, *([came] if came else ())))
    seconds = (last.taken.at_ms - readings[-needed].taken.at_ms) / 1000
    still = f"{len(last.ends)} partitions of {', '.join(sorted(last.topic_ids))} rest"
    return Verdict(Outcome.PROCEED, (f"{still}: the same ends in {needed} readings over {seconds:,.0f} s",))


def still_held(then: InputsReading, now: InputsReading) -> Verdict:
    """Whether nothing has come since the reading that proved that the inputs rest: right before relying on it.

    A partition that only one reading has is not known, never taken for unmoved.
    """
    if unknown := tuple(_unknown(now)):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    broken = (*_came(then, now), *_open(now))
    if broken:
        action = (
            "if the application is down already, go back; otherwise find the producer and stop it, then clear "
            "pause_inputs and what follows it"
        )
        return Verdict(Outcome.REFUSE, (f"inputs are not held any more: {first_of(broken, between='; ')}; {action}",))
    since = utc_second(then.taken.at_ms)
    return Verdict(Outcome.PROCEED, (f"nothing has come on {len(now.ends)} partitions of the inputs since {since}",))


def _unknown(reading: InputsReading) -> Iterator[str]:
    yield from reading.problems
    if not reading.ends:
        yield "no partition of the inputs is known (expected at least one)"
    if lacking := sorted(reading.ends.keys() ^ reading.stable.keys()):
        yield f"{first_of(lacking)}: only one of its end and its last stable offset is known (expected both)"


def _open(reading: InputsReading) -> Iterator[str]:
    """Open transactions: those that a broker describes, and others whose end is above the last stable offset."""
    yield from map(open_sentence, reading.open_transactions)
    named = {one.name for one in reading.open_transactions}
    for name, end in sorted(reading.ends.items()):
        if name not in named and name in reading.stable and reading.stable[name] < end:
            yield f"{name}: a transaction is open before its end {end:,} (last stable offset {reading.stable[name]:,})"


def _came(then: InputsReading, now: InputsReading) -> Iterator[str]:
    """What differs between two readings: another topic, a partition that only one has, another end."""
    between = f"between {utc_second(then.taken.at_ms)} and {utc_second(now.taken.at_ms)}"
    for topic in sorted(then.topic_ids.keys() | now.topic_ids.keys()):
        if then.topic_ids.get(topic) != now.topic_ids.get(topic):
            yield f"topic {topic} is another one than before, {between} (expected the same id)"
    for name in sorted(then.ends.keys() | now.ends.keys()):
        before, after = then.ends.get(name), now.ends.get(name)
        if before is None or after is None:
            yield f"{name}: only one of two readings has it, {between} (expected the same partitions)"
        elif after > before:
            # Markers of transactions have offsets too.
            yield f"{name}: {after - before:,} offsets came {between} (limit 0)"
        elif after < before:
            yield f"{name}: its end fell from {before:,} to {after:,} {between} (expected the same)"
