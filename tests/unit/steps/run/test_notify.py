"""Telling people through Airflow's notifiers, on a real ledger and a real file."""

import email
import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from airflow.sdk import BaseNotifier
from kstreams_runbooks.decide.runs.message import needs_you
from kstreams_runbooks.fleet.notifications import notification_settings
from kstreams_runbooks.steps.run.notify import deliver, notify
from kstreams_runbooks.steps.run.run import Run

Told = Callable[[], list[dict[str, Any]]]


def ask(run: Run, what: str = "approve it") -> None:
    """A question of a run."""
    notify(run, needs_you, asks=what, lines=("Now: RUNNING <3.4.1>",), deadline_ms=None, link="http://airflow/q")


def declare(config: Path, **notifiers: dict[str, Any]) -> None:
    """Other notifiers than the file."""
    (config / "notifications.yaml").write_text(yaml.safe_dump({"notifiers": notifiers}), encoding="utf-8")


def test_a_message_is_sent_once(run: Run, told: Told) -> None:
    """The same try of the same step says it once; a step that was cleared may say it again."""
    ask(run)
    ask(run)
    (only,) = told()
    assert only["subject"] == "[orders @ demo] needs you: approve it"
    assert only["body"].splitlines()[0] == "Now: RUNNING <3.4.1>"
    assert only["html"].startswith("<pre>Now: RUNNING &lt;3.4.1&gt;\n")
    assert (only["run_id"], only["dag_id"], only["owner"]) == ("r", "library_bump", "team-orders")
    again = replace(run, try_number=2)
    vars(again)["application"] = run.application
    ask(again)
    assert [one["occasion"] for one in told()] == ["bounce_1_first/1", "bounce_1_first/2"]


class FakeNotifier(BaseNotifier):
    """Fails as long as a file says so; otherwise writes what its template makes of the message."""

    template_fields = ("text",)

    def __init__(self, folder: str, text: str = "{{ notification.subject }}") -> None:
        super().__init__()
        self.folder = Path(folder)
        self.text = text

    def notify(self, context: Any) -> None:  # noqa: ARG002 - Airflow's signature
        """Send, or fail."""
        with (self.folder / "tries").open("a") as tries:
            tries.write("x")
        if (self.folder / "away").exists():
            raise ConnectionError("no route to\nthe chat https://ada:PASS-WORD@chat/x")
        with (self.folder / "sent").open("a") as sent:
            sent.write(f"{self.text}\n")


@pytest.fixture
def chat(config: Path, tmp_path: Path, told: Told) -> Path:
    """A notifier that is away, as the only one; its folder."""
    assert told() == []
    declare(config, chat={"notifier": f"{__name__}.FakeNotifier", "arguments": {"folder": str(tmp_path)}})
    (tmp_path / "away").touch()
    return tmp_path


