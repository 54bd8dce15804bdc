"""Whether the topics of the cluster let a topology start: checked before any instance is stopped for it."""

from collections.abc import Iterable, Iterator, Sequence

from kstreams_runbooks.decide.fitting.counts import External, counts_fit
from kstreams_runbooks.decide.fitting.needed import parsed_or_missing, title, topics_needed
from kstreams_runbooks.decide.fitting.proven import proven_counts
from kstreams_runbooks.decide.topology.described import ParsedDescription
from kstreams_runbooks.decide.topology.java_pattern import matcher
from kstreams_runbooks.decide.topology.partitions import joined_topics, repartition_topics, uncountable
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.readings.topics_seen import TopicsSeen
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict

_SOURCE = "Kafka Streams developer guide, Managing Streams Application Topics"


def topics_fit(
    wanted: tuple[Described | Missing, ...],
    seen: TopicsSeen,
    reading: ApplicationReading,
    application: DeclaredApplication,
) -> Verdict:
    """Refuse a `wanted` release that could not start, or would end later; inconclusive if that is unknown.

    Reasons are a source, output, control or rule topic that does not exist, a source pattern without a topic in front
    of a repartition topic, joined topics and internal topics with partition counts that the topology cannot have. A
    topic hidden from this login is never taken for one that does not exist. A release that cannot be described is a
    finding: its topics were not compared. `reading` is of the application as it runs: a working state is not an
    obstacle.
    """
    refused: list[str] = []
    unknown: list[str] = []
    findings: list[Finding] = []
    brought = parsed_or_missing(wanted)
    needed = topics_needed(brought, application)
    lacking: dict[tuple[str, str], list[str]] = {}
    for name, why in sorted(needed.external.items()):
        if name in seen.hidden:
            unknown.append(f"{seen.hidden[name]} ({why})")
        elif name not in seen.partitions:
            lacking.setdefault((why, _count_that_fits(name, brought, seen, application)), []).append(name)
    refused += [_absent(names, why, count) for (why, count), names in lacking.items()]
    unknown += [seen.hidden[name] for name in sorted(needed.internal & seen.hidden.keys())]
    suppressions = {
        name for one in brought if not isinstance(one, Missing) for name in one.described.declaration.suppressions
    }
    proven = proven_counts(reading, application.application_id, suppressions)
    compared: list[str] = []
    for one in brought:
        if isinstance(one, Missing):
            findings.append(_not_compared(application, one.missing))
            continue
        compared.append(title(one.described))
        for outcome, sentence in _patterns(one, seen):
            {Outcome.REFUSE: refused, Outcome.INCONCLUSIVE: unknown}[outcome].append(sentence)
        counts = counts_fit(one, external_topics(one.topology, seen), seen.partitions, proven, application)
        refused += counts.refused
        unknown += counts.unknown
        findings += counts.findings
    kept = tuple(dict.fromkeys(findings))
    if refused:
        return Verdict(Outcome.REFUSE, tuple(dict.fromkeys((*refused, *unknown))), kept)
    if unknown:
        return Verdict(Outcome.INCONCLUSIVE, tuple(dict.fromkeys(unknown)), kept)
    named = ", ".join(dict.fromkeys(compared))
    said = f"the topics of the cluster fit {named}" if named else "no topology could be compared with the cluster"
    return Verdict(Outcome.PROCEED, (said,), kept)


def _absent(names: Sequence[str], why: str, count: str) -> str:
    """One sentence for all missing topics of one reason."""
    if len(names) == 1:
        return f"topic {names[0]} does not exist ({why}): create it{count}, then trigger this again"
    return f"topics {', '.join(names)} do not exist ({why}): create them{count}, then trigger this again"


def _count_that_fits(
    name: str, brought: Iterable[ParsedDescription | Missing], seen: TopicsSeen, application: DeclaredApplication
) -> str:
    """The partitions that a topic needs, by an existing one that it is joined with; empty if any number fits."""
    for version in brought:
        if isinstance(version, Missing):
            continue
        for group in joined_topics(version.topology, version.described.declaration.suppressions.keys()):
            for other in sorted(group - {name}) if name in group else ():
                full = next(
                    (one for one in (other, f"{application.application_id}-{other}") if one in seen.partitions), ""
                )
                if full:
                    return f" with {seen.partitions[full]:,} partitions, as {full} has, which it is joined with"
    return ""


def _not_compared(application: DeclaredApplication, why: str) -> Finding:
    message = (
        f"the topics of the cluster were NOT compared with what is to run: {why}; check by hand that every topic that "
        "it reads and writes exists"
    )
    return Finding("topics-not-compared", "warning", application.name, message, _SOURCE)


def _patterns(brought: ParsedDescription, seen: TopicsSeen) -> Iterator[tuple[Outcome, str]]:
    """Source patterns without a topic, and those that cannot be matched here."""
    one, topology = brought.described, brought.topology
    patterns = {source.pattern for sub in topology.subtopologies for source in sub.sources if source.pattern}
    declared = one.declaration.topics
    counted = {name for sub in topology.subtopologies for source in sub.sources for name in source.topics}
    counted -= repartition_topics(topology)
    counted |= {name for name in repartition_topics(topology) if name in declared and declared[name].partitions}
    counted |= {f"{pattern}*" for pattern in patterns if seen.matching.get(pattern)}
    for pattern in sorted(patterns):
        try:
            matcher(pattern)
        except BadInput as error:
            yield Outcome.INCONCLUSIVE, f"{title(one)}: {error}"
            continue
        if pattern not in seen.matching:
            yield Outcome.INCONCLUSIVE, _too_slow(one, pattern)
            continue
        # Their partitions count if a repartition topic or a join depends on them.
        matters = repartition_topics(topology) or any(
            f"{pattern}*" in group for group in joined_topics(topology, one.declaration.suppressions.keys())
        )
        if pattern in seen.hidden and matters:
            yield (
                Outcome.INCONCLUSIVE,
                f"source pattern {pattern} of {title(one)} may match topics that this login may not see: "
                f"{seen.hidden[pattern]}",
            )
        elif uncountable(topology, counted) - uncountable(topology, {*counted, f"{pattern}*"}):
            yield (
                Outcome.REFUSE,
                f"source pattern {pattern} of {title(one)} matches no topic: the application ends in ERROR while a "
                "repartition topic follows the pattern (TaskAssignmentException); create a topic that it matches",
            )


def _too_slow(one: Described, pattern: str) -> str:
    return (
        f"source pattern {pattern} of {title(one)} takes too long to match the cluster's topics, so the topics that it "
        "matches are not known; simplify it, or subscribe to the topics by name"
    )


def external_topics(topology: Topology, seen: TopicsSeen) -> External:
    """Existing topics with their partitions, by name as printed; those of a pattern under `<pattern>*`."""
    internal = repartition_topics(topology)
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    for sub in topology.subtopologies:
        for source in sub.sources:
            for name in source.topics - internal:
                if name in seen.partitions:
                    found[name] = ((name, seen.partitions[name]),)
            names = seen.matching.get(source.pattern or "", ())
            if source.pattern and (
                known := [(name, seen.partitions[name]) for name in names if name in seen.partitions]
            ):
                found[f"{source.pattern}*"] = tuple(known)
    return found
