"""Whether a growth has arrived: every partition is assigned, and each new record is where the new number puts it.

RUNNING, a Stable group and no lag on known partitions prove nothing: an assignment from before the growth has the old
partitions, and its producers hash by their number.
"""

from collections.abc import Iterator

from kstreams_runbooks.model.readings.growth import TopicForecast
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.readings.states import is_stable
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of, outside

_LONGEST_KEY = 80


def growth_is_proven(
    read: tuple[tuple[str, int], ...], group: GroupReading | Missing, since: tuple[TopicForecast, ...] | Missing
) -> Verdict:
    """Refuse a partition without a member, and a record since the growth that is not in its key's partition.

    `read` are the grown topics that the group reads, with their numbers; `since` has the keys of their records since
    the growth, with the new number as the number of before. Inconclusive if one is not known, or no input has a record
    since then.
    """
    refused = (*_unassigned(read, group), *_misplaced(since))
    if refused:
        return Verdict(Outcome.REFUSE, refused)
    if unknown := tuple(_unknown(group, since)):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    topics = () if isinstance(since, Missing) else since
    keys = sum(one.keyed.keys for one in topics)
    placed = [one.topic for one in topics if one.keyed.keys]
    partitions = sum(number for _, number in read)
    return Verdict(
        Outcome.PROCEED,
        (
            f"every one of {partitions:,} partitions has a member; {keys:,} keys of {len(placed):,} topics have "
            "records since the growth, each in the partition of its new number",
            *(
                f"topic {one.topic}: no record since the growth is left to read, so where its keys are is not looked at"
                for one in topics
                if not one.keyed.keys
            ),
        ),
    )


def _unassigned(read: tuple[tuple[str, int], ...], group: GroupReading | Missing) -> Iterator[str]:
    if isinstance(group, Missing) or not is_stable(group.state):
        return
    held = {name for member in group.members for name in member.partitions}
    wanted = [f"{topic}-{number}" for topic, count in read for number in range(count)]
    if lacking := [name for name in wanted if name not in held]:
        yield (
            f"group {group.group_id}: {len(lacking):,} of {len(wanted):,} partitions have no member "
            f"({first_of(lacking)}; limit 0): an instance goes on with its assignment from before the growth; restart "
            "all instances at once"
        )


def _misplaced(since: tuple[TopicForecast, ...] | Missing) -> Iterator[str]:
    for one in () if isinstance(since, Missing) else since:
        if one.misplaced:
            placed = next(iter(one.examples.get("misplaced", ())), None)
            numbers = "" if placed is None else " and ".join(map(str, placed.input))
            where = "" if placed is None else f": key {outside(placed.key, _LONGEST_KEY)} is in partition {numbers}"
            yield (
                f"topic {one.topic}: {one.misplaced:,} keys have records since the growth in another partition than "
                f"{one.after:,} partitions give (limit 0){where}: a producer still hashes by the old number: stop it; "
                "then clear prove_growth once retention has deleted these records"
            )


def _unknown(group: GroupReading | Missing, since: tuple[TopicForecast, ...] | Missing) -> Iterator[str]:
    if isinstance(group, Missing):
        yield f"whether every partition is assigned is not known: {group.missing}"
    elif not is_stable(group.state):
        yield f"group {group.group_id} is {group.state} (expected Stable): clear prove_growth once it is"
    if isinstance(since, Missing):
        yield f"where new records are is not known: {since.missing}"
    elif not any(one.keyed.keys for one in since if one.kind == "input"):
        yield (
            "no record with a key since the growth (expected at least one): where producers put keys is not proven; "
            "wait for a record, then clear prove_growth and what follows it"
        )
