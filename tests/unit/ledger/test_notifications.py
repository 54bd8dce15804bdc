"""Messages in a real SQLite ledger: once each, also when a sender dies."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.message import Kind, Notification

HOUR = 3_600_000


def message(kind: Kind = Kind.NEEDS_YOU, occasion: str = "approve_plan/1", at_ms: int = HOUR) -> Notification:
    """A message about one run."""
    return Notification(
        about="library_bump/r",
        kind=kind,
        occasion=occasion,
        application="orders",
        cluster="demo",
        owner="team-orders",
        dry_run=False,
        subject="[orders @ demo] needs you",
        lines=("Now: RUNNING",),
        link="",
        command="",
        deadline_ms=None,
        at_ms=at_ms,
    )


def due(ledger: Ledger, at_ms: int, *channels: str) -> list[tuple[str, str]]:
    """What is to be sent at that time: occasion and notifier."""
    found = ledger.due_notifications(channels or ("slack",), at_ms)
    return [(one.notification.occasion, one.channel) for one in found]


@pytest.fixture
def queued(ledger: Ledger) -> Notification:
    """One message for two notifiers."""
    made = message()
    ledger.queue_notification(made, ("slack", "mail"))
    return made


def test_a_message_is_queued_once_for_each_notifier(ledger: Ledger, queued: Notification) -> None:
    """Asked again by a retry it is the same message; another try of the step is another one."""
    ledger.queue_notification(queued, ("slack", "mail"))
    ledger.queue_notification(message(occasion="approve_plan/2", at_ms=HOUR + 1), ("slack",))
    kept = ledger.notifications("library_bump/r")
    assert [(one.notification.occasion, one.channel) for one in kept] == [
        ("approve_plan/1", "mail"),
        ("approve_plan/1", "slack"),
        ("approve_plan/2", "slack"),
    ]
    assert kept[0].notification == queued
    assert ledger.notifications("library_bump/other") == ()


def test_what_was_sent_is_not_due_again(ledger: Ledger, queued: Notification) -> None:
    """Each notifier for itself."""
    (slack,) = ledger.due_notifications(("slack",), HOUR)
    assert ledger.claim_notification(slack, HOUR)
    ledger.notification_sent(slack, HOUR + 1)
    ledger.queue_notification(queued, ("slack",))
    assert due(ledger, 2 * HOUR, "slack", "mail") == [("approve_plan/1", "mail")]
    assert not ledger.claim_notification(slack, 2 * HOUR)
    assert {one.channel: one.sent_at_ms for one in ledger.notifications()} == {"slack": HOUR + 1, "mail": None}


@pytest.mark.usefixtures("queued")
def test_a_claim_is_one_sender_s(ledger: Ledger) -> None:
    """Fifty at once, one of them sends."""
    (slack,) = ledger.due_notifications(("slack",), HOUR)
    with ThreadPoolExecutor(50) as pool:
        won = list(pool.map(lambda _: ledger.claim_notification(slack, HOUR), range(50)))
    assert won.count(True) == 1
    assert due(ledger, HOUR) == []


@pytest.mark.usefixtures("queued")
def test_a_sender_that_dies_loses_nothing(ledger: Ledger) -> None:
    """Its claim ends by itself: the message is due again ten minutes later, and counts as tried twice."""
    (slack,) = ledger.due_notifications(("slack",), HOUR)
    assert ledger.claim_notification(slack, HOUR)
    assert due(ledger, HOUR + 599_999) == []
    assert due(ledger, HOUR + 600_000) == [("approve_plan/1", "slack")]
    assert ledger.claim_notification(slack, HOUR + 600_000)
    assert [one.attempts for one in ledger.notifications() if one.channel == "slack"] == [2]


@pytest.mark.usefixtures("queued")
def test_a_notifier_that_failed_is_asked_again_after_a_pause(ledger: Ledger) -> None:
    """Why it failed stays until it has arrived."""
    (slack,) = ledger.due_notifications(("slack",), HOUR)
    ledger.claim_notification(slack, HOUR)
    ledger.notification_failed(slack, "ConnectionError: refused", HOUR)
    assert due(ledger, HOUR + 59_999) == []
    (again,) = ledger.due_notifications(("slack",), HOUR + 60_000)
    assert (again.error, again.attempts) == ("ConnectionError: refused", 1)
    ledger.claim_notification(again, HOUR + 60_000)
    ledger.notification_sent(again, HOUR + 60_001)
    assert [one.channel for one in ledger.notifications() if one.sent_at_ms is None] == ["mail"]
    assert {one.error for one in ledger.notifications()} == {None}


@pytest.mark.usefixtures("queued")
def test_old_news_is_not_sent_any_more_but_kept(ledger: Ledger) -> None:
    """After a day nobody is woken for it; that nobody was told stays."""
    assert due(ledger, 25 * HOUR - 1) == [("approve_plan/1", "slack")]
    assert due(ledger, 25 * HOUR) == []
    assert [one.sent_at_ms for one in ledger.notifications()] == [None, None]


@pytest.mark.usefixtures("queued")
def test_the_newest_message_goes_first(ledger: Ledger) -> None:
    """What a notifier cannot take must not stand in front of what it can."""
    ledger.queue_notification(message(Kind.CONCLUDED, "conclude/1", at_ms=2 * HOUR), ("slack",))
    assert due(ledger, 2 * HOUR) == [("conclude/1", "slack"), ("approve_plan/1", "slack")]
