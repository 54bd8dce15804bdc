"""What an instance of the shipped copier reports about itself: one bean, read over Jolokia."""

import re
from collections.abc import Mapping
from typing import Any, Final

from kstreams_runbooks.model.readings.copying import CopierFigures
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.observe.application.agent import LIMITS, not_jolokia, of_agent, request_agent
from kstreams_runbooks.observe.application.jolokia import (
    APPLICATION_ID,
    STATE,
    NotJolokia,
    count,
    description,
    moment,
    pattern,
    text,
)
from kstreams_runbooks.wire.limits import ExchangeLimits
from kstreams_runbooks.wording import first_of, sentence

BEAN: Final = "kstreams.runbooks:type=topic-copier,*"
_VERSION = re.compile(r"[A-Za-z0-9._+() -]{1,100}")
_MODE = re.compile(r"[a-z-]{1,40}")
_ROUTE = re.compile(r"[A-Za-z0-9._-]{1,249} -> [A-Za-z0-9._-]{1,249}")
_ATTRIBUTES = (
    *("Version", "Group", "Routes", "Mode", "State", "StartedAtMs", "Lag", "LagReadAtMs", "CopiedRecords"),
    *("UntilLeft", "LastError", "LastErrorAtMs"),
)
_UNKNOWN = -1


def read_copier_figures(
    metrics_url: str, application_id: str, *, limits: ExchangeLimits = LIMITS
) -> CopierFigures | Missing:
    """The copier of this group behind a Jolokia base URL; Missing has the reason, as that of `read_streams`."""
    answer = request_agent(metrics_url, [{"type": "read", "mbean": BEAN, "attribute": [*_ATTRIBUTES]}], limits)
    if isinstance(answer, Missing):
        return answer
    try:
        return _of_group(pattern(answer.parts.get(BEAN), BEAN), answer.taken, application_id)
    except NotJolokia as error:
        return not_jolokia(answer.taken.source, error)


def _of_group(beans: Mapping[str, Mapping[str, Any]], taken: Taken, application_id: str) -> CopierFigures | Missing:
    copiers = [_figures(values, taken) for values in beans.values()]
    its = [one for one in copiers if one.group == application_id]
    if len(its) == 1:
        return its[0]
    groups = first_of(sorted(one.group for one in copiers)) or "none"
    return Missing(
        of_agent(taken.source, f"{len(its)} copiers of group {application_id} (expected 1; groups: {groups})")
    )


def _figures(values: Mapping[str, Any], taken: Taken) -> CopierFigures:
    lag, lag_at = _number(values, "Lag"), _time(values, "LagReadAtMs")
    return CopierFigures(
        taken=taken,
        version=_text(values, "Version", _VERSION),
        group=_text(values, "Group", APPLICATION_ID),
        routes=_routes(values.get("Routes")),
        mode=_text(values, "Mode", _MODE),
        state=_text(values, "State", STATE),
        started_at_ms=_time(values, "StartedAtMs") or 0,
        lag=Missing("the copier has not read its lag yet") if lag is None else lag,
        lag_at_ms=lag_at,
        copied=_number(values, "CopiedRecords") or 0,
        until_left=_number(values, "UntilLeft"),
        last_error=sentence(description(values, "LastError") or ""),
        last_error_at_ms=_time(values, "LastErrorAtMs"),
    )


def _text(values: Mapping[str, Any], name: str, shape: re.Pattern[str]) -> str:
    if (value := text(values, name, shape)) is None:
        raise NotJolokia(f"the copier has no {name}")
    return value


def _number(values: Mapping[str, Any], name: str) -> int | None:
    """A count; the copier gives -1 for an unknown one."""
    value = count(values, name, lowest=_UNKNOWN)
    if value is None:
        raise NotJolokia(f"the copier has no {name}")
    return None if value == _UNKNOWN else value


def _time(values: Mapping[str, Any], name: str) -> int | None:
    return None if _number(values, name) is None else moment(values, name, per_second=1000)


def _routes(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and _ROUTE.fullmatch(one) for one in value):
        raise NotJolokia("the copier's Routes have another shape")
    return tuple(value)
