"""`kstreams-runbooks rights`: what a login has to be allowed on a Kafka cluster."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError
from kstreams_runbooks.terminal.rights_form import fields_of
from kstreams_runbooks.wording import outside, sentence

if TYPE_CHECKING:
    from kstreams_runbooks.fleet import Application, Fleet
    from kstreams_runbooks.model.readings.acls import NeededAcls, OwnResources
    from kstreams_runbooks.model.readings.readings import ApplicationReading
    from kstreams_runbooks.model.rights import LoginRole
    from kstreams_runbooks.model.target import Target

_EPILOG = """\b
Examples:
  kstreams-runbooks rights                                        every call with its right: docs/rights.md
  kstreams-runbooks rights library_bump --application orders      the ACLs, as commands of kafka-acls.sh
  kstreams-runbooks rights library_bump --application orders --principal User:runbooks \\
    --principal application=User:orders --format yaml
\b
  kstreams-runbooks rights reset_and_cleanup --application orders --param mode=offsets
  kstreams-runbooks rights undo --application orders --param run=RUN
\b
Without --principal the login of the cluster's connection reads, writes and counts with Spark, and a login that is not
known (`principal` of the cluster's file and of the application's) is PRINCIPAL. With --release or --setting the ACLs
include those for the internal topics of that version, which may not be on the cluster yet: a run that brings it reads
them, and the application creates them. With --param they are those of a run with these values in its form, such as
mode, switch and clean_outputs; a field that is left out has the form's default. With a copier the ACLs include those of
its own login, `principal` of its file.
"""


def _of_undone(entry: "Application", fields: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The form of the run that an undo takes back, and the topics that it changed; nothing without a run."""
    from kstreams_runbooks.ledger import Ledger
    from kstreams_runbooks.watch.rights import undone_form

    if not (run := str(fields.get("run") or "")):
        return fields, ()
    if (ledger := Ledger.existing()) is None:
        raise BadInput(f"--param run={outside(run, 80)}: no ledger exists yet; leave it out")
    record, form, topics = undone_form(ledger, run)
    if record.application != entry.name:
        raise BadInput(
            f"--param run={outside(run, 80)}: run {record.run_key} is one of {record.application} (asked for: "
            f"{entry.name}); name its own application"
        )
    return form, topics


_FORMATS = click.Choice(["acls", "yaml", "json", "text"])


@click.command("rights", epilog=_EPILOG)
@click.argument("runbook", required=False)
@click.option("--application", metavar="NAME", help="Fleet entry whose topics and group are named; default: each.")
@click.option("--release", metavar="NAME", help="A declared release that a run brings; default: the one that runs.")
@click.option(
    "--setting", "settings", multiple=True, metavar="NAME=VALUE", help="A setting that the run sets, as in its form."
)
@click.option("--param", "params", multiple=True, metavar="NAME=VALUE", help="A field of the run's form; repeatable.")
@click.option(
    "--principal",
    "principals",
    multiple=True,
    metavar="[ROLE=]PRINCIPAL",
    help="Such as User:runbooks: for observer, operator and spark; with ROLE= for one of them, or for application.",
)
@click.option("--format", "form", type=_FORMATS, default="acls", show_default=True)
def rights_command(
    runbook: str | None,
    application: str | None,
    release: str | None,
    settings: tuple[str, ...],
    params: tuple[str, ...],
    principals: tuple[str, ...],
    form: str,
) -> None:
    """The ACLs that RUNBOOK needs, no more, for each login: observer, operator, Spark and the application's own.

    Internal topics are named if an instance reports its topology and the cluster answers; otherwise they are one
    prefix, and a note shows it. Without RUNBOOK it is the page of all calls with their rights (docs/rights.md). It
    changes nothing. For several applications, JSON and YAML are a list.
    """
    from kstreams_runbooks.rules import rights

    if runbook is None:
        from kstreams_runbooks.present.rights_page import rights_page

        if application or principals or release or settings or params:
            raise BadInput("rights: the options belong to a runbook; name one")
        click.echo(rights_page(rights()), nl=False)
        return
    from kstreams_runbooks.decide.rights.needed import rows_of
    from kstreams_runbooks.fleet import load_fleet
    from kstreams_runbooks.present.rights import as_commands, as_text, document
    from kstreams_runbooks.terminal.logs import log_to_stderr

    log_to_stderr()
    if not rows_of(rights(), runbook):
        raise BadInput(f"rights: {outside(runbook, 80)} (expected a runbook that is a DAG: {', '.join(_dags())})")
    given, wanted, fields = _given(principals), _settings(settings), fields_of(params)
    fleet = load_fleet()
    if not application and not fleet.applications:
        raise fleet.empty
    for line in () if application else fleet.not_looked_at:
        click.echo(sentence(line), err=True)
    entries = [fleet.application(application)] if application else [*fleet.applications.values()]
    asked = [(one.cluster, *_needed(fleet, one, runbook, release, wanted, given, fields)) for one in entries]
    documents = [document(needed, cluster, server) for cluster, needed, server in asked]
    found: Any = documents if len(documents) > 1 else documents[0]
    if form == "json":
        click.echo(json.dumps(found, indent=2))
    elif form == "yaml":
        import yaml

        click.echo(yaml.safe_dump(found, sort_keys=False, width=120), nl=False)
    else:
        for cluster, needed, server in asked:
            parts = as_text(needed, cluster) if form == "text" else as_commands(needed, cluster, server)
            click.echo("\n".join(map(sentence, parts)))


