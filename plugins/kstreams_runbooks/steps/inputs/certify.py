"""The drain certificate of a run that holds the inputs itself."""

from collections.abc import Mapping
from typing import Any

from airflow.sdk import BaseOperator

from kstreams_runbooks.decide.drain.certificate import drained
from kstreams_runbooks.model.readings.drain import DrainQuestion, Pause
from kstreams_runbooks.model.runs.stages import Certify
from kstreams_runbooks.steps.approval.authorize import authorize
from kstreams_runbooks.steps.drain.certify import give_certificate, read_drain
from kstreams_runbooks.steps.drain.trigger import drain_trigger
from kstreams_runbooks.steps.inputs.held_trigger import HeldDrainTrigger
from kstreams_runbooks.steps.inputs.tasks import require_held, switching
from kstreams_runbooks.steps.instances.gate import answered
from kstreams_runbooks.steps.plan.cards import has_stopped
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.order import is_complete, keep_complete, require_earlier


def certify() -> "CertifyHeld":
    """The task that proves that nothing is left to read while this run holds the inputs."""
    return CertifyHeld(task_id="certify", retries=0)


class CertifyHeld(BaseOperator):
    """Waits without a worker until everything is read, then looks once more at the application and at the inputs."""

    def execute(self, context: Mapping[str, Any]) -> None:
        """Defer the task until the drain is proven; a dry run reads once."""
        with reported(context, "waits until nothing is left to read, and proves it") as run:
            stage = switching(run).certify
            if run.dry_run:
                reading, question = read_drain(run), _question(run, stage)
                run.say(f"would {stage.sentence}; now: {drained((reading,), question).sentence}")
            elif is_complete(run, stage) and has_stopped(run.first):
                run.say(f"stage {stage.number} is complete already: {stage.sentence}")
            else:
                require_earlier(run, stage)
                authorize(run, "approve_plan", (), going_on=True)
                require_held(run)
                trigger = drain_trigger(run, _question(run, stage), HeldDrainTrigger)
                self.defer(trigger=trigger, method_name="resume")

    def resume(self, context: Mapping[str, Any], event: dict[str, Any]) -> None:
        """Read once more, and give the certificate."""
        with reported(context, "the watch answered") as run:
            answered(run, event)
            give_certificate(run)
            require_held(run)
            keep_complete(run, switching(run).certify)


def _question(run: Run, stage: Certify) -> DrainQuestion:
    """What has to be proven; the run itself holds the inputs."""
    pause = Pause(stage.how, f"run {run.key}", f"{', '.join(stage.inputs)} are held")
    return DrainQuestion(int(run.limit("gate_good_readings")), pause, run.application.punctuators)
