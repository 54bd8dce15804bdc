"""The wait in which deleted topics have to stay gone: reads from the triggerer, holds no worker."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from kstreams_runbooks.decide.reset.retire import stayed_gone
from kstreams_runbooks.errors import Inconclusive, Unreachable
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.steps.instances.watch_trigger import WatchTrigger
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.until import Until

# The default of metadata.max.age.ms (and of librdkafka's topic.metadata.refresh.interval.ms): a client that knew a
# deleted topic asks again within it.
METADATA_MAX_AGE_S: Final = 300.0
_LOOK_EVERY_S: Final = 10.0
_WATCH = "watch deleted topics"


class GoneTrigger(WatchTrigger):
    """Fires once deleted topics have stayed gone for as long as a client may create one again, or once one is back.

    The end of the wait is kept in the ledger (steps/run/until.py): a task that is cleared goes on with the same one. A
    broker that does not answer meanwhile may be restarting; at the end it has to.

    Arguments: `deleted` (ids by name), `length_s`, `interval_s`.
    """

    async def watch(self, run: Run) -> Verdict:
        """Look until the end."""
        until = await self.aside(Until, run, _WATCH, self.arguments["length_s"])
        while True:
            verdict = await self.aside(self._look, run, until)
            if verdict.outcome is not Outcome.WAIT:
                return verdict
            await self.pause(run, self.arguments["interval_s"], lambda: until.waited)

    def _look(self, run: Run, until: Until) -> Verdict:
        """One look; blocks."""
        deleted: Mapping[str, str] = self.arguments["deleted"]
        # Asked before the look: the last one has to come after the end.
        over = until.is_over()
        try:
            # The last look has to be answered: it is taken again for a while, as a step's.
            with (replace(run, patient=True) if over else run).reader() as reader:
                seen = reader.topics(sorted(deleted))
        except (Inconclusive, Unreachable) as error:
            if over:
                raise
            return self._waits(run, str(error), until)
        if seen or over:
            return run.decide(stayed_gone, deleted=dict(deleted), seen=seen, watched_s=self.arguments["length_s"])
        names = f"{len(deleted):,} deleted {'topic' if len(deleted) == 1 else 'topics'}"
        return self._waits(run, f"watches {names}: a client may create one again", until)

    def _waits(self, run: Run, sentence: str, until: Until) -> Verdict:
        if sentence != self.saw:
            self.tell(run, sentence, until.waited)
        elif self.is_quiet:
            self.count(run, sentence, until.waited)
        return Verdict(Outcome.WAIT, (sentence,))


def gone_trigger(run: Run, deleted: Mapping[str, str]) -> GoneTrigger:
    """The trigger that watches deleted topics, with their ids by name."""
    return GoneTrigger(
        run_key=run.key,
        task_id=run.task_id,
        try_number=run.try_number,
        deleted=dict(deleted),
        length_s=METADATA_MAX_AGE_S,
        interval_s=_LOOK_EVERY_S,
    )
