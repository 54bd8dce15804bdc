"""`readiness` for the terminal: the answer on stdout alone, everything else on stderr."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import click

from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.wording import fitted, sentence

if TYPE_CHECKING:
    from kstreams_runbooks.fleet import Application, Fleet
    from kstreams_runbooks.model.discovery.readiness import NoteReadiness, Sessions
    from kstreams_runbooks.observe import KafkaAddress
    from kstreams_runbooks.present.readiness import ApplicationReadiness

# Each application takes a few requests, and its deployer may be slow.
_THREADS = 8


@click.command("readiness", epilog="Example: kstreams-runbooks readiness orders --format json")
@click.argument("applications", nargs=-1, metavar="[APPLICATION]...")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def readiness_command(applications: tuple[str, ...], form: str) -> None:
    """Show which runbooks APPLICATIONs (default: the whole fleet) are ready for, and what the others lack.

    Reads the cluster, the instances and the deployer, and changes nothing. What a runbook can do without, at a cost, is
    shown but does not count as missing; so is whether runs can write their notes in Airflow. A right on the cluster
    that the login of the connection lacks is missing; its command grants it. Known defects that bite what
    runs, or may, are shown (docs/defects.md), and whether session timeouts cover the restarts that runs have measured.

    Exit codes: 0 everything is ready, 1 something is missing, 2 bad input, 3 something is unknown, 4 a cluster does not
    answer. Everything that could be read is printed in any case, and of several codes the largest counts.
    """
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.ledger import one_machine
    from kstreams_runbooks.present.readiness import as_text, document, exit_code
    from kstreams_runbooks.terminal.columns import columns
    from kstreams_runbooks.terminal.logs import log_to_stderr

    log_to_stderr()
    fleet = load_fleet()
    entries = [fleet.application(name) for name in applications or sorted(fleet.applications)]
    if not entries and not fleet.disabled:
        raise fleet.empty
    kafka = {name: _address(fleet, name) for name in {one.cluster for one in entries}}
    with ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="readiness") as pool:
        found = list(pool.map(lambda one: _ready(fleet, one, kafka[one.cluster]), entries))
    note, ledger = _note(), one_machine()
    for problems in () if applications else fleet.disabled.values():
        click.echo(sentence(problems[0]), err=True)
    if form == "json":
        click.echo(json.dumps(document(found, note, ledger), indent=2))
    else:
        width = columns()
        click.echo("\n".join(fitted(sentence(line), width) for line in as_text(found, note)))
        if ledger:
            click.echo(sentence(ledger), err=True)
    sys.exit(exit_code(found) or (1 if fleet.disabled and not applications else 0))


def _note() -> "NoteReadiness":
    from kstreams_runbooks.decide.runbooks import RUNBOOKS
    from kstreams_runbooks.watch.run_note import note_readiness

    return note_readiness([one.name for one in RUNBOOKS if one.is_dag])


def _address(fleet: "Fleet", cluster: str) -> "KafkaAddress | RunbookError":
    """The address of a cluster, or the error: the applications of the other clusters are read anyway."""
    from kstreams_runbooks.connections import kafka_config

    try:
        return kafka_config(fleet.cluster(cluster).connection)
    except RunbookError as error:
        return error


def _ready(fleet: "Fleet", entry: "Application", kafka: "KafkaAddress | RunbookError") -> "ApplicationReadiness":
    from kstreams_runbooks.decide.discovery.facts_shown import facts_shown
    from kstreams_runbooks.decide.discovery.readiness import readiness, readiness_facts
    from kstreams_runbooks.decide.runbooks import RUNBOOKS
    from kstreams_runbooks.observe.kafka.clients import bootstrap
    from kstreams_runbooks.present.readiness import ApplicationReadiness
    from kstreams_runbooks.watch.readiness import read_readiness
    from kstreams_runbooks.watch.running_defects import running_defects

    reading, error = read_readiness(entry, kafka, fleet)
    answers = readiness(readiness_facts(reading), RUNBOOKS, reading.rights)
    server = "" if isinstance(kafka, RunbookError) else bootstrap(kafka)
    defects = () if error else running_defects(reading)
    sessions = None if reading.declared.as_deployed else _sessions(entry, acts=reading.abilities.act)
    return ApplicationReadiness(
        entry.name, entry.cluster, answers, error, facts_shown(reading), server, defects, sessions
    )


def _sessions(entry: "Application", *, acts: bool) -> "Sessions":
    """The restarts of an application that the ledger has; not known if there is none, or if it cannot be read."""
    from kstreams_runbooks.decide.discovery.sessions import session_advice
    from kstreams_runbooks.ledger import Ledger
    from kstreams_runbooks.model.discovery.readiness import Sessions
    from kstreams_runbooks.watch.restarts import measured_restarts

    try:
        ledger = Ledger.existing()
    except RunbookError as error:
        return Sessions("not known", (str(error),))
    return session_advice(measured_restarts(ledger, entry.cluster, entry.name, acts=acts) if ledger else [])
