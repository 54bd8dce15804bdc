"""What an instance's Streams client reports about itself, in one Jolokia request.

The process is never asked: an instance in ERROR keeps its JVM. Its metrics are gone: Streams closes its client on
the way into ERROR and every bean with it (seen in 3.4.1 and 4.3.1), so "no Streams client in a JVM that lives" is a
reading of its own, with the JVM's start.
"""

import re
from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.model.readings.buffers import SuppressBuffer
from kstreams_runbooks.model.readings.readings import Missing, NoClient, Start, StreamsReading, Taken
from kstreams_runbooks.observe.application.agent import LIMITS, not_jolokia, of_agent, request_agent
from kstreams_runbooks.observe.application.jolokia import (
    APPLICATION_ID,
    CLIENT_ID,
    STATE,
    STORE,
    TASK,
    VERSION,
    NotJolokia,
    bean,
    count,
    denied,
    description,
    moment,
    object_keys,
    pattern,
    text,
)
from kstreams_runbooks.wire.limits import ExchangeLimits
from kstreams_runbooks.wording import first_of

_CLIENT = "kafka.streams:type=stream-metrics,client-id=*"
_RUNTIME = "java.lang:type=Runtime"
_UPDATER = "kafka.streams:type=stream-state-updater-metrics,*"
_TASKS = "kafka.streams:type=stream-task-metrics,*"
_THREADS = "kafka.streams:type=stream-thread-metrics,*"
# Streams has no metric of the present size: the largest in its window is the nearest.
_STATE_ID = "in-memory-suppression-state-id"
_BUFFERS = f"kafka.streams:type=stream-state-metrics,{_STATE_ID}=*,*"
_RECORDS, _BYTES = "suppression-buffer-count-max", "suppression-buffer-size-max"
_RESTORING = "active-restoring-tasks"
_REMAINING = "restore-remaining-records-total"
_DROPPED = "dropped-records-total"
_CLOSED = "task-closed-total"

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
    {"type": "read", "mbean": _TASKS, "attribute": [_REMAINING, _DROPPED]},
    {"type": "read", "mbean": _THREADS, "attribute": [_CLOSED]},
    {"type": "read", "mbean": _BUFFERS, "attribute": [_RECORDS, _BYTES]},
]
_GLOBAL_THREAD = "-GlobalStreamThread"
_PID = re.compile(r"[0-9]{1,9}")
# How many application ids one sentence names.
_SHOWN = 5


def read_streams(
    metrics_url: str, *, application_id: str | None = None, limits: ExchangeLimits = LIMITS
) -> StreamsReading | Missing:
    """The Streams client behind a Jolokia base URL (`http://host:port/jolokia`).

    With several clients in the JVM, the one of `application_id` is read. Missing has the reason: the URL is not valid,
    no process listens, no answer within `limits`, no Jolokia agent, more than one client, only clients of other
    applications; NoClient if the JVM has none at all. Nothing that an agent sends raises.
    """
    answer = request_agent(metrics_url, _REQUEST, limits)
    return answer if isinstance(answer, Missing) else streams_from(answer.parts, answer.taken, application_id)


def streams_from(
    parts: Mapping[str, Mapping[str, Any]], taken: Taken, application_id: str | None = None
) -> StreamsReading | Missing:
    """The reading in Jolokia's answers by requested bean. Pure; a bean that does not exist has status 404.

    One value of another type than Kafka Streams gives it makes the whole reading Missing: the rest of such an answer is
    not reliable either.
    """
    try:
        return _streams(parts, taken, application_id)
    except NotJolokia as error:
        return not_jolokia(taken.source, error)


