"""`evidence` and `prune-ledger`: the evidence of a run, whether it is unchanged, and what may be deleted."""

import getpass
import json
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.model.times import DAY_MS
from kstreams_runbooks.wording import LONGEST_SENTENCE, outside, sentence

if TYPE_CHECKING:
    from kstreams_runbooks.ledger import Ledger
    from kstreams_runbooks.model.runs.ledger import RunRecord

SCHEMA_VERSION = 1
_MB = 1_000_000
_HEAD = re.compile("[0-9a-f]{64}")
_NUMBERED = re.compile(r"#\d+$")


@click.command("evidence")
@click.argument("run")
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "markdown", "html", "text"]),
    help="[default: text on a terminal, else markdown]",
)
@click.option(
    "--readings",
    type=click.Choice(["none", "verdicts", "all"]),
    help="With --format json: no raw readings, those inside decisions, or all [default: all].",
)
@click.option(
    "--recheck", is_flag=True, help="Decide again from the raw readings; exit 0 only if every answer is equal."
)
@click.option("--verify", is_flag=True, help="Show whether every entry is as it was written: exit 0 yes, 1 no.")
@click.option(
    "--timeline", is_flag=True, help="Only the events in order, raw readings included, with the seconds between them."
)
@click.option("--head", help="With --verify: the head from conclude's log or the notification.")
def evidence_command(
    run: str, form: str | None, readings: str | None, recheck: bool, verify: bool, timeline: bool, head: str | None
) -> None:
    """Plan, approvals, timeline and verdicts of RUN (a run id, or dag_id/run_id; `#1` for its first use).

    --format html is one file that needs no network; --format json has everything, and is written in pieces.
    """
    from kstreams_runbooks.ledger import Ledger
    from kstreams_runbooks.terminal.columns import columns

    if readings is not None and form != "json":
        raise BadInput("--readings: only --format json has readings; give both")
    if timeline and (form is not None or recheck or verify):
        raise BadInput("--timeline: is a view of its own; give neither --format nor --recheck nor --verify with it")
    if head is not None and not verify:
        raise BadInput("--head: only --verify compares it; give both")
    head = None if head is None else _head(head)
    ledger = Ledger.open()
    record = ledger.find_run(run)
    if head is not None and not _NUMBERED.search(run):
        record = _of_head(ledger, record, head)
    if others := [one.run_key for one in ledger.same_id(record) if one.run_key != record.run_key]:
        said = f"run {run} is {record.run_key}; its run id was also used for {', '.join(others)}"
        click.echo(outside(said, LONGEST_SENTENCE), err=True)
    document = _document(ledger, record, recheck=recheck, verify=verify, head=head)
    if timeline:
        _print_timeline(ledger, record, document)
    elif form == "json":
        _print_pieces(ledger, record, document, readings or "all")
    else:
        _print_page(ledger, record, document, form or ("markdown" if columns() is None else "text"))
    _end(record, document)


def _print_pieces(ledger: "Ledger", record: "RunRecord", document: dict[str, Any], readings: str) -> None:
    """The document as JSON; of its long parts only one page is in memory."""
    from kstreams_runbooks.terminal.json_pieces import json_pieces
    from kstreams_runbooks.watch.evidence import Readings, parts, pieces

    long = (
        {} if "chain" not in document else {part: pieces(ledger, record, part, Readings(readings)) for part in parts()}
    )
    for text in json_pieces({"schema_version": SCHEMA_VERSION, **document}, long):
        click.echo(text, nl=False)


def _print_page(ledger: "Ledger", record: "RunRecord", document: dict[str, Any], form: str) -> None:
    from kstreams_runbooks.present.evidence.html import as_html
    from kstreams_runbooks.present.evidence.page import as_markdown
    from kstreams_runbooks.present.evidence.text import as_text
    from kstreams_runbooks.terminal.columns import columns
    from kstreams_runbooks.watch.evidence import Readings, parts, pieces, plan_of, topologies_of

    if "chain" not in document:
        plain = as_text(document, columns=columns()) if form == "text" else as_markdown(document)
        click.echo(as_html(document) if form == "html" else plain)
        return
    whole = document | {part: list(pieces(ledger, record, part, Readings.NONE)) for part in parts()}
    plan = plan_of(ledger, record)
    if form == "html":
        click.echo(as_html(whole, plan, topologies_of(ledger, record)))
    elif form == "text":
        click.echo(as_text(whole, plan, columns()))
    else:
        click.echo(as_markdown(whole, plan))


def _print_timeline(ledger: "Ledger", record: "RunRecord", document: dict[str, Any]) -> None:
    """The events in order; of a reading only its name and time."""
    from kstreams_runbooks.present.evidence.timeline import timeline_lines
    from kstreams_runbooks.terminal.columns import columns
    from kstreams_runbooks.watch.evidence import Readings, parts, pieces
    from kstreams_runbooks.wording import fitted

    whole = dict(document)
    for part in parts():
        raw = part == "readings"
        found = pieces(ledger, record, part, Readings.ALL if raw else Readings.NONE)
        whole[part] = [{**one, "payload": None} if raw else one for one in found]
    width = columns()
    for line in timeline_lines(whole):
        click.echo(fitted(sentence(line), width))


