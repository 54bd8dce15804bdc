"""Decisions as older releases kept them: a field that was added since is no difference."""

from dataclasses import asdict, dataclass
from typing import Any

import pytest
from kstreams_runbooks.ledger.codec import encode_call, result_of


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an answer; `added` came later."""

    name: str
    added: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a decision; `added` came later."""

    parts: tuple[Part, ...]
    added: int = 0


def decided(name: str) -> Answer:
    """A decision."""
    return Answer((Part(name),))


def kept(**changes: Any) -> dict[str, Any]:
    """What an older release kept: none of the added fields."""
    result = {"parts": [{"name": "a"}], **changes}
    return {"decision": "decided", "inputs": {"name": "a"}, "result": result}


def test_added_fields_have_their_defaults() -> None:
    """At any depth; the kept result is then the one of today."""
    today = encode_call(decided, {"name": "a"}, decided("a"))["result"]
    assert result_of(decided, kept()) == today == {"parts": [{"name": "a", "added": []}], "added": 0}
    assert asdict(decided("a"))["added"] == 0


@pytest.mark.parametrize("changes", [{"parts": [{"name": "b"}]}, {"parts": []}, {"added": 2}, {"gone": 1}])
def test_any_other_difference_stays(changes: dict[str, Any]) -> None:
    """Also a field that there is no longer."""
    today = encode_call(decided, {"name": "a"}, decided("a"))["result"]
    assert result_of(decided, kept(**changes)) != today
