"""The file of the scheduled check: every value has a default, and a bad one is named."""

from pathlib import Path

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.watch.settings import CheckSettings, check_settings
from lab.settings import CHECKOUT


def test_the_shipped_file_says_the_defaults() -> None:
    """With a comment on each."""
    text = (CHECKOUT / "config" / "fleet_check.yaml").read_text(encoding="utf-8")
    assert check_settings(CHECKOUT / "config") == CheckSettings()
    assert {name for name in CheckSettings.model_fields if name != "name"} == {
        line.partition(":")[0] for line in text.splitlines() if line and not line.startswith("#")
    }


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    """Nothing has to be set."""
    assert check_settings(tmp_path) == CheckSettings()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("every_minute: 5\n", "every_minute is not a known key; did you mean every_minutes?"),
        ("samples: 1\n", "samples"),
        ("keep_days: 0\n", "keep_days"),
    ],
)
def test_a_bad_file_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    """That says what stands still because of it."""
    (tmp_path / "fleet_check.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=sentence) as caught:
        check_settings(tmp_path)
    assert str(caught.value).endswith("nothing is checked until it is corrected")
