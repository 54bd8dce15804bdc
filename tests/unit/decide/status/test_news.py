"""When the owner of an application is told how it stands: once for each change, and never for nothing.

Covers decide/runs/status_message
"""

from dataclasses import replace

from kstreams_runbooks.decide.runs.status_message import status_changed
from kstreams_runbooks.decide.status.news import Judged, during_run, kept_status, notified, to_notify, together
from kstreams_runbooks.decide.status.status import Status, Word
from kstreams_runbooks.model.readings.status import KeptStatus


def after(before: KeptStatus | None, word: Word, at_ms: int, *, read: bool = True) -> KeptStatus:
    """How the application stands after one more check."""
    return kept_status(before, Judged("demo", "orders", Status(word, f"it is {word}"), at_ms, read))


def history(*words: Word) -> list[tuple[str, str | None]]:
    """What is told over checks that find these words: the word and what was told before it."""
    messages, stands = [], None
    for at_ms, word in enumerate(words):
        stands = after(stands, word, at_ms)
        for change in to_notify((stands,)):
            messages.append((change.word, change.told))
            stands = notified(change)
    return messages


def test_a_change_is_told_once() -> None:
    """Not again while it lasts, and the return is told as well."""
    assert history("healthy", "stopped", "stopped", "stopped", "healthy", "healthy") == [
        ("stopped", "healthy"),
        ("healthy", "stopped"),
    ]


def test_the_first_reading_is_news_only_where_it_is_bad() -> None:
    """That it is well when it is first seen is no change."""
    assert history("healthy", "healthy") == []
    assert history("stopped", "stopped") == [("stopped", None)]


def test_an_application_that_is_unknown_at_first_is_news_once_it_stays_so() -> None:
    """Airflow may have started before the cluster."""
    assert history("unknown", "healthy") == []
    assert history("unknown", "stopped") == [("stopped", None)]
    assert history("unknown", "unknown", "unknown", "healthy") == [("unknown", None), ("healthy", "unknown")]
    assert history("healthy", "unknown") == [("unknown", "healthy")]


def test_a_flap_is_told_once_for_each_change() -> None:
    """Each of them."""
    assert history("healthy", "behind", "healthy", "behind") == [
        ("behind", "healthy"),
        ("healthy", "behind"),
        ("behind", "healthy"),
    ]


def test_what_changed_back_before_anybody_was_told_is_not_told() -> None:
    """What counts is what the owner believes."""
    stands = after(after(None, "healthy", 1), "stopped", 2)
    assert to_notify((stands,)) == (stands,)
    assert to_notify((after(stands, "healthy", 3),)) == ()


def test_another_incident_under_the_same_word_is_told() -> None:
    """Topics stay recreated until somebody says so; the same one is not told again."""
    first = notified(after(None, "recreated", 1))
    assert to_notify((after(first, "recreated", 2),)) == ()
    other = kept_status(first, Judged("demo", "orders", Status("recreated", "another topic"), 3))
    assert to_notify((other,)) == (other,)
    assert (other.since_ms, other.told) == (3, None)
    # What changes in the sentence of any other word is no news.
    stopped = notified(after(None, "stopped", 1))
    assert to_notify((kept_status(stopped, Judged("demo", "orders", Status("stopped", "9 wait"), 2)),)) == ()


def test_what_a_recreated_topic_is_besides_is_no_other_incident() -> None:
    """It comes and goes: one message, as old as the first reading, with the sentence of the last."""
    stands, messages = None, []
    for at_ms, also in enumerate(("", "; it is also rewound", "", "; it is also stopped")):
        stands = kept_status(
            stands, Judged("demo", "orders", Status("recreated", f"a topic; acknowledge{also}"), at_ms)
        )
        for change in to_notify((stands,)):
            messages.append(change.at_ms)
            stands = notified(change)
    assert messages == [0]
    assert stands is not None
    assert (stands.since_ms, stands.sentence) == (0, "a topic; acknowledge; it is also stopped")
    # Another topic is, whatever is said besides.
    more = Status("recreated", "a topic, another; acknowledge; it is also stopped")
    assert to_notify((kept_status(stands, Judged("demo", "orders", more, 4)),))


def test_a_status_is_as_old_as_its_first_reading() -> None:
    """However its sentence changes."""
    stands = after(after(None, "stopped", 1), "stopped", 2)
    assert (stands.since_ms, stands.at_ms) == (1, 2)
    assert after(stands, "failed", 3).since_ms == 3


