"""The facts that decide the readiness of a declared application: its reading, and the content of its entry."""

from dataclasses import replace

from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import BadInput, RunbookError
from kstreams_runbooks.fleet import Application, release_declaration
from kstreams_runbooks.model.discovery.readiness import DeclaredNames, ReadinessReading
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.observe import ClusterReader, KafkaAddress, read_application, unread
from kstreams_runbooks.observe.application.facts import read_running_facts


def read_readiness(
    entry: Application, kafka: KafkaAddress | RunbookError
) -> tuple[ReadinessReading, RunbookError | None]:
    """Read everything that the facts need; if the reading fails, it has only the error.

    `kafka` is a librdkafka configuration, or the error that prevents one.
    """
    try:
        if isinstance(kafka, RunbookError):
            raise kafka
        with ClusterReader(kafka) as reader:
            reading = read_application(entry, reader, make_deployer(entry, dry_run=True))
    except RunbookError as error:
        return _with_entry(entry, unread(entry, str(error))), error
    return replace(_with_entry(entry, reading), facts=read_running_facts(entry, reading.instances)), None


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