def test_a_notifier_that_fails_costs_one_line_and_is_tried_again(
    run: Run, chat: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step goes on; the next message brings the earlier one with it, and the evidence says how it went."""
    ask(run)
    assert caplog.messages[-1] == (
        "[orders @ demo] notifier chat failed, to be tried again ([orders @ demo] needs you: approve it): "
        "ConnectionError: no route to the chat https[:]//(hidden)@chat/x"
    )
    (kept,) = run.ledger.notifications(run.key)
    assert (kept.attempts, kept.sent_at_ms, kept.error) == (
        1,
        None,
        "ConnectionError: no route to the chat https[:]//(hidden)@chat/x",
    )
    (chat / "away").unlink()
    later = kept.notification.at_ms + 61_000
    monkeypatch.setattr("kstreams_runbooks.steps.run.notify.now_ms", lambda: later)
    other = replace(run, task_id="approve_bounce_2")
    vars(other)["application"] = run.application
    ask(other, "approve bounce 2")
    assert (chat / "sent").read_text().splitlines() == [
        "[orders @ demo] needs you: approve bounce 2",
        "[orders @ demo] needs you: approve it",
    ]
    assert {(one.attempts, one.sent_at_ms) for one in run.ledger.notifications(run.key)} == {(1, later), (2, later)}


def test_a_notifier_that_is_away_is_asked_once_per_occasion(
    run: Run, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its timeout is paid once, however many messages it has missed."""
    at_ms = iter(range(1_790_000_000_000, 1_790_009_000_000, 10_000))
    monkeypatch.setattr("kstreams_runbooks.steps.run.notify.now_ms", lambda: next(at_ms))
    for number in range(4):
        step = replace(run, try_number=number)
        vars(step)["application"] = run.application
        ask(step)
    assert (chat / "tries").read_text() == "x" * 4
    assert [one.sent_at_ms for one in run.ledger.notifications(run.key)] == [None] * 4


@pytest.mark.parametrize(
    ("notifier", "sentence"),
    [
        ({"notifier": "no.such.Notifier"}, "no.such.Notifier is not installed here (No module named 'no')"),
        ({"notifier": "pathlib.Path"}, "pathlib.Path is not an Airflow notifier (BaseNotifier)"),
        (
            {"notifier": f"{__name__}.FakeNotifier", "arguments": {"channel": "#x"}},
            "its arguments do not fit FakeNotifier (FakeNotifier.__init__() got an unexpected keyword argument",
        ),
    ],
)
@pytest.mark.usefixtures("told")
def test_a_notifier_that_cannot_be_made_says_why(
    run: Run, config: Path, caplog: pytest.LogCaptureFixture, notifier: dict[str, Any], sentence: str
) -> None:
    """In the log and in what is kept; never at the cost of the step."""
    declare(config, chat=notifier)
    ask(run)
    assert f"BadInput: notifier chat: {sentence}" in caplog.messages[-1]
    (kept,) = run.ledger.notifications(run.key)
    assert sentence in str(kept.error)


def test_a_bad_file_costs_no_message(
    run: Run, config: Path, told: Told, chat: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is kept with the reason, and goes out with the next message, or check, once the file is mended."""
    good = (config / "notifications.yaml").read_text(encoding="utf-8")
    (chat / "away").unlink()
    (config / "notifications.yaml").write_text("notifier: {}", encoding="utf-8")
    ask(run)
    assert (
        "[orders @ demo] notification kept, not sent yet ([orders @ demo] needs you: approve it): BadInput"
        in (caplog.messages[-1])
    )
    assert "notifier is not a known key; did you mean notifiers?" in caplog.messages[-1]
    (kept,) = run.ledger.notifications(run.key)
    assert (kept.attempts, kept.sent_at_ms) == (0, None)
    assert "messages are kept and not sent until it is corrected" in str(kept.error)
    (config / "notifications.yaml").write_text(good, encoding="utf-8")
    deliver(run.ledger, notification_settings(), (), caplog.messages.append)
    assert (chat / "sent").read_text().splitlines() == ["[orders @ demo] needs you: approve it"]
    (sent,) = run.ledger.notifications(run.key)
    assert (sent.channel, sent.error) == ("chat", None)
    assert told() == []


class _Mailbox(socketserver.StreamRequestHandler):
    """As much of SMTP as a client needs to leave a letter."""

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline():
            word = line.strip().upper()
            if word.startswith(b"DATA"):
                self.wfile.write(b"354 go on\r\n")
                letter = b"".join(iter(self.rfile.readline, b".\r\n"))
                self.server.letters.append(letter.decode())  # type: ignore[attr-defined]  # the fixture's
            self.wfile.write(b"250 fine\r\n" if not word.startswith(b"QUIT") else b"221 bye\r\n")
            if word.startswith(b"QUIT"):
                return


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Letters that reached a mail server, whose Airflow connection is `smtp_test`."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Mailbox) as server:
        server.letters = []  # type: ignore[attr-defined]  # kept beside it
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        connection = {
            "conn_type": "smtp",
            "host": "127.0.0.1",
            "port": server.server_address[1],
            "extra": {"disable_ssl": True, "disable_tls": True, "from_email": "airflow@example.org"},
        }
        monkeypatch.setenv("AIRFLOW_CONN_SMTP_TEST", json.dumps(connection))
        yield server.letters  # type: ignore[attr-defined]  # as above
        server.shutdown()


@pytest.mark.usefixtures("told")
def test_e_mail_goes_out_with_the_settings_of_the_docs(run: Run, config: Path, letters: list[str]) -> None:
    """Airflow's own SMTP notifier, as docs/notifications.md declares it, against a server that takes the letter."""
    docs = (Path(__file__).resolve().parents[4] / "docs" / "notifications.md").read_text(encoding="utf-8")
    example = yaml.safe_load(docs.partition("```yaml\n")[2].partition("```")[0])
    mail = example["notifiers"]["mail"]
    mail["arguments"] |= {"smtp_conn_id": "smtp_test"}
    declare(config, mail=mail)
    ask(run)
    letter = email.message_from_string(letters[0])
    assert letter["Subject"] == "[orders @ demo] needs you: approve it"
    assert letter["To"] == "team-orders@example.org"
    [content] = [part.get_payload(decode=True) for part in letter.walk() if part.get_content_type() == "text/html"]
    assert isinstance(content, bytes)
    assert "Link: http://airflow/q</pre>" in content.decode()
    (kept,) = run.ledger.notifications(run.key)
    assert kept.error is None
