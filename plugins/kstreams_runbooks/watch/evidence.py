"""The evidence of a run as one document: its plan, approvals, readings and decisions."""

from collections.abc import Callable
from typing import Any, TypeVar

from kstreams_runbooks.decide.registry import DECISIONS
from kstreams_runbooks.decide.runs.chain import ChainVerdict, chain_holds, clock_steps
from kstreams_runbooks.decide.runs.chain_record import Kept
from kstreams_runbooks.errors import Inconclusive, RunbookError
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import call_again, encode, result_of
from kstreams_runbooks.model.runs.journal import READING
from kstreams_runbooks.model.runs.ledger import Evidence, RunRecord
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.wording import LONGEST_SENTENCE, cell, code, markdown

_T = TypeVar("_T")

# Part of the document: kind of evidence.
_SHOWN = {"readings": "reading", "verdicts": "verdict", "writes": "write", "failures": "failure"}


def as_document(ledger: Ledger, record: RunRecord, *, raw: bool = True) -> dict[str, Any]:
    """Everything in the ledger about one run; times are Unix milliseconds.

    Without `raw` the readings and the inputs of decisions are left out: a long run has megabytes of them.
    """
    kept: dict[str, list[dict[str, Any]]] = {kind: [] for kind in _SHOWN.values()}
    for kind in _SHOWN.values() if raw else {*_SHOWN.values()} - {"reading"}:
        for piece in ledger.pieces(record.run_key, kind):
            kept[kind].append(_piece(piece, raw=raw))
    return {
        "run": encode(record),
        "plan": ledger.plan(record.run_key),
        "approvals": [encode(approval) for approval in ledger.approvals(record.run_key)],
        "cards": [encode(card) for card in ledger.cards(record.run_key)],
        "holds": [encode(hold) for hold in ledger.holds() if hold.run_key == record.run_key],
        "notifications": [encode(delivery) for delivery in ledger.notifications(record.run_key)],
        "chain": _chain(ledger, record),
        **{name: kept[kind] for name, kind in _SHOWN.items()},
    }


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


def _piece(piece: Evidence, *, raw: bool) -> dict[str, Any]:
    payload = piece.payload
    if not raw and isinstance(payload, dict):
        payload = {name: value for name, value in payload.items() if name != "inputs"}
    return {
        "id": piece.id,
        "task": piece.task_id,
        "try": piece.try_number,
        "name": piece.name,
        "at_ms": piece.at_ms,
        "payload": payload,
    }


def rechecked(ledger: Ledger, record: RunRecord) -> dict[str, Any]:
    """Make every decision of the run again on its kept inputs; how many are equal, and which differ."""
    equal, different = 0, []
    for piece in ledger.pieces(record.run_key, "verdict"):
        name = piece.payload.get("decision")
        if name is None:
            continue
        today = _today(name, piece.payload)
        if today == _then(piece.name, piece.payload):
            equal += 1
        else:
            different.append({"id": piece.id, "name": piece.name, "then": piece.payload["result"], "today": today})
    return {"equal": equal, "different": different}


def _then(name: str, payload: dict[str, Any]) -> Any:
    """The kept result, with the fields that were added since; as it is kept if it cannot be read any more."""
    try:
        return result_of(DECISIONS[name], payload)
    except (KeyError, ValueError, TypeError):
        return payload["result"]


def _today(name: str, payload: dict[str, Any]) -> Any:
    """The result of the decision today; a sentence if it cannot be made any more, which never equals the old result."""
    if name not in DECISIONS:
        return f"no decision has the name {name} any more"
    try:
        return call_again(DECISIONS[name], payload)
    except (RunbookError, ValueError, KeyError, TypeError) as error:
        return f"cannot be made again: {type(error).__name__}: {error}"


