"""Pending messages: queued once for each notifier, claimed by one sender at a time, kept with their delivery.

A message is claimed, sent, marked as sent. A sender that is killed in between leaves a claim that expires, and the next
sender sends the message: in that one case a message may arrive twice, but never not at all.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.orm import Session

from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.tables import NotificationRow
from kstreams_runbooks.model.runs.message import Delivery, Kind, Notification
from kstreams_runbooks.model.times import DAY_MS, MINUTE_MS

# Longer than a notifier takes, with its own retries and timeouts: no other sender sends the same meanwhile.
_CLAIM_MS = 600_000
# The pause before a notifier that failed is tried again.
_PAUSE_MS = MINUTE_MS
# In place of a notifier while their file is broken; no notifier can have this name.
_UNADDRESSED = "unknown recipient"
# An older message is not sent any more: it stays as evidence that it did not arrive.
_TOO_OLD_MS = DAY_MS


class Notifications:
    """The part of the ledger about notifications."""

    database: Database

    def queue_notification(self, notification: Notification, channels: Sequence[str]) -> None:
        """Keep a message for each notifier that has not had it: the first text stays."""
        self.database.write(lambda session: _queue(session, notification, channels, None))

    def keep_unaddressed(self, notification: Notification, why: str) -> None:
        """Keep a message while it is not known who gets it, with the reason."""
        self.database.write(lambda session: _queue(session, notification, (_UNADDRESSED,), why))

    def address_notifications(self, channels: Callable[[Kind], Sequence[str]]) -> None:
        """Give the messages that were kept meanwhile to the notifiers of their kind."""
        query = select(NotificationRow).where(NotificationRow.channel == _UNADDRESSED)

        def work(session: Session) -> None:
            for row in session.scalars(query).all():
                message = decode(Notification, row.message)
                _queue(session, message, channels(message.kind), None)
                session.delete(row)

        self.database.write(work)

    def due_notifications(self, channels: Sequence[str], at_ms: int) -> tuple[Delivery, ...]:
        """Messages that these notifiers still need, newest first; not if being sent, just failed, or too old."""
        query = (
            select(NotificationRow)
            .where(NotificationRow.sent_at_ms.is_(None), NotificationRow.channel.in_(channels))
            .where(NotificationRow.at_ms > at_ms - _TOO_OLD_MS, _due(at_ms))
            .order_by(NotificationRow.at_ms.desc(), NotificationRow.channel)
        )
        return self.database.read(lambda session: tuple(_delivery(row) for row in session.scalars(query)))

    def claim_notification(self, delivery: Delivery, at_ms: int) -> bool:
        """Whether the caller may send it now."""
        statement = (
            update(NotificationRow)
            .where(*_is(delivery), NotificationRow.sent_at_ms.is_(None), _due(at_ms))
            .values(not_before_ms=at_ms + _CLAIM_MS, attempts=NotificationRow.attempts + 1)
        )
        return self.database.write(lambda session: session.connection().execute(statement).rowcount == 1)

    def notification_sent(self, delivery: Delivery, at_ms: int) -> None:
        """Mark a message as delivered to the notifier."""
        statement = update(NotificationRow).where(*_is(delivery)).values(sent_at_ms=at_ms, error=None)
        self.database.write(lambda session: session.execute(statement))

    def notification_failed(self, delivery: Delivery, error: str, at_ms: int) -> None:
        """Mark a delivery as failed, with the reason; it is tried again after a pause."""
        statement = update(NotificationRow).where(*_is(delivery)).values(not_before_ms=at_ms + _PAUSE_MS, error=error)
        self.database.write(lambda session: session.execute(statement))

    def notifications(self, about: str | None = None) -> tuple[Delivery, ...]:
        """Every message about a run (or about all), oldest first, with its delivery."""
        query = select(NotificationRow).order_by(NotificationRow.at_ms, NotificationRow.channel)
        if about is not None:
            query = query.where(NotificationRow.about == about)
        return self.database.read(lambda session: tuple(_delivery(row) for row in session.scalars(query)))


def _queue(session: Session, notification: Notification, channels: Sequence[str], error: str | None) -> None:
    for channel in channels:
        key = (notification.about, str(notification.kind), notification.occasion, channel)
        if session.get(NotificationRow, key) is None:
            session.add(
                NotificationRow(
                    about=notification.about,
                    kind=str(notification.kind),
                    occasion=notification.occasion,
                    channel=channel,
                    message=encode(notification),
                    at_ms=notification.at_ms,
                    not_before_ms=0,
                    attempts=0,
                    error=error,
                )
            )


def _due(at_ms: int) -> ColumnElement[bool]:
    """Not claimed, not paused; a time further away than a claim lasts was written by a wrong clock."""
    return or_(NotificationRow.not_before_ms <= at_ms, NotificationRow.not_before_ms > at_ms + _CLAIM_MS)


def _is(delivery: Delivery) -> tuple[Any, ...]:
    notification = delivery.notification
    return (
        NotificationRow.about == notification.about,
        NotificationRow.kind == str(notification.kind),
        NotificationRow.occasion == notification.occasion,
        NotificationRow.channel == delivery.channel,
    )


def _delivery(row: NotificationRow) -> Delivery:
    return Delivery(decode(Notification, row.message), row.channel, row.attempts, row.sent_at_ms, row.error)
