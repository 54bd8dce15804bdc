"""One run of a runbook for its steps: the request, the ledger, and the readings."""

import hashlib
import json
import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from functools import cached_property
from typing import Any, TypeVar

from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.decide.fitting.needed import NeededTopics
from kstreams_runbooks.decide.instances.missed import missed
from kstreams_runbooks.decide.runbooks import why_not_of_copiers
from kstreams_runbooks.decide.runs.commands import UNDO
from kstreams_runbooks.deployers import Deployer, make_deployer
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, RunbookError
from kstreams_runbooks.fleet import Application, Cluster, load_fleet
from kstreams_runbooks.free_text import require_free_text
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import decode, encode, encode_call
from kstreams_runbooks.model.copying import UNTIL
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import ApplicationReading, Deployment, Missing
from kstreams_runbooks.model.readings.topics_seen import RepartitionsSeen, TopicsSeen
from kstreams_runbooks.model.runs.ledger import Evidence, RunRecord
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict, by_cause
from kstreams_runbooks.observe import ClusterReader, read_application
from kstreams_runbooks.observe.application.facts import read_running_facts
from kstreams_runbooks.observe.application.topics_seen import read_topics_seen
from kstreams_runbooks.patience import read_again
from kstreams_runbooks.steps.run.conf import check_conf
from kstreams_runbooks.steps.run.form import given_limits, given_lost
from kstreams_runbooks.watch.repartitions import read_repartitions
from kstreams_runbooks.wording import one_cause_each, outside, sentence


class _OneLine(logging.Filter):
    """Keeps quoted text in a task's log from starting a new line, or colouring later lines."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Pass every record, as one line."""
        record.msg, record.args = sentence(record.getMessage()), ()
        return True


log = logging.getLogger("kstreams_runbooks.run")
log.addFilter(_OneLine())

_T = TypeVar("_T")


def now_ms() -> int:
    """Wall clock in Unix milliseconds."""
    return time.time_ns() // 1_000_000


def record_of(context: Mapping[str, Any]) -> RunRecord:
    """The record with which the run of an Airflow context would begin, still without a cluster.

    Two values that Airflow keeps when a task is cleared distinguish it from another run with the same id: the due time,
    and the conf of the trigger.
    """
    ti, dag_run, params = context["ti"], context["dag_run"], dict(context["params"])
    conf = json.dumps(getattr(dag_run, "conf", None) or {}, sort_keys=True, separators=(",", ":"), default=str)
    return RunRecord(
        run_key=f"{ti.dag_id}/{ti.run_id}",
        dag_id=ti.dag_id,
        run_id=ti.run_id,
        application=str(params.get("application") or ""),
        cluster="",
        requested_by=getattr(dag_run, "triggering_user_name", None) or "unknown",
        dry_run=bool(params.get("dry_run", True)),
        reason=(params.get("reason") or "").strip(),
        params=params,
        started_at_ms=now_ms(),
        run_after=dag_run.run_after.astimezone(UTC).isoformat(),
        conf_digest=hashlib.sha256(conf.encode()).hexdigest(),
    )


def new_record(found: RunRecord, find_run: Callable[[str], RunRecord]) -> RunRecord:
    """The same with its cluster; BadInput if a text has half a character, or the application is unknown or disabled.

    BadInput too for a copier, if the runbook is not for one.

    An undo without an application in its form has that of the run to undo, which `find_run` knows.
    """
    require_free_text(found.params)
    if found.dag_id == UNDO and not found.application and (run := str(found.params.get("run") or "").strip()):
        found = replace(found, application=find_run(run).application)
    entry = load_fleet().application(found.application)
    if entry.copies and (why := why_not_of_copiers(found.dag_id)):
        raise BadInput(f"application {entry.name}: {why}; choose another runbook, or an application behind the copier")
    return replace(found, cluster=entry.cluster)


