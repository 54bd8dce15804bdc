"""Whether green may start next to blue, and whether it may be taken away: nothing of blue may be touched by either.

Each refusal prevents that both write one topic, that one takes the other's internal topics, that green lacks records
which blue has read, or that an effect outside of Kafka happens twice without a word. Names are compared in full: an
application.id may begin another one, and both live.

Source: Kafka Streams developer guide, "Managing Streams Application Topics"; KIP-1071 (streams groups).
"""

import math
from collections.abc import Iterator

from kstreams_runbooks.decide.plans.cutover import CUTOVER
from kstreams_runbooks.decide.runbooks import ADOPT
from kstreams_runbooks.decide.topology.names import is_generated, stem
from kstreams_runbooks.model.readings.green import (
    GreenChain,
    GreenInput,
    GreenOutput,
    GreenReading,
    GreenRemains,
    WideTopic,
)
from kstreams_runbooks.model.readings.readings import GroupReading, Missing
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore
from kstreams_runbooks.model.topology.topology import Processor, Topology
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of, pasted

_SOURCE = "docs/blue_green_start.md"
_STREAMS = "streams"
_SHOWN = 5
# GO ON has the command of it.
_CANCEL = "to take it away, trigger a new run with --param mode=cancel"
_LINE = "effects_twice: accepted, because …"
# Generated names of operators whose code is there for what it does, and not for a result, or may be.
_EFFECTS = frozenset(
    f"{kind}-N"
    for kind in (
        *("KSTREAM-FOREACH", "KSTREAM-PEEK", "KSTREAM-PRINTER", "KSTREAM-PROCESSOR", "KSTREAM-PROCESSVALUES"),
        *("KSTREAM-TRANSFORM", "KSTREAM-TRANSFORMVALUES", "KSTREAM-FLATTRANSFORM", "KSTREAM-FLATTRANSFORMVALUES"),
        "KTABLE-TRANSFORMVALUES",
    )
)


def effects_of(topology: Topology, declared: Declaration) -> tuple[str, ...]:
    """Operators that do something outside of Kafka, or of which nothing shows that they do not, sorted.

    A generated name shows the kind of an operator. One with a name of its own is known by its facts, or by those of its
    stores. Functions that a program gives to any operator may have effects too: no description shows them.
    """
    return tuple(
        sorted(
            {
                node.name
                for _, node in topology.nodes()
                if isinstance(node, Processor) and _may_act(node, declared, topology)
            }
        )
    )


def _may_act(node: Processor, declared: Declaration, topology: Topology) -> bool:
    if is_generated(node.name):
        return stem(node.name) in _EFFECTS
    if node.name in declared.operators or node.name in declared.suppressions:
        return False
    stores = [declared.stores.get(store, DeclaredStore()) for store in node.stores]
    return not (stores and all(_of_library(one) for one in stores)) and not _is_of_join(node.name, topology)


def _of_library(store: DeclaredStore) -> bool:
    """Whether an operator of the library fills a store."""
    filled = store.aggregation in {"count", "reduce", "aggregate"} or store.join is not None
    return filled or bool(store.source_table) or store.kind in {"join", "buffer"}


def _is_of_join(name: str, topology: Topology) -> bool:
    """Whether the library has made an operator for a foreign-key join that has a name."""
    base = name.partition("-subscription-")[0]
    return base != name and any(
        other.startswith(f"{base}-subscription-") and other != name for other in topology.operators
    )


def may_start_green(reading: GreenReading) -> Verdict:
    """Refuse a start next to blue that could touch it, or lack records; inconclusive if that is not known.

    A certain refusal counts even if others are not known. The findings are what a person has to know.
    """
    if refused := tuple(dict.fromkeys(_refused(reading))):
        return Verdict(Outcome.REFUSE, refused)
    if unknown := tuple(dict.fromkeys(_unknown(reading))):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    outputs = ", ".join(f"{one.topic} (for {one.stands_for})" for one in reading.outputs)
    return Verdict(
        Outcome.PROCEED,
        (f"{reading.application} reads {_topics(reading.inputs)} from their beginning and writes {outputs} alone",),
        tuple(_findings(reading)),
    )


