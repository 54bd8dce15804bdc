"""One bulk request to a Jolokia agent: its parts by requested bean, or the reason why there are none."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.model.address import printable
from kstreams_runbooks.model.readings.readings import Lasting, Missing, NotListening, Taken
from kstreams_runbooks.model.web_address import REFUSED_LOGIN, login_words, web_address
from kstreams_runbooks.observe.application.jolokia import OK, parts_of
from kstreams_runbooks.wire.limits import ExchangeLimits

LIMITS = ExchangeLimits()


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """The parts of an answer as they came, by requested bean."""

    taken: Taken
    parts: Mapping[str, Mapping[str, Any]]


def request_agent(
    metrics_url: str, request: Sequence[Mapping[str, Any]], limits: ExchangeLimits
) -> AgentAnswer | Missing:
    """What the agent behind a Jolokia base URL (`http://host:port/jolokia`) answers.

    Missing has the reason: the URL is not valid, no process listens, no answer within `limits`, no Jolokia agent.
    Nothing that an agent sends raises.
    """
    from kstreams_runbooks.wire.http import NoAnswer, post
    from kstreams_runbooks.wire.strict_json import parsed

    source = f"jolokia {printable(metrics_url)}"
    taken = Taken(time.time_ns() // 1_000_000, source)
    try:
        address = web_address(metrics_url)
    except ValueError as error:
        return Lasting(of_agent(source, f"the URL {error}; correct `metrics` in the fleet entry"))
    try:
        answer = post(address, _path(address.path), json.dumps(request).encode(), "application/json", limits)
    except NoAnswer as error:
        sentence = of_agent(source, str(error))
        kind = Lasting if error.lasts else Missing if error.listening else NotListening
        return kind(sentence)
    if answer.status != OK:
        refused = answer.status in REFUSED_LOGIN
        why = f"{login_words(address)} is not accepted; correct it" if refused else "is this the agent's base URL?"
        sentence = of_agent(source, f"HTTP {answer.status} (expected 200); {why}")
        return Lasting(sentence) if refused else Missing(sentence)
    try:
        return AgentAnswer(taken, parts_of(parsed(answer.body)))
    except ValueError as error:
        return not_jolokia(source, error)


def of_agent(source: str, why: str) -> str:
    """A sentence about an agent: first the cause, last the address."""
    kind, _, address = source.partition(" ")
    return f"{kind}: {why} ({address})"


def not_jolokia(source: str, error: ValueError) -> Missing:
    """One value of another type than the agent gives it: the rest of such an answer is not reliable either."""
    return Missing(of_agent(source, f"the answer is not Jolokia's: {error}; is this the agent's base URL?"))


def _path(path: str) -> str:
    return f"{path.rstrip('/')}/" if path.strip("/") else "/jolokia/"
