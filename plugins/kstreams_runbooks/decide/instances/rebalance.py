"""Whether a restart ended a member's session: the rebalance that it caused, in one sentence."""

from dataclasses import dataclass

from kstreams_runbooks.model.runs.restarts import Restart

# A member may have sent its last heartbeat so long before its stop: heartbeat.interval.ms, by default (ConsumerConfig).
_HEARTBEAT_MS = 3_000


@dataclass(frozen=True, slots=True)
class RestartEffect:
    """What a restart did to its group: `rebalanced` is None if that is not known. `expected`: no step can avoid it."""

    rebalanced: bool | None
    expected: bool
    sentence: str


def restart_effect(restart: Restart, forecast_s: tuple[int, int] | None) -> RestartEffect:
    """The seconds without the instance next to its forecast and, for a static member, next to its session timeout.

    A static member that is back within its session timeout keeps its tasks (KIP-345). It is certainly late if its
    process was gone for longer, and certainly in time if its client was seen within it.
    """
    of = "" if forecast_s is None else f" (expected {forecast_s[0]}–{forecast_s[1]} s)"
    most = f"at most {restart.gap_s:.1f} s" if restart.by_person else f"{restart.gap_s:.1f} s"
    looks = f", by a person, looked at every {restart.seen_every_ms / 1000:g} s" if restart.by_person else ""
    began = f"{restart.instance}, bounce {restart.bounce}: {most} from its stop until RUNNING{of}{looks}"
    if restart.at_once:
        return RestartEffect(True, True, f"{began}; all instances were down together, and its tasks assigned again")
    if not restart.static:
        why = "without static membership each restart is a rebalance: its tasks moved to the others and back"
        return RestartEffect(True, True, f"{began}; {why}")
    gone_ms = restart.started_ms - restart.stopped_ms
    if not restart.is_measured and (restart.session_ms is None or gone_ms <= restart.session_ms):
        why = (
            f"its agent gave no answer for {restart.unheard_ms / 1000:.0f} s of that: how long it was away is not known"
        )
        return RestartEffect(None, True, f"{began}; {why}")
    if restart.session_ms is None:
        why = f"session.timeout.ms is not known ({restart.session_source})"
        return RestartEffect(None, False, f"{began}; whether it caused a rebalance is not known: {why}")
    limit = f"session.timeout.ms {restart.session_ms:,} ({restart.session_source})"
    away_ms = restart.back_ms - restart.stop_requested_ms
    if gone_ms > restart.session_ms:
        why = f"its process was gone for {gone_ms / 1000:.1f} s, longer than {limit}: its member left the group"
        return RestartEffect(True, False, f"{began}; {why}, a rebalance that moved its tasks to the others and back")
    if away_ms + _HEARTBEAT_MS > restart.session_ms:
        why = f"it was back {away_ms / 1000:.1f} s after its stop at the latest, {limit}"
        return RestartEffect(None, False, f"{began}; {why}: its member may have left the group, a rebalance")
    return RestartEffect(False, True, f"{began}; back within {limit}: no rebalance")
