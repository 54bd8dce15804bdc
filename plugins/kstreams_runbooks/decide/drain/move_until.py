"""Until when a person may move a downstream group.

The group goes on at the seam. Brokers delete the records behind the seam, and forget the offsets of a group without
members. Half of the smallest of these times is left to the person, the other half to the group until its first commit.
"""

from collections.abc import Sequence

from kstreams_runbooks.model.readings.cutover import KeptFor
from kstreams_runbooks.model.readings.hold import seconds_text
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.times import SECOND_MS, utc_minute
from kstreams_runbooks.model.verdicts import Outcome, Verdict

_SHARE = 2


def time_to_move(kept: Sequence[KeptFor]) -> tuple[int, str] | Missing | None:
    """Half of the smallest of these times (ms) with where it is from; None if nothing limits it.

    Missing if one is not known, or none was read.
    """
    if not kept:
        return Missing("how long brokers keep its offsets was not read")
    known = list[tuple[int, str]]()
    for one in kept:
        if isinstance(one.ms, Missing):
            return Missing(f"{one.what}: {one.ms.missing}")
        if one.ms is not None:
            known.append((one.ms, one.what))
    if not known:
        return None
    smallest, what = min(known)
    return smallest // _SHARE, f"half of {what}, {seconds_text(smallest / SECOND_MS)}"


def may_still_move(entry: str, seam_at_ms: int, now_ms: int, kept: tuple[KeptFor, ...]) -> Verdict:
    """Whether a group that a person moves may move now; the sentence has its deadline. Source: KIP-211."""
    left = time_to_move(kept)
    if isinstance(left, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"until when {entry} may move is not known: {left.missing}",))
    if left is None:
        return Verdict(Outcome.PROCEED, (f"{entry} may move at any time: what it goes on from has no limit",))
    until_ms, why = seam_at_ms + left[0], f"{left[1]}, from the seam on"
    if now_ms <= until_ms:
        return Verdict(Outcome.PROCEED, (f"{entry} may move until {utc_minute(until_ms)} ({why})",))
    return Verdict(
        Outcome.REFUSE,
        (
            f"{entry} did not move until {utc_minute(until_ms)} (the limit: {why}): what it goes on from may be "
            "deleted before it is read; a new seam is needed: undo this run, then trigger a new one",
        ),
    )
