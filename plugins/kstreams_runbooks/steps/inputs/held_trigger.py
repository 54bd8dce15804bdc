"""The wait for a drain in a run that holds the inputs itself: it ends once they are not held any more."""

from kstreams_runbooks.steps.drain.trigger import DrainTrigger
from kstreams_runbooks.steps.inputs.tasks import require_held
from kstreams_runbooks.steps.run.run import Run


class HeldDrainTrigger(DrainTrigger):
    """A copier that a person starts again ends the wait, which would else last until its ceiling."""

    def still(self, run: Run) -> None:
        """The inputs are held as the plan has it."""
        require_held(run)
