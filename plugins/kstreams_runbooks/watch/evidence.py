"""The evidence of a run as one document: its plan, approvals, readings and decisions; in pieces if it is long."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, TypeVar

from kstreams_runbooks.decide.registry import DECISIONS
from kstreams_runbooks.decide.runs.chain import ChainVerdict, chain_holds, clock_steps
from kstreams_runbooks.decide.runs.chain_record import Kept
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import Inconclusive, RunbookError
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import call_again, decode, encode
from kstreams_runbooks.model.runs.journal import READING
from kstreams_runbooks.model.runs.ledger import Evidence, RunRecord
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.watch.restarts import about_gate, restarts, shares

_T = TypeVar("_T")

# Part of the document: kind of evidence.
_SHOWN = {"readings": "reading", "verdicts": "verdict", "writes": "write", "failures": "failure", "notes": "note"}


class Readings(StrEnum):
    """How much of the raw readings a document has: none, those inside decisions (their inputs), or all."""

    NONE = "none"
    VERDICTS = "verdicts"
    ALL = "all"


def as_document(ledger: Ledger, record: RunRecord, readings: Readings = Readings.NONE) -> dict[str, Any]:
    """Everything in the ledger about one run; times are Unix milliseconds. Inconclusive for a damaged entry.

    A long run has megabytes of readings: `summary` and `pieces` are the same in parts.
    """
    return {**summary(ledger, record), **{name: list(pieces(ledger, record, name, readings)) for name in _SHOWN}}


def summary(ledger: Ledger, record: RunRecord) -> dict[str, Any]:
    """The parts of the document that are short for any run."""
    restarted = restarts(ledger, record, plan_of(ledger, record))
    spent = shares(ledger, record, restarted)
    return {
        "run": encode(record),
        "plan": ledger.plan(record.run_key),
        "approvals": [encode(approval) for approval in ledger.approvals(record.run_key)],
        "cards": [encode(card) for card in ledger.cards(record.run_key)],
        "holds": [encode(hold) for hold in ledger.holds() if hold.run_key == record.run_key],
        "notifications": [encode(delivery) for delivery in ledger.notifications(record.run_key)],
        "chain": _chain(ledger, record),
        "restarts": restarted,
        "time_shares": {"whole_ms": spent.whole_ms, "ms": dict(spent.ms), "sentence": spent.sentence},
    }


def parts() -> tuple[str, ...]:
    """The names of the parts of the document that `pieces` has."""
    return tuple(_SHOWN)


def pieces(ledger: Ledger, record: RunRecord, part: str, readings: Readings) -> Iterator[dict[str, Any]]:
    """One of the long parts, read page by page."""
    if part == "readings" and readings is not Readings.ALL:
        return
    for piece in ledger.pieces(record.run_key, _SHOWN[part]):
        yield _piece(piece, inputs=readings is not Readings.NONE)


def require_readable(ledger: Ledger, record: RunRecord) -> None:
    """Inconclusive if an entry of the run cannot be read: before the first part is printed, not in the middle."""
    for _ in ledger.pieces(record.run_key):
        pass


def plan_of(ledger: Ledger, record: RunRecord) -> Plan | None:
    """The stored plan as a value; None without one, and if it does not have the format of this release."""
    stored = ledger.plan(record.run_key)
    try:
        return None if stored is None else decode(Plan, stored)
    except ValueError:
        return None


def topologies_of(ledger: Ledger, record: RunRecord) -> tuple[Topology, ...]:
    """The first and the last topology that an instance reported in this run, one if they are equal, none if unknown."""
    found: list[str] = []
    for piece in ledger.pieces(record.run_key, "reading"):
        instances = piece.payload.get("instances", ()) if isinstance(piece.payload, dict) else ()
        streams = (one.get("streams") for one in instances if isinstance(one, dict))
        texts = [one["topology"] for one in streams if one and isinstance(one.get("topology"), str)]
        found = [*found[:1], texts[-1]] if texts else found
    try:
        return tuple(parse_topology(text) for text in dict.fromkeys(found))
    except RunbookError:
        return ()


def _chain(ledger: Ledger, record: RunRecord) -> dict[str, Any]:
    """The figures of a run's journal: length, raw readings, head, and the entries at which a clock went back."""
    entries = ledger.timeline(record.run_key)
    return {
        "rows": record.rows,
        "readings": sum(entry.kind == READING for entry in entries),
        "head": entries[-1].hash if entries else "",
        "clock_went_back": [encode(step) for step in clock_steps(entries)],
    }


def verified(ledger: Ledger, record: RunRecord, head: str | None) -> ChainVerdict:
    """Whether the journal and the record of a run are unchanged; `head` is a copy that was kept elsewhere."""
    key = record.run_key
    # An unreadable entry was changed: it counts as absent, and does not make other entries suspect.
    plan = _readable(lambda: ledger.plan(key), None)
    facts: dict[str, Any] = _readable(lambda: ledger.recalled(key), {})
    return chain_holds(ledger.entries(key), Kept(record, plan, ledger.plan_digest(key), facts), head)


def _readable(read: Callable[[], _T], otherwise: _T) -> _T:
    try:
        return read()
    except Inconclusive:
        return otherwise


def _piece(piece: Evidence, *, inputs: bool) -> dict[str, Any]:
    payload = piece.payload
    if not inputs and isinstance(payload, dict):
        payload = {name: value for name, value in payload.items() if name != "inputs"}
    made = {
        "id": piece.id,
        "task": piece.task_id,
        "try": piece.try_number,
        "name": piece.name,
        "at_ms": piece.at_ms,
        "payload": payload,
    }
    about = about_gate(piece)
    return made | ({"about": f"{about[0]}, bounce {about[1]}"} if about else {})


def rechecked(ledger: Ledger, record: RunRecord) -> dict[str, Any]:
    """Make every decision of the run again on its kept inputs; how many are equal, and which differ."""
    equal, different = 0, []
    for piece in ledger.pieces(record.run_key, "verdict"):
        name = piece.payload.get("decision")
        if name is None:
            continue
        today = _today(name, piece.payload)
        if today == piece.payload["result"]:
            equal += 1
        else:
            different.append({"id": piece.id, "name": piece.name, "then": piece.payload["result"], "today": today})
    return {"equal": equal, "different": different}


def _today(name: str, payload: dict[str, Any]) -> Any:
    """The result of the decision today; a sentence if it cannot be made any more, which never equals the old result."""
    if name not in DECISIONS:
        return f"no decision has the name {name} any more"
    try:
        return call_again(DECISIONS[name], payload)
    except (RunbookError, ValueError, KeyError, TypeError) as error:
        return f"cannot be made again: {type(error).__name__}: {error}"
