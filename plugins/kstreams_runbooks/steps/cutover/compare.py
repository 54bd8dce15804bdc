"""The outputs of two sides, compared by Spark below the ends that the run noted, while both go on to write."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from kstreams_runbooks.decide.outputs.sides import sides_are_equal
from kstreams_runbooks.errors import Inconclusive, Refused, RunbookError, WriteRefused
from kstreams_runbooks.frames.compare_rows import CompareQuestion
from kstreams_runbooks.frames.job import REMOTE
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.outputs import OutputComparison
from kstreams_runbooks.model.readings.sides import ComparedSides, NotedEnds, SideHistory
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.spark_job import SparkJob
from kstreams_runbooks.watch.outputs import CompareOutputs, outputs_of, outputs_over_connect
from kstreams_runbooks.watch.sides import JOB, OutputPair, read_sides, sides_options


@dataclass(frozen=True, slots=True)
class SidesAsked:
    """What one comparison of a run is about.

    `blue` and `green` are the fleet entries of the side that serves and of the other one; `noted` has every partition
    of both topics of each pair.
    """

    blue: str
    green: str
    pairs: tuple[OutputPair, ...]
    noted: NotedEnds
    history: SideHistory


# What is left below noted ends does not change: the same comparison would have the same answer.
UNEQUAL: Final = "find out why, then trigger a new run, which notes other ends"

# While the old side is down every second counts: most of a small comparison is the work of its driver.
_AT_ONCE: Final = 4

# The comparison of a run at its step; None: this run has nothing to compare.
AskSides = Callable[[Run], SidesAsked | None]


class CompareSides(SparkJob):
    """Compares each pair of outputs, keeps readings and verdicts as evidence, and continues only if all proceed.

    Spark compares on the Connect server in SPARK_REMOTE, or in a job through the Airflow connection `conn_id`. It
    changes nothing. Refused if an output differs that the sides have to agree on, Inconclusive if that is not proven;
    every pair is compared and is in the log before. A note of the task's id is kept once all proceed, and
    `require_compared` asks for it. `otherwise` is called with what ended the comparison.
    """

    def __init__(
        self, *, sides: AskSides, otherwise: Callable[[Run, RunbookError], None] | None = None, **settings: Any
    ) -> None:
        super().__init__(job=JOB, **{"retries": 0, **settings})
        self.sides, self.otherwise = sides, otherwise

    def execute(self, context: Mapping[str, Any]) -> None:
        """Compare one pair after the other."""
        with reported(context, "compares the outputs of both sides below the noted ends") as run:
            if run.dry_run:
                run.say("would compare the outputs of both sides below the noted ends")
                return
            try:
                asked = self.sides(run)
                if asked is None or not asked.pairs:
                    run.say("nothing to compare")
                else:
                    # One job of this operator at a time; a Connect server takes several questions.
                    compare_pairs(run, asked, self._compare(run), at_once=bool(os.environ.get(REMOTE)))
            except Exception as error:
                if self.otherwise is not None:
                    # An error of another library leaves the old side down as well.
                    own = error if isinstance(error, RunbookError) else Inconclusive(f"{type(error).__name__}: {error}")
                    self.otherwise(run, own)
                raise
            run.keep("note", self.task_id, {"plan": run.whole_plan().digest})

    def _compare(self, run: Run) -> CompareOutputs:
        if os.environ.get(REMOTE):
            return outputs_over_connect(run.kafka)
        if why := self.no_connection():
            raise Inconclusive(
                f"{why}: whether the sides are equal is not known; create it, or set {REMOTE}, then clear "
                f"{self.task_id} and what follows it"
            )

        def compare(question: CompareQuestion, limit_s: float) -> OutputComparison:
            with sides_options(question, limit_s) as options:
                return outputs_of(self.submitted(run, question.ranges, options))

        return compare


def compare_pairs(run: Run, asked: SidesAsked, compare: CompareOutputs, *, at_once: bool = False) -> None:
    """Compare each pair, with `at_once` together; readings and verdicts of all are kept before a failure is raised."""

    def read(pair: OutputPair) -> ComparedSides:
        return run.patiently(lambda: read_sides(run.kafka, pair, asked.noted, compare))

    with ThreadPoolExecutor(max_workers=_AT_ONCE if at_once else 1) as pool:
        readings = [pool.submit(read, pair) for pair in asked.pairs]
    verdicts = [_judged(run, asked, pair, one.result()) for pair, one in zip(asked.pairs, readings, strict=True)]
    failed = [reason for one in verdicts if one.outcome is not Outcome.PROCEED for reason in one.reasons]
    if any(one.outcome is Outcome.REFUSE for one in verdicts):
        raise Refused(f"{'; '.join(failed)}; {UNEQUAL}")
    if failed:
        raise Inconclusive(f"{'; '.join(failed)}; {UNEQUAL}")


def _judged(run: Run, asked: SidesAsked, pair: OutputPair, compared: ComparedSides) -> Verdict:
    run.keep("reading", "sides", encode({"blue": asked.blue, "green": asked.green, "compared": compared}))
    verdict = run.decide(sides_are_equal, compared=compared, history=asked.history)
    run.say(f"{asked.blue} {pair.first} ↔ {asked.green} {pair.second}: {verdict.sentence}")
    run.say_findings(verdict.findings)
    return verdict


def require_compared(run: Run, task_id: str) -> None:
    """WriteRefused unless the comparison of that task has ended well for the plan of this run."""
    digest = run.whole_plan().digest
    if not any(note.payload["plan"] == digest for note in run.ledger.evidence(run.key, kind="note", name=task_id)):
        raise WriteRefused(
            f"{run.task_id}: the outputs of both sides are not compared for plan {digest} (marked successful manually "
            f"does not count); clear {task_id} and what follows it"
        )
