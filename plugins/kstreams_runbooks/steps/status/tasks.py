"""The tasks of the scheduled check: they read and notify; they never change a cluster or an application."""

import logging
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import partial

from airflow.sdk import DAG, Param, task
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_fixed

from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.decide.runs.status_message import status_changed
from kstreams_runbooks.decide.status.declared import FLEET, declaration_statuses
from kstreams_runbooks.decide.status.news import notified, to_notify, together
from kstreams_runbooks.errors import BadInput, Inconclusive, Unreachable
from kstreams_runbooks.fleet import Fleet, load_fleet
from kstreams_runbooks.fleet.notifications import notification_settings
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.status import KeptStatus
from kstreams_runbooks.model.runs.message import Notification
from kstreams_runbooks.steps.approval.authorize import is_over as over
from kstreams_runbooks.steps.drain.progress import runs_in_a_drain
from kstreams_runbooks.steps.run.contact import Contact, last_contact
from kstreams_runbooks.steps.run.ending import leave
from kstreams_runbooks.steps.run.form import OWNER, in_one_line
from kstreams_runbooks.steps.run.notify import deliver, page_of_run
from kstreams_runbooks.steps.run.run import log, now_ms
from kstreams_runbooks.steps.status.answers import (
    ACKNOWLEDGE,
    ANSWER,
    REASON,
    acknowledged,
    answers_of,
    demand_whole,
    never_checked,
    problems_of,
    reported,
    skip_first,
)
from kstreams_runbooks.steps.status.ended import conclude_ended
from kstreams_runbooks.steps.status.held_inputs import report_held_inputs
from kstreams_runbooks.steps.status.sweep import sweep
from kstreams_runbooks.watch.held import at_work, holders
from kstreams_runbooks.watch.judge import judge_fleet
from kstreams_runbooks.watch.settings import CheckSettings, check_settings
from kstreams_runbooks.watch.status import read_cluster as read
from kstreams_runbooks.wording import first_of

# A restarting broker is back within this time; a longer outage is reported, and the next check reads again.
_AGAIN_S = 5
_TASK_LIMIT = timedelta(minutes=5)
_RUN_LIMIT = timedelta(minutes=15)


def scheduled_check(dag_id: str, *, doc: str) -> DAG:
    """The DAG of the check: every few minutes (`every_minutes` in config/fleet_check.yaml), one run at a time."""
    try:
        minutes = check_settings().every_minutes
    except BadInput:
        # The DAG stays scheduled, and its first task reports what is wrong with the file.
        minutes = CheckSettings().every_minutes
    return DAG(
        dag_id=dag_id,
        description=in_one_line(doc),
        default_args={"owner": OWNER},
        doc_md=doc,
        schedule=timedelta(minutes=minutes) if minutes else None,
        start_date=datetime(2026, 1, 1),  # noqa: DTZ001 - only a lower bound, Airflow adds UTC
        catchup=False,
        max_active_runs=1,
        dagrun_timeout=_RUN_LIMIT,
        params={
            ACKNOWLEDGE: Param(
                None,
                type=["null", "array"],
                items={"type": "string"},
                title="Accept the present topics of these applications",
                description_md="One name a line: applications that are **recreated** and whose owner has checked them.",
            ),
            REASON: Param(
                None,
                type=["null", "string"],
                title="Reason",
                description_md="Why they are accepted: each later plan that touches the application shows it.",
            ),
        },
        tags=["kafka-streams", "monitor"],
    )


@task(retries=0)
def list_clusters() -> list[str]:
    """Name the clusters that applications are declared on."""
    with reported("names the clusters of the fleet"):
        check_settings()
        fleet = load_fleet()
        for sentence in fleet.not_looked_at:
            log.warning("%s", sentence)
        clusters = list(fleet.used_clusters)
        log.info("%d applications on %d clusters", len(fleet.entries), len(clusters))
        return clusters


@task(retries=0, execution_timeout=_TASK_LIMIT)
def read_cluster(cluster: str) -> None:
    """Read every application of one cluster and keep it; skipped if its first check finds no broker."""
    with reported(f"reads every application of {cluster}", {"cluster": cluster}) as context:
        fleet, ledger, settings = load_fleet(), Ledger.open(), check_settings()
        entries = [entry for entry in fleet.entries.values() if entry.cluster == cluster]
        config = kafka_config(fleet.cluster(cluster).connection)
        retrying = Retrying(
            retry=retry_if_exception_type(Unreachable),
            stop=stop_after_attempt(2),
            wait=wait_fixed(_AGAIN_S),
            reraise=True,
        )
        names = {entry.name for entry in entries}
        reasons = {name: why for name, why in acknowledged(context["params"]).items() if name in names}
        for name, why in sorted(reasons.items()):
            log.info("[%s @ %s] its present topics are the expected ones from now on: %s", name, cluster, why)
        try:
            found = retrying(read, ledger, cluster, entries, config, settings, reasons)
        except Unreachable as error:
            if not never_checked(ledger, cluster):
                raise
            skip_first(context, cluster, error)
        log.info("[%s] %s", cluster, found.sentence)
        for name, sentence in found.defects:
            log.info("[%s @ %s] %s", name, cluster, sentence)
        leave(context, ANSWER, encode(found))


