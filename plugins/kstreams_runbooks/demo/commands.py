"""`verify-traffic` and `generate-traffic` for the terminal: JSON on stdout alone, everything else on stderr."""

import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from kstreams_runbooks.demo.judge.figures import KINDS, OutputVerdict
from kstreams_runbooks.demo.traffic.schedule import CUSTOMER_EVERY, Schedule
from kstreams_runbooks.demo.traffic.topics import TopicRole, topic_names
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.finite import MOST_WHOLE, FiniteRange

SCHEMA_VERSION: Final = 1
_TEXT_OFFENCES: Final = 10
# Each gets its own record before the first event is sent.
_MOST_CUSTOMERS: Final = 10_000_000
# The end of the year 9999, the last that this program can show.
_LATEST_MS: Final = 253_402_300_799_999
_WORDS: Final = {0: "ok", 1: "wrong", 3: "inconclusive"}


def _common(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that both commands have: the address of the cluster, and the names of its topics."""
    for option in (
        click.option("--topic", "topics", multiple=True, metavar="ROLE=TOPIC", help="Topic of a role; repeatable."),
        click.option("--topic-prefix", default="", help="In front of every default topic name."),
        click.option("--bootstrap", required=True, metavar="HOST:PORT", help="Brokers to start from."),
    ):
        command = option(command)
    return command


@click.command("verify-traffic")
@_common
@click.option("--format", "form", type=click.Choice(["json", "text"]), default="text", show_default=True)
@click.option("--window-size-ms", type=click.IntRange(1, MOST_WHOLE), default=10_000, show_default=True)
@click.option("--grace-ms", type=click.IntRange(0, MOST_WHOLE), default=120_000, show_default=True)
@click.option("--settle", type=FiniteRange(min=0), default=5.0, show_default=True, help="Seconds without a moving end.")
@click.option(
    "--timeout", type=FiniteRange(min=1), default=300.0, show_default=True, help="Seconds of reading at most."
)
def verify_traffic(
    bootstrap: str,
    topic_prefix: str,
    topics: tuple[str, ...],
    form: str,
    window_size_ms: int,
    grace_ms: int,
    settle: float,
    timeout: float,
) -> None:
    """Judge the outputs of the orders application from its topics alone.

    customers-counted, an output of some releases, is judged where --topic names it.

    Exit codes: 0 all outputs right, 1 one is wrong, 2 bad input, 3 one cannot be judged, 4 no broker answers.
    """
    from kstreams_runbooks.demo.judge.judge import exit_code, judge
    from kstreams_runbooks.demo.judge.read import read_topics
    from kstreams_runbooks.demo.judge.windowed import JudgedWindow

    names = topic_names(topic_prefix, topics)
    reading = read_topics({"bootstrap.servers": bootstrap}, names, settle_s=settle, timeout_s=timeout, progress=_say)
    began = time.monotonic()
    verdicts = judge(reading.collected, JudgedWindow(window_size_ms, grace_ms), reading.doubts())
    code = exit_code(verdicts)
    if form == "json":
        document: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "command": "verify-traffic",
            "bootstrap": bootstrap,
            "taken_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "verdict": _WORDS[code],
            "inputs_seen": len(reading.collected.event) + reading.collected.customer_records,
            "orders_seen": len(reading.collected.event),
            "customers_seen": reading.collected.customer_records,
            **{kind: sum(getattr(verdict, kind) for verdict in verdicts) for kind in KINDS},
            "records_read": reading.records,
            "read_seconds": round(reading.seconds, 3),
            "judge_seconds": round(time.monotonic() - began, 3),
            "outputs": [verdict.document(names[verdict.output]) for verdict in verdicts],
        }
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo("\n".join(_lines(verdicts, names)))
    sys.exit(code)


@click.command("generate-traffic")
@_common
@click.option(
    "--rate", type=FiniteRange(min=0, min_open=True), default=400.0, show_default=True, help="Events per second."
)
@click.option("--seed", type=click.IntRange(-MOST_WHOLE, MOST_WHOLE), default=7, show_default=True)
@click.option(
    "--customers", type=click.IntRange(1, _MOST_CUSTOMERS), default=100, show_default=True, help="Number of customers."
)
@click.option(
    "--customer-every",
    type=click.IntRange(1, MOST_WHOLE),
    default=CUSTOMER_EVERY,
    show_default=True,
    help="One customer update after so many events.",
)
@click.option(
    "--disorder-ms",
    type=click.IntRange(0, MOST_WHOLE),
    default=2_000,
    show_default=True,
    help="Largest jitter of event times.",
)
@click.option(
    "--start-ms",
    type=click.IntRange(0, _LATEST_MS),
    help="Event time of the first event, ms since the epoch.  [default: now]",
)
@click.option("--seconds", type=FiniteRange(min=0), help="Stop after so many seconds.")
@click.option("--records", type=click.IntRange(0, MOST_WHOLE), help="Stop after so many events.")
@click.option(
    "--alive",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Touch FILE every 5 s while events are sent, for a health check of its age.",
)
def generate_traffic(
    bootstrap: str,
    topic_prefix: str,
    topics: tuple[str, ...],
    rate: float,
    seed: int,
    customers: int,
    customer_every: int,
    disorder_ms: int,
    start_ms: int | None,
    seconds: float | None,
    records: int | None,
    alive: Path | None,
) -> None:
    """Send orders and customers at a steady rate until SIGTERM, SIGINT or the given end; exits 0.

    The same seed, rate, customers, updates, disorder and start give the same records.
    """
    from kstreams_runbooks.demo.traffic.produce import generate

    def progress(line: str) -> None:
        _say(line)
        if alive is not None:
            _touch(alive)

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    schedule = Schedule(
        seed=seed,
        rate=rate,
        customers=customers,
        start_ms=int(time.time() * 1000) if start_ms is None else start_ms,
        disorder_ms=disorder_ms,
        customer_every=customer_every,
    )
    names = topic_names(topic_prefix, topics)
    produced = generate(
        {"bootstrap.servers": bootstrap},
        names,
        schedule,
        stop=stop.is_set,
        seconds=seconds,
        records=records,
        progress=progress,
    )
    document = {
        "schema_version": SCHEMA_VERSION,
        "command": "generate-traffic",
        "bootstrap": bootstrap,
        "run": produced.run,
        "start_ms": schedule.start_ms,
        "orders": produced.orders,
        "customers": produced.customers,
        "seconds": round(produced.seconds, 3),
    }
    click.echo(json.dumps(document))


def _touch(file: Path) -> None:
    try:
        file.touch()
    except OSError as error:
        raise BadInput(f"--alive {file}: cannot be written ({error.strerror}); give a file that can be") from None


def _say(line: str) -> None:
    click.echo(line, err=True)


def _lines(verdicts: tuple[OutputVerdict, ...], names: dict[TopicRole, str]) -> list[str]:
    """Return the verdicts as a table, followed by reasons and the first offences of each output."""
    heads = ("output", "verdict", "inputs", "expected", "seen", *(kind.replace("_", " ") for kind in KINDS))
    rows: list[tuple[Any, ...]] = [heads]
    rows += [
        (
            names[verdict.output],
            verdict.verdict,
            *(f"{n:,}" for n in (verdict.inputs_seen, verdict.expected, verdict.seen)),
            *(f"{getattr(verdict, kind):,}" for kind in KINDS),
        )
        for verdict in verdicts
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    for verdict in verdicts:
        lines += [f"{names[verdict.output]}: {reason}" for reason in verdict.reasons]
        for offence in verdict.offences[:_TEXT_OFFENCES]:
            offset = "" if offence.offset is None else f"@{offence.offset}"
            place = "" if offence.partition is None else f" {names[verdict.output]}-{offence.partition}{offset}"
            lines.append(f"  {offence.kind.replace('_', ' ')}: key {offence.key}{place} {offence.detail}")
        if len(verdict.offences) > _TEXT_OFFENCES:
            lines.append("  more of them with --format json")
    return lines
