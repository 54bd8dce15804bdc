"""config/notifications.yaml: who is told what, and what is wrong with it."""

from pathlib import Path

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.notifications import HELD_TOO_LONG_H, notification_settings
from kstreams_runbooks.model.runs.message import Kind

CHECKOUT = Path(__file__).resolve().parents[3]


def written(folder: Path, text: str) -> Path:
    (folder / "notifications.yaml").write_text(text, encoding="utf-8")
    return folder


def test_without_a_file_nobody_is_told(tmp_path: Path) -> None:
    """It is not needed to run anything."""
    settings = notification_settings(tmp_path)
    assert (settings.notifiers, settings.held_too_long_h) == ({}, HELD_TOO_LONG_H)


def test_the_demos_file_writes_beside_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything, to one file."""
    monkeypatch.setenv("DEMO_DIR", "/run/demo")
    settings = notification_settings(CHECKOUT / "config")
    assert settings.notifiers["demo-file"].arguments == {"path": "/run/demo/notifications.jsonl"}
    assert [settings.notifiers_for(kind) for kind in Kind] == [["demo-file"]] * len(Kind)


def test_a_notifier_is_told_only_its_kinds(tmp_path: Path) -> None:
    """E-mail for what wakes somebody up, for example."""
    text = "notifiers: {mail: {notifier: a.b.C, kinds: [needs_you]}, all: {notifier: a.b.D}}"
    settings = notification_settings(written(tmp_path, text))
    assert settings.notifiers_for(Kind.NEEDS_YOU) == ["mail", "all"]
    assert settings.notifiers_for(Kind.CONCLUDED) == ["all"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "notifiers: {mail: {notifier: a.b.C, kinds: [needs_yuo]}}",
            r'notifiers\.mail\.kinds\[0\]: "needs_yuo" must be',
        ),
        ("notifiers: {mail: {notifier: smtp}}", r'notifiers\.mail\.notifier: "smtp" is not the import path of a class'),
        ("notifiers: {mail: {}}", r"notifiers\.mail\.notifier is missing: import path"),
        ("notifiers: {mail: {notifier: a.b.C, arguments: {to: '${NOBODY}'}}}", r"needs NOBODY, which is not set"),
        ("notifiers: {'a b': {notifier: a.b.C}}", "has the name 'a b'; use up to 64 letters"),
        ("held_too_long_h: 0", r"held_too_long_h: 0 must be greater than 0"),
        ("held_to_long_h: 4", r"held_to_long_h is not a known key; did you mean held_too_long_h\?"),
        ("notifiers: [", r"is not valid YAML: line 2"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    """With file, field and what to do; and that nobody is told meanwhile."""
    with pytest.raises(BadInput, match=rf"notifications\.yaml.*{sentence}.*messages are kept and not sent until"):
        notification_settings(written(tmp_path, text))