def _streams(
    parts: Mapping[str, Mapping[str, Any]], taken: Taken, application_id: str | None
) -> StreamsReading | Missing:
    # Jolokia writes the keys of a pattern in its own order: compare them as sets.
    answers = {_keys(name): part for name, part in parts.items()}
    runtime = answers.get(_keys(_RUNTIME))
    start = _start(runtime)
    if isinstance(start, Missing):
        return Missing(of_agent(taken.source, start.missing))
    clients = pattern(answers.get(_keys(_CLIENT)), _CLIENT)
    if not clients:
        up_ms = _up_ms(runtime, start)
        up = "" if up_ms is None else f", up {up_ms // 1000} s"
        return NoClient(
            of_agent(
                taken.source,
                f"no Kafka Streams client in the JVM (pid {start.pid}{up}): it is not made yet, or it is closed, as it "
                "is in ERROR and in NOT_RUNNING; read the instance's log",
            ),
            start,
            up_ms,
        )
    ids = {name: text(values, "application-id", APPLICATION_ID) for name, values in clients.items()}
    chosen = [name for name, found in ids.items() if application_id is None or found == application_id]
    if len(chosen) != 1:
        there = sorted(str(found) for found in ids.values())
        return Missing(
            of_agent(
                taken.source,
                f"{len(chosen)} Kafka Streams clients of {application_id or 'any application'} in the JVM (expected 1; "
                f"application ids there: {first_of(there, _SHOWN)})",
            ),
            start,
        )
    return _client(chosen[0], clients[chosen[0]], answers, taken, start)


def _client(
    name: str,
    values: Mapping[str, Any],
    answers: Mapping[tuple[str, frozenset[str]], Mapping[str, Any]],
    taken: Taken,
    start: Start,
) -> StreamsReading:
    client_id = _property(name, "client-id")
    if not CLIENT_ID.fullmatch(client_id):
        raise NotJolokia("client-id has another shape than Kafka Streams gives it")
    version = _needed(text(values, "version", VERSION), "version")
    restoring = _restoring(answers.get(_keys(_UPDATER)), client_id, version)
    return StreamsReading(
        taken=taken,
        start=start,
        client_id=client_id,
        application_id=_needed(text(values, "application-id", APPLICATION_ID), "application-id"),
        state=_needed(text(values, "state", STATE), "state"),
        version=version,
        alive_threads=_count(values, "alive-stream-threads"),
        failed_threads=_count(values, "failed-stream-threads"),
        restoring=restoring,
        restore_remaining=_remaining(answers.get(_keys(_TASKS)), client_id, restoring),
        topology=description(values, "topology-description")
        or Missing("no topology-description among the client's metrics"),
        buffers=_buffers(answers.get(_keys(_BUFFERS)), client_id),
        dropped=_dropped(answers.get(_keys(_TASKS)), client_id),
        closed_tasks=_closed(answers.get(_keys(_THREADS)), client_id),
    )


def _needed(value: str | None, name: str) -> str:
    if value is None:
        raise NotJolokia(f"a client has no {name}")
    return value


def _start(part: Mapping[str, Any] | None) -> Start | Missing:
    value = bean(part, _RUNTIME)
    started_at_ms = None if value is None else moment(value, "StartTime", per_second=1000)
    if value is None or started_at_ms is None:
        return Missing(f"no {_RUNTIME} in the answer")
    name = value.get("Name", "")
    pid = name.partition("@")[0] if isinstance(name, str) else ""
    return Start(started_at_ms, int(pid) if _PID.fullmatch(pid) else None)


def _up_ms(part: Mapping[str, Any] | None, start: Start) -> int | None:
    """By the agent's own clock, which the answer has in seconds: the reader's clock may differ."""
    answered_s = None if part is None else moment(part, "timestamp", per_second=1)
    return None if answered_s is None else max(0, answered_s * 1000 - start.started_at_ms)


def _count(values: Mapping[str, Any], name: str) -> int | Missing:
    value = count(values, name)
    return Missing(f"no {name} among the client's metrics") if value is None else value


