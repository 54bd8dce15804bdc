"""Values to JSON and back: a decision can be made again from the ledger."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def encode(value: Any) -> Any:
    """JSON-ready form of a value made of dataclasses, tuples and scalars."""
    return _ANY.dump_python(value, mode="json")


def decode(kind: Any, value: Any) -> Any:
    """The value of type `kind` that `encode` wrote; ValueError if it does not fit."""
    return _adapter(kind).validate_python(value)


def encode_call(function: Callable[..., Any], inputs: dict[str, Any], result: Any) -> dict[str, Any]:
    """One pure decision as evidence: its name, its inputs, its result."""
    return {"decision": function.__name__, "inputs": encode(inputs), "result": encode(result)}


def call_again(function: Callable[..., Any], payload: dict[str, Any]) -> Any:
    """JSON form of today's answer of `function` to the inputs kept in `payload`."""
    hints = get_type_hints(function)
    inputs = {
        name: decode(hints[name], payload["inputs"][name])
        for name, parameter in inspect.signature(function).parameters.items()
        if name in payload["inputs"] or parameter.default is inspect.Parameter.empty
    }
    return encode(function(**inputs))
