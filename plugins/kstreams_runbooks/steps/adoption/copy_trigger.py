"""The wait until a copier has copied what its inputs have, but for some records: holds no worker."""

from typing import Any, Final

from kstreams_runbooks.decide.drain.copied import nearly_copied
from kstreams_runbooks.errors import Inconclusive, Refused, Unreachable
from kstreams_runbooks.model.readings.lag import LagRole, PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.times import HOUR_MS, SECOND_MS
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from kstreams_runbooks.steps.instances.watch_trigger import WatchTrigger
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.run.until import Until
from kstreams_runbooks.watch.drain.unread import UnreadRecords

# All that an input has may take most of a day; the run itself ends after `longest_h`.
_LENGTH_S: Final = 48 * HOUR_MS / SECOND_MS
_WATCH = "copy of the inputs"


class CopyTrigger(WatchTrigger):
    """Fires once the copier has nearly copied its inputs, has ended, or takes too long for a compacted input.

    A broker that does not answer may be restarting: the next look asks again.

    Arguments: `application` (the copier), `most` (records that may be left), `began_ms`, `may_take_ms` (None: no
    limit), `interval_s`.
    """

    async def watch(self, run: Run) -> Verdict:
        """Look until the end."""
        until = await self.aside(Until, run, _WATCH, _LENGTH_S)
        unread = UnreadRecords(run.application, run.kafka)
        while True:
            verdict = await self.aside(self._look, run, unread, until)
            if verdict.outcome is not Outcome.WAIT:
                return verdict
            await self.pause(run, self.arguments["interval_s"], lambda: until.waited)

    def _look(self, run: Run, unread: UnreadRecords, until: Until) -> Verdict:
        """One look; blocks."""
        over = until.is_over()
        try:
            verdict = self._judged(run, unread)
        except (Inconclusive, Unreachable) as error:
            if over:
                raise
            verdict = Verdict(Outcome.WAIT, (str(error),))
        if verdict.outcome is Outcome.INCONCLUSIVE and not over:
            verdict = Verdict(Outcome.WAIT, verdict.reasons)
        if verdict.outcome is Outcome.WAIT and over:
            return Verdict(Outcome.REFUSE, (f"{verdict.sentence} ({until.waited}){until.note}", *verdict.reasons))
        if verdict.sentence != self.saw:
            self.tell(run, verdict.sentence, until.waited)
        elif self.is_quiet:
            self.count(run, verdict.sentence, until.waited)
        return verdict

    def _judged(self, run: Run, unread: UnreadRecords) -> Verdict:
        for one in run.deployer.instances():
            if is_down(one.process):
                end = run.deployer.log_end(one.instance)
                raise Refused(
                    f"{one.instance}: its process is {one.process} (expected: it copies){f'; {end}' if end else ''}; "
                    f"correct that, start it, then clear {self.step} and what follows it, or undo this run"
                )
        rows = copied_rows(run)
        rows = rows if isinstance(rows, Missing) else unread.of(rows)
        of: dict[str, Any] = {
            "rows": rows,
            "most": self.arguments["most"],
            "took_ms": now_ms() - self.arguments["began_ms"],
            "may_take_ms": self.arguments["may_take_ms"],
        }
        verdict = nearly_copied(**of)
        return verdict if verdict.outcome is Outcome.WAIT else run.decide(nearly_copied, **of)


def copied_rows(run: Run) -> tuple[PartitionLag, ...] | Missing:
    """What the copier's group has not copied of each partition of its inputs."""
    roles: dict[str, LagRole] = dict.fromkeys(run.application.inputs, "source")
    with run.reader() as reader:
        return read_partitions(reader, run.application.application_id, roles, reader.topics(roles))


def copy_trigger(run: Run, began_ms: int, may_take_ms: int | None, most: int) -> CopyTrigger:
    """The trigger that waits until the copier of `run` has nearly copied its inputs."""
    return CopyTrigger(
        run_key=run.key,
        task_id=run.task_id,
        try_number=run.try_number,
        application=run.record.application,
        most=most,
        began_ms=began_ms,
        may_take_ms=may_take_ms,
        interval_s=run.limit("gate_interval_s"),
    )
