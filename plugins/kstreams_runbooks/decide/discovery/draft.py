"""A declaration of an application that was found: each field with its value, its origin, and a remark.

Every invented value has a mark: observed (read from the cluster or an instance), guessed (likely, to be checked),
unknown (to be filled in, with a safe value meanwhile), given (on the command line).
"""

import re
from collections.abc import Iterable, Mapping

from kstreams_runbooks.decide.comparison.setting_facts import DEFAULTS
from kstreams_runbooks.decide.discovery.draft_deployer import draft_deployer, name_of
from kstreams_runbooks.decide.discovery.instances import membership
from kstreams_runbooks.model.copying import TOPIC_COPIER
from kstreams_runbooks.model.discovery.discovery import DiscoverOptions, Draft, Field, Found, FoundTopology, Mark
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.facts import FactsReading

# `<application.id>-<process UUID>-<thread>`: one producer for each thread (KIP-447). Before it, one for each task.
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_BY_THREAD, _BY_TASK = f"-{_UUID}-[0-9]+", "-[0-9]+_[0-9]+"
NOBODY = "nobody"
_GUARANTEE = "processing.guarantee"


def draft(found: Found, given: DiscoverOptions) -> Draft:
    """The declaration of one application."""
    signs = found.signs
    fields: dict[str, Field] = {
        "application_id": Field(signs.group_id, "observed", f"its group, of type {signs.type}, {signs.state}"),
        "cluster": _cluster(given),
        "inputs": _inputs(found),
        "outputs": _outputs(found.topologies),
        "control": Field(
            [], "unknown", "topics that a copier, which can be stopped, copies to its inputs, if there are any"
        ),
        "rule_topics": Field([], "unknown", "topics whose records change how it processes, where it has any"),
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
    deployer = draft_deployer(found, given)
    return Draft(name_of(signs.group_id), _of_copier(found, fields) if found.routes else fields, deployer)


def _of_copier(found: Found, fields: Mapping[str, Field]) -> dict[str, Field]:
    """The fields of the shipped copier: its routes in place of what follows from its program."""
    bean = "the bean of its program"
    return {
        "kind": Field("copier", "observed", bean),
        "program": Field(TOPIC_COPIER, "observed", bean),
        **{name: fields[name] for name in ("application_id", "cluster")},
        "routes": Field(dict(found.routes), "observed", f"{bean}: each topic that it reads, with its control topic"),
        **{name: fields[name] for name in ("owner", "operators", "approvers", "production", "static_membership")},
    }


def _cluster(given: DiscoverOptions) -> Field:
    if given.cluster_mark == "guessed":
        return Field(given.cluster, "guessed", "a name after the first bootstrap server, in clusters/ too; rename both")
    return Field(given.cluster, given.cluster_mark, "the cluster that was asked")


def _said(value: object, otherwise: object, note: str) -> Field:
    if value:
        return Field(value, "given", "on the command line of discover")
    return Field(otherwise, "unknown", note)


def _inputs(found: Found) -> Field:
    told = {topic for each in found.topologies for topic in each.inputs}
    unreadable = sorted({each.unreadable for each in found.topologies if each.unreadable})
    if found.topologies and not unreadable:
        also = sorted(told & {topic for each in found.topologies for topic in each.outputs})
        note = f"; it writes {', '.join(also)} too: leave that out unless others write it" if also else ""
        return Field(sorted(told), "observed", f"the topology that runs{note}")
    committed = {} if isinstance(found.signs.committed, Missing) else found.signs.committed
    topics = sorted(told | set(committed) - set(found.signs.internal))
    if unreadable:
        note = f"add what is not there yet; topics by name, and those that its group has offsets on: {unreadable[0]}"
        return Field(topics, "guessed" if topics else "unknown", note)
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


def _of_program(read: Declaration, setting: str) -> str | None:
    """A setting that was read of a program, or its default; None if the settings were not read."""
    return None if read.config is None else read.config.get(setting, DEFAULTS[setting])


def _format(topologies: Iterable[FoundTopology], name: str) -> Field:
    said = {getattr(each, name) for each in topologies}
    for answer in ("yes", "unknown", "no"):
        if answer in said:
            mark: Mark = "unknown" if answer == "unknown" else "observed"
            note = "names hide it from the topology; counts as yes" if mark == "unknown" else "the topology that runs"
            return Field(answer, mark, note)
    return Field("unknown", "unknown", "no instance told its topology; counts as yes")


def _guarantee(found: Found) -> Field:
    read = {_of_program(one.read, _GUARANTEE) for one in found.facts.values() if isinstance(one, FactsReading)}
    if len(read) == 1 and None not in read:
        return Field(read.pop(), "observed", "the settings of its program, in the topology facts of its instances")
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
