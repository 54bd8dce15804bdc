"""The plan of a control-topic flush: inputs held, everything read to its end, the application changed while it is down.

Source: S. Blee-Goldman, guide to Kafka Streams upgrades (Responsive, Kafka Streams 101), flushing repartition topics.
"""

from collections.abc import Iterator
from dataclasses import replace

from kstreams_runbooks.decide.plans.switches import AnySwitch
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.runs.object_stages import DeleteRecords, SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, Certify, ClearState, Stage, StartAll, StopAll

FLUSH = "control_topic_flush"


def flush_plan(
    restart: Plan, switch: AnySwitch, orphans: tuple[str, ...] = (), emptied: tuple[str, ...] = (), group: str = ""
) -> Plan:
    """The plan of a stop and restart, with the inputs held by `switch` until the application is down.

    `restart` is at once and has one bounce: its release, settings and cleared state. `orphans` are the repartition
    topics that nothing reads afterwards: their records, proven read, are deleted, or a way back would read them again.
    `emptied` are those without a record that the group reads again: it gets their beginning, since under
    `auto.offset.reset=latest` it could skip what is written before its first commit.
    Refused for a streams group: its topology cannot change in place (KIP-1071).
    """
    if restart.facts.group_type == "streams":
        raise Refused(
            f"group of {restart.application}: a streams group (expected classic or consumer): brokers refuse another "
            "topology of a streams group that exists; use blue_green_cutover"
        )
    [bounce] = restart.bounces
    again = (SetOffsets(0, group, emptied, "start"),) if emptied else ()
    stages = [replace(one, number=number) for number, one in enumerate(_stages(bounce, switch, orphans, again), 1)]
    inputs = ", ".join(switch.inputs)
    return replace(
        restart,
        runbook=FLUSH,
        change=(*restart.change, ("switch", switch.name)),
        stages=tuple(stages),
        undo=tuple(_undo(restart, switch)),
        title=f"control-topic flush to {bounce.deployed}",
        worst_case=(
            f"{inputs} are held and the application is down or has nothing to read, until the run goes on or `undo` "
            "brings them back"
        ),
        sides=switch.sides,
    )


def _stages(
    bounce: Bounce, switch: AnySwitch, orphans: tuple[str, ...], again: tuple[SetOffsets, ...]
) -> Iterator[Stage]:
    pausing, resuming = tuple(switch.pausing()), (*switch.resuming(), *again)
    yield from pausing
    yield Certify(0, switch.inputs, switch.name, len(pausing), len(resuming))
    yield StopAll(0)
    yield from resuming
    if (clears := bounce.clears) is not None:
        yield ClearState(0, deletes=clears)
    # Never on what it had before: that would read the inputs past the certificate.
    yield StartAll(
        0, bounce.release, bounce.settings, bounce.library, must_clear=True, undo_deletes=bounce.undo_deletes
    )
    if orphans:
        yield DeleteRecords(0, orphans, certified=True)
    yield from switch.after()


def _undo(restart: Plan, switch: AnySwitch) -> Iterator[str]:
    before = " or ".join(sorted({one.deployed for one in restart.facts.at_start}))
    yield f"until the start: {', '.join(switch.inputs)} flow again, every instance back to {before}"
    yield f"afterwards: the same flush back to {before}; the new release may have internal topics of its own by then"