def _restoring(part: Mapping[str, Any] | None, client_id: str, version: str) -> int | Missing:
    """Active tasks that restore, over the state updater's threads."""
    values = _figures(part, _UPDATER, client_id, _RESTORING, lowest=0)
    if not values:
        return Missing(
            f"{version} has no {_RESTORING} here: the metric belongs to the state updater (KIP-869), which is the "
            "default from 3.8 on"
        )
    return sum(values)


def _remaining(part: Mapping[str, Any] | None, client_id: str, restoring: int | Missing) -> int | Missing:
    """Records that restoring tasks still have to restore, -1 if Streams does not know yet.

    A task that is done keeps the transaction markers at the end of its changelog as "remaining" (1 or 2 records, seen
    in 4.3.1 under exactly_once_v2), so the figure means nothing once no task restores.
    """
    values = _figures(part, _TASKS, client_id, _REMAINING, lowest=-1)
    if isinstance(restoring, Missing):
        return Missing(f"{_REMAINING}: {restoring.missing}")
    if restoring == 0:
        return 0
    if not values:
        return Missing(f"{_REMAINING}: no task has reported it yet")
    return -1 if min(values) < 0 else sum(values)


def _dropped(part: Mapping[str, Any] | None, client_id: str) -> tuple[tuple[str, int], ...] | Missing:
    """Records that each task has dropped since its start: too late for their windows, or without a key or a time."""
    found = []
    for place, values in sorted(pattern(part, _TASKS).items()) if not denied(part) else ():
        if not _of_client(place, client_id):
            continue
        number = count(values, _DROPPED)
        if number is None:
            return Missing(f"a task has no {_DROPPED}")
        found.append((_shaped(_property(place, "task-id"), TASK, "a task"), number))
    return tuple(found) if found else Missing(f"no task has reported its {_DROPPED}")


def _closed(part: Mapping[str, Any] | None, client_id: str) -> int | Missing:
    """How often its threads have closed a task since their start: the figures of a task go with it."""
    values = _figures(part, _THREADS, client_id, _CLOSED, lowest=0) if not denied(part) else []
    return sum(values) if values else Missing(f"no thread has reported its {_CLOSED}")


def _buffers(part: Mapping[str, Any] | None, client_id: str) -> tuple[SuppressBuffer, ...] | Missing:
    """The buffers of its suppress operators, none if no task has one; no decision about an upgrade needs them."""
    if denied(part):
        return Missing(f"the agent gives no answer about {_BUFFERS}; does its access policy allow it?")
    return tuple(
        SuppressBuffer(
            _shaped(_property(place, _STATE_ID), STORE, "a suppress buffer"),
            _shaped(_property(place, "task-id"), TASK, "the task of a suppress buffer"),
            count(values, _RECORDS),
            count(values, _BYTES),
        )
        for place, values in sorted(pattern(part, _BUFFERS).items())
        if _of_client(place, client_id)
    )


def _shaped(name: str, shape: re.Pattern[str], what: str) -> str:
    if not shape.fullmatch(name):
        raise NotJolokia(f"{what} has another name than Kafka Streams gives it")
    return name


def _figures(part: Mapping[str, Any] | None, what: str, client_id: str, name: str, *, lowest: int) -> list[int]:
    """One figure of every bean of the client; empty if one of them lacks it: a sum without it would be too small."""
    found = [
        count(values, name, lowest=lowest)
        for place, values in pattern(part, what).items()
        if _of_client(place, client_id)
    ]
    known = [value for value in found if value is not None]
    return known if len(known) == len(found) else []


def _of_client(name: str, client_id: str) -> bool:
    """Whether a bean is of a thread of the client that has tasks: the one of global stores has its own (-1_-1)."""
    thread = _property(name, "thread-id")
    return thread.startswith(f"{client_id}-") and not thread.endswith(_GLOBAL_THREAD)


def _property(name: str, key: str) -> str:
    """Value of one key of an object name; empty if it has none."""
    return object_keys(name).get(key, "")


def _keys(name: str) -> tuple[str, frozenset[str]]:
    domain, _, keys = name.partition(":")
    return domain, frozenset(keys.split(","))
