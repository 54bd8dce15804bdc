"""Whether the record of a run, its plan and its remembered values match its journal (decide/runs/chain.py)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kstreams_runbooks.model.runs.journal import (
    CONCLUDED,
    FACT,
    PLANNED,
    RUN,
    STARTED,
    WRITTEN,
    Entry,
    started_with,
    unpack,
    value_digest,
)
from kstreams_runbooks.model.runs.ledger import RunRecord

_LONGEST_VALUE = 60
_NOT_ENDED = {"outcome": None, "outcome_sentence": None, "ended_at_ms": None, "ended_entry": None}


@dataclass(frozen=True, slots=True)
class Kept:
    """The ledger's data of a run apart from its journal, and its counterparts."""

    record: RunRecord
    plan: Any
    plan_digest: str | None
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Break:
    """One break of the chain; `place` is the entry's, None for the run's record."""

    what: str
    place: int | None
    sentence: str


@dataclass
class _Said:
    """The journal's content, entry after entry."""

    begun: bool = False
    record: dict[str, Any] = field(default_factory=lambda: {"plan_digest": None, "wrote_at_ms": None, **_NOT_ENDED})
    facts: dict[str, Any] = field(default_factory=dict)
    plan_sha256: str | None = None

    def take(self, entry: Entry) -> None:
        """One more entry."""
        content = payload_of(entry)
        if entry.kind == FACT:
            self.facts[entry.name] = content.get("value")
        elif entry.kind == RUN and entry.name == STARTED:
            self.record |= content
            self.begun = True
        elif entry.kind == RUN and entry.name == PLANNED:
            self.record["plan_digest"], self.plan_sha256 = content.get("digest"), content.get("sha256")
        elif entry.kind == RUN and entry.name == WRITTEN:
            self.record |= content | _NOT_ENDED
        elif entry.kind == RUN and entry.name == CONCLUDED:
            self.record |= content | {"ended_entry": entry.seq}


def record_breaks(entries: Sequence[Entry], kept: Kept) -> Iterator[Break]:
    """Every difference between the ledger's other data of a run and its journal."""
    said = _Said()
    for entry in entries:
        said.take(entry)
    if not said.begun:
        yield Break("record", None, "the journal has no entry about the run's start: its record cannot be compared")
        return
    changing = {name: getattr(kept.record, name) for name in ("plan_digest", "wrote_at_ms", *_NOT_ENDED)}
    for name, value in (started_with(kept.record) | changing).items():
        now, then = _text(value), _text(said.record.get(name))
        if now != then:
            yield Break("record", None, f"{name} in the run's record is {_short(now)}, its journal says {_short(then)}")
    if kept.plan_digest != said.record["plan_digest"]:
        yield Break(
            "plan", None, f"the stored plan is {kept.plan_digest}, the journal says {said.record['plan_digest']}"
        )
    elif said.plan_sha256 is not None and said.plan_sha256 != value_digest(kept.plan):
        yield Break("plan", None, f"the stored plan {kept.plan_digest} was changed since it was stored")
    for name in sorted({*said.facts, *kept.facts}):
        if name not in said.facts or name not in kept.facts or said.facts[name] != kept.facts[name]:
            yield Break("fact", None, f"what the run remembers as {name} is not what its journal says")


def payload_of(entry: Entry) -> dict[str, Any]:
    """The content of an entry, empty if it cannot be read: its hash shows that it was changed."""
    try:
        found = unpack(entry.payload)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
