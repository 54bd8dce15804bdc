"""The demo's result as one document, from facts alone: those in the topics, the logs and the run's evidence."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from lab.kafka import Appended

SCHEMA_VERSION = 1
FAULTS = ("missing", "extra", "duplicate", "out_of_order")

_CONFIG = re.compile(r"StreamsConfig values:")
_UPGRADE_FROM = re.compile(r"^\s*upgrade\.from = (\S+)\s*$")
# An error, an exception with its message, a line of a stack trace: not the settings with names of exception handlers.
COMPLAINT = re.compile(r"\] ERROR |\w(Exception|Error): |^\s+at |^Caused by")
_VERSION = re.compile(r"Kafka(?: Streams)? version: (\S+)")


@dataclass(frozen=True)
class InstanceStart:
    """One start of an instance as its log prints it; `upgrade_from` is None if it is unset."""

    version: str
    upgrade_from: str | None


@dataclass(frozen=True)
class Rolled:
    """One instance in one bounce: when its stop was requested and when its gate first passed, Unix ms.

    `on_empty_topics`: started while its inputs were held, so that it had no output.
    """

    bounce: int
    instance: str
    stopped_at_ms: int
    started_at_ms: int
    gate_passed_at_ms: int | None
    on_empty_topics: bool = False


@dataclass(frozen=True)
class TopicIds:
    """The internal topics of an application before and after a run: ids by name; `kept` if they have to be the same."""

    application_id: str
    kept: bool
    before: Mapping[str, str]
    after: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """Whether the same topics are there, and each has its own id still, or another one."""
        same = [self.before[name] == self.after.get(name) for name in self.before]
        return bool(same) and self.before.keys() == self.after.keys() and (all(same) if self.kept else not any(same))


@dataclass(frozen=True)
class Facts:
    """All input of the document; `inputs` and `outputs` are the records of the topics by time.

    `internal` is empty if the run is not about internal topics, `downstream` is None if no group reads the outputs.
    """

    run: Mapping[str, Any]
    judge: Mapping[str, Any]
    rolled: Sequence[Rolled]
    logs: Mapping[str, str]
    inputs: Sequence[Appended]
    outputs: Sequence[Appended]
    seconds: Mapping[str, float]
    internal: Sequence[TopicIds] = ()
    downstream: Mapping[str, Any] | None = None


def document(facts: Facts) -> dict[str, Any]:
    """The result; `ok` agrees with the exit code."""
    numbers = sorted({one.bounce for one in facts.rolled if not one.on_empty_topics})
    bounces = [_bounce(number, facts) for number in numbers]
    return {
        "schema_version": SCHEMA_VERSION,
        "command": "demo",
        "ok": facts.run.get("state") == "success"
        and facts.judge.get("verdict") == "ok"
        and all(one.ok for one in facts.internal)
        and _each_once(facts.downstream),
        "run": dict(facts.run),
        "inputs_seen": facts.judge.get("inputs_seen"),
        "bounces": len(bounces),
        "records_per_second_min": [bounce["records_per_second_min"] for bounce in bounces],
        "per_bounce": bounces,
        "instances": {name: _instance(starts_in(text)) for name, text in facts.logs.items()},
        "gaps": [
            {"bounce": one.bounce, "instance": one.instance, "seconds": gap(facts.outputs, one)}
            for one in facts.rolled
            if not one.on_empty_topics
        ],
        "internal_topics": [_topics(one) for one in facts.internal],
        "downstream": None if facts.downstream is None else dict(facts.downstream),
        "held_seconds": held(facts.rolled),
        "silence_seconds": silence(facts.outputs),
        "verdict": facts.judge.get("verdict"),
        **{fault: facts.judge.get(fault) for fault in FAULTS},
        "judge": dict(facts.judge),
        "seconds": dict(facts.seconds),
    }


def _each_once(downstream: Mapping[str, Any] | None) -> bool:
    """Whether a group downstream has read each record that was sent, and none twice; there may be no group."""
    if downstream is None:
        return True
    return downstream["read"] == downstream["sent"] > 0 and not downstream["missing"] and not downstream["doubled"]


def _topics(one: TopicIds) -> dict[str, Any]:
    return {
        "application_id": one.application_id,
        "expected": "the ids of before" if one.kept else "new ids",
        "ok": one.ok,
        "topics": [
            {"name": name, "id_before": one.before.get(name), "id_after": one.after.get(name)}
            for name in sorted({*one.before, *one.after})
        ],
    }


def _bounce(number: int, facts: Facts) -> dict[str, Any]:
    rolled = [one for one in facts.rolled if one.bounce == number]
    passed = [one.gate_passed_at_ms for one in rolled if one.gate_passed_at_ms is not None]
    first, last = min(one.stopped_at_ms for one in rolled), max(passed, default=None)
    return {
        "number": number,
        "stopped_at_ms": first,
        "gate_passed_at_ms": last,
        "instances": {
            one.instance: {"stopped_at_ms": one.stopped_at_ms, "gate_passed_at_ms": one.gate_passed_at_ms}
            for one in rolled
        },
        "records_per_second_min": None if last is None else slowest_second(facts.inputs, first, last),
    }


def slowest_second(inputs: Sequence[Appended], first_ms: int, last_ms: int) -> int | None:
    """Fewest records in any whole second between two times; a second without a record counts as 0.

    None if there is no whole second between them.
    """
    seconds = range(-(-first_ms // 1000), last_ms // 1000)
    counted = dict.fromkeys(seconds, 0)
    for one in inputs:
        if one.at_ms // 1000 in counted:
            counted[one.at_ms // 1000] += 1
    return min(counted.values(), default=None)


def gap(outputs: Sequence[Appended], rolled: Rolled) -> float | None:
    """Longest time in seconds in which a partition got no output while this instance was restarted.

    Partitions of the other instances continue, so the longest is of the restarted one. None before its gate has passed.
    """
    if rolled.gate_passed_at_ms is None:
        return None
    longest = 0
    for _, of_partition in groupby(sorted(outputs, key=lambda one: one.partition), key=lambda one: one.partition):
        for before, after in pairwise(sorted(one.at_ms for one in of_partition)):
            if after > rolled.stopped_at_ms and before < rolled.gate_passed_at_ms:
                longest = max(longest, after - before)
    return longest / 1000


def held(rolled: Sequence[Rolled]) -> float | None:
    """Seconds for which inputs were held: from the stop before the start on empty topics until the start after it.

    None if they were not, or are still.
    """
    stops = [one.stopped_at_ms for one in rolled if one.on_empty_topics]
    starts = [
        one.started_at_ms for one in rolled if not one.on_empty_topics and stops and one.started_at_ms > min(stops)
    ]
    return (min(starts) - min(stops)) / 1000 if stops and starts else None


def silence(outputs: Sequence[Appended]) -> float | None:
    """Longest time in seconds in which no partition got an output: for as long no instance processed.

    None with fewer than two outputs.
    """
    times = sorted(one.at_ms for one in outputs)
    longest = max((after - before for before, after in pairwise(times)), default=None)
    return None if longest is None else longest / 1000


def _instance(starts: Sequence[InstanceStart]) -> dict[str, Any]:
    return {
        "versions_seen": [version for version, _ in groupby(start.version for start in starts)],
        # Of the restarts: the first start is the release that the application came with.
        "upgrade_from_seen": [value for value, _ in groupby(start.upgrade_from for start in starts[1:])],
        "starts": [{"version": start.version, "upgrade_from": start.upgrade_from} for start in starts],
    }


def starts_in(log: str) -> list[InstanceStart]:
    """Every start in an instance's log: a `StreamsConfig values` block and the first version that is printed after it.

    Kafka Streams prints both once per start (tests/unit/lab/test_report.py has what 3.4.1 and 4.3.1 print).
    """
    return list(_starts(log.splitlines()))


def _starts(lines: Sequence[str]) -> Iterator[InstanceStart]:
    in_block, upgrade_from = False, None
    for line in lines:
        if _CONFIG.search(line):
            in_block, upgrade_from = True, None
        elif in_block and (found := _UPGRADE_FROM.match(line)):
            upgrade_from = None if found[1] == "null" else found[1]
        elif in_block and (found := _VERSION.search(line)):
            yield InstanceStart(found[1], upgrade_from)
            in_block = False


def rolled_in(evidence: Mapping[str, Any]) -> list[Rolled]:
    """A run's restarts from its evidence, in their order: the write of each, and the first gate after it."""
    gates = [piece for piece in evidence["verdicts"] if piece["name"] == "gate"]
    stages = (evidence.get("plan") or {}).get("stages", ())
    certified = next((stage["number"] for stage in stages if stage["kind"] == "certify"), 0)
    return [
        Rolled(
            bounce=int(write["payload"]["bounce"]),
            instance=str(write["payload"]["instance"]),
            stopped_at_ms=int(write["payload"]["times"]["stop_requested_ms"]),
            started_at_ms=int(write["payload"]["times"]["started_ms"]),
            gate_passed_at_ms=_passed(gates, write["payload"]),
            on_empty_topics=int(write["payload"]["bounce"]) < certified,
        )
        for write in evidence["writes"]
        if write["name"] == "restart"
    ]


def _passed(gates: Sequence[Mapping[str, Any]], restart: Mapping[str, Any]) -> int | None:
    for gate in gates:
        expected = gate["payload"]["inputs"]["expected"]
        if (
            gate["payload"]["result"]["outcome"] == "proceed"
            and (expected["instance"], expected["bounce"]["number"]) == (restart["instance"], restart["bounce"])
            and gate["at_ms"] >= restart["times"]["started_ms"]
        ):
            return int(gate["at_ms"])
    return None
