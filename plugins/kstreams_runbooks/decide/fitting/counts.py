"""Whether the partition counts of a cluster are those that a topology demands."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kstreams_runbooks.decide.fitting.needed import title
from kstreams_runbooks.decide.fitting.proven import Proven
from kstreams_runbooks.decide.topology.described import ParsedDescription
from kstreams_runbooks.decide.topology.partitions import (
    joined_topics,
    partition_counts,
    possible_changelogs,
    repartition_topics,
)
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.model.verdicts import Finding

_SOURCE = "`CopartitionedTopicsEnforcer`, `InternalTopicManager`, Apache Kafka 4.3"
# The library's names for the operators of a join that the program does not name.
_JOIN = re.compile(r"K(STREAM|TABLE)-[A-Z]*(JOIN|OUTER)[A-Z]*-\d{10,}")

# Existing topics with their partitions, by the name of their source; those of a pattern under `<pattern>*`.
External = Mapping[str, tuple[tuple[str, int], ...]]


@dataclass(frozen=True, slots=True)
class CountsFit:
    """Reasons to refuse a start, unknown facts about it, and facts that a person has to assess."""

    refused: tuple[str, ...]
    unknown: tuple[str, ...]
    findings: tuple[Finding, ...]


def counts_fit(
    brought: ParsedDescription,
    external: External,
    existing: Mapping[str, int],
    proven: tuple[Proven, ...],
    application: DeclaredApplication,
) -> CountsFit:
    """Compare what the topology of `brought` demands with the `existing` topics (partitions by full name).

    The description has no partition counts: a repartition topic gets as many as its upstream topics, unless the program
    gives it a number. A join behind a suppression leaves out the topics in front of it; one with a chosen name is known
    if it is declared. Such a number is known if it is declared, or if a `proven` topology works with it; otherwise a
    repartition topic that differs is unknown, not wrong.
    """
    one, topology = brought.described, brought.topology
    prefix = f"{application.application_id}-"
    own = repartition_topics(topology)
    declared, suppressions = one.declaration.topics, one.declaration.suppressions.keys()
    given = {name: count for name in own if name in declared and (count := declared[name].partitions) is not None}
    fixed = given | {name: count for name in own - given.keys() if (count := _kept(prefix, name, existing, proven))}
    read = {name: max(count for _, count in topics) for name, topics in external.items()}

    open_ = {
        name: count
        for name, count in partition_counts(topology, {**read, **fixed}, suppressions).items()
        if name in own - fixed.keys() and existing.get(f"{prefix}{name}", count) != count
    }
    settled = {**read, **fixed, **{name: existing[f"{prefix}{name}"] for name in open_}}
    demanded = {**partition_counts(topology, settled, suppressions), **given}
    wrong = [
        name
        for name in sorted((given.keys() | possible_changelogs(topology).keys()) & demanded.keys())
        if existing.get(f"{prefix}{name}", demanded[name]) != demanded[name]
        and not any(_works(name, demanded[name], f"{prefix}{name}", existing, one) for one in proven)
    ]
    joins = list(_joins(brought, external, given, proven))
    return CountsFit(
        (
            *(_wrong(one, f"{prefix}{name}", existing[f"{prefix}{name}"], demanded[name]) for name in wrong),
            *(sentence for sentence, certain in joins if certain),
        ),
        tuple(_open(one, name, existing[f"{prefix}{name}"], prefix, count) for name, count in sorted(open_.items())),
        tuple(
            Finding("joined-counts-differ", "danger", application.name, sentence, _SOURCE)
            for sentence, certain in joins
            if not certain
        ),
    )


def _wrong(one: Described, topic: str, has: int, needs: int) -> str:
    return (
        f"topic {topic} has {has} partitions and {title(one)} needs {needs}: its instances would end in ERROR "
        '("invalid partitions"); bring the partition counts together first (docs/change_rules.md, partition_increase)'
    )


def _open(one: Described, name: str, has: int, prefix: str, needs: int) -> str:
    return (
        f"topic {prefix}{name} has {has} partitions and {title(one)} needs {needs}, unless its program gives the "
        f"topic a number, which is not declared; declare topics.{name}.partitions of {title(one)}, or bring the "
        "partition counts together first"
    )


def _kept(prefix: str, name: str, existing: Mapping[str, int], proven: tuple[Proven, ...]) -> int | None:
    """The number that the program gives a repartition topic, as far as the running version shows it.

    It shows a number that differs from the one that follows from its text: if none follows, as behind a pattern that
    cannot be matched here, nothing is shown.
    """
    count = existing.get(f"{prefix}{name}")
    for running in proven:
        if (
            name in repartition_topics(running.topology)
            and running.counts.get(f"{prefix}{name}") == count
            and running.demanded.get(name, count) != count
        ):
            return count
    return None


def _works(name: str, demanded: int, full: str, existing: Mapping[str, int], running: Proven) -> bool:
    """Whether a running version works with exactly this topic although its text demands the same of it."""
    return running.demanded.get(name) == demanded and running.counts.get(full) == existing[full]


def _joins(
    brought: ParsedDescription,
    external: External,
    given: Mapping[str, int],
    proven: tuple[Proven, ...],
) -> Iterator[tuple[str, bool]]:
    """Joined topics whose partition counts differ, as a sentence, and whether it is certain that they are joined."""
    one, topology = brought.described, brought.topology
    suppressions = one.declaration.suppressions.keys()
    for group in joined_topics(topology, suppressions):
        topics = {topic: count for name in group for topic, count in external.get(name, ())}
        numbers = topics | {name: given[name] for name in group & given.keys()}
        if len(set(numbers.values())) < 2 or any(  # noqa: PLR2004 - two that differ
            group in joined_topics(each.topology, suppressions) and topics.items() <= each.counts.items()
            for each in proven
        ):
            continue
        shown = ", ".join(f"{name} ({count})" for name, count in sorted(numbers.items()))
        if _is_join(one, topology, group):
            yield (
                f"{title(one)} joins topics with different numbers of partitions: {shown}; its instances would end in "
                "ERROR; give the topics the same number first",
                True,
            )
        elif not _is_no_join(one, group):
            yield (
                f"{title(one)} has operators that share a store behind topics with different numbers of partitions: "
                f"{shown}; if it joins them, its instances end in ERROR: ask its owners (joined_with of the topics in "
                "the declaration of the release decides it)",
                False,
            )


def _is_join(one: Described, topology: Topology, group: set[str]) -> bool:
    declared = one.declaration.topics
    if any((topic := declared.get(name)) and topic.joined_with and topic.joined_with & group for name in group):
        return True
    return any(
        _JOIN.fullmatch(node.name)
        for sub in topology.subtopologies
        if any(group & source.topics or f"{source.pattern}*" in group for source in sub.sources)
        for node in sub.nodes
    ) and not _is_no_join(one, group)


def _is_no_join(one: Described, group: set[str]) -> bool:
    """Whether every one of the topics is declared to be joined with none of the others."""
    declared = one.declaration.topics
    found = [declared[name].joined_with if name in declared else None for name in group]
    return all(joined is not None and not joined & group for joined in found)