def may_cancel_green(remains: GreenRemains) -> Verdict:
    """Refuse to take away what another application or group uses: then green may serve it. Inconclusive if unknown."""
    if remains.used_by or remains.serves:
        return Verdict(
            Outcome.REFUSE,
            remains.serves
            + tuple(
                f"topic {topic}: {user} (expected: {remains.application} alone): it may serve results by now; stop "
                "that use, or move it back to the outputs of before, first"
                for topic, user in remains.used_by
            ),
        )
    if remains.not_listed:
        return Verdict(Outcome.INCONCLUSIVE, remains.not_listed)
    what = first_of([*remains.topics, f"group {remains.group_id}"], _SHOWN)
    findings = [
        Finding(
            "green-removed",
            "danger",
            remains.application,
            "deleted with their records, which do not come back: "
            f"{first_of(remains.topics, len(remains.topics) or 1)}; group {remains.group_id} with its offsets; local "
            "state of every instance",
            _SOURCE,
        )
    ]
    if remains.stays:
        findings.append(
            Finding(
                "green-topics-stay",
                "warning",
                remains.application,
                f"begin with {remains.group_id}- and are in no topology of it, so they stay: "
                f"{first_of(remains.stays, _SHOWN)}; look at them with `kstreams-runbooks orphans`",
                _SOURCE,
            )
        )
    return Verdict(Outcome.PROCEED, (f"nothing else uses {what}",), tuple(findings))


def not_moved(retiring: str, serving: str, last: tuple[str, str] | None) -> Iterator[str]:
    """Why a side that is to be retired may still serve, by the cutovers between both.

    `last` are the old and the new side of the newest completed one, None without one.
    """
    if last != (retiring, serving):
        what = "there is none" if last is None else f"the newest one went from {last[0]} to {last[1]}"
        yield (
            f"application {retiring}: its readers have not moved to {serving} ({what}; expected: a completed "
            f"{CUTOVER}, the newest one of both); trigger that first"
        )


def without_member(serving: str, group: GroupReading) -> Iterator[str]:
    """Why the other side does not serve."""
    if not group.members:
        yield (
            f"application {serving}: its group {group.group_id} has no member (expected: it serves); start it, then "
            "trigger this again"
        )


def _refused(reading: GreenReading) -> Iterator[str]:
    yield from _identity(reading)
    yield from _not_fresh(reading)
    for one in reading.inputs:
        yield from _input(reading, one)
    if not reading.inputs:
        yield (
            f"{reading.application}: reads no topic (expected: control topics of {reading.blue}); correct its topology"
        )
    yield from _chain(reading)
    for pattern in reading.patterns:
        yield (
            f"source pattern {pattern}: {reading.application} reads by a pattern (expected topics by name): what it "
            "matches may change; let it subscribe to names"
        )
    for name in reading.extractors:
        yield (
            f"sink {name}: chooses its topics record by record (expected outputs by name): it may write to topics of "
            f"{reading.blue}; give it topics by name"
        )
    if not reading.outputs:
        yield f"{reading.application}: writes no topic (expected outputs of its own); look at its topology"
    for output in reading.outputs:
        yield from _output(reading, output)
    if reading.by_person:
        yield (
            f"{first_of(reading.by_person)}: a person deploys it (deployer manual; expected one that acts): inputs "
            "would be held while a person is asked at the cutover; give it another deployer"
        )
    if reading.effects and not reading.accepted:
        yield (
            f"{first_of(reading.effects, _SHOWN)}: operators of {reading.application} that do something outside of "
            f"Kafka, or may ({len(reading.effects)}): while both run it happens twice; add to its fleet entry: {_LINE}"
        )
    if reading.late and not reading.late_accepted:
        yield (
            f"{first_of(reading.late, _SHOWN, '; ')}: the history comes at full speed, and is not paced (expected: no "
            "late record is dropped that came in time live); give accept_late_loss a reason to start with such results"
        )
    yield from reading.lacks


def _identity(reading: GreenReading) -> Iterator[str]:
    if reading.group_id == reading.blue_id:
        yield (
            f"application_id {reading.group_id}: is that of {reading.blue} too (expected another one); give "
            f"{reading.application} its own"
        )
    if _STREAMS in {reading.group_type.lower(), reading.protocol.lower()}:
        yield (
            f"group {reading.group_id}: a streams group (expected classic): this runbook does not commit offsets for "
            "one before its first start (KIP-1071); set group.protocol=classic"
        )
    both = set(reading.internal) & set(reading.blue_internal)
    if both:
        yield (
            f"internal topic {first_of(sorted(both))}: {reading.application} and {reading.blue} both make a topic of "
            "this name; choose another application_id"
        )
    yield from reading.strange
    yield from reading.shared