def as_markdown(document: dict[str, Any]) -> str:
    """The evidence as Markdown: a timeline without the raw readings, which are in the JSON."""
    run = document["run"]
    if "chain" not in document:
        return "\n".join(
            [
                f"# {markdown(run['dag_id'])} of {markdown(run['application'])} @ {markdown(run['cluster'])}",
                *_verify_lines(document),
            ]
        )
    lines = [
        f"# {markdown(run['dag_id'])} of {markdown(run['application'])} @ {markdown(run['cluster'])}",
        "",
        f"- run: {code(run['run_id'])}{' (dry run)' * run['dry_run']}, asked by {markdown(run['requested_by'])}",
        f"- outcome: **{markdown(run['outcome'] or 'not concluded yet')}** {_whole(run['outcome_sentence'] or '')}",
        f"- plan: {code(run['plan_digest'] or 'none')}",
    ]
    lines += _changes_too(document["plan"] or {})
    lines += [
        f"- {markdown(approval['task_id'])}: approved by {markdown(approval['by'])} for plan {code(approval['digest'])}"
        + (f", in an emergency: {markdown(approval['emergency_reason'])}" if approval["emergency_reason"] else "")
        for approval in document["approvals"]
    ]
    lines += [
        f"- holds {markdown(hold['resource'].replace(':', ' '))} since {utc_second(hold['taken_at_ms'])}, and "
        + ("changes something" if hold["changing"] else "waits: it does not count for the cluster's limit of runs")
        for hold in document["holds"]
    ]
    lines += ["", "| task | decision | outcome | why |", "|---|---|---|---|"]
    for verdict in document["verdicts"]:
        result = verdict["payload"].get("result", {})
        why = "; ".join(result.get("reasons", ())) or result.get("sentence", "")
        lines.append(_row(verdict["task"], verdict["name"], result.get("outcome", ""), why))
    if document["cards"]:
        lines += ["", "| undo | what was done | way back | cost |", "|---|---|---|---|"]
        lines += [
            _row(f"{card['seq']}{' (done)' if card['done'] else ''}", card["what"], card["undo"], card["cost"])
            for card in document["cards"]
        ]
    lines += ["", *(f"- failed: {_whole(failure['payload']['sentence'])}" for failure in document["failures"])]
    lines += [
        f"- {markdown(unsent['channel'])} was not notified: {markdown(unsent['notification']['subject'])} "
        f"({markdown(unsent['error'] or 'not tried')})"
        for unsent in document["notifications"]
        if unsent["sent_at_ms"] is None
    ]
    if "recheck" in document:
        again = document["recheck"]
        lines += ["", f"Decided again: {again['equal']} equal, {len(again['different'])} different."]
    lines += _verify_lines(document)
    chain = document["chain"]
    if back := chain["clock_went_back"]:
        worst = max(step["back_ms"] for step in back) / 1000
        lines += [
            "",
            f"Clocks: {len(back)} of the entries have an earlier time than the one before them, by up to {worst:,.3f} "
            "s. The order is that of the journal.",
        ]
    lines += ["", f"Journal: {chain['rows']} entries, head {code(chain['head'])}."]
    lines += ["", f"{chain['readings']} raw readings: `--format json`."]
    return "\n".join(lines)


def _changes_too(plan: dict[str, Any]) -> list[str]:
    """A line for each other application that the plan changes, with its role."""
    return [
        f"- changes too: {markdown(side['application'])} @ {markdown(side['cluster'])}, its {markdown(side['role'])}"
        for side in plan.get("sides", ())
    ]


def _whole(sentence: object) -> str:
    return markdown(sentence, LONGEST_SENTENCE)


def _row(*cells: object) -> str:
    return f"| {' | '.join(cell(one, LONGEST_SENTENCE) for one in cells)} |"


def _verify_lines(document: dict[str, Any]) -> list[str]:
    """The result of `--verify`, empty without it."""
    if "verify" not in document:
        return []
    verify = document["verify"]
    gaps = [f"- entries {gap['first']} to {gap['last']} were pruned (entry {gap['said_at']})" for gap in verify["gaps"]]
    breaks = [f"- {_whole(one['sentence'])}" for one in verify["breaks"]]
    return ["", f"Chain: {_whole(verify['sentence'])}.", *breaks, *gaps]
