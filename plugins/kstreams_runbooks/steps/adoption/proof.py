"""The proof of a copy: Spark compares each input with its control topic, below the ends that the run noted."""

import os
from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.decide.outputs.proven import AGAIN, BACK, copy_is_proven
from kstreams_runbooks.decide.plans.adopt import COPIER
from kstreams_runbooks.decide.plans.adoptable import may_adopt
from kstreams_runbooks.errors import Inconclusive, Refused, WriteRefused
from kstreams_runbooks.frames.compare_rows import MOST_SECONDS, CompareQuestion
from kstreams_runbooks.frames.job import REMOTE
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.adoption import AdoptedInput, AdoptReading
from kstreams_runbooks.model.readings.outputs import CompareLimits, CompareMode, OutputComparison
from kstreams_runbooks.model.runs.cards import OffsetsSet
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.steps.adoption.plan import WITHOUT_PROOF
from kstreams_runbooks.steps.adoption.seam import copied_ends, is_adopting, keep_end
from kstreams_runbooks.steps.run.ending import BEGUN, reported
from kstreams_runbooks.steps.run.form import given_reason
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.spark_job import SparkJob
from kstreams_runbooks.steps.stages.announce import Announced
from kstreams_runbooks.watch.outputs import (
    JOB,
    CompareOutputs,
    OutputsAsked,
    outputs_of,
    outputs_over_connect,
    read_outputs,
    topics_options,
)

# The note of a task that has ended well for a plan.
_PROVEN = "copy proven"
# The slowest comparison that is waited for, in offsets of both topics a second: docs/measured.md has eight times that.
_SLOWEST = 50_000


def prove_copy() -> "ProveCopy":
    """The task that proves that each control topic has exactly the records of its input."""
    return ProveCopy(task_id="prove_copy", retries=0)


def require_proven(run: Run) -> None:
    """WriteRefused unless `prove_copy` has ended well for the plan of this run."""
    digest = run.whole_plan().digest
    if not any(note.payload["plan"] == digest for note in run.ledger.evidence(run.key, kind="note", name=_PROVEN)):
        raise WriteRefused(
            f"{run.task_id}: the copy is not proven for plan {digest} (marked successful manually does not count); "
            "clear prove_copy and what follows it"
        )


class ProveCopy(SparkJob):
    """Compares each route, keeps readings and verdicts as evidence, and continues only if all are equal.

    Spark compares on the Connect server in SPARK_REMOTE, or in a job through the Airflow connection `conn_id`. It
    changes nothing.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(job=JOB, **settings)

    def execute(self, context: Mapping[str, Any]) -> None:
        """Compare one route after the other; every verdict is in the log before the first failure ends the task."""
        with reported(context, "proves that each control topic has exactly the records of its input") as run:
            if run.dry_run:
                run.say("would compare each input with its control topic")
                return
            plan = run.whole_plan()
            reason = given_reason(run.record.params, WITHOUT_PROOF)
            if not is_adopting(plan):
                run.say("not needed: the control topics go")
            elif reason:
                run.warn(f"the copy is not compared, as the form has it: {reason}")
            else:
                self._prove(run)
            run.keep("note", _PROVEN, {"plan": plan.digest, "without": reason})

    def _prove(self, run: Run) -> None:
        compare = self._compare(run)
        verdicts = [self._judged(run, asked, compare) for asked in _questions(run)]
        failed = [one for one in verdicts if one.outcome is not Outcome.PROCEED]
        # What the last one asks for is what a person does: a copy that stays unproven decides for all.
        failed.sort(key=lambda one: BACK in one.reasons)
        reasons = "; ".join(reason for one in failed for reason in one.reasons)
        if any(one.outcome is Outcome.REFUSE for one in failed):
            raise Refused(reasons)
        if failed:
            raise Inconclusive(reasons)

    def _judged(self, run: Run, asked: OutputsAsked, compare: CompareOutputs) -> Verdict:
        try:
            reading = run.patiently(lambda: read_outputs(run.kafka, asked, compare))
        except Inconclusive as error:
            raise Inconclusive(f"{error}; each further try of this task has as many seconds again: {AGAIN}") from error
        run.keep("reading", "copy", encode(reading))
        verdict = run.decide(copy_is_proven, reading=reading)
        run.say(f"{asked.first} → {asked.second}: {verdict.sentence}")
        return verdict

    def _compare(self, run: Run) -> CompareOutputs:
        if os.environ.get(REMOTE):
            return outputs_over_connect(run.kafka)
        if why := self.no_connection():
            raise Inconclusive(
                f"{why}: whether the copy is complete is not known; create it, or set {REMOTE}, then {AGAIN}"
            )

        def compare(question: CompareQuestion, limit_s: float) -> OutputComparison:
            with topics_options(question, limit_s) as options:
                return outputs_of(self.submitted(run, question.ranges, options))

        return compare


def _questions(run: Run) -> list[OutputsAsked]:
    """One question for each route: the input from the first offset copied to the seam, and the copies of that."""
    kept = run.first.verdicts(may_adopt.__name__)[-1]
    reading: AdoptReading = decode(AdoptReading, kept.payload["inputs"]["reading"])
    return [_question(run, one) for one in reading.inputs]


def _question(run: Run, one: AdoptedInput) -> OutputsAsked:
    begins = {place.place: place.offset for place in _seeds(run)}
    first = [
        OffsetRange(end.topic, end.partition, begins[end.place], end.offset)
        for end in keep_end(run)
        if end.topic == one.input
    ]
    second = [
        OffsetRange(place.topic, place.partition, 0, end)
        for place, end in copied_ends(run.side(COPIER))
        if place.topic == one.control
    ]
    mode: CompareMode = "latest" if one.compacted else "record"
    ranges = (*first, *second)
    # The plan has shown what this reads; a limit of its own would leave the run without an end.
    offsets = sum(each.offsets for each in ranges)
    tries = len(run.ledger.evidence(run.key, "note", BEGUN, run.task_id))
    limits = CompareLimits(offsets, None, max(MOST_SECONDS, offsets / _SLOWEST) * max(1, tries))
    return OutputsAsked(
        one.input, one.control, limits, mode, ranges=ranges, reads_behind=mode == "latest", is_copy=True
    )


def _seeds(run: Run) -> tuple[CommittedOffset, ...]:
    """The offsets at which the copier of this run has begun."""
    side = run.side(COPIER)
    group = side.application.application_id
    for stage in side.plan().stages:
        if isinstance(stage, SetOffsets) and (facts := Announced(side, stage).facts(OffsetsSet).get(group)):
            return facts.after
    raise Refused("this run has not started the copier at the beginning: clear copy_inputs and what follows it")
