"""What an instance's Streams client says of itself, by one Jolokia request.

The process is never asked: an instance in ERROR keeps its JVM. Its metrics go, though: Streams closes its client on
the way into ERROR and every bean with it (seen in 3.4.1 and 4.3.1), so "no Streams client in a JVM that lives" is a
reading of its own, with the JVM's start.
"""

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from kstreams_runbooks.model.address import printable
from kstreams_runbooks.model.readings import Missing, NoClient, Start, StreamsReading, Taken

_CLIENT = "kafka.streams:type=stream-metrics,client-id=*"
_RUNTIME = "java.lang:type=Runtime"
_UPDATER = "kafka.streams:type=stream-state-updater-metrics,*"
_TASKS = "kafka.streams:type=stream-task-metrics,*"
_RESTORING = "active-restoring-tasks"
_REMAINING = "restore-remaining-records-total"

_REQUEST = [
    {
        "type": "read",
        "mbean": _CLIENT,
        "attribute": [
            "application-id",
            "state",
            "version",
            "topology-description",
            "alive-stream-threads",
            "failed-stream-threads",
        ],
    },
    {"type": "read", "mbean": _RUNTIME, "attribute": ["Name", "StartTime"]},
    {"type": "read", "mbean": _UPDATER, "attribute": [_RESTORING]},
    {"type": "read", "mbean": _TASKS, "attribute": [_REMAINING]},
]
_OK = 200


