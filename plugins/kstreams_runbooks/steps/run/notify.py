"""Telling people, through Airflow's notifiers: once each, and never at the cost of the step that tells.

A message is kept in the ledger before it is sent (ledger/notifications.py). A notifier that fails costs one line of the
step's log; the next message of any run tries again what has not arrived, for a day. What never arrived stays in the
evidence with the reason.
"""

from collections.abc import Callable, Iterable
from html import escape
from importlib import import_module
from typing import Any
from urllib.parse import quote

from airflow.sdk import BaseNotifier
from airflow.sdk._shared.secrets_masker import redact
from airflow.sdk.configuration import conf

from kstreams_runbooks.decide.runs.message import About
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.notifications import Channel, NotificationSettings, notification_settings
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.ledger import airflow_run
from kstreams_runbooks.model.runs.message import Notification
from kstreams_runbooks.steps.run.run import Run, log, now_ms
from kstreams_runbooks.wording import outside


def notify(run: Run, build: Callable[..., Notification], **facts: Any) -> None:
    """Tell whoever is to be told what `build` (decide/runs/message.py) makes of this run and `facts`; never raises."""
    try:
        settings = notification_settings()
        if settings.notifiers:
            owner, zone = run.application.owner, run.application.zone
            about = About(run.record, owner, zone, page_of(run), f"{run.task_id}/{run.try_number}")
            deliver(run.ledger, settings, (build(about, now_ms(), **facts),), lambda message: _say(run, message))
    except Exception as error:  # noqa: BLE001 - whatever it is, the step goes on
        _say(run, f"nobody was told ({build.__name__}): {_sentence(error)}")


def page_of(run: Run, task_id: str | None = None) -> str:
    """Where Airflow shows the run, or what one of its tasks asks; empty where it does not know its own address."""
    page = page_of_run(run.record.dag_id, run.record.run_id)
    return f"{page}/tasks/{task_id}/required_actions" if page and task_id else page


def page_of_run(dag_id: str, run_id: str) -> str:
    """The same for a run of any DAG, by its id."""
    base: str | None = conf.get("api", "base_url", fallback=None)
    return f"{base.rstrip('/')}/dags/{dag_id}/runs/{quote(run_id)}" if base else ""


def deliver(
    ledger: Ledger, settings: NotificationSettings, messages: Iterable[Notification], say: Callable[[str], None]
) -> None:
    """Keep messages, then send them and what has not arrived before; `say` is told of a notifier that fails."""
    for message in messages:
        ledger.queue_notification(message, settings.notifiers_for(message.kind))
    failed: set[str] = set()
    for delivery in ledger.due_notifications(list(settings.notifiers), now_ms()):
        name = delivery.channel
        # One that is away is not asked for each message that it has missed.
        if name in failed or not ledger.claim_notification(delivery, now_ms()):
            continue
        try:
            _made(name, settings.notifiers[name])({"notification": _shown(delivery.notification)})
        except Exception as error:  # noqa: BLE001 - a notifier is anybody's code
            failed.add(name)
            ledger.notification_failed(delivery, _sentence(error), now_ms())
            say(f"notifier {name} failed, to be tried again ({delivery.notification.subject}): {_sentence(error)}")
        else:
            ledger.notification_sent(delivery, now_ms())


def _made(name: str, channel: Channel) -> BaseNotifier:
    module, _, attribute = channel.notifier.rpartition(".")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise BadInput(f"notifier {name}: {channel.notifier} is not installed here ({error})") from None
    if not (isinstance(found, type) and issubclass(found, BaseNotifier)):
        raise BadInput(f"notifier {name}: {channel.notifier} is none of Airflow's notifiers (BaseNotifier)")
    try:
        return found(**channel.arguments)
    except TypeError as error:
        raise BadInput(f"notifier {name}: its arguments do not fit {attribute} ({error})") from None


def _shown(notification: Notification) -> dict[str, Any]:
    """What a notifier's templates see as `notification`, all of it JSON."""
    # What is about an application by itself is about no run.
    dag_id, run_id = airflow_run(notification.about) if "/" in notification.about else ("", "")
    return {
        "kind": str(notification.kind),
        "subject": notification.subject,
        "body": notification.body,
        "html": f"<pre>{escape(notification.body)}</pre>",
        "application": notification.application,
        "cluster": notification.cluster,
        "owner": notification.owner,
        "dry_run": notification.dry_run,
        "dag_id": dag_id,
        "run_id": run_id,
        "occasion": notification.occasion,
        "command": notification.command,
        "link": notification.link,
        "deadline_ms": notification.deadline_ms,
        "at_ms": notification.at_ms,
    }


def _sentence(error: Exception) -> str:
    """One line without the secrets that Airflow knows."""
    return outside(redact(f"{type(error).__name__}: {error}"))


def _say(run: Run, message: str) -> None:
    log.warning("%s", run.line(message))


def emergencies(run: Run) -> Iterable[str]:
    """Every approval of this run that somebody gave alone."""
    for approval in run.ledger.approvals(run.key):
        if approval.emergency_reason:
            yield f"{approval.task_id} was approved by {approval.by} in an emergency: {approval.emergency_reason}"