def _not_fresh(reading: GreenReading) -> Iterator[str]:
    """What is left of an earlier start: green would go on from it, or take its state for its own."""
    if reading.up:
        yield f"{first_of(reading.up)}: runs (expected: no instance of {reading.application}); {_CANCEL}"
    if reading.offsets:
        yield (
            f"group {reading.group_id}: has offsets on {first_of(reading.offsets)} (expected none, it would go on "
            f"there); {_CANCEL}"
        )
    if reading.left:
        yield (
            f"internal topic {first_of(reading.left)}: exists before the first start of {reading.application} "
            f"({len(reading.left)} such topics, limit 0); {_CANCEL}"
        )


def _chain(reading: GreenReading) -> Iterator[str]:
    """What keeps the copier between the control topics and green from being the run's own."""
    if reading.wanted and not reading.chain:
        yield (
            f"partitions {reading.wanted:,}: {reading.application} reads no topic that a copier copies from a control "
            f"topic of {reading.blue} (expected wider topics, and their copier in the fleet); declare it as "
            f"{_SOURCE}, More partitions, has it, or leave partitions empty"
        )
    if len(reading.chain) > 1:
        yield (
            f"copiers {first_of([one.copier for one in reading.chain])}: both are in front of {reading.application} "
            "(limit 1): routes of one application stop together; give one of them all routes"
        )
    for one in reading.chain:
        yield from _copier(reading, one)
        for topic in one.topics:
            yield from _wide(reading, topic)


def _copier(reading: GreenReading, one: GreenChain) -> Iterator[str]:
    if not one.shipped:
        yield (
            f"copier {one.copier}: a team's own program (expected program: topic-copier): whether it copies by key is "
            "not known; put the shipped copier in its place"
        )
    if not reading.wanted:
        yield (
            f"partitions: nothing (expected the partitions of {first_of([topic.topic for topic in one.topics])}, which "
            f"copier {one.copier} fills by key); {_with_multiple(reading)}, or another multiple"
        )
    if one.up:
        yield f"{first_of(one.up)}: runs (expected: copier {one.copier} is down until this run starts it); {_CANCEL}"
    if one.offsets:
        yield (
            f"group {one.group_id}: has offsets on {first_of(one.offsets)} (expected none: it begins at the beginning "
            f"of the control topics); {_CANCEL}"
        )
    read = {topic.topic for topic in reading.inputs}
    if idle := [topic.topic for topic in one.topics if topic.topic not in read]:
        yield (
            f"copier {one.copier}: writes {first_of(idle)}, which {reading.application} does not read (expected its "
            "inputs alone); correct its routes"
        )


def _wide(reading: GreenReading, one: WideTopic) -> Iterator[str]:
    if one.exists:
        yield (
            f"topic {one.topic}: exists (expected: the run creates it with {reading.wanted:,} partitions); choose "
            f"another name, or {_CANCEL}"
        )
    if not one.before:
        yield f"control topic {one.control}: does not exist; correct the routes of the copier"
    elif reading.wanted and reading.wanted <= one.before:
        yield (
            f"partitions {reading.wanted:,}: control topic {one.control} has {one.before:,} (expected more); "
            f"{_with_multiple(reading)}, or let {reading.application} read {one.control} itself"
        )
    elif reading.wanted % (one.before or 1) and not reading.uneven:
        yield (
            f"partitions {reading.wanted:,}: is not a multiple of the {one.before:,} of {one.control}: each of the new "
            f"ones gets records of several, in no order of time; {_with_multiple(reading)}, or accept that (uneven)"
        )


def _with_multiple(reading: GreenReading) -> str:
    """The same run with a number that is larger than that of each control topic and a multiple of it, and no less."""
    counts = [topic.before for chain in reading.chain for topic in chain.topics if topic.before]
    least, step = max(reading.wanted, *(count + 1 for count in counts), 1), math.lcm(*counts)
    # GO ON has the command of it.
    return f"trigger a new run with --param partitions={-(-least // step) * step}"


