"""Whether topics may be deleted: nothing has written to them since the group was EMPTY, and nothing else uses them."""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.rest import RestReading, TopicEnds
from kstreams_runbooks.model.readings.states import is_empty
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of, outside


def no_transaction(seen: TopicEnds) -> Verdict:
    """Whether the ends of one reading may be noted: a transaction that has not ended still moves them."""
    if seen.unknown:
        return Verdict(Outcome.INCONCLUSIVE, seen.unknown)
    if seen.open:
        return Verdict(
            Outcome.WAIT,
            (
                f"{first_of(seen.open)}: a transaction has not ended (expected none); it ends at its "
                "transaction.timeout.ms at the latest",
            ),
        )
    if seen.ongoing:
        return Verdict(
            Outcome.WAIT,
            (
                f"{first_of([outside(one, 80) for one in seen.ongoing])}: a transaction of the application has not "
                "ended (expected none); it ends at its transaction.timeout.ms at the latest",
            ),
        )
    return Verdict(Outcome.PROCEED, (f"{len(seen.ends):,} partitions have no open transaction",))


def at_rest(seen: RestReading, group: str) -> Verdict:
    """Refuse a deletion of topics that are written or used; inconclusive if that is not known; wait for a transaction.

    A certain refusal counts even if other readings failed.
    """
    if refused := tuple(dict.fromkeys(_refused(seen, group))):
        return Verdict(Outcome.REFUSE, refused)
    if unknown := tuple(dict.fromkeys(_unknown(seen))):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    for look in seen.looks:
        if look.open or look.ongoing:
            return no_transaction(look)
    spread_s = (seen.looks[-1].at_ms - seen.looks[0].at_ms) / 1000
    return Verdict(
        Outcome.PROCEED,
        (
            f"group {group} is EMPTY, nothing else uses these topics, and the ends of {len(seen.noted):,} partitions "
            f"did not move in {len(seen.looks)} readings over {spread_s:.1f} s",
        ),
    )


def unmoved(noted: Mapping[str, int], looks: tuple[TopicEnds, ...]) -> Verdict:
    """Whether nothing writes to topics that go for good: their ends are those that the plan has read (`noted`).

    `looks` are later readings. An application of which only a part goes may run, with transactions on other topics.
    """
    refused, unknown, waits = [], [], []
    for look in looks:
        refused += [
            f"{name}: its end moved from {noted[name]:,} to {end:,} since the plan (expected no write): it is in use; "
            "find its producer, then trigger a new run"
            for name, end in sorted(look.ends.items())
            if name in noted and end != noted[name]
        ]
        unknown += [
            *look.unknown,
            *(f"{name}: the plan has not read its end" for name in look.ends if name not in noted),
        ]
        waits += [f"{name}: a transaction has not ended (expected none): it is in use" for name in look.open]
    if refused:
        return Verdict(Outcome.REFUSE, tuple(dict.fromkeys(refused)))
    if unknown or waits or not looks:
        lacking = tuple(dict.fromkeys((*unknown, *waits)))
        return Verdict(Outcome.INCONCLUSIVE, lacking or ("the ends of these topics were not read",))
    count = len({name for look in looks for name in look.ends})
    return Verdict(Outcome.PROCEED, (f"the ends of {count:,} partitions did not move in {len(looks)} readings",))


def _refused(seen: RestReading, group: str) -> Iterator[str]:
    if not isinstance(seen.group, Missing) and (seen.group.members or not is_empty(seen.group.state)):
        clients = first_of([one.client_id for one in seen.group.members]) or "none listed"
        yield (
            f"group {group}: {seen.group.state}, {len(seen.group.members)} members (limit 0): {clients}; end what was "
            "started, then clear this task and what follows it"
        )
    for topic, users in sorted(seen.used_by.items()):
        if users:
            yield f"topic {topic}: {first_of(users)} (expected: the application alone); stop that use first"
    for look in seen.looks:
        for name, end in sorted(look.ends.items()):
            if name in seen.noted and end != seen.noted[name]:
                yield (
                    f"{name}: its end moved from {seen.noted[name]:,} to {end:,} since group {group} was EMPTY "
                    "(expected no write); find its producer, then undo this run"
                )


def _unknown(seen: RestReading) -> Iterator[str]:
    if isinstance(seen.group, Missing):
        yield seen.group.missing
    yield from seen.unknown
    if not seen.looks:
        yield "the ends of these topics were not read"
    for look in seen.looks:
        yield from look.unknown
        for name in sorted(look.ends.keys() ^ seen.noted.keys()):
            yield f"{name}: its end was not read, or not while the group was EMPTY (expected both)"
