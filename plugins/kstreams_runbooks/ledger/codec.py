"""Values to JSON and back: a decision can be made again from the ledger."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter

from kstreams_runbooks.ledger.older_rows import renewed

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def encode(value: Any) -> Any:
    """JSON-ready form of a value made of dataclasses, tuples and scalars."""
    return _ANY.dump_python(value, mode="json")


def decode(kind: Any, value: Any) -> Any:
    """The value of type `kind` that `encode` wrote, now or in an older release; ValueError if it does not fit."""
    return _adapter(kind).validate_python(renewed(value))


def encode_call(function: Callable[..., Any], inputs: dict[str, Any], result: Any) -> dict[str, Any]:
    """One pure decision as evidence: its name, its inputs, its result."""
    return {"decision": function.__name__, "inputs": encode(inputs), "result": encode(result)}


def result_of(function: Callable[..., Any], payload: dict[str, Any]) -> Any:
    """The kept result of a decision, with the fields that were added since at their defaults."""
    kept = renewed(payload["result"])
    return _joined(kept, encode(decode(get_type_hints(function)["return"], kept)))


def _joined(kept: Any, today: Any) -> Any:
    """`kept` with the keys that only `today` has."""
    if isinstance(kept, dict) and isinstance(today, dict):
        return {**{key: today[key] for key in today.keys() - kept.keys()}, **_each(kept, today)}
    if isinstance(kept, list) and isinstance(today, list) and len(kept) == len(today):
        return [_joined(one, other) for one, other in zip(kept, today, strict=True)]
    return kept


def _each(kept: dict[str, Any], today: dict[str, Any]) -> dict[str, Any]:
    return {key: _joined(value, today.get(key)) for key, value in kept.items()}


def call_again(function: Callable[..., Any], payload: dict[str, Any]) -> Any:
    """JSON form of today's answer of `function` to the inputs kept in `payload`."""
    hints = get_type_hints(function)
    inputs = {
        name: decode(hints[name], payload["inputs"][name])
        for name, parameter in inspect.signature(function).parameters.items()
        if name in payload["inputs"] or parameter.default is inspect.Parameter.empty
    }
    return encode(function(**inputs))
