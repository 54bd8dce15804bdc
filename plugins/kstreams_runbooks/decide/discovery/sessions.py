"""Whether the session timeout of each instance covers its restarts, from those that runs have measured."""

import math
from collections.abc import Sequence

from kstreams_runbooks.decide.releases.consumer_settings import SESSION
from kstreams_runbooks.model.discovery.readiness import Sessions
from kstreams_runbooks.model.runs.restarts import EarlierRestart

# What a restart may take longer than the slowest that was measured: one on a busy machine, or after a crash.
_ROOM = 1.5


def session_advice(restarts: Sequence[EarlierRestart]) -> Sessions:
    """Instance by instance, from the newest restarts of an application, oldest first.

    A static member that is away for longer than its session timeout leaves the group: its tasks move to the others and
    back. The whole roll is the sum of the slowest
    restarts, without the gates between them. Source: KIP-345.
    """
    if not restarts:
        return Sessions("not known", ("no restart was measured yet: a rolling bounce of the present release does it",))
    static = [one.restart for one in restarts if one.restart.static]
    if not static:
        return Sessions(
            "not needed", ("members are dynamic: each stop moves their tasks, and no timeout prevents that",)
        )
    gaps: dict[str, list[float]] = {}
    for one in static:
        gaps.setdefault(one.instance, []).append(one.gap_s)
    newest = {one.instance: one for one in static}
    slowest = {instance: max(seconds) for instance, seconds in sorted(gaps.items())}
    said = [
        f"{instance}: slowest of {len(gaps[instance])} {gap:.1f} s, {SESSION} {_ms(newest[instance].session_ms)} "
        f"({newest[instance].session_source})"
        for instance, gap in slowest.items()
    ]
    said.append(f"all of them one after another: {sum(slowest.values()):.0f} s without the gates")
    needed_ms = math.ceil(_ROOM * max(slowest.values())) * 1000
    unknown = [instance for instance in slowest if newest[instance].session_ms is None]
    short = [
        instance
        for instance, gap in slowest.items()
        if (session_ms := newest[instance].session_ms) is not None and session_ms < gap * 1000 * _ROOM
    ]
    if short:
        said.append(f"set {SESSION} of {', '.join(short)} to {needed_ms:,} or more: half more than the slowest restart")
        return Sessions("missing", tuple(said))
    return Sessions("not known" if unknown else "ready", tuple(said))


def _ms(value: int | None) -> str:
    return "not known" if value is None else f"{value:,}"
