"""Whether one side of an application may take over from the other: each refusal prevents lost or doubled records.

Topics are compared by their exact names, never by how they begin: `orders` and `orders-v2` both live.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from kstreams_runbooks.decide.drain.move_until import time_to_move
from kstreams_runbooks.decide.plans.cutover import CUTOVER
from kstreams_runbooks.model.readings.cutover import (
    CopyingSide,
    CutoverReading,
    DownstreamReading,
    GroupOnOutput,
    PairedOutput,
    SideReading,
)
from kstreams_runbooks.model.readings.hold import seconds_text
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of

_SOURCE = "docs/blue_green.md"
_EXACTLY_ONCE, _STREAMS = "exactly_once", "streams"
# Of these the clock of the machine or code that no description shows decides a part: their differences are shown.
_NEVER_EQUAL = frozenset({"wall_clock", "not_comparable"})
_LATE_SENSITIVE = "late_sensitive"


def may_cut_over(reading: CutoverReading) -> Verdict:
    """Refuse a cutover that could lose or double a record; a certain refusal counts even if others are not known."""
    refused = (
        *_copier(reading),
        *_by_hand(reading),
        *_apart(reading),
        *_fed(reading),
        *chain.from_iterable(map(_output, reading.outputs)),
        *_pairs(reading),
        *_undeclared(reading),
        *chain.from_iterable(_downstream(one, reading) for one in reading.downstream),
        *_behind(reading),
    )
    if refused:
        return Verdict(Outcome.REFUSE, refused)
    if unknown := tuple(_unknown(reading)):
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    moves = first_of([one.entry for one in reading.downstream]) or "no group"
    return Verdict(
        Outcome.PROCEED,
        (f"{reading.new.application} may take over from {reading.old.application}; {moves} moves",),
        tuple(_findings(reading)),
    )


def readers_as_planned(reading: CutoverReading, readers: tuple[GroupOnOutput, ...] | Missing) -> Verdict:
    """Whether no group reads the old outputs now that the plan, which was made from `reading`, does not move.

    A group that has moved keeps its offsets on them.
    """
    now = replace(reading, readers=readers)
    if isinstance(readers, Missing):
        return Verdict(Outcome.INCONCLUSIVE, tuple(_unknown_readers(now)))
    if left := tuple(_undeclared(now)):
        return Verdict(Outcome.REFUSE, left)
    groups = len({one.group_id for one in readers})
    return Verdict(
        Outcome.PROCEED, (f"{groups} groups use the outputs of {reading.old.application}, as when this was planned",)
    )


def _copier(reading: CutoverReading) -> Iterator[str]:
    old, copier = reading.old, reading.copier
    if copier is None:
        yield (
            f"application {old.application}: no copier is in front of it (expected one that writes all its inputs): "
            "without it there is no exact seam; use adopt_control_topic first"
        )
        return
    for one in (copier, *reading.chain):
        if one.delivery != _EXACTLY_ONCE:
            yield (
                f"copier {one.name}: it copies {one.delivery} (expected exactly_once): what it repeats after a stop "
                "would be doubled at the seam; put the shipped copier in its place"
            )


def _by_hand(reading: CutoverReading) -> Iterator[str]:
    copiers = (*((reading.copier,) if reading.copier else ()), *reading.chain)
    people: tuple[tuple[str, bool], ...] = (
        *((f"copier {one.name}", one.acts) for one in copiers),
        (f"application {reading.old.application}", reading.old.acts),
    )
    for what, acts in people:
        if not acts:
            yield (
                f"{what}: a person deploys it (expected a deployer that acts): no person is asked while inputs are "
                "held; declare another deployer"
            )


def _apart(reading: CutoverReading) -> Iterator[str]:
    old, new = reading.old, reading.new
    if old.group_id == new.group_id:
        yield (
            f"application {new.application}: its application.id {new.group_id} is that of {old.application} (expected "
            "another one); give it its own"
        )
    for what, mine, theirs in (
        ("output", old.outputs, new.outputs),
        ("internal topic", old.internal, new.internal),
    ):
        for topic in sorted({*mine} & {*theirs}):
            yield (
                f"{what} {topic}: {old.application} and {new.application} share it (expected one of each side); give "
                f"{new.application} its own"
            )
    for side, other in ((old, new), (new, old)):
        for topic in sorted({*side.inputs} & {*other.outputs, *other.internal}):
            yield (
                f"input {topic} of {side.application}: {other.application} writes it (expected: the copier); the sides "
                "are not independent"
            )


def _fed(reading: CutoverReading) -> Iterator[str]:
    """What a side reads and the copier does not write would go on while it is stopped."""
    if reading.copier is None:
        return
    held = {*reading.copier.outputs}
    yield from _chained(reading.chain, held)
    held |= {topic for one in reading.chain for topic in one.outputs}
    for side in (reading.old, reading.new):
        if not side.inputs:
            yield f"application {side.application}: no input was found (expected at least one); look at its topology"
        for topic in side.inputs:
            if topic not in held:
                yield (
                    f"input {topic} of {side.application}: copier {reading.copier.name} does not write it (expected: "
                    "every input of both sides); add a route of it, or let the application read a control topic"
                )


def _chained(copiers: tuple[CopyingSide, ...], held: set[str]) -> Iterator[str]:
    written = held | {topic for one in copiers for topic in one.outputs}
    for one in copiers:
        for topic in one.inputs:
            if topic not in written:
                yield (
                    f"copier {one.name}: it also reads {topic}, which goes on while the copier in front is stopped "
                    "(expected: control topics alone); take that route out"
                )


def _output(output: PairedOutput) -> Iterator[str]:
    if not output.new:
        return
    old, new = output.old_partitions, output.new_partitions
    if not isinstance(old, Missing) and not isinstance(new, Missing) and old != new:
        yield (
            f"output {output.new}: has {new} partitions ({output.old} has {old}): its readers would get keys in "
            "another order; create it with the same number"
        )
    if output.kind is None:
        fields = f": give {', '.join(output.asked)}" if output.asked else ""
        yield (
            f"output {output.old}: whether two sides agree in it is not declared (expected its class); declare it in "
            f"the fleet entry{fields}"
        )


def _pairs(reading: CutoverReading) -> Iterator[str]:
    paired = {one.old: one.new for one in reading.outputs}
    for topic in reading.old.outputs:
        if not paired.get(topic):
            yield (
                f"output {topic} of {reading.old.application}: no output of {reading.new.application} stands for it "
                f"(expected one each); add it to `green_outputs` of {reading.new.application}"
            )
    for topic in sorted(set(paired.values()) - {*reading.new.outputs, ""}):
        yield (
            f"output {topic}: {reading.new.application} does not write it (expected: one of its outputs); correct "
            "`green_outputs`"
        )


def _undeclared(reading: CutoverReading) -> Iterator[str]:
    if isinstance(reading.readers, Missing):
        return
    groups: dict[str, list[str]] = {}
    moving = {(one.entry, topic) for one in reading.downstream for topic in one.topics}
    for one in reading.readers:
        if not one.entry:
            groups.setdefault(one.group_id, []).append(one.topic)
        elif (one.entry, one.topic) not in moving and one.entry != reading.new.application:
            yield (
                f"{one.entry}: it reads {one.topic} and would stay on the output of {reading.old.application} "
                f"(expected: it moves); name {one.topic} in `inputs` of its entry, or delete its offsets there if it "
                "reads that no more"
            )
    for group, topics in groups.items():
        yield (
            f"group {group}: it reads {first_of(topics)}, and no fleet entry declares it (expected: each reader): it "
            f"would stay on the old output; declare it with `kind: consumer` and `inputs: [{', '.join(topics)}]`, or "
            "delete its offsets there if it is out of use: kafka-consumer-groups --delete-offsets --group "
            f"{group} {' '.join(f'--topic {topic}' for topic in topics)}"
        )


def _downstream(one: DownstreamReading, reading: CutoverReading) -> Iterator[str]:
    named = {topic for _, topic in one.settings}
    for topic in one.topics:
        if topic not in named:
            yield (
                f"{one.entry}: no setting names {topic} (expected one in `input_settings` of its fleet entry): it "
                "cannot be moved; declare the setting"
            )
    if one.group_type.lower() == _STREAMS:
        yield (
            f"group {one.group_id} of {one.entry}: a streams group (expected classic or consumer): brokers refuse "
            "other source topics of a streams group that exists (KIP-1071); set group.protocol=classic first"
        )
    if one.delivery == _EXACTLY_ONCE and one.kind == "consumer" and not one.transactional_ids:
        yield (
            f"{one.entry}: it delivers exactly_once, and its transactional ids are not declared (expected each): an "
            "open transaction would not be seen; declare `transactional_ids`"
        )
    counts = {output.old: (output.old_partitions, output.new_partitions) for output in reading.outputs}
    for topic in one.topics:
        if topic not in counts:
            yield f"{one.entry}: {topic} is not an output of {reading.old.application}; correct its `inputs`"


def _behind(reading: CutoverReading) -> Iterator[str]:
    new, most = reading.new, reading.most_unread
    if not isinstance(new.unread, Missing) and new.unread > most:
        yield (
            f"application {new.application}: {new.unread:,} records are left to read (limit {most:,}): it has not "
            "caught up; wait until it has, then trigger this again"
        )


def _unknown(reading: CutoverReading) -> Iterator[str]:
    yield from _unread(reading.old)
    yield from _unread(reading.new)
    for one in reading.outputs:
        for topic, partitions in ((one.old, one.old_partitions), (one.new, one.new_partitions)):
            if isinstance(partitions, Missing):
                yield f"output {topic}: {partitions.missing}"
    yield from _unknown_readers(reading)
    for group in reading.downstream:
        if not group.acts and isinstance(left := time_to_move(group.kept), Missing):
            yield f"until when {group.entry} may move, which a person does, is not known: {left.missing}"


def _unknown_readers(reading: CutoverReading) -> Iterator[str]:
    if isinstance(reading.readers, Missing):
        yield f"the groups that read the outputs of {reading.old.application}: {reading.readers.missing}"


def _unread(side: SideReading) -> Iterator[str]:
    if isinstance(side.unread, Missing):
        yield f"records that {side.application} has not read: {side.unread.missing}"


def _findings(reading: CutoverReading) -> Iterator[Finding]:
    """What a person has to know: outputs that are never promised, and groups that a person moves."""
    for output in reading.outputs:
        if output.kind in _NEVER_EQUAL:
            yield Finding(
                "output-not-promised",
                "danger",
                output.old,
                f"{CUTOVER} does not promise that {output.new} has the same ({output.kind}): differences at the seam "
                "are shown, and its readers see them",
                _SOURCE,
            )
    yield from _at_the_seam(reading)
    for one in reading.downstream:
        if one.delivery != _EXACTLY_ONCE:
            yield Finding(
                "downstream-may-repeat",
                "warning",
                one.entry,
                f"it delivers {one.delivery}: what it had not committed when it was stopped, it may process twice",
                _SOURCE,
            )
        if not one.acts:
            yield Finding(
                "downstream-by-a-person",
                "warning",
                one.entry,
                "a person moves it: it reads on from the old output until then, and only up to the seam"
                f"{_within(one)}; meanwhile {reading.old.application} is down",
                _SOURCE,
            )


def _within(group: DownstreamReading) -> str:
    """For how long after the seam a person may still move a group."""
    left = time_to_move(group.kept)
    if isinstance(left, tuple):
        return f"; it may move for {seconds_text(left[0] / SECOND_MS)} after the seam ({left[1]})"
    return ""


def _at_the_seam(reading: CutoverReading) -> Iterator[Finding]:
    """Stream time is of each partition: with other partitions, a window that is open closes at another time.

    Source: own measurements, 4 → 12 and 4 → 6 partitions with sparse keys; none with dense ones.
    """
    inputs = {*reading.new.inputs, *reading.old.inputs}
    filled = sorted({topic for one in reading.chain for topic in one.outputs} & inputs)
    late = [output.old for output in reading.outputs if output.kind == _LATE_SENSITIVE]
    if filled and late:
        yield Finding(
            "windows-at-the-seam",
            "danger",
            first_of(late),
            f"one side reads {first_of(filled)}, filled from a control topic and maybe with other partitions: a window "
            "that is open at the seam closes at another time on each side; if its keys are few, its readers may get it "
            "from both outputs, and, where one number of partitions is not a multiple of the other, from none; only "
            "windows that have closed by the seam are compared",
            _SOURCE,
        )
