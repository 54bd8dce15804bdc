"""The topology facts of each release that the instances of a found application run."""

from kstreams_runbooks.decide.instances.running import RunningRelease
from kstreams_runbooks.decide.instances.running_facts import with_facts
from kstreams_runbooks.model.discovery.discovery import Found
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import Declaration


def found_facts(found: Found) -> dict[str, Declaration]:
    """By Kafka Streams release, the facts that all of its instances show; a release without them is left out."""
    clients: dict[str, list[str]] = {}
    for one in found.instances:
        clients.setdefault(one.version, []).append(one.client)
    facts = {}
    for version in filter(Release.known, clients):
        shown = with_facts(RunningRelease(version, None, tuple(clients[version])), found.facts)
        if len(shown) == 1 and shown[0].read is not None:
            facts[version] = shown[0].read
    return facts
