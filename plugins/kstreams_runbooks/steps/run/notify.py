"""Sends notifications through Airflow's notifiers: once each, and without ever failing the step that sends.

The ledger keeps a message before it is sent (ledger/notifications.py). If a notifier fails, the step's log has one
line; the next message of any run, and each scheduled check, retries unsent messages, for a day. A message that never
arrived stays in the evidence with the reason. A declaration that is broken meanwhile costs no message: the ledger has
its owner, and keeps messages for notifiers that a broken notifications.yaml does not name.
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
from kstreams_runbooks.model.address import without_logins
from kstreams_runbooks.model.runs.ledger import airflow_run
from kstreams_runbooks.model.runs.message import Notification
from kstreams_runbooks.steps.run.contact import contact_of
from kstreams_runbooks.steps.run.run import Run, log, now_ms
from kstreams_runbooks.wording import outside


def notify(run: Run, build: Callable[..., Notification], **facts: Any) -> None:
    """Send the message that `build` (decide/runs/message.py) makes of this run and `facts`; never raises."""
    try:
        settings = _settings()
        if isinstance(settings, BadInput) or settings.notifiers:
            contact = contact_of(run)
            about = About(run.record, contact.owner, contact.zone, page_of(run), _occasion(run))
            message = build(about, now_ms(), **facts)
            if isinstance(settings, BadInput):
                run.ledger.keep_unaddressed(message, str(settings))
                _say(run, f"notification kept, not sent yet ({message.subject}): {_sentence(settings)}")
            else:
                deliver(run.ledger, settings, (message,), lambda fault: _say(run, fault))
    except Exception as error:  # noqa: BLE001 - after any error the step continues
        _say(run, f"notification not sent ({build.__name__}): {_sentence(error)}")


def _settings() -> NotificationSettings | BadInput:
    """The settings, or the fault of their file: who gets a message is then known once it is corrected."""
    try:
        return notification_settings()
    except BadInput as error:
        return error


def notify_all(run: Run, build: Callable[..., Notification], **facts: Any) -> None:
    """The same to the owner of each application that the run is about, each owner once."""
    told: set[str] = set()
    for side in run.known_sides:
        owner = _owner(side)
        if not owner or owner not in told:
            notify(side, build, **facts)
        told.add(owner)


def _owner(run: Run) -> str:
    """Empty if it is not known: the step that notifies it reports why."""
    try:
        return contact_of(run).owner
    except Exception:  # noqa: BLE001 - as above
        return ""


def _occasion(run: Run) -> str:
    """The task and the try that send; for another application than the run's own also which one."""
    own = run.first.record.application
    name = run.record.application
    return f"{run.task_id}/{run.try_number}" + (f"/{name}" if name != own else "")


def page_of(run: Run, task_id: str | None = None) -> str:
    """Airflow's page of the run, or of a task's question; empty if Airflow does not know its own address."""
    page = page_of_run(run.record.dag_id, run.record.run_id)
    return f"{page}/tasks/{task_id}/required_actions" if page and task_id else page


def page_of_run(dag_id: str, run_id: str) -> str:
    """The same for a run of any DAG, by its id."""
    base: str | None = conf.get("api", "base_url", fallback=None)
    return f"{base.rstrip('/')}/dags/{dag_id}/runs/{quote(run_id)}" if base else ""


def deliver(
    ledger: Ledger, settings: NotificationSettings, messages: Iterable[Notification], say: Callable[[str], None]
) -> None:
    """Keep messages, then send them and earlier unsent ones; `say` receives the failure of a notifier."""
    ledger.address_notifications(settings.notifiers_for)
    for message in messages:
        ledger.queue_notification(message, settings.notifiers_for(message.kind))
    failed: set[str] = set()
    for delivery in ledger.due_notifications(list(settings.notifiers), now_ms()):
        name = delivery.channel
        # A notifier that failed is not called again for each message.
        if name in failed or not ledger.claim_notification(delivery, now_ms()):
            continue
        try:
            _made(name, settings.notifiers[name])({"notification": _shown(delivery.notification)})
        except Exception as error:  # noqa: BLE001 - a notifier is foreign code
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
        raise BadInput(f"notifier {name}: {channel.notifier} is not an Airflow notifier (BaseNotifier)")
    try:
        return found(**channel.arguments)
    except TypeError as error:
        raise BadInput(f"notifier {name}: its arguments do not fit {attribute} ({error})") from None


def _shown(notification: Notification) -> dict[str, Any]:
    """The value of `notification` in a notifier's templates, all of it JSON."""
    # A message about an application alone has no run.
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
    """One line without the secrets that Airflow knows, and without the login of an address."""
    return outside(redact(without_logins(f"{type(error).__name__}: {error}")))


def _say(run: Run, message: str) -> None:
    log.warning("%s", run.line(message))


def emergencies(run: Run) -> Iterable[str]:
    """Every approval that the requester of this run gave alone."""
    for approval in run.ledger.approvals(run.key):
        if approval.emergency_reason:
            yield f"{approval.task_id} was approved by {approval.by} in an emergency: {approval.emergency_reason}"