def _input(reading: GreenReading, one: GreenInput) -> Iterator[str]:
    if not one.copier and one.control != one.topic:
        yield (
            f"input {one.topic} of {reading.application}: is copied from {one.control}, which no copier of "
            f"{reading.blue} writes (expected: a control topic of it); correct the routes"
        )
        return
    if not one.copier:
        yield (
            f"input {one.topic} of {reading.application}: no copier writes it (expected: a control topic of "
            f"{reading.blue}): without one no seam is exact; put a copier in front "
            f"({_adopt(reading, 'COPIER', 'adopt')}), and let {reading.application} read the control topics, first"
        )
        return
    absent = [one for one in one.partitions if one.begins == "absent"]
    if absent:
        since = next((utc_second(part.first_ms) for part in absent if part.first_ms is not None), "its beginning")
        yield (
            f"control topic {one.control}: the first records of {one.source} ({since}) are not in it "
            f"({len(absent)} of {len(one.partitions)} partitions): {reading.application} would lack what came before; "
            f"a fill from {one.source} is not built yet; adopt again with history into new control topics "
            f"({_adopt(reading, one.copier, 'abandon')}, then mode=adopt), first"
        )


def _adopt(reading: GreenReading, copier: str, mode: str) -> str:
    """The command that puts a copier in front of blue, or takes it away."""
    words = ("kstreams-runbooks", "trigger", ADOPT, "--application", reading.blue)
    return pasted((*words, "--param", f"mode={mode}", "--param", f"copier={copier}"))


def _output(reading: GreenReading, one: GreenOutput) -> Iterator[str]:
    if one.topic in reading.blue_outputs:
        yield (
            f"output {one.topic}: {reading.blue} writes it too (expected a topic of its own): both results would be "
            f"mixed; let a setting of {reading.application} name another topic"
        )
        return
    if not one.stands_for:
        yield (
            f"output {one.topic}: for which output of {reading.blue} it stands is not declared; add to the fleet entry "
            f"of {reading.application}: green_outputs: {{{one.topic}: OUTPUT}}"
        )
    elif not one.partitions:
        yield (
            f"output {one.topic}: stands for {one.stands_for}, which does not exist; correct green_outputs of "
            f"{reading.application}"
        )
    if one.exists:
        yield (
            f"output {one.topic}: exists (expected: the run creates it like {one.stands_for or 'that of the other'}); "
            f"choose another name, or {_CANCEL}"
        )
    for user in one.used_by:
        yield f"output {one.topic}: {user} (expected: nothing uses it yet); stop that use, or choose another name"


def _unknown(reading: GreenReading) -> Iterator[str]:
    yield from reading.problems
    yield from reading.unknown_rights
    for one in reading.inputs:
        for part in one.partitions:
            if isinstance(part.begins, Missing):
                yield (
                    f"{one.control}-{part.partition}: whether it begins where {one.source} begins is not known: "
                    f"{part.begins.missing}"
                )


def _findings(reading: GreenReading) -> Iterator[Finding]:
    if reading.effects:
        yield Finding(
            "green-effects-twice",
            "danger",
            reading.application,
            "what these operators do outside of Kafka happens twice while both run: "
            f"{first_of(reading.effects, _SHOWN)}; {reading.accepted}",
            _SOURCE,
        )
    if reading.late:
        yield Finding(
            "green-drops-late",
            "danger",
            reading.application,
            f"{first_of(reading.late, _SHOWN, '; ')}: results of the history differ from those of {reading.blue}; "
            f"accepted: {reading.late_accepted}",
            _SOURCE,
        )
    merged = [
        f"{topic.topic} gets {reading.wanted:,} partitions from {topic.before:,} of {topic.control}"
        for chain in reading.chain
        for topic in chain.topics
        if topic.before and reading.wanted % topic.before
    ]
    if merged:
        yield Finding(
            "growth-merges-partitions",
            "danger",
            reading.application,
            f"{first_of(merged, _SHOWN, '; ')}: not a multiple, accepted by the form (uneven): each gets records of "
            "several in no order of time, and windows at the seam of a cutover may come twice or never",
            _SOURCE,
        )
    yield Finding(
        "green-patterns-not-seen",
        "warning",
        first_of([one.topic for one in reading.outputs]),
        "brokers do not show the patterns of consumer groups outside of the fleet: a group that subscribes by a "
        "pattern which matches these names reads both results from now on; the wait for the end of the history names "
        "each group that reads them",
        _SOURCE,
    )


def _topics(inputs: tuple[GreenInput, ...]) -> str:
    return ", ".join(one.topic for one in inputs)
