"""Whether records come too late because processing stops for a while: a backlog is a catch-up.

Live, the partitions of an input advance together. After a stop each task reads its own backlog as fast as it can, and
stream time behind a repartition topic follows the foremost: a window whose end and grace it has passed drops the
records of the others. A store whose tasks each read one partition of one input loses nothing, however long the stop.

Half of the grace is left for what nothing forecasts. Source: Kafka Streams core concepts, "Out-of-Order Handling";
developer guide, "Windowing" (grace period); tests/long/test_holds_and_grace.py.
"""

import math
from collections.abc import Iterable, Iterator

from kstreams_runbooks.decide.catch_up.disorder import grace_of, is_in_order
from kstreams_runbooks.decide.change.described import Known, side_of
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.upstream import inputs_of
from kstreams_runbooks.model.readings.disorder import LateLoss, LateStore, PartitionOrder, Stop
from kstreams_runbooks.model.readings.hold import HoldForecast, seconds_text
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.model.topology.declaration import DeclaredStore, Described
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of

ACCEPT = "accept_late_loss"
_CURE = f"make the stop shorter, or accept the loss: give {ACCEPT} a reason"
# Of a grace: what a stop and the disorder of the inputs may use together.
_SHARE = 0.5
# A roll stops the partitions of one instance while the others go on. Below this share of a grace it needs no look at
# the inputs; a roll of so few seconds takes no longer than an ordinary rebalance.
_OF_A_ROLL, _SHORT_ROLL_S = 0.25, 30.0
_SOURCE = "Kafka Streams developer guide, Windowing (grace period); docs/holding_inputs.md"

Orders = tuple[PartitionOrder, ...]


def longest_stop(plan: Plan, held: HoldForecast | None) -> Stop | None:
    """The longest time in which one side's part of a plan processes nothing, None if it stops nothing.

    `held` is the forecast of a hold of its inputs.
    """
    if held is not None:
        return Stop(held.seconds[1], "its inputs are held")
    if not plan.bounces or not plan.costs:
        return None
    seconds = float(max(cost.gap_s[1] for cost in plan.costs))
    if plan.start is not None:
        return Stop(seconds, "it is stopped")
    clears = any(one.clears is not None for one in plan.bounces)
    return Stop(seconds, "an instance is restarted", rolls=not clears)


def late_stores(versions: Iterable[Described], known: Known) -> tuple[LateStore, ...]:
    """The stores that may drop records because others come first, by name; of several versions the least grace counts.

    Left out are stores behind a single partition: its order stays.
    """
    found: dict[str, LateStore] = {}
    for side in (side_of(parsed(one), known) for one in versions):
        for late in _late_stores(side, known):
            earlier = found.get(late.store)
            if earlier is None or _grace(late) < _grace(earlier):
                found[late.store] = late
    return tuple(found[name] for name in sorted(found))


def needs_orders(late: Iterable[LateStore], stop: Stop) -> tuple[str, ...]:
    """The inputs whose last records decide whether a stop is too long, sorted."""
    return tuple(
        sorted({topic for one in late if one.grace_ms != 0 and not _is_short_roll(one, stop) for topic in one.inputs})
    )


def may_stop(
    late: tuple[LateStore, ...],
    stop: Stop,
    orders: Orders | Missing,
    accepted: str,
    *,
    asks: bool,
    unread: tuple[str, ...] = (),
) -> Verdict:
    """Refuse a stop after which a store drops records; inconclusive if that is not known.

    `orders` has the last records of each partition of `needs_orders`, `unread` why a version is not described: its
    stores are not among `late`. With a reason (`accepted`), or if the run `asks` in any case, it proceeds: the approval
    has each store, with the most that it may drop.
    """
    losses = tuple(late_losses(late, stop, orders))
    standing = tuple(_without_grace(one) for one in late if one.grace_ms == 0)
    open_ = () if stop.rolls and stop.seconds <= _SHORT_ROLL_S else tuple(_of_unread(why, stop) for why in unread)
    if not losses and not open_:
        return Verdict(Outcome.PROCEED, ("no store drops records because of the stop",), standing)
    if accepted or asks:
        because = f"; accepted with the reason: {accepted}" if accepted else ""
        told = [(one.late.store, _sentence(one, stop)) for one in losses] + [("stores", one) for one in open_]
        findings = tuple(Finding("late-after-stop", "danger", of, f"{said}{because}", _SOURCE) for of, said in told)
        return Verdict(
            Outcome.PROCEED, ("records that may come too late are shown to the approver",), standing + findings
        )
    certain = [one for one in losses if _is_known(one)]
    stores = tuple(f"store {one.late.store} {_sentence(one, stop)}; {_CURE}" for one in certain or losses[:1])
    if not certain and len(losses) > 1:
        stores = (*stores, f"the same of {first_of([one.late.store for one in losses[1:]])}")
    cause = f"; correct that, or accept the loss: give {ACCEPT} a reason"
    return Verdict(
        Outcome.REFUSE if certain else Outcome.INCONCLUSIVE,
        (*stores, *(f"{one}{cause}" for one in open_)),
        standing,
    )