@dataclass(frozen=True)
class Run:
    """A run at one of its steps. Every step reads everything again except the ledger's record."""

    record: RunRecord
    task_id: str
    try_number: int
    ledger: Ledger = field(repr=False)
    # Whether a missed reading is taken again at once: a step does so, a wait reads again by itself.
    patient: bool = False

    @classmethod
    def begin(cls, context: Mapping[str, Any]) -> "Run":
        """The run of an Airflow context; its record is written at the first step and read at every later one.

        A run with the id of a deleted one begins with a record of its own. BadInput if the application is unknown or
        its declaration is bad.
        """
        check_conf(context)
        ti, ledger, found = context["ti"], Ledger.open(), record_of(context)
        record = ledger.same_run(found)
        if record is None:
            record = ledger.start_run(new_record(found, ledger.find_run))
        return cls(record, ti.task_id, ti.try_number, ledger, patient=True)

    @classmethod
    def again(cls, run_key: str, task_id: str, try_number: int) -> "Run":
        """The same run from a process that has no context: the triggerer."""
        ledger = Ledger.open()
        return cls(ledger.run(run_key), task_id, try_number, ledger)

    def on(self, application: str) -> "Run":
        """The same run for a step about another application: its readings, its owner and its log lines are of that."""
        if application == self.record.application:
            return self
        return replace(self, record=replace(self.record, application=application))

    @property
    def key(self) -> str:
        """`dag_id/run_id`, with a number if the id was used before."""
        return self.record.run_key

    @property
    def first(self) -> "Run":
        """The same run for a step about its own application (`on` leads to another)."""
        return self.on(self.ledger.run(self.key).application)

    @property
    def sides(self) -> tuple["Run", ...]:
        """The same run for each application of its plan, the first one first; before it has a plan, for its own."""
        stored = self.ledger.plan(self.key)
        if stored is None or "facts" not in stored:
            return (self.first,)
        return tuple(self.on(part.application) for part in self.whole_plan().parts)

    @property
    def known_sides(self) -> tuple["Run", ...]:
        """The same; if the plan cannot be read, its own application alone: that must not fail the end of a run."""
        try:
            return self.sides
        except RunbookError:
            return (self.first,)

    def side(self, role: str) -> "Run":
        """The same run for the application in a role of its plan.

        Before it has a plan, the form's field of that name has the application: BadInput if it is empty, on another
        cluster, or the run's own.
        """
        first = self.first
        if not role:
            return first
        stored = self.ledger.plan(self.key)
        if stored is not None and "facts" in stored:
            return self.on({part.role: part.application for part in self.whole_plan().parts}[role])
        name = other_application(self.record.params, role, first.record.application)
        entry = load_fleet().side(name)
        if entry.cluster != first.record.cluster:
            raise BadInput(
                f"{role}: {name} is in cluster {entry.cluster} (expected {first.record.cluster}): a run changes "
                "applications of one cluster; name another one"
            )
        return self.on(name)

    @property
    def about(self) -> tuple[str, str]:
        """Cluster and name of its application."""
        return self.record.cluster, self.record.application

    @property
    def dry_run(self) -> bool:
        """Whether this run may not change anything."""
        return self.record.dry_run

    @cached_property
    def application(self) -> Application:
        """The fleet entry, of another side perhaps a copier's; BadInput if it is unknown or disabled."""
        return load_fleet().side(self.record.application)

    @cached_property
    def cluster(self) -> Cluster:
        """The cluster entry."""
        return load_fleet().cluster(self.record.cluster)

    @cached_property
    def declared(self) -> DeclaredApplication:
        """The fleet entry as decisions see it, with the limits that the form overrode."""
        return self.application.declared(given_limits(self.record.params))

    @cached_property
    def kafka(self) -> dict[str, Any]:
        """Librdkafka configuration of the cluster's connection."""
        return kafka_config(self.cluster.connection)

    @cached_property
    def deployer(self) -> Deployer:
        """The deployer, which only records in a dry run."""
        return self.new_deployer()

    def new_deployer(self) -> Deployer:
        """A deployer of its own for one thread. What the form lets a run lose is kept aside if the deployer can."""
        digest = self.ledger.plan_digest(self.key) if given_lost(self.record.params) else None
        return make_deployer(self.application, dry_run=self.dry_run, aside=f"kept-{digest}" if digest else "")

    def limit(self, name: str) -> float:
        """One limit of this run."""
        return dict(self.declared.limits)[name]

    def read(self, also: tuple[str, ...] = (), *, describes: bool = True) -> ApplicationReading:
        """Read everything about the application now, with the topics that the plan binds and `also` these.

        A guard or a gate does not need the partitions while no instance runs: it `describes` nothing, because a
        description is a start of a JVM, in the middle of the time without processing. A step reads again for a while if
        a part is missed, unless the run has begun without it.
        """
        stored = self.ledger.plan(self.key)
        planned = self.plan().topics if stored and "facts" in stored else ()

        def read() -> ApplicationReading:
            with ClusterReader(self.kafka) as reader:
                return read_application(
                    self.application, reader, self.deployer, also=(*planned, *also), describes=describes
                )

        return self.patiently(read, self._newly_missed)

    def patiently(self, read: Callable[[], _T], missing: Callable[[_T], Sequence[str]] = lambda _: ()) -> _T:
        """The value of `read`; a step takes it again for a while if it fails, or if something of it is `missing`."""
        return read() if self._again is None else read_again(read, self._again, missing)

    def reader(self) -> ClusterReader:
        """The reader of the run's cluster, to be entered; a step's connects and asks again for a while."""
        return ClusterReader(self.kafka, again=self._again)

    @property
    def _again(self) -> Callable[[str], None] | None:
        """Reports that a missed reading is taken again; None if it is not."""
        return self.say if self.patient else None

    def _newly_missed(self, reading: ApplicationReading) -> tuple[str, ...]:
        """The missed parts of a reading that the run did not begin without: an instance may hang from the beginning.

        It began with the newest reading of its first step, which a person may have cleared; that step itself has none.
        """
        if not (found := missed(reading)):
            return ()
        first = next((one for one in self.ledger.pieces(self.key, "reading") if one.name == "application"), None)
        if first is None or first.task_id == self.task_id:
            return found
        [newest] = self.ledger.evidence(self.key, "reading", "application", first.task_id, newest=1)
        before: ApplicationReading = decode(ApplicationReading, newest.payload)
        known = missed(before) if before.application == reading.application else ()
        return tuple(one for one in found if one not in known)

    def running_facts(self, reading: ApplicationReading) -> dict[str, FactsReading | Missing]:
        """The topology facts that the instances of a reading show now, without those that did not answer."""
        return read_running_facts(self.application, reading.instances)

    def topics_seen(self, needed: NeededTopics) -> TopicsSeen:
        """The topics that a topology needs, as the cluster has them now."""
        with self.reader() as reader:
            return read_topics_seen(reader, needed)

    def repartitions_seen(self, names: Collection[str], reading: ApplicationReading) -> RepartitionsSeen:
        """What the group has not committed on these repartition topics now."""
        return self.patiently(lambda: read_repartitions(self.application, self.kafka, names, reading.instances))

    def line(self, message: str) -> str:
        """A line of the log, beginning with its application."""
        dry = "DRY RUN " if self.dry_run else ""
        return sentence(f"[{self.record.application} @ {self.record.cluster}] {dry}{message}")

    def say(self, message: str) -> None:
        """One line of the task's log."""
        log.info("%s", self.line(message))

    def warn(self, message: str) -> None:
        """The same for a line that a person should not miss."""
        log.warning("%s", self.line(message))

    def say_findings(self, findings: Iterable[Finding]) -> None:
        """One line of the log for each cause, with its objects."""
        for one in by_cause(findings):
            self.say(f"{one.severity} {one.id} on {one.object}: {one.message}")

    def log_at(self, level: int, message: str) -> None:
        """The same at a level of `logging`."""
        log.log(level, "%s", self.line(message))

    def keep(self, kind: str, name: str, payload: Any) -> int:
        """One piece of evidence."""
        return self.ledger.record(self.key, self.task_id, self.try_number, kind, name, encode(payload), now_ms())

    def decide(self, function: Callable[..., _T], **inputs: Any) -> _T:
        """Decide, and keep the decision with its inputs and the application that it is about."""
        result = function(**inputs)
        call = encode_call(function, inputs, result)
        self.keep("verdict", function.__name__, call | {"application": self.record.application})
        return result

    def verdicts(self, name: str) -> list[Evidence]:
        """The decisions of that name about its application, first to last."""
        kept = self.ledger.evidence(self.key, kind="verdict", name=name)
        return [one for one in kept if one.payload["application"] == self.record.application]

    def demand(self, verdict: Verdict) -> None:
        """Continue only with proceed, which is logged; otherwise the last line of the step is the verdict."""
        if verdict.outcome is Outcome.INCONCLUSIVE:
            raise Inconclusive(verdict.text)
        if verdict.outcome is not Outcome.PROCEED:
            raise Refused(verdict.text)
        self.say(verdict.sentence)

    def observed(self, taken_by: str = "observe") -> ApplicationReading:
        """The newest reading of its application that the step `taken_by` kept."""
        for kept in reversed(self.ledger.evidence(self.key, kind="reading", task_id=taken_by)):
            reading: ApplicationReading = decode(ApplicationReading, kept.payload)
            if reading.application == self.record.application:
                return reading
        raise Refused(
            f"no reading of {self.record.application} in this run: `{taken_by}` has not run; clear it and what "
            "follows it"
        )

    def plan(self) -> Plan:
        """The stored plan, or its application's part of it if it has more than one side (`whole_plan`).

        Inconclusive if it has no facts about the application.
        """
        plan = self.whole_plan()
        try:
            return plan.of_application(self.record.application)
        except KeyError:
            raise Inconclusive(
                f"{self.record.application}: plan {plan.digest} has no facts of it (expected some); look at the run"
            ) from None

    def whole_plan(self) -> Plan:
        """The stored plan over all sides; Refused if there is none, Inconclusive if another release wrote it."""
        stored = self.ledger.plan(self.key)
        if stored is None:
            raise Refused("this run has no plan: `plan` has not run; clear it and what follows it")
        try:
            plan: Plan = decode(Plan, stored)
        except ValueError:
            raise Inconclusive(
                f"plan {self.ledger.plan_digest(self.key)} in the ledger does not have the format of this release; "
                "check the run manually"
            ) from None
        until = self.ledger.recall(self.key, UNTIL)
        return plan if until is None else plan.with_until(until)