def _head(given: str) -> str:
    """A head as it is stored; BadInput if it cannot be one: a part of it proves nothing."""
    head = given.strip().lower()
    if not _HEAD.fullmatch(head):
        raise BadInput(
            f"--head: {outside(given, 80) or 'nothing'} is not a head (expected 64 hex digits); copy it whole from the "
            "log of conclude or the notification"
        )
    return head


def _of_head(ledger: "Ledger", newest: "RunRecord", head: str) -> "RunRecord":
    """Which of the runs with this id the head belongs to: it may be older than the id's next use."""
    for one in ledger.same_id(newest):
        if any(entry.hash == head for entry in ledger.timeline(one.run_key)):
            return one
    return newest


def _document(
    ledger: "Ledger", record: "RunRecord", *, recheck: bool, verify: bool, head: str | None
) -> dict[str, Any]:
    """The short parts of the requested document; for a run with a damaged entry only the result of `--verify`."""
    from kstreams_runbooks.ledger.codec import encode
    from kstreams_runbooks.watch.evidence import rechecked, require_readable, summary, verified

    shown = {"verify": encode(verified(ledger, record, head))} if verify else {}
    try:
        require_readable(ledger, record)
        again = {"recheck": rechecked(ledger, record)} if recheck else {}
        return {**summary(ledger, record), **again, **shown}
    except Inconclusive as error:
        if not verify:
            raise
        click.echo(outside(error, LONGEST_SENTENCE), err=True)
        return {"run": encode(record), **shown}


def _end(record: "RunRecord", document: dict[str, Any]) -> None:
    """Report every problem and end with its exit code; what is wrong outweighs what is unknown."""
    wrong: list[str] = []
    unknown: list[str] = []
    verify = document.get("verify")
    if verify and verify["outcome"] != "proceed":
        then = "do not rely on it, keep a copy of the ledger, and find out who can write to it"
        wrong.append(f"run {record.run_key}: {verify['sentence']}; {then}")
    if recheck := document.get("recheck"):
        if recheck["different"]:
            wrong.append(f"{len(recheck['different'])} decisions have another result today")
        elif not recheck["equal"]:
            unknown.append(f"run {record.run_key} has no decision: nothing was decided again")
    for problem in (*wrong, *unknown):
        click.echo(outside(problem, LONGEST_SENTENCE), err=True)
    if wrong or unknown:
        sys.exit(1 if wrong else Inconclusive.exit_code)


@click.command("prune-ledger")
@click.option("--older-than", "days", type=click.IntRange(min=1, max=36_500), required=True, help="Days.")
@click.option("--execute", is_flag=True, help="Delete; without it the command only shows what it would delete.")
@click.option("--format", "form", type=click.Choice(["json", "text"]), default="text", show_default=True)
def prune_ledger_command(days: int, execute: bool, form: str) -> None:
    """Delete raw readings of concluded runs; a gap entry in each run's journal records what was deleted.

    Only runs that hold nothing are pruned. A run with a broken chain is not pruned, and the exit code is 1.
    """
    from kstreams_runbooks.ledger import Ledger
    from kstreams_runbooks.model.verdicts import Outcome
    from kstreams_runbooks.watch.evidence import verified

    ledger, before_ms, by = Ledger.open(), time.time_ns() // 1_000_000 - days * DAY_MS, getpass.getuser()
    holding, pruned, broken = {hold.run_key for hold in ledger.holds()}, [], []
    for record in ledger.runs():
        if record.outcome is None or record.run_key in holding or record.started_at_ms >= before_ms:
            continue
        if (chain := verified(ledger, record, None)).outcome is not Outcome.PROCEED:
            broken.append({"run": record.run_key, "why": chain.sentence})
            continue
        readings, size = ledger.prune_readings(record.run_key, before_ms, by, execute=execute)
        if readings:
            pruned.append({"run": record.run_key, "readings": readings, "bytes": size})
    if form == "json":
        _print({"executed": execute, "older_than_days": days, "runs": pruned, "broken": broken})
    else:
        _print_pruned(pruned, execute=execute, days=days)
    for one in broken:
        click.echo(outside(f"run {one['run']} is not pruned, its chain is {one['why']}", LONGEST_SENTENCE), err=True)
    if broken:
        sys.exit(1)


def _print_pruned(pruned: list[dict[str, Any]], *, execute: bool, days: int) -> None:
    for one in pruned:
        run = outside(one["run"], LONGEST_SENTENCE)
        click.echo(f"{run}: {one['readings']:,} readings, {one['bytes'] / _MB:,.1f} MB")
    readings, size = (sum(one[name] for one in pruned) for name in ("readings", "bytes"))
    done = "deleted" if execute else "would be deleted (--execute deletes them)"
    click.echo(
        f"{readings:,} readings older than {days} days, {size / _MB:,.1f} MB, of {len(pruned)} runs {done}", err=True
    )


def _print(document: dict[str, Any]) -> None:
    click.echo(json.dumps({"schema_version": SCHEMA_VERSION, **document}, indent=2, sort_keys=True))