def _needed(
    fleet: "Fleet",
    entry: "Application",
    runbook: str,
    release: str | None,
    settings: Mapping[str, str],
    given: Mapping["LoginRole", str],
    fields: dict[str, Any],
) -> tuple["NeededAcls", str]:
    """The ACLs of a run about one application, and the cluster's address, empty if it is not known.

    With a copier in the form they include those of the copier; BadInput if it does not hold every input.
    """
    from kstreams_runbooks.decide.rights.needed import needed_acls, together
    from kstreams_runbooks.fleet import require_copier
    from kstreams_runbooks.observe.kafka.clients import bootstrap
    from kstreams_runbooks.rules import rights

    release = release or fields.get("release") or fields.get("target")
    settings = {**(fields.get("settings") or {}), **settings}
    if release is not None and release not in (declared := entry.declared().releases):
        raise BadInput(
            f"rights: release {outside(release, 40)} is not declared for {entry.name} (it has {', '.join(declared)}); "
            "give one of them"
        )
    fields, undone = _of_undone(entry, fields) if runbook == "undo" else (fields, ())
    copier = require_copier(fleet, entry, str(fields["copier"])) if fields.get("copier") else None
    config, own = _own(fleet, entry, release, settings)
    of_cluster = fleet.cluster(entry.cluster).principal
    who = _principals(config, of_cluster, entry.principal, given)
    needed = needed_acls(rights(), runbook, entry.name, replace(own, undone=undone), who, fields)
    if copier is not None:
        _, its = _own(fleet, copier, None, {})
        # The login that is given for the application is not the copier's.
        others: dict[LoginRole, str] = {role: one for role, one in given.items() if role != "application"}
        who = _principals(config, of_cluster, copier.principal, others)
        needed = together((needed, needed_acls(rights(), runbook, copier.name, its, who, fields)))
    return needed, bootstrap(config) if config else ""


def _dags() -> Iterable[str]:
    from kstreams_runbooks.decide.runbooks import RUNBOOKS

    return (row.name for row in RUNBOOKS if row.is_dag)


def _given(principals: tuple[str, ...]) -> dict["LoginRole", str]:
    from kstreams_runbooks.decide.rights.needed import OF_CONNECTION
    from kstreams_runbooks.model.rights import LoginRole

    known = tuple(role for role in get_args(LoginRole) if role != "test")
    found: dict[LoginRole, str] = {}
    for one in principals:
        role, equals, name = one.partition("=")
        if equals and role in known:
            found[cast("LoginRole", role)] = name
        else:
            # The subject of a certificate has equals signs of its own.
            name = one
            found |= dict.fromkeys(OF_CONNECTION, one)
        kind, colon, rest = name.partition(":")
        if not colon or not kind or not rest:
            raise BadInput(
                f"--principal {outside(one, 80)}: is not a principal such as User:runbooks, with {', '.join(known)} "
                "and an equals sign in front for one of them; correct it"
            )
    return found


def _principals(
    config: Mapping[str, Any], of_cluster: str | None, of_application: str | None, given: Mapping["LoginRole", str]
) -> dict["LoginRole", str]:
    from kstreams_runbooks.decide.rights.needed import OF_CONNECTION
    from kstreams_runbooks.watch.rights import connection_principals

    own: dict[LoginRole, str] = {"application": of_application or ""}
    known = connection_principals(config, of_cluster) if config else dict.fromkeys(OF_CONNECTION, of_cluster or "")
    return known | own | dict(given)


def _settings(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not name or not equals:
            raise BadInput(f"--setting {outside(one, 80)}: is not NAME=VALUE; correct it")
        found[name] = value
    return found


def _own(
    fleet: "Fleet", entry: "Application", release: str | None, settings: Mapping[str, str]
) -> tuple[dict[str, Any], "OwnResources"]:
    """The connection's settings (empty if there is none), and the resources as far as they can be read."""
    from kstreams_runbooks.connections import kafka_config
    from kstreams_runbooks.decide.topology.text import parse_topology
    from kstreams_runbooks.deployers import make_deployer
    from kstreams_runbooks.observe import ClusterReader, read_application, unread
    from kstreams_runbooks.watch.rights import own_resources, with_release

    config: dict[str, Any] = {}
    try:
        config = kafka_config(fleet.cluster(entry.cluster).connection)
        with ClusterReader(config) as reader:
            deployer = make_deployer(entry, dry_run=True)
            reading = read_application(entry, reader, deployer)
            own = own_resources(fleet, entry, reading, reader)
            if release or settings:
                brought = parse_topology(deployer.topology(_target(reading, release, settings)))
                own = with_release(own, brought, reader)
            return config, own
    except RunbookError as error:
        click.echo(sentence(error), err=True)
        return config, own_resources(fleet, entry, unread(entry, str(error)), None)


def _target(reading: "ApplicationReading", release: str | None, settings: Mapping[str, str]) -> "Target":
    from kstreams_runbooks.model.readings.readings import Deployment
    from kstreams_runbooks.model.target import Target

    running = {one.deployment.release for one in reading.instances if isinstance(one.deployment, Deployment)}
    wanted = release or (running.pop() if len(running) == 1 else None)
    if not isinstance(wanted, str):
        raise Inconclusive("rights: the release that runs is not known, so neither are its topics; give --release")
    return Target.of(wanted, settings)
