"""The tasks in which Spark reads keys: the forecast before the plan, and the proof after the start."""

import os
from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.decide.drain.marks import read_up_to, up_to_marks
from kstreams_runbooks.decide.growth.closure import closure
from kstreams_runbooks.decide.growth.proven import growth_is_proven
from kstreams_runbooks.decide.growth.verdict import may_grow_in_place
from kstreams_runbooks.decide.topology.names import is_made_of_foreign_keys
from kstreams_runbooks.errors import Inconclusive, Refused
from kstreams_runbooks.frames.forecast import ForecastQuestion
from kstreams_runbooks.frames.job import REMOTE
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.model.readings.growth import TopicForecast
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe.application.application import read_dropped
from kstreams_runbooks.present.growth import picture
from kstreams_runbooks.steps.growth.plan import growth_asked, growth_seen, keep_forecast
from kstreams_runbooks.steps.growth.tasks import grown_and_read, noted_ends
from kstreams_runbooks.steps.run.ending import reported
from kstreams_runbooks.steps.run.poll import Pace, poll
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.spark_job import SparkJob
from kstreams_runbooks.watch.drain.unread import count_once
from kstreams_runbooks.watch.growth import (
    JOB,
    Forecast,
    forecast_of,
    forecast_over_connect,
    job_options,
    read_forecast,
)
from kstreams_runbooks.watch.topic_ends import existing_topics, known_ends

_LOOK_EVERY_S = 1.0
# Retention may delete a record between the look at its offset and the reading.
_TRIES = 3


def forecast_keys() -> "ForecastKeys":
    """The task that forecasts which keys move, before the plan."""
    return ForecastKeys(task_id="forecast_keys", retries=0)


def prove_growth() -> "ProveGrowth":
    """The task that proves that every partition is read, and that new records are where the new number puts them."""
    return ProveGrowth(task_id="prove_growth", retries=0)


class _ReadsKeys(SparkJob):
    """Spark reads on the Connect server in SPARK_REMOTE, or in a job through the Airflow connection `conn_id`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(job=JOB, **settings)

    def spark(self, run: Run) -> Forecast:
        """What asks Spark; Inconclusive without a connection."""
        if os.environ.get(REMOTE):
            return forecast_over_connect(run.kafka)
        if why := self.no_connection():
            raise Inconclusive(
                f"{why}: which keys move is not known; create it, or set {REMOTE}, then clear {run.task_id} and what "
                "follows it"
            )

        def ask(questions: tuple[ForecastQuestion, ...]) -> tuple[TopicForecast, ...]:
            ranges = [one for question in questions for one in question.ranges]
            return forecast_of(self.submitted(run, ranges, job_options(questions)))

        return ask


class ForecastKeys(_ReadsKeys):
    """Keeps the forecast as evidence; ends the run if the topics cannot grow in place. It changes nothing."""

    def execute(self, context: Mapping[str, Any]) -> None:
        """Read, ask Spark, and decide; in a dry run too."""
        with reported(context, "forecasts which keys move; changes nothing") as run:
            if run.record.wrote_at_ms:
                run.say("this run has already changed something: its forecast stays")
                return
            seen = growth_seen(run)
            closed = closure(seen)
            for grown in closed.grown:
                run.say(f"{grown.name}: {grown.before:,} → {grown.after:,} ({grown.role}; {grown.why})")
            # A refusal that needs no key must not wait for Spark.
            first = may_grow_in_place(seen, None)
            if first.outcome is Outcome.REFUSE:
                run.demand(run.decide(may_grow_in_place, seen=seen, forecast=None))
            forecast = run.patiently(lambda: read_forecast(run.kafka, seen, growth_asked(run), self.spark(run)))
            keep_forecast(run, forecast)
            for one in () if forecast is None or isinstance(forecast.topics, Missing) else forecast.topics:
                for line in picture(one):
                    run.say(line)
            verdict = run.decide(may_grow_in_place, seen=seen, forecast=forecast)
            for reason in verdict.reasons:
                run.say(reason)
            run.demand(verdict)


class ProveGrowth(_ReadsKeys):
    """Waits until the application has read every partition, then has Spark read the records since the growth."""

    def execute(self, context: Mapping[str, Any]) -> None:
        """Prove it; a dry run has nothing to prove."""
        with reported(context, "proves that every partition is read, each key in its new one") as run:
            if run.dry_run:
                run.say("would prove that every partition is assigned and read, and where new records are")
                return
            read = grown_and_read(run)
            self._wait_until_read(run, tuple(name for name, _ in read))
            own = run.first.application.application_id
            keyed = tuple(
                (name, count) for name, count in read if not is_made_of_foreign_keys(name.removeprefix(f"{own}-"))
            )
            since = self._since(run, keyed)
            run.keep("reading", "keys since the growth", since)
            group = run.first.read(describes=False).group
            run.demand(run.decide(growth_is_proven, read=read, group=group, since=since))

    def _wait_until_read(self, run: Run, topics: tuple[str, ...]) -> None:
        own, limit_s = run.first, run.limit("gate_ceiling_s")
        with own.reader() as reader:
            ends = {topic.name: known_ends(reader, topic) for topic in existing_topics(reader, topics)}
        marks = tuple((f"{name}-{part}", one.stable) for name, each in ends.items() for part, one in enumerate(each))

        def look() -> tuple[tuple[PartitionLag, ...] | Missing, Verdict]:
            with own.reader() as reader:
                rows = read_dropped(reader, own.application.application_id, set(topics))
            if not isinstance(rows, Missing):
                rows = count_once(own.application, own.kafka, up_to_marks(rows, marks))
            return rows, read_up_to(rows, marks, own.record.application)

        rows = poll(run, Pace(_LOOK_EVERY_S, limit_s), look, lambda verdict: verdict.outcome is Outcome.PROCEED)
        verdict = own.decide(read_up_to, partitions=rows, marks=marks, application=own.record.application)
        if verdict.outcome is Outcome.WAIT:
            raise Refused(
                f"{verdict.text} after {limit_s:.0f} s; look at {own.record.application}, then clear {run.task_id} and "
                "what follows it"
            )
        run.demand(verdict)

    def _since(self, run: Run, read: tuple[tuple[str, int], ...]) -> tuple[TopicForecast, ...] | Missing:
        """The keys of the records since the growth, with the new number as the number of before."""
        why = ""
        for _ in range(_TRIES):
            questions = _questions(run, read)
            if not any(one.filled for one in questions):
                return Missing("no topic has a record since the growth (expected at least one)")
            try:
                return self.spark(run)(questions)
            except Inconclusive as error:
                why = str(error)
        return Missing(why)


def _questions(run: Run, read: tuple[tuple[str, int], ...]) -> tuple[ForecastQuestion, ...]:
    noted = noted_ends(run)
    with run.reader() as reader:
        topics = existing_topics(reader, tuple(name for name, _ in read))
        ends = {topic.name: known_ends(reader, topic) for topic in topics}
    return tuple(
        ForecastQuestion(
            # Kafka Streams deletes what it has read of the others.
            "input" if name in run.application.inputs else "repartition",
            count,
            tuple(
                OffsetRange(name, part, max(min(noted.get((name, part), 0), one.stable), one.start), one.stable)
                for part, one in enumerate(ends[name])
            ),
        )
        for name, count in read
    )