def read_streams(
    metrics_url: str, *, application_id: str | None = None, timeout_s: float = 3.0
) -> StreamsReading | Missing:
    """The Streams client behind a Jolokia base URL (`http://host:port/jolokia`).

    With several clients in the JVM the one of `application_id` is taken. Missing says which of these it was: nobody
    listens, no answer within `timeout_s`, no Jolokia agent, more than one client, only clients of other applications;
    NoClient where the JVM has none at all.
    """
    import httpx

    source = f"jolokia {printable(metrics_url)}"
    taken = Taken(time.time_ns() // 1_000_000, source)
    try:
        answer = httpx.post(
            _endpoint(metrics_url),
            content=json.dumps(_REQUEST),
            timeout=timeout_s,
            trust_env=False,
            # Loading certificates takes longer than the whole request: only where there is TLS to verify.
            verify=urlsplit(metrics_url).scheme == "https",
        )
    except httpx.ConnectTimeout:
        return Missing(f"{source}: no connection within {timeout_s:g} s")
    except httpx.TimeoutException:
        return Missing(f"{source}: no answer within {timeout_s:g} s; the JVM is there but does not answer")
    except httpx.ConnectError:
        return Missing(f"{source}: connection refused; no process listens there")
    except httpx.HTTPError as error:
        return Missing(f"{source}: connection lost ({type(error).__name__})")
    if answer.status_code != _OK:
        return Missing(f"{source}: HTTP {answer.status_code} (expected 200); is this the agent's base URL?")
    try:
        parts = {part["request"]["mbean"]: part for part in answer.json()}
    except (ValueError, KeyError, TypeError):
        return Missing(f"{source}: the answer is not Jolokia's; is this the agent's base URL?")
    return streams_from(parts, taken, application_id)


def _endpoint(metrics_url: str) -> str:
    base = metrics_url if urlsplit(metrics_url).path.strip("/") else f"{metrics_url.rstrip('/')}/jolokia"
    return f"{base.rstrip('/')}/"


def streams_from(
    parts: Mapping[str, Mapping[str, Any]], taken: Taken, application_id: str | None = None
) -> StreamsReading | Missing:
    """The reading in Jolokia's answers by requested bean. Pure; a bean that is not there has status 404."""
    # Jolokia writes the keys of a pattern in its own order: compare them as sets.
    answers = {_keys(name): part for name, part in parts.items()}
    runtime = answers.get(_keys(_RUNTIME), {})
    start = _start(runtime)
    if isinstance(start, Missing):
        return Missing(f"{taken.source}: {start.missing}")
    clients = _beans(answers.get(_keys(_CLIENT), {}))
    if not clients:
        up_ms = _up_ms(runtime, start)
        up = "" if up_ms is None else f", up {up_ms // 1000} s"
        return NoClient(
            f"{taken.source}: no Kafka Streams client in the JVM (pid {start.pid}{up}): it is not made yet, "
            "or it is closed, as it is in ERROR and in NOT_RUNNING; read the instance's log",
            start,
            up_ms,
        )
    chosen = {
        name: values
        for name, values in clients.items()
        if application_id is None or values.get("application-id") == application_id
    }
    if len(chosen) != 1:
        ids = ", ".join(sorted(str(values.get("application-id")) for values in clients.values()))
        return Missing(
            f"{taken.source}: {len(chosen)} Kafka Streams clients of {application_id or 'any application'} in the JVM "
            f"(expected 1; application ids there: {ids})",
            start,
        )
    [(name, values)] = chosen.items()
    client_id = _property(name, "client-id")
    restoring = _restoring(answers.get(_keys(_UPDATER), {}), client_id, str(values.get("version")))
    return StreamsReading(
        taken=taken,
        start=start,
        client_id=client_id,
        application_id=str(values.get("application-id")),
        state=str(values.get("state")),
        version=str(values.get("version")),
        alive_threads=_count(values, "alive-stream-threads"),
        failed_threads=_count(values, "failed-stream-threads"),
        restoring=restoring,
        restore_remaining=_remaining(answers.get(_keys(_TASKS), {}), client_id, restoring),
        topology=str(values["topology-description"])
        if values.get("topology-description")
        else Missing("no topology-description among the client's metrics"),
    )


def _start(part: Mapping[str, Any]) -> Start | Missing:
    value = part.get("value")
    if part.get("status") != _OK or not isinstance(value, Mapping) or "StartTime" not in value:
        return Missing(f"no {_RUNTIME} in the answer")
    pid = str(value.get("Name", "")).partition("@")[0]
    return Start(int(value["StartTime"]), int(pid) if pid.isdigit() else None)


def _up_ms(part: Mapping[str, Any], start: Start) -> int | None:
    """By the agent's own clock, which the answer has in seconds: the reader's may be another one."""
    answered_s = part.get("timestamp")
    return max(0, int(answered_s) * 1000 - start.started_at_ms) if isinstance(answered_s, int | float) else None


def _beans(part: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    value = part.get("value")
    return dict(value) if part.get("status") == _OK and isinstance(value, Mapping) else {}


def _count(values: Mapping[str, Any], name: str) -> int | Missing:
    value = values.get(name)
    return int(value) if isinstance(value, int | float) else Missing(f"no {name} among the client's metrics")


def _restoring(part: Mapping[str, Any], client_id: str, version: str) -> int | Missing:
    """Active tasks that restore, over the state updater's threads."""
    values = [beans[_RESTORING] for name, beans in _beans(part).items() if _of_client(name, client_id)]
    if not values:
        return Missing(
            f"{version} has no {_RESTORING} here: the metric belongs to the state updater (KIP-869), which is the "
            "default from 3.8 on"
        )
    return int(sum(values))


def _remaining(part: Mapping[str, Any], client_id: str, restoring: int | Missing) -> int | Missing:
    """Records that restoring tasks have to go, -1 where Streams does not know yet.

    A task that is done keeps the transaction markers at the end of its changelog as "remaining" (1 or 2 records,
    seen in 4.3.1 under exactly_once_v2), so the figure means nothing once no task restores.
    """
    if isinstance(restoring, Missing):
        return Missing(f"{_REMAINING}: {restoring.missing}")
    if restoring == 0:
        return 0
    values = [beans[_REMAINING] for name, beans in _beans(part).items() if _of_client(name, client_id)]
    if not values:
        return Missing(f"{_REMAINING}: no task has reported it yet")
    return -1 if min(values) < 0 else int(sum(values))


def _of_client(name: str, client_id: str) -> bool:
    return _property(name, "thread-id").startswith(f"{client_id}-")


def _property(name: str, key: str) -> str:
    """Value of one key of an object name; empty where it has none."""
    pairs = dict(pair.partition("=")[::2] for pair in name.partition(":")[2].split(","))
    return pairs.get(key, "").strip('"')


def _keys(name: str) -> tuple[str, frozenset[str]]:
    domain, _, keys = name.partition(":")
    return domain, frozenset(keys.split(","))
