"""The facts that decide the readiness of a declared application: its reading, and the content of its entry."""

from dataclasses import replace

from kstreams_runbooks.decide.rights.granted import compared_rights
from kstreams_runbooks.decide.runbooks import RUNBOOKS
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.fleet import Application, Fleet, release_declaration
from kstreams_runbooks.model.discovery.readiness import DeclaredNames, ReadinessReading
from kstreams_runbooks.model.readings.acls import RightsAnswer
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.observe import ClusterReader, KafkaAddress, read_application, unread
from kstreams_runbooks.observe.application.facts import read_running_facts
from kstreams_runbooks.watch.rights import connection_principals, own_resources, read_rights


def read_readiness(
    entry: Application, kafka: KafkaAddress | RunbookError, fleet: Fleet | None = None
) -> tuple[ReadinessReading, RunbookError | None]:
    """Read everything that the facts need; if the reading fails, it has only the error.

    `kafka` is a librdkafka configuration, or the error that prevents one. With the `fleet`, whose entries write what
    this one reads, it compares the rights of each runbook with what the cluster grants.
    """
    rights: tuple[RightsAnswer, ...] = ()
    try:
        if isinstance(kafka, RunbookError):
            raise kafka
        with ClusterReader(kafka) as reader:
            reading = read_application(entry, reader, make_deployer(entry, dry_run=True))
            if fleet is not None:
                rights = _rights(fleet, entry, reading, reader, kafka)
    except RunbookError as error:
        return _with_entry(entry, unread(entry, str(error))), error
    facts = read_running_facts(entry, reading.instances)
    return replace(_with_entry(entry, reading), facts=facts, rights=rights), None


def _rights(
    fleet: Fleet, entry: Application, reading: ApplicationReading, reader: ClusterReader, kafka: KafkaAddress
) -> tuple[RightsAnswer, ...]:
    own = own_resources(fleet, entry, reading, reader, seen=True)
    runbooks = [row.name for row in RUNBOOKS if row.is_dag]
    # First the login that reads: what brokers report is about that one.
    principals = connection_principals(kafka, fleet.cluster(entry.cluster).principal)
    if entry.principal:
        principals["application"] = entry.principal
    needed, granted = read_rights(reader, runbooks, entry.name, own, principals)
    return tuple(compared_rights(one, granted) for one in needed)


def _with_entry(entry: Application, reading: ApplicationReading) -> ReadinessReading:
    return ReadinessReading(
        reading=reading,
        declared=entry.declared(),
        control=entry.control,
        settable=entry.deployer.settable,
        abilities=make_deployer(entry, dry_run=True).abilities,
        described=_described(entry),
    )


def _described(entry: Application) -> dict[str, DeclaredNames] | Missing:
    declared, found = entry.declared(), {}
    for release in declared.releases:
        try:
            one = release_declaration(entry.name, release, declared.library(release))
        except BadInput as error:
            return Missing(str(error))
        if one is not None:
            found[release] = DeclaredNames(frozenset(one.suppressions), frozenset(one.stores))
    return found