def _of_unread(why: str, stop: Stop) -> str:
    return (
        f"which stores drop records as late is not known, and {stop.what} for up to {seconds_text(stop.seconds)}: {why}"
    )


def late_losses(late: Iterable[LateStore], stop: Stop, orders: Orders | Missing) -> Iterator[LateLoss]:
    """What each store may drop after a stop; one that certainly drops nothing is left out, and one without a grace."""
    for one in late:
        if one.grace_ms == 0 or _is_short_roll(one, stop):
            continue
        back = _step_back_ms(one, orders)
        stop_ms = stop.seconds * SECOND_MS
        if isinstance(one.grace_ms, Missing):
            allowed: int | Missing = one.grace_ms
        elif isinstance(back, Missing):
            # Too long in any order of the inputs.
            allowed = int(one.grace_ms * _SHARE) if stop_ms > one.grace_ms * _SHARE else back
        else:
            allowed = max(0, int(one.grace_ms * _SHARE) - back)
        if isinstance(allowed, Missing) or stop_ms > allowed:
            yield LateLoss(one, back, allowed, _records(one, stop, orders))


def _late_stores(side: Side, known: Known) -> Iterator[LateStore]:
    for name, place in sorted(side.store_places.items()):
        grace = grace_of(side, name)
        if grace is None or is_in_order(side, name):
            continue
        inputs = inputs_of(side.topology, name, known.partitions)
        counts = [known.partitions.get(topic) for topic in inputs]
        if counts == [1]:
            continue
        yield LateStore(name, place, inputs, grace, _windows(side, name))


def _windows(side: Side, store: str) -> int | None:
    window = side.declared.stores.get(store, DeclaredStore()).window
    if window is None or window.kind == "join":
        return 0
    if window.kind == "hopping" and window.advance_ms:
        return math.ceil(window.size_ms / window.advance_ms)
    return None if window.kind == "sliding" else 1


def _grace(late: LateStore) -> float:
    return -1 if isinstance(late.grace_ms, Missing) else late.grace_ms


def _is_short_roll(late: LateStore, stop: Stop) -> bool:
    if isinstance(late.grace_ms, Missing):
        return stop.rolls and stop.seconds <= _SHORT_ROLL_S
    return stop.rolls and stop.seconds * SECOND_MS <= late.grace_ms * _OF_A_ROLL


def _of(late: LateStore, orders: Orders | Missing) -> Orders | Missing:
    """The last records of each partition of the inputs."""
    if isinstance(orders, Missing):
        return orders
    if not late.inputs:
        return Missing("no topic is known that leads to it")
    for topic in late.inputs:
        if not any(one.topic == topic for one in orders):
            return Missing(f"the last records of {topic} were not read")
    return tuple(one for one in orders if one.topic in late.inputs)


def _step_back_ms(late: LateStore, orders: Orders | Missing) -> int | Missing:
    found = _of(late, orders)
    return found if isinstance(found, Missing) else max((one.step_back_ms for one in found), default=0)


def _records(late: LateStore, stop: Stop, orders: Orders | Missing) -> int | Missing:
    """All that the inputs get during the stop, at the rate of their last records by their own time."""
    found = _of(late, orders)
    if isinstance(found, Missing):
        return found
    return math.ceil(sum(one.records / max(1, one.span_ms) * SECOND_MS for one in found) * stop.seconds)


def _is_known(loss: LateLoss) -> bool:
    return not isinstance(loss.allowed_ms, Missing)


def _sentence(loss: LateLoss, stop: Stop) -> str:
    late = loss.late
    stops = f"{stop.what} for up to {seconds_text(stop.seconds)}"
    if isinstance(late.grace_ms, Missing):
        return f"may drop records as late after {stops}: {late.grace_ms.missing}"
    drops = f"drops records that come more than {_s(late.grace_ms)} late"
    if isinstance(loss.allowed_ms, Missing):
        return f"{drops}, and {stops}; whether that is too long is not known: {loss.allowed_ms.missing}"
    back = (
        ""
        if isinstance(loss.step_back_ms, Missing) or not loss.step_back_ms
        else (f" less the {_s(loss.step_back_ms)} by which records of {first_of(late.inputs)} are out of order")
    )
    return f"{drops}, and {stops} (limit {_s(loss.allowed_ms)}: half of that{back}): {_most(loss)} afterwards"


def _most(loss: LateLoss) -> str:
    if isinstance(loss.records, Missing):
        return f"how many it may drop is not known ({loss.records.missing}), and it drops them"
    windows = loss.late.windows
    within = (
        ""
        if windows == 0
        else ", in an unknown number of windows,"
        if windows is None
        else (f" in up to {loss.records * windows:,} windows")
    )
    return f"it may drop up to {loss.records:,} records{within}"


def _without_grace(late: LateStore) -> Finding:
    return Finding(
        "grace-of-zero",
        "warning",
        late.store,
        "has a grace of 0: it drops each record that comes after a later one has closed its window, also while nothing "
        "is stopped; after a stop more records come so",
        _SOURCE,
    )


def _s(ms: int) -> str:
    return seconds_text(ms / SECOND_MS)
