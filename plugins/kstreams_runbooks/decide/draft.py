"""A declaration of an application that was found: each field with its value, where it is from, and what to look at.

Nothing is made up without a mark: observed (read from the cluster or an instance), guessed (likely, to be looked at),
unknown (to be filled in, with a value that is safe meanwhile), given (on the command line).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kstreams_runbooks.decide.found_instances import membership, versions_of
from kstreams_runbooks.model.address import metrics_url
from kstreams_runbooks.model.discovery import Draft, Field, Found, FoundInstance, FoundTopology
from kstreams_runbooks.model.readings import Missing
from kstreams_runbooks.model.versions import Release

# What may be the name of a file and of an instance (fleet/reading.py, fleet/deployer.py).
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")
# `<application.id>-<process UUID>-<thread>`: one producer for each thread (KIP-447). Before it, one for each task.
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_BY_THREAD, _BY_TASK = f"-{_UUID}-[0-9]+", "-[0-9]+_[0-9]+"
_PORT = 8778
NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Given:
    """What the person says of every application; None and empty where nothing is said. `newest` is a release."""

    cluster: str
    newest: str
    ports: tuple[int, ...] = (_PORT,)
    owner: str | None = None
    operators: tuple[str, ...] = ()
    approvers: tuple[str, ...] = ()


def draft(found: Found, given: Given) -> Draft:
    """The declaration of one application."""
    signs = found.signs
    fields: dict[str, Field] = {
        "application_id": Field(signs.group_id, "observed", f"its group, of type {signs.type}, {signs.state}"),
        "cluster": Field(given.cluster, "given", "the cluster that was asked"),
        "inputs": _inputs(found),
        "outputs": _outputs(found.topologies),
        "control": Field([], "unknown", "topics whose records change how it processes, where it has any"),
        "owner": _said(given.owner, "unknown", "fill in the team that answers for it"),
        "operators": _said(
            list(given.operators) or None, [], "logins that may trigger a run; without one Airflow's own rights decide"
        ),
        "approvers": _said(
            list(given.approvers) or None,
            [NOBODY],
            "fill in the logins that may approve; until then a dry run is all that can be done",
        ),
        "production": Field(
            value=True, mark="guessed", note="the careful one: four eyes, and no plan is approved without a person"
        ),
        "static_membership": _static(found),
        "table_aggregations": _format(found.topologies, "table_aggregations"),
        "foreign_key_joins": _format(found.topologies, "foreign_key_joins"),
        "processing_guarantee": _guarantee(found),
    }
    return Draft(_name(signs.group_id), fields, _deployer(found, given))


def _name(group_id: str) -> str:
    """The name of its file, which begins with a letter or a digit."""
    return re.sub("^[._-]+", "", group_id) or "application"


def _said(value: object, otherwise: object, note: str) -> Field:
    if value:
        return Field(value, "given", "on the command line of discover")
    return Field(otherwise, "unknown", note)


def _inputs(found: Found) -> Field:
    if found.topologies:
        topics = sorted({topic for each in found.topologies for topic in each.inputs})
        return Field(topics, "observed", "the topology that runs")
    committed = {} if isinstance(found.signs.committed, Missing) else found.signs.committed
    topics = sorted(set(committed) - set(found.signs.internal))
    if topics:
        return Field(
            topics, "guessed", "topics that its group has offsets on; one that it never committed is not there"
        )
    return Field([], "unknown", "fill in the topics that it reads; the file is no declaration without one")


def _outputs(topologies: Iterable[FoundTopology]) -> Field:
    if not topologies:
        return Field([], "unknown", "fill in the topics that it writes for others: no instance told its topology")
    topics = sorted({topic for each in topologies for topic in each.outputs})
    if chosen := sorted({sink for each in topologies for sink in each.open_sinks}):
        return Field(
            topics, "guessed", f"the topology that runs, but {', '.join(chosen)} chooses its topics as it goes"
        )
    return Field(topics, "observed", "the topology that runs")


def _static(found: Found) -> Field:
    static = membership(found.signs.group)
    if static is None:
        return Field(value=False, mark="unknown", note="no member runs, or only some have a group.instance.id")
    said = "have" if static else "have no"
    return Field(static, "observed", f"its members {said} group.instance.id")


def _format(topologies: Iterable[FoundTopology], name: str) -> Field:
    said = {getattr(each, name) for each in topologies}
    for answer in ("yes", "unknown", "no"):
        if answer in said:
            mark = "unknown" if answer == "unknown" else "observed"
            note = "names hide it from the topology; counts as yes" if mark == "unknown" else "the topology that runs"
            return Field(answer, mark, note)  # type: ignore[arg-type]
    return Field("unknown", "unknown", "no instance told its topology; counts as yes")


def _guarantee(found: Found) -> Field:
    ids = found.transactional_ids
    if isinstance(ids, Missing):
        return Field("unknown", "unknown", f"fill in its processing.guarantee; {ids.missing}")
    own = [one.removeprefix(found.signs.group_id) for one in ids if one.startswith(found.signs.group_id)]
    live = {one.client.removeprefix(found.signs.group_id) for one in found.instances}
    if any(one.rpartition("-")[0] in live for one in own if re.fullmatch(_BY_THREAD, one)):
        note = "the transactional ids of what runs; exactly_once_beta has the same, up to 3.9"
        return Field("exactly_once_v2", "guessed", note)
    if any(re.fullmatch(f"{_BY_THREAD}|{_BY_TASK}", one) for one in own):
        note = "fill it in: transactions were written under its name, but nothing shows that what runs now writes them"
        return Field("unknown", "unknown", note)
    note = "fill it in: no transaction of its is seen, as under at_least_once, or where this login may not see them"
    return Field("unknown", "unknown", note)


def _deployer(found: Found, given: Given) -> Mapping[str, Field]:
    versions = versions_of(found.instances)
    runs = [one for one in versions if Release.known(one)]
    strange = sorted(set(versions) - set(runs))
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
            "A dry run plans with it; a real run needs a describe command",
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


def _instances(found: Found, given: Given) -> Field:
    name = _name(found.signs.group_id)
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
    """A URL that no other instance has, because a declaration wants one for each."""
    port = ports[0]
    while (url := metrics_url(host or "unknown", port)) in taken:
        port += 1
    taken.add(url)
    return url
