"""The partitions of internal topics before they exist, and each fact without which a number is not known."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from kstreams_runbooks.decide.fitting.counts import External
from kstreams_runbooks.decide.topology.names import is_made_of_foreign_keys
from kstreams_runbooks.decide.topology.partitions import (
    joined_topics,
    partition_counts,
    possible_changelogs,
    repartition_topics,
    uncounted_inputs,
)
from kstreams_runbooks.model.topology.change import Undeclared
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.topology import Sink, Subtopology, Topology


@dataclass(frozen=True, slots=True)
class Numbers:
    """Partitions of repartition topics and changelogs by name as printed, and why others have none."""

    known: Mapping[str, int]
    unknown: tuple[Undeclared, ...]


def numbers(topology: Topology, declared: Declaration, inputs: External) -> Numbers:
    """The number of each internal topic, from the existing `inputs` and the numbers that the program gives.

    A number is not known if an input does not exist or has none, if the program may give a repartition topic one (a
    reader of the program shows that, a declared number does too), if the library's own order decides, and if declared
    facts join other topics than the description shows.
    """
    own, suppressions = repartition_topics(topology), declared.suppressions.keys()
    given = {name: count for name in own if (count := _given(declared, name)) is not None}
    counts = {name: max(count for _, count in topics) for name, topics in inputs.items() if topics}
    found = partition_counts(topology, {**counts, **given}, suppressions)
    reasons = {
        **_may_be_given(declared, own - given.keys()),
        **_joined_otherwise(topology, declared, own - given.keys(), uneven=len(set(counts.values())) > 1),
    }
    behind = _behind(topology, set(reasons), own - given.keys(), suppressions)
    changelogs = possible_changelogs(topology)
    lost = behind | {name for name, sub in changelogs.items() if _read(sub) & behind}
    for name in sorted(own - found.keys() - reasons.keys()):
        inputs_left = uncounted_inputs(topology, name, counts)
        if not inputs_left and name not in behind:
            reasons[name] = "topics with different numbers lead to it, and the library's own order decides"
    left = {
        name
        for sub in topology.subtopologies
        if not sub.is_global and (sub.stores or _written(sub) & own - given.keys())
        for name in _read(sub) - own - counts.keys()
    }
    return Numbers(
        {name: found[name] for name in (*own, *changelogs) if name in found and name not in lost},
        (
            *(
                Undeclared(f"topics.{name.removesuffix('*')}", "partitions", reason=_absent(name))
                for name in sorted(left)
            ),
            *(Undeclared(f"topics.{name}", "partitions", reason=why) for name, why in sorted(reasons.items())),
        ),
    )


def _absent(name: str) -> str:
    # A pattern ends with an asterisk of its own name here, and no topic can.
    return "no topic that it matches is known" if name.endswith("*") else "it does not exist"


def _given(declared: Declaration, name: str) -> int | None:
    return declared.topics[name].partitions if name in declared.topics else None


def _may_be_given(declared: Declaration, names: Collection[str]) -> dict[str, str]:
    """Topics to which the program may give a number that is not declared: no reader shows that it gives none."""
    return {
        name: declared.not_read.get(f"topics.{name}.partitions", "the program may give it a number")
        for name in names
        if not is_made_of_foreign_keys(name)
        and not (declared.was_read and name in declared.topics and f"topics.{name}.partitions" not in declared.not_read)
    }


def _joined_otherwise(
    topology: Topology, declared: Declaration, names: Collection[str], *, uneven: bool
) -> dict[str, str]:
    """Topics whose `joined_with` is not the group that the description shows: operators may share a store.

    If it is not declared, that matters for inputs with `uneven` numbers.
    """
    groups = joined_topics(topology, declared.suppressions.keys())
    printed = {source.pattern: f"{source.pattern}*" for sub in topology.subtopologies for source in sub.sources}
    found: dict[str, str] = {}
    for name in names:
        shown = next((group for group in groups if name in group), {name})
        joined = _joined(declared, name, printed)
        if joined is None and uneven and len(shown) > 1:
            found[name] = "whether it is joined, or operators share a store, is not known (joined_with)"
        elif joined is not None and joined != shown:
            found[name] = (
                f"it is joined with {', '.join(sorted(joined - {name})) or 'no topic'}, and the description shows "
                f"{', '.join(sorted(shown - {name})) or 'no topic'}"
            )
    return found


def _joined(declared: Declaration, name: str, printed: Mapping[str | None, str]) -> set[str] | None:
    """The topic with all that it is joined with, also through others; None if it is not declared."""
    if name not in declared.topics or declared.topics[name].joined_with is None:
        return None
    found, ahead = {name}, [name]
    while ahead:
        topic = declared.topics.get(ahead.pop())
        for other in (topic.joined_with or ()) if topic is not None else ():
            if other not in found:
                found.add(other)
                ahead.append(other)
    return {printed.get(one, one) for one in found}


def _behind(topology: Topology, topics: set[str], own: Collection[str], suppressions: Collection[str]) -> set[str]:
    """These topics and every one of `own` whose number follows from theirs."""
    found = set(topics)
    groups = joined_topics(topology, suppressions)
    while True:
        reached = {name for sub in topology.subtopologies if _read(sub) & found for name in _written(sub) & set(own)}
        reached |= {name for group in groups if group & found for name in group & set(own)}
        if reached <= found:
            return found
        found |= reached


def _read(sub: Subtopology) -> set[str]:
    return set(_topics(sub))


def _topics(sub: Subtopology) -> Iterator[str]:
    for source in sub.sources:
        yield from source.topics if source.pattern is None else (f"{source.pattern}*",)


def _written(sub: Subtopology) -> set[str]:
    return {node.topic for node in sub.nodes if isinstance(node, Sink) and node.topic is not None}
