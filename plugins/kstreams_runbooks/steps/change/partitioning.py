"""Whether the repartitions that a change removes are needless, as a step."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kstreams_runbooks.decide.fitting.partitioning import keys_are_with_their_state
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.frames.job import REMOTE
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.partitioning import KeyCounts, KeyPair
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.spark_job import SparkJob
from kstreams_runbooks.watch.partitioning import JOB, Compare, KeyQuestion, counts_of, over_connect, read_partitioning

# The task has ended well for a plan: marked successful manually it leaves no such note.
COMPARED = "keys compared"
PairsOf = Callable[[Run], Sequence[KeyPair]]


def check_partitioning(pairs: PairsOf, *, sample: int | None = None, **settings: Any) -> "CheckPartitioning":
    """The task that proves that each key of the inputs is in the partition of its state.

    `pairs` names the pairs of a run; with none the task succeeds at once. With `sample` it never does otherwise.
    """
    return CheckPartitioning(task_id="check_partitioning", retries=0, pairs=pairs, sample=sample, **settings)


class CheckPartitioning(SparkJob):
    """Compares each pair, keeps the readings and verdicts as evidence, and continues only if all proceed.

    Spark compares on the Connect server in SPARK_REMOTE, or in a job through the Airflow connection `conn_id`. It
    changes nothing, in a dry run too.
    """

    def __init__(self, *, pairs: PairsOf, sample: int | None = None, **settings: Any) -> None:
        super().__init__(job=JOB, **settings)
        self.pairs = pairs
        self.sample = sample

    def execute(self, context: Mapping[str, Any]) -> None:
        """Compare one pair after the other; every verdict is in the log before the first failure ends the task."""
        with reported(context, "checks that each key is in the partition of its state") as run:
            pairs = self.pairs(run)
            if not pairs:
                run.say("nothing to compare")
                run.keep("note", COMPARED, {"plan": run.ledger.plan_digest(run.key)})
                return
            compare = self._compare(run)
            verdicts = [self._judged(run, pair, compare) for pair in pairs]
            failed = [reason for one in verdicts if one.outcome is not Outcome.PROCEED for reason in one.reasons]
            if any(one.outcome is Outcome.REFUSE for one in verdicts):
                raise Refused("; ".join(failed))
            if failed:
                raise Inconclusive("; ".join(failed))
            run.keep("note", COMPARED, {"plan": run.ledger.plan_digest(run.key)})

    def _judged(self, run: Run, pair: KeyPair, compare: Compare) -> Verdict:
        reading = read_partitioning(run.application, run.kafka, pair, self.sample, compare)
        run.keep("reading", "partitioning", encode(reading))
        verdict = run.decide(keys_are_with_their_state, reading=reading)
        run.say(f"{pair.input} → {pair.state}: {verdict.sentence}")
        return verdict

    def _compare(self, run: Run) -> Compare:
        if os.environ.get(REMOTE):
            return over_connect(run.kafka)
        if why := self.no_connection():
            raise Inconclusive(
                f"{why}: where the keys are is not known; create it, or set {REMOTE}; or compare them with "
                "`kstreams-runbooks partitioning`, and trigger the run again with without_key_check"
            )

        def compare(question: KeyQuestion) -> KeyCounts:
            return counts_of(self.submitted(run, question.ranges, question.options))

        return compare
