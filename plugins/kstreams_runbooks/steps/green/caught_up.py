"""The wait until a second application has read the history of its inputs: holds no worker, and no place of its cluster.

It may take days. The run keeps its application and its topics reserved meanwhile, and does not count for the limit of
runs that change something.

 1. Each look reads the committed offset of every partition next to the start of its log: what retention deletes before
    it is read would be lacking in every result behind it. It ends the wait, and nothing of the other side is touched.
 2. An instance whose process is down ends the wait with the end of its log, if two looks in a row show it.
 3. Each minute, the groups that use its outputs: nothing may read them before the cutover. And the last error of each
    copier that waits with it, which may be why nothing is copied.
 4. Once at most `max_lag` records are left, each instance passes the gate of every runbook.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from airflow.sdk import BaseOperator

from kstreams_runbooks.decide.catch_up.history import history_read, nearest_to_start
from kstreams_runbooks.decide.runs.approval import when
from kstreams_runbooks.errors import Inconclusive, Refused, Unreachable
from kstreams_runbooks.fleet import Copier
from kstreams_runbooks.model.readings.lag import LagRole, PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.states import is_down
from kstreams_runbooks.model.runs.cards import OffsetsSet
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import StartAll
from kstreams_runbooks.model.times import HOUR_MS, SECOND_MS
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.observe.application.copier_figures import read_copier_figures
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from kstreams_runbooks.steps.approval.holds import hold_waits
from kstreams_runbooks.steps.instances.gate import answered
from kstreams_runbooks.steps.instances.restart import await_gates
from kstreams_runbooks.steps.instances.watch_trigger import WatchTrigger
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.until import Until
from kstreams_runbooks.steps.stages.announce import Announced
from kstreams_runbooks.watch.drain.unread import UnreadRecords
from kstreams_runbooks.watch.green import output_users
from kstreams_runbooks.watch.thinned import Thinned

# A history of months takes days; the run itself ends after `longest_h`.
_LENGTH_S: Final = 312 * HOUR_MS / SECOND_MS
_WATCH, _PLACES = "history of the inputs", "places in the history"
_USERS_EVERY_S: Final = 60.0
_DOWN_LOOKS: Final = 2


class HistoryTrigger(WatchTrigger):
    """Fires once the history is read but for some records, was deleted before it was read, or an instance is down.

    A broker that does not answer may be restarting: the next look asks again. The places of a look are kept now and
    then: a restarted triggerer compares with the newest of them.

    Arguments: `most` (records that may be left), `outputs`, `interval_s`.
    """

    async def watch(self, run: Run) -> Verdict:
        """Look until the end."""
        until = await self.aside(Until, run, _WATCH, _LENGTH_S)
        look = await self.aside(_Look, run, self.arguments)
        while True:
            verdict = await self.aside(self._judged, run, look, until)
            if verdict.outcome is not Outcome.WAIT:
                return verdict
            await self.pause(run, self.arguments["interval_s"], lambda: until.waited)

    def _judged(self, run: Run, look: "_Look", until: Until) -> Verdict:
        """One look; blocks."""
        over = until.is_over()
        try:
            verdict = look.judged()
        except (Inconclusive, Unreachable) as error:
            if over:
                raise
            verdict = Verdict(Outcome.WAIT, (str(error),))
        if verdict.outcome is Outcome.INCONCLUSIVE and not over:
            verdict = Verdict(Outcome.WAIT, verdict.reasons)
        if verdict.outcome is Outcome.WAIT and over:
            return Verdict(Outcome.REFUSE, (f"{verdict.sentence} ({until.waited}){until.note}", *verdict.reasons))
        if look.is_new(verdict.sentence):
            self.tell(run, f"{verdict.sentence}{look.pace}", until.waited)
        elif self.is_quiet:
            self.count(run, f"{verdict.sentence}{look.pace}", until.waited)
        return verdict


class _Look:
    """What one look needs of those before it."""

    def __init__(self, run: Run, arguments: Mapping[str, Any]) -> None:
        self._run, self._arguments = run, arguments
        self._reads = [(side, topics, UnreadRecords(side.application, side.kafka)) for side, topics in _readers(run)]
        self._thinned, self._users_at, self._down = Thinned(), 0.0, 0
        self._users: tuple[str, ...] = ()
        self._errors: tuple[str, ...] = ()
        self._earlier = places_before(run)
        self._began: tuple[float, int] | None = None
        self.pace = ""

    def is_new(self, sentence: str) -> bool:
        """Whether a sentence is kept: the places are kept with it."""
        if not self._thinned.keeps(sentence):
            return False
        self._run.keep("note", _PLACES, {"places": dict(self._earlier)})
        return True

    def judged(self) -> Verdict:
        """The verdict of now; Refused if an instance is down."""
        run = self._run
        self._require_up()
        if time.monotonic() - self._users_at >= _USERS_EVERY_S:
            self._users = output_users(run.application, run.kafka, self._arguments["outputs"])
            self._errors = tuple(chain.from_iterable(errors_of(side) for side, *_ in self._reads))
            self._users_at = time.monotonic()
        rows = self._rows()
        of: dict[str, Any] = {
            "rows": rows,
            "earlier": dict(self._earlier),
            "used_by": self._users,
            "most": self._arguments["most"],
        }
        verdict = history_read(**of)
        if not isinstance(rows, Missing):
            self._earlier |= {one.name: one.committed for one in rows if one.committed is not None}
            self._show_pace(rows)
        if verdict.outcome is Outcome.WAIT:
            return replace(verdict, reasons=(*verdict.reasons, *self._errors))
        return verdict if verdict.outcome is Outcome.INCONCLUSIVE else run.decide(history_read, **of)

    def _rows(self) -> tuple[PartitionLag, ...] | Missing:
        """What the application has not read, and what a copier in front of it has not copied yet."""
        found: list[PartitionLag] = []
        for side, topics, unread in self._reads:
            rows = _rows(side, topics)
            if isinstance(rows, Missing):
                return rows
            found += unread.of(rows)
        return tuple(found)

    def _require_up(self) -> None:
        sides = [side for side, *_ in self._reads]
        down = [(side, one) for side in sides for one in side.deployer.instances() if is_down(one.process)]
        self._down = self._down + 1 if down else 0
        if self._down >= _DOWN_LOOKS:
            side, first = down[0]
            end = side.deployer.log_end(first.instance)
            raise Refused(
                f"{first.instance}: its process is {first.process} (expected: it reads the history)"
                f"{f'; {end}' if end else ''}; correct that, then clear start_application and what follows it"
            )

    def _show_pace(self, rows: tuple[PartitionLag, ...]) -> None:
        """How fast the history is read since the first look, and when it is over at that pace."""
        now, left = time.monotonic(), sum(one.records or 0 for one in rows)
        if self._began is None:
            self._began = now, left
        seconds = now - self._began[0]
        per_s = (self._began[1] - left) / seconds if seconds > 0 else 0.0
        eta = f"; {per_s:,.0f} records a second: about {left / per_s:,.0f} s more" if per_s > 0 else ""
        nearest = nearest_to_start(rows)
        self.pace = f"{eta}{f'; {nearest}' if nearest else ''}"


def errors_of(side: Run) -> Iterator[str]:
    """The last error that each instance of a shipped copier has reported, and when: it may be why nothing is copied.

    Empty for any other application.
    """
    entry = side.application
    if not isinstance(entry, Copier) or entry.as_deployed:
        return
    for one in entry.deployer.instances:
        figures = read_copier_figures(one.metrics, entry.application_id)
        if isinstance(figures, Missing):
            yield f"{one.name}: whether it has an error is not known ({figures.missing})"
        elif figures.last_error:
            at_ms = figures.last_error_at_ms
            since = "at a time that is not known" if at_ms is None else f"at {when(at_ms, side.declared.zone)}"
            yield f"{one.name} reported an error {since}: {figures.last_error}"


def places_before(run: Run) -> dict[str, int]:
    """The committed offsets of the newest look that is kept, or those with which the run has begun."""
    if kept := run.ledger.evidence(run.key, kind="note", name=_PLACES, newest=1):
        return {str(name): int(offset) for name, offset in kept[-1].payload["places"].items()}
    places: dict[str, int] = {}
    for side, topics in _readers(run):
        set_ = committed_by_run(side)
        places |= {f"{one.topic}-{one.partition}": one.offset for one in set_ if one.topic in topics}
    if not places:
        raise Refused("this run has committed no offsets; clear set_offsets and what follows it")
    return places


def committed_by_run(side: Run) -> tuple[CommittedOffset, ...]:
    """The offsets that this run has committed for the group of a side."""
    group = side.application.application_id
    found: list[CommittedOffset] = []
    for stage in side.plan().stages:
        if isinstance(stage, SetOffsets) and (facts := Announced(side, stage).facts(OffsetsSet).get(group)):
            found += facts.after
    return tuple(found)


def inputs_of(plan: Plan, role: str = "") -> tuple[str, ...]:
    """The topics that green, or the copier in front of it, reads from their beginning."""
    # Offsets on repartition topics are a stage behind it.
    return next((one.topics for one in plan.stages if isinstance(one, SetOffsets) and one.side == role), ())


def _readers(run: Run) -> list[tuple[Run, tuple[str, ...]]]:
    """Green and the copier in front of it alone, each with the topics that it reads from their beginning."""
    plan = run.whole_plan()
    return [(run.side(part.role), inputs_of(plan, part.role)) for part in plan.parts]


def _rows(run: Run, topics: tuple[str, ...]) -> tuple[PartitionLag, ...] | Missing:
    roles: dict[str, LagRole] = dict.fromkeys(topics, "source")
    with run.reader() as reader:
        return read_partitions(reader, run.application.application_id, roles, reader.topics(roles))


def history_trigger(run: Run) -> HistoryTrigger:
    """The trigger that waits until green has read the history of its inputs."""
    return HistoryTrigger(
        run_key=run.key,
        task_id=run.task_id,
        try_number=run.try_number,
        most=int(run.limit("max_lag")),
        outputs=sorted(run.application.green_outputs),
        interval_s=run.limit("gate_interval_s"),
    )


def wait_caught_up() -> "WaitHistory":
    """The task that waits until green has read its history, and until each instance has passed its gate."""
    return WaitHistory(task_id="wait_caught_up", retries=0)


class WaitHistory(BaseOperator):
    """Waits without a worker: for the history first, which may take days, then at the gate of each instance."""

    def execute(self, context: Mapping[str, Any]) -> None:
        """Defer to the watch of the history."""
        with reported(context, "waits until the application has read its history, for days if needed") as run:
            plan = run.whole_plan()
            if not any(isinstance(one, StartAll) for one in plan.stages):
                run.say("not needed: nothing is started")
            elif run.dry_run:
                run.say("would wait until the history is read but for max_lag records, then at each gate")
            else:
                hold_waits(run)
                self.defer(trigger=history_trigger(run), method_name="resume")

    def resume(self, context: Mapping[str, Any], event: dict[str, Any], gated: str = "") -> None:
        """Continue at the gates once the history is read, or after the gate of instance `gated`."""
        with reported(context, f"the gate of {gated} answered" if gated else "the watch answered") as run:
            answered(run, event)
            self._gates(run)

    def _gates(self, run: Run) -> None:
        start = next(one for one in run.plan().stages if isinstance(one, StartAll))
        await_gates(self, run, start.bounce, last=False)
        run.say("every instance has passed its gate")
