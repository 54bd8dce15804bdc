"""The processes behind a group: its members, one per stream thread, matched with the metrics that answered."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kstreams_runbooks.decide.discovery.sighting import client_of
from kstreams_runbooks.model.discovery.discovery import FoundInstance
from kstreams_runbooks.model.readings.readings import GroupReading, MemberReading, Missing, StreamsReading

# Kafka Streams gives each thread `<group.instance.id>-<thread>`.
_THREAD_OF_STATIC = re.compile(r"(?P<id>.+)-\d+")


def found_instances(
    group: GroupReading | Missing, answers: Mapping[tuple[str, str], StreamsReading]
) -> tuple[FoundInstance, ...]:
    """One for each process, in the order of their names; `answers` are clients' responses by (host, metrics URL).

    Members belong to a client by their client id. Under static membership the group keeps showing the client id that a
    member first joined with: an unmatched client and an unmatched process, one of each on a host, are taken for one.
    """
    members = () if isinstance(group, Missing) else group.members
    processes = {(one.host, one.client): one for one in map(_process, members)}
    left = dict(answers)
    for (host, url), reading in answers.items():
        if process := processes.get((host, reading.client_id)):
            processes[host, reading.client_id] = replace(process, metrics=url, version=reading.version)
            del left[host, url]
    for (host, url), reading in left.items():
        silent = [key for key, one in processes.items() if one.host == host and not one.metrics]
        if len(silent) == 1 and [place[0] for place in left].count(host) == 1:
            processes[silent[0]] = replace(
                processes[silent[0]], client=reading.client_id, metrics=url, version=reading.version
            )
        else:
            processes[host, reading.client_id] = FoundInstance(host, reading.client_id, "", url, reading.version)
    return tuple(sorted(processes.values(), key=lambda one: (one.group_instance_id, one.host, one.metrics, one.client)))


def _process(member: MemberReading) -> FoundInstance:
    static = _THREAD_OF_STATIC.fullmatch(member.instance_id or "")
    # A process of a streams group has an id of its own; its client ids carry the same.
    client = client_of(member.client_id) or member.process_id or member.client_id
    return FoundInstance(member.host, client, static["id"] if static else member.instance_id or "")


def membership(group: GroupReading | Missing) -> bool | None:
    """Whether its members are static, None without members or if only some of them are."""
    if isinstance(group, Missing) or not group.members:
        return None
    static = [member.instance_id is not None for member in group.members]
    return static[0] if len(set(static)) == 1 else None


def releases_of(instances: Iterable[FoundInstance]) -> Sequence[str]:
    """The releases that the instances report, each once, sorted as text."""
    return sorted({one.version for one in instances if one.version})
