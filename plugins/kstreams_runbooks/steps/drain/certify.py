"""The drain certificate as a step: waits without a worker, and reads once more before it gives the certificate."""

from collections.abc import Callable, Mapping
from typing import Any

from airflow.sdk import BaseOperator
from tenacity import RetryCallState, Retrying, retry_if_exception_type, retry_if_result, stop_after_attempt, wait_fixed

from kstreams_runbooks.decide.drain.certificate import certified, drained
from kstreams_runbooks.errors import Inconclusive, Unreachable
from kstreams_runbooks.ledger.codec import decode
from kstreams_runbooks.model.readings.disorder import Stop
from kstreams_runbooks.model.readings.drain import DrainQuestion, DrainReading, Pause
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.patience import pause
from kstreams_runbooks.steps.drain.trigger import drain_trigger
from kstreams_runbooks.steps.instances.gate import answered
from kstreams_runbooks.steps.plan.late_losses import require_in_time
from kstreams_runbooks.steps.plan.looking import rehearsed
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.drain.drain import drain_reader

# Attempts at the last reading before a certificate.
_LOOKS = 3


def certify() -> "CertifyDrain":
    """The task that proves that nothing is left to read."""
    return CertifyDrain(task_id="certify", retries=0)


class CertifyDrain(BaseOperator):
    """Waits until nothing is left to read, proven by readings in a row; changes nothing."""

    def execute(self, context: Mapping[str, Any]) -> None:
        """Defer the task until the drain is proven; a dry run reads once and reports the progress."""
        with reported(context, "waits until nothing is left to read, and proves it") as run:
            question = drain_question(run)
            _require_in_time(run, question)
            if run.dry_run:
                run.say(run.decide(drained, readings=(read_drain(run),), question=question).sentence)
                rehearsed(run)
                return
            self.defer(trigger=drain_trigger(run, question), method_name="resume")

    def resume(self, context: Mapping[str, Any], event: dict[str, Any]) -> None:
        """Read once more, and give the certificate."""
        with reported(context, "the watch answered") as run:
            answered(run, event)
            give_certificate(run)


def _require_in_time(run: Run, question: DrainQuestion) -> None:
    """Refused or Inconclusive if windows may drop records once inputs that are paused for so long flow again."""
    if question.pause is not None:
        require_in_time(run, run.observed(), Stop(run.limit("drain_ceiling_s"), "its inputs stay paused"))


def give_certificate(run: Run) -> None:
    """Read once more after a drain that its trigger proved; Refused or Inconclusive unless it still is one."""
    [kept] = run.ledger.evidence(run.key, kind="verdict", name=drained.__name__, task_id=run.task_id, newest=1)
    inputs = kept.payload["inputs"]
    readings = decode(tuple[DrainReading, ...], inputs["readings"])
    question = decode(DrainQuestion, inputs["question"])

    def look() -> Verdict:
        return run.decide(certified, readings=readings, question=question, now=read_drain(run))

    run.demand(last_look(look, run.limit("gate_interval_s"), run.say))


def last_look(look: Callable[[], Verdict], wait_s: float, say: Callable[[str], None]) -> Verdict:
    """The answer of the first of three readings that succeeds, `wait_s` apart; that of the third if none does.

    A broker that restarts at this moment costs one reading, not the proof of an hour. `say` gets the reason of each
    repetition.
    """

    def report(state: RetryCallState) -> None:
        outcome = state.outcome
        error = outcome.exception() if outcome else None
        why = str(error) if error else outcome.result().text if outcome else ""
        say(f"reads again in {wait_s:g} s ({state.attempt_number} of {_LOOKS} readings failed): {why}")

    retrying = Retrying(
        retry=retry_if_result(lambda verdict: verdict.outcome is Outcome.INCONCLUSIVE)
        | retry_if_exception_type((Inconclusive, Unreachable)),
        stop=stop_after_attempt(_LOOKS),
        wait=wait_fixed(wait_s),
        before_sleep=report,
        sleep=lambda seconds: pause(seconds, lambda left: say(f"reads again in {left:.0f} s")),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
    )
    return retrying(look)


def drain_question(run: Run) -> DrainQuestion:
    """What has to be proven: the run's limit of readings, with the pause that the form declares."""
    reason = str(run.record.params.get("inputs_paused") or "").strip()
    pause = Pause("declared", run.record.requested_by, reason) if reason else None
    return DrainQuestion(int(run.limit("gate_good_readings")), pause, run.application.punctuators)


def read_drain(run: Run) -> DrainReading:
    """One reading of the application, with its unread records."""
    drain = drain_reader(run.application, run.deployer, run.kafka)
    with run.reader() as reader:
        reading = drain.read(reader)
        # A search through many offsets starts only when they are at rest: the same in a second reading.
        return reading if reading.counted else drain.read(reader)
