"""Messages on their way: queued once for each notifier, claimed by one sender at a time, kept whether they arrived.

A message is claimed, sent, marked as sent. A sender that is killed in between leaves a claim that ends by itself, and
the message is sent by the next one: rather twice, in that one case, than never.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.orm import Session

from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.ledger.database import Database
from kstreams_runbooks.ledger.tables import NotificationRow
from kstreams_runbooks.model.runs.message import Delivery, Notification
from kstreams_runbooks.model.times import DAY_MS, MINUTE_MS

# Longer than a notifier takes, its own tries and timeouts included: nobody else sends the same meanwhile.
_CLAIM_MS = 600_000
# A notifier that failed is not asked again at once.
_PAUSE_MS = MINUTE_MS
# What is older is news no more: it stays as evidence that nobody was told.
_TOO_OLD_MS = DAY_MS


class Notifications:
    """The part of the ledger about notifications."""

    database: Database

    def queue_notification(self, notification: Notification, channels: Sequence[str]) -> None:
        """Keep a message for each notifier that has not had it: the first text stays."""

        def work(session: Session) -> None:
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
                        )
                    )

        self.database.write(work)

    def due_notifications(self, channels: Sequence[str], at_ms: int) -> tuple[Delivery, ...]:
        """What these notifiers have not had yet, newest first, unless it is being sent, just failed, or is too old."""
        query = (
            select(NotificationRow)
            .where(NotificationRow.sent_at_ms.is_(None), NotificationRow.channel.in_(channels))
            .where(NotificationRow.at_ms > at_ms - _TOO_OLD_MS, _due(at_ms))
            .order_by(NotificationRow.at_ms.desc(), NotificationRow.channel)
        )
        return self.database.read(lambda session: tuple(_delivery(row) for row in session.scalars(query)))

    def claim_notification(self, delivery: Delivery, at_ms: int) -> bool:
        """Whether the caller is the one who sends it now."""
        statement = (
            update(NotificationRow)
            .where(*_is(delivery), NotificationRow.sent_at_ms.is_(None), _due(at_ms))
            .values(not_before_ms=at_ms + _CLAIM_MS, attempts=NotificationRow.attempts + 1)
        )
        return self.database.write(lambda session: session.connection().execute(statement).rowcount == 1)

    def notification_sent(self, delivery: Delivery, at_ms: int) -> None:
        """It has arrived at the notifier."""
        statement = update(NotificationRow).where(*_is(delivery)).values(sent_at_ms=at_ms, error=None)
        self.database.write(lambda session: session.execute(statement))

    def notification_failed(self, delivery: Delivery, error: str, at_ms: int) -> None:
        """It has not, and why; somebody tries again after a pause."""
        statement = update(NotificationRow).where(*_is(delivery)).values(not_before_ms=at_ms + _PAUSE_MS, error=error)
        self.database.write(lambda session: session.execute(statement))

    def notifications(self, about: str | None = None) -> tuple[Delivery, ...]:
        """Every message about a run (or about all), oldest first, with how far it got."""
        query = select(NotificationRow).order_by(NotificationRow.at_ms, NotificationRow.channel)
        if about is not None:
            query = query.where(NotificationRow.about == about)
        return self.database.read(lambda session: tuple(_delivery(row) for row in session.scalars(query)))


def _due(at_ms: int) -> ColumnElement[bool]:
    """Not claimed, not paused; a time that is further off than a claim lasts was written by a clock that was wrong."""
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
