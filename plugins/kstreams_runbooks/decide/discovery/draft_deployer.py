"""The deployer of a declaration: running instances are visible, their deployment is not."""

import re
from collections.abc import Iterable, Mapping

from kstreams_runbooks.decide.discovery.instances import releases_of
from kstreams_runbooks.model.address import metrics_url
from kstreams_runbooks.model.discovery.discovery import DiscoverOptions, Field, Found, FoundInstance
from kstreams_runbooks.model.releases.release import Release

# Valid names of a file and of an instance (fleet/reading.py, fleet/deployers/base.py).
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")


def name_of(group_id: str) -> str:
    """The name of an application's file, which begins with a letter or a digit."""
    return re.sub("^[._-]+", "", group_id) or "application"


def draft_deployer(found: Found, given: DiscoverOptions) -> Mapping[str, Field]:
    """Its fields; `stated` only if one known release runs."""
    releases = releases_of(found.instances)
    runs = [one for one in releases if Release.known(one)]
    strange = sorted(set(releases) - set(runs))
    fields = {
        "kind": Field(
            "manual",
            "guessed",
            "a person deploys, because how it is deployed cannot be seen: docs/deployers.md has the other kinds, and "
            "`how` and `commands` of this one",
        ),
        "instances": _instances(found, given),
        "releases": _releases(runs, strange, given.newest),
    }
    if len(runs) == 1 and not strange:
        fields["stated"] = Field(
            {"release": runs[0], "settings": {}},
            "guessed",
            "the release that runs, with no upgrade.from set, which nobody can see from outside: look, then leave it. "
            "A dry run plans with it; a real run needs an instances command",
        )
    return fields


def _releases(runs: list[str], strange: list[str], newest: str) -> Field:
    ahead = [] if any(Release.parse(newest) <= Release.parse(one) for one in runs) else [newest]
    value = {one: one for one in (*sorted(runs, key=Release.parse), *ahead)}
    offered = f"{newest} is the newest that the rules know: build it, or take it out"
    if strange:
        said = f"runs {', '.join(strange)}, no release of Apache Kafka: name it, with its `libraries`"
        return Field(value, "unknown", f"{said}; {offered}")
    if not runs:
        return Field(value, "unknown", f"fill in what runs, no instance told it; {offered}")
    told = f"{', '.join(runs)} runs, as the instances say"
    if ahead:
        return Field(value, "guessed", f"{told}; {offered}. Each with what it is called where it is deployed")
    return Field(value, "observed", f"{told}; each with what it is called where it is deployed")


def _instances(found: Found, given: DiscoverOptions) -> Field:
    name = name_of(found.signs.group_id)
    if not found.instances:
        url = metrics_url("unknown", given.ports[0])
        note = "fill in every instance, no member runs; Jolokia is where each has its agent"
        return Field([{"name": f"{name}-1", "metrics": url}], "unknown", note)
    taken = {one.metrics for one in found.instances}
    value = []
    for number, one in enumerate(found.instances, 1):
        entry = {"name": _instance_name(one, number, name, found.instances), "metrics": one.metrics}
        if not one.metrics:
            entry["metrics"] = _free(one.host, taken, given.ports)
        if one.group_instance_id and one.group_instance_id != entry["name"]:
            entry["group_instance_id"] = one.group_instance_id
        value.append(entry)
    silent = [entry["name"] for entry, one in zip(value, found.instances, strict=True) if not one.metrics]
    if silent:
        return Field(value, "guessed", f"the members of its group; Jolokia answers nowhere for {', '.join(silent)}")
    return Field(value, "observed", "the members of its group, and Jolokia of each")


def _instance_name(one: FoundInstance, number: int, name: str, every: Iterable[FoundInstance]) -> str:
    static = one.group_instance_id
    alone = sum(other.group_instance_id == static for other in every) == 1
    return static if alone and _NAME.fullmatch(static) else f"{name}-{number}"


def _free(host: str, taken: set[str], ports: tuple[int, ...]) -> str:
    """A URL that no other instance has, because a declaration requires a separate one for each."""
    port = ports[0]
    while (url := metrics_url(host or "unknown", port)) in taken:
        port += 1
    taken.add(url)
    return url