def other_application(params: Mapping[str, Any], role: str, own: str) -> str:
    """The application that a form names in the field of a role; BadInput if it names none, or the run's own."""
    name = str(params.get(role) or "").strip()
    if not name or name == own:
        raise BadInput(f"{role}: {outside(name or 'nothing')} (expected another application); name one")
    return name


def described(reading: ApplicationReading) -> tuple[str, ...]:
    """One line for each value of the reading; what has the same value, or is missing for one cause, shares a line."""
    lines = []
    for instance in reading.instances:
        streams, deployment = instance.streams, instance.deployment
        if isinstance(streams, Missing):
            runs = instance.silent
        else:
            what = "its process runs" if streams.as_deployed else f"{streams.state} on {streams.version}"
            runs = f"{instance.instance}: {what}"
        declared = deployment.missing if isinstance(deployment, Missing) else _declared(deployment)
        lines.append(runs if declared in runs else f"{runs}, {declared}")
    group = reading.group
    lines.append(
        f"group: {group.missing}"
        if isinstance(group, Missing)
        else f"group {group.group_id}: {group.type}, {group.state}, {len(group.members)} members"
    )
    release = reading.broker if isinstance(reading.broker, Missing) else reading.broker.version
    lines.append(f"broker: {release.missing}" if isinstance(release, Missing) else f"broker {release}")
    return one_cause_each(lines)


def _declared(deployment: Deployment) -> str:
    release = deployment.release
    return f"no release declared ({release.missing})" if isinstance(release, Missing) else f"declared {release}"