@task(trigger_rule="all_done", retries=0, execution_timeout=_TASK_LIMIT)
def judge() -> None:
    """Judge every application by its last readings; one whose cluster could not be read is unknown."""
    with reported("judges every application by its last readings") as context:
        answers, ledger, fleet = answers_of(context), Ledger.open(), load_fleet()
        before = ledger.lag_statuses()
        try:
            settings = check_settings()
        except BadInput as error:
            # Its limits are not known: no application is judged, and that is notified as a status of the fleet.
            _keep_declared(ledger, fleet, before, unchecked=str(error))
            raise
        found = judge_fleet(
            ledger,
            fleet.entries.values(),
            settings,
            read_at_ms={one["cluster"]: one["at_ms"] for one in answers if "at_ms" in one},
            problems=problems_of(answers),
            now_ms=now_ms(),
        )
        for one in _keep_declared(ledger, fleet, before):
            log.warning("[%s @ %s] %s: %s", one.application, one.cluster, one.word, one.sentence)
        for one in found.statuses:
            if one.word != "healthy" or one in found.changes:
                log.log(
                    logging.INFO if one.word == "healthy" else logging.WARNING,
                    "[%s @ %s] %s: %s",
                    one.application,
                    one.cluster,
                    one.word,
                    one.sentence,
                )
        for late in found.too_late:
            log.info("[%s] declared after its cluster was read; the next check reads it", late)
        log.info("%d applications: %s", len(found.statuses), ", ".join(f"{n} {w}" for w, n in found.words.items()))
        log.info("%d readings older than %g days forgotten", found.forgotten, settings.keep_days)
        leave(context, ANSWER, {"words": found.words, "changes": len(found.changes)})


@task(trigger_rule="all_done", retries=0, execution_timeout=_TASK_LIMIT)
def sweep_holds() -> None:
    """Run the guards of every application that a run holds; on drift its plan is void, and its owner is notified.

    Runs that Airflow ended before their `conclude` are concluded first, which releases their holds; inputs
    that a run has left held are reported. Fails if it could not read one of them.
    """
    with reported("runs the guards of every application that a run holds") as context:
        ledger = Ledger.open()
        is_over = partial(over, ledger)
        concluded = conclude_ended(ledger, is_over, log.warning)
        held = [one.run_key for one in report_held_inputs(ledger, is_over, log.info, log.warning)]
        swept = sweep(ledger, "sweep_holds", is_over, log.info, log.warning)
        draining = [one.sentence(now_ms()) for one in runs_in_a_drain(ledger) if not is_over(one.run_key)]
        for sentence in draining:
            log.info("%s", sentence)
        log.info("%d plans void by this check, %d runs wait for a drain", swept.void, len(draining))
        found = {
            "void": swept.void,
            "unknown": swept.unknown,
            "draining": draining,
            "concluded": concluded,
            "held": held,
        }
        leave(context, ANSWER, found)
        if swept.unknown:
            raise Inconclusive(
                f"{len(swept.unknown)} held applications could not be read: {first_of(swept.unknown)}; whether "
                "their plans are still valid is not known; the log of sweep_holds has the reason"
            )


@task(trigger_rule="all_done", retries=0, execution_timeout=_TASK_LIMIT)
def notify_changes() -> None:
    """Notify the owners of applications whose status changed, once each; fail if the check was incomplete."""
    with reported("notifies the owners of applications whose status changed") as context:
        ledger, fleet, settings = Ledger.open(), load_fleet(), notification_settings()
        link = page_of_run(context["ti"].dag_id, context["ti"].run_id)
        changes = [
            (one, _contact(ledger, fleet, one.application).owner)
            for one in to_notify(ledger.lag_statuses(), at_work(ledger))
            if one.application in {*fleet.entries, *fleet.disabled, FLEET}
        ]
        groups = together(changes)
        messages = [_message(fleet, group, ledger, link) for group in groups]
        for message in messages:
            log.info("%s: %s", message.subject, message.lines[0])
        deliver(ledger, settings, messages, log.warning)
        ledger.keep_lag_statuses(notified(one) for one, _ in changes)
        if not changes:
            log.info("no status has changed")
        demand_whole(context, fleet)


def _message(fleet: Fleet, group: tuple[KeptStatus, ...], ledger: Ledger, link: str) -> Notification:
    """The message to the owner of these applications."""
    cluster, contact = group[0].cluster, _contact(ledger, fleet, group[0].application)
    entries = (fleet.entries[one.application] for one in group if one.application in fleet.entries)
    held_by = holders(ledger, cluster, entries)
    return status_changed(group, now_ms(), owner=contact.owner, zone=contact.zone, link=link, held_by=held_by)


def _contact(ledger: Ledger, fleet: Fleet, application: str) -> Contact:
    """As declared or, if the declaration is broken, as the newest run about it kept it."""
    entry = fleet.entries.get(application)
    return Contact(entry.owner, entry.zone) if entry else last_contact(ledger, application)


def _keep_declared(
    ledger: Ledger, fleet: Fleet, before: Collection[KeptStatus], *, unchecked: str = ""
) -> tuple[KeptStatus, ...]:
    """Keep the status of each broken declaration, and of a fleet without any, or `unchecked` for a reason."""
    broken = {name: str(problems[0]) for name, problems in fleet.disabled.items()}
    empty = "" if fleet.entries or broken else str(fleet.empty)
    found = declaration_statuses(broken, empty, before, now_ms(), unchecked=unchecked)
    ledger.keep_lag_statuses(found)
    return found