def test_a_cluster_that_cannot_be_read_is_one_message_an_owner_there_and_back() -> None:
    """What changes for a reason of its own is told by itself."""
    well = after(None, "healthy", 1)
    names = ("a", "b", "c")
    away = [replace(after(well, "unknown", 2, read=False), application=name) for name in names]
    gone = together([(away[0], "team-1"), (away[1], "team-1"), (away[2], "team-2")])
    assert [[one.application for one in group] for group in gone] == [["a", "b"], ["c"]]
    back = [
        kept_status(notified(one), Judged("demo", one.application, Status("healthy", "0 records"), 3))
        for one in away[:2]
    ]
    stopped = kept_status(notified(away[2]), Judged("demo", "c", Status("stopped", "no member"), 3))
    groups = together([*((one, "team-1") for one in back), (stopped, "team-1")])
    assert [[one.application for one in group] for group in groups] == [["a", "b"], ["c"]]
    alone = [replace(after(well, "stopped", 2), application=name) for name in names]
    assert len(together((one, "team-1") for one in alone)) == 3


def test_a_message_says_what_was_observed_and_where_to_look() -> None:
    """The run that holds the application, since when, the command."""
    change = after(after(None, "healthy", 1), "stopped", 1_790_000_000_000)
    message = status_changed(
        (change,), 2, owner="team", zone="UTC", link="http://airflow/x", held_by={"orders": "library_bump/r"}
    )
    assert message.subject == "[orders @ demo] status changed: stopped (was healthy)"
    assert message.lines == (
        "it is stopped",
        "Held by run library_bump/r",
        "Since: 2026-09-21 14:13 UTC",
        "Command: kstreams-runbooks lag orders",
        "Link: http://airflow/x",
    )
    assert (message.about, message.occasion) == ("application:demo:orders", "stopped/1790000000000")


def test_a_message_about_many_applications_stays_short() -> None:
    """15 lines at most, whether they share a sentence or not."""
    changes = [replace(after(None, "unknown", 5), application=f"app-{number}") for number in range(40)]
    same = status_changed(changes, 5, owner="team", zone="UTC", link="", held_by={})
    assert same.subject == "[40 applications @ demo] status changed: unknown"
    assert same.lines[0].endswith("app-9 and 30 more: it is unknown")
    own = [replace(change, sentence=f"own {number}") for number, change in enumerate(changes)]
    holds = {change.application: "library_bump/r" for change in changes}
    different = status_changed(own, 5, owner="team", zone="UTC", link="x", held_by=holds)
    assert len(different.lines) <= 15
    assert different.lines[0] == "app-0: own 0"


def test_nothing_of_a_message_is_cut() -> None:
    """Neither a sentence that names several topics, nor the command where a whole cluster changed."""
    one = kept_status(None, Judged("demo", "orders", Status("recreated", "a topic " * 90 + "acknowledge: orders"), 1))
    alone = status_changed((one,), 2, owner="team", zone="UTC", link="", held_by={})
    assert " ".join(alone.lines).count("a topic") == 90
    assert alone.lines[-3].endswith("acknowledge: orders")
    many = [replace(one, application=f"application-{number}") for number in range(300)]
    assert status_changed(many, 2, owner="team", zone="UTC", link="", held_by={}).command == "kstreams-runbooks lag"


def test_what_a_run_does_on_purpose_is_told_once_it_has_ended() -> None:
    """Stopped alone; everything else is told at once, and of every other application."""
    well = after(None, "healthy", 1)
    work = {("demo", "orders")}
    words: tuple[Word, ...] = ("stopped", "rewound", "recreated", "failed", "expiring", "stalled", "unknown", "behind")
    told = [word for word in words if to_notify((after(well, word, 2),), work)]
    assert told == ["rewound", "recreated", "failed", "expiring", "stalled", "unknown", "behind"]
    other = replace(after(well, "stopped", 2), application="other")
    assert to_notify((other,), work) == (other,)
    stands = after(after(well, "stopped", 2), "stopped", 3)
    assert to_notify((stands,), work) == ()
    [late] = to_notify((stands,))
    assert (late.word, late.told, late.since_ms) == ("stopped", "healthy", 2)


def test_a_status_names_the_run_that_is_at_work() -> None:
    """Where it may be the reason."""
    stopped = during_run(Status("stopped", "no member"), "undo/r")
    assert stopped == Status("stopped", "no member; run undo/r is at work on it")
    assert during_run(Status("stopped", "no member"), "") == Status("stopped", "no member")
    assert during_run(Status("failed", "in ERROR"), "undo/r") == Status("failed", "in ERROR")
