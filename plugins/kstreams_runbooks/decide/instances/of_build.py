"""The code of a running version, by the topology command of its release: the agent of an instance shows none.

The build behind the name of a release is what runs if it has the topology, the facts and the settings that the
instances show. Otherwise its digests are not used, and the reason is kept.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.instances.running_facts import differences, is_of_an_instance
from kstreams_runbooks.decide.releases.settings import may_change_the_topology
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.topology.code import Code
from kstreams_runbooks.model.topology.declaration import Declaration, Described
from kstreams_runbooks.wording import first_of

# How many differences one reason names.
_MOST = 3


def with_code_of_build(
    running: Described,
    shown: Declaration | None,
    build: Described | Missing,
    wanted: Mapping[str, Code],
    catalogue: SettingCatalogue,
) -> Described:
    """The running version with the digests of its build, or with the reason why it has none.

    `shown` are the facts that its instances show; `build` is what the command prints, with what it read of the program
    alone; `wanted` is the code of the other version, which has digests.
    """
    if isinstance(build, Missing):
        return _without(running, build.missing)
    code = build.declaration.code
    if not code:
        reason = build.declaration.not_read.get("code", "it prints none")
        return _without(running, f"{build.source}: {reason}")
    if shown is None:
        return _without(running, "no instance shows facts that its build can be compared with")
    if wrong := list(_contradictions(running, shown, build, catalogue)):
        return _without(
            running,
            f"the {build.source} does not print what {running.source} run: {first_of(wrong, _MOST, '; ')}; give it "
            "their settings, or name the release that they run",
        )
    return replace(running, declared=replace(running.declaration, code=compact(code, wanted)))


def compact(code: Mapping[str, Code], other: Mapping[str, Code]) -> Mapping[str, Code]:
    """The code without the methods of parts that are equal in both versions: they prove it without them."""
    return {where: _without_methods(one) if _is_equal(one, other.get(where)) else one for where, one in code.items()}


def _is_equal(code: Code, other: Code | None) -> bool:
    return other is not None and bool(code.digest) and (code.digest, code.rules) == (other.digest, other.rules)


def _without_methods(code: Code) -> Code:
    return replace(code, methods=frozenset())


def _without(running: Described, reason: str) -> Described:
    return replace(running, unread=(*running.unread, f"code of {running.release or running.source}: {reason}"))


def _contradictions(
    running: Described, shown: Declaration, build: Described, catalogue: SettingCatalogue
) -> Iterator[str]:
    if parse_topology(running.text) != parse_topology(build.text):
        yield "another topology"
    yield from differences(_as_built(shown), build.declaration)
    yield from _settings(shown, build.declaration, catalogue)


def _as_built(shown: Declaration) -> Declaration:
    """Without the caches: a start takes them away from every store if their setting is 0 (InternalTopologyBuilder)."""
    return replace(shown, stores={name: replace(store, caching=None) for name, store in shown.stores.items()})


def _settings(shown: Declaration, build: Declaration, catalogue: SettingCatalogue) -> Iterator[str]:
    """Settings with other values, of those that a program may read to build its topology: its own, and few others.

    An instance shows what its program gives to Kafka Streams; a program may read more of the file of the command.
    """
    if shown.config is None or build.config is None:
        yield "its settings are not known"
        return
    ours, theirs = ({**one.digests, **(one.config or {})} for one in (shown, build))
    of_kafka = {row.name for row in catalogue.rows}
    known = {name for name in theirs if name.startswith("__") or name in of_kafka} | ours.keys()
    for name in may_change_the_topology(known, catalogue):
        if ours.get(name) != theirs.get(name) and not is_of_an_instance(name):
            yield f"setting {name} has another value"
