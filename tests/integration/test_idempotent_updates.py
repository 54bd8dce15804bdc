"""Which releases keep back an update of a source table that changes nothing (KIP-557), asked of their jars."""

import json
import subprocess
from typing import Any

import pytest
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.rules import upgrade_path_rules
from lab.settings import CHECKOUT

PROGRAM = CHECKOUT / "tests" / "apps" / "idempotent-updates"
KEPT = [json.loads(line) for line in (PROGRAM / "answers.jsonl").read_text("utf-8").splitlines()]
_ASK_S = 300

_EVERY_RECORD = {"same_time": 2, "later": 2, "earlier": 2}
_ONE_IS_KEPT_BACK = {"same_time": 1, "later": 1, "earlier": 2}


def answer(emit_on_change: bool, release: str) -> dict[str, Any]:
    """What a release says; `ask --help` tells what each number counts.

    Only a table read from a topic, with a store, is concerned; an update with an earlier timestamp is a change.
    """
    return {
        "release": release,
        "source_table": _ONE_IS_KEPT_BACK if emit_on_change else _EVERY_RECORD,
        "source_table_without_store": _EVERY_RECORD,
        "stream": _EVERY_RECORD,
        "reduce": _EVERY_RECORD,
        # The loss: the store had it before the crash, so it is taken for unchanged, and nobody ever gets its result.
        "read_again_after_a_crash": 0 if emit_on_change else 1,
        # And the stall: what waits for time to pass is not told that it has.
        "suppress_after_unchanged": 0 if emit_on_change else 2,
        "suppress_after_changed": 2,
    }


@pytest.mark.parametrize(
    ("release", "emit_on_change"), [("2.7.0", True), pytest.param("4.3.1", False, marks=pytest.mark.long)]
)
def test_a_release_answers(release: str, emit_on_change: bool) -> None:
    """Compiled against it and run with its own test driver, once more."""
    asked = subprocess.run(
        [PROGRAM / "ask", release],
        capture_output=True,
        text=True,
        timeout=_ASK_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert asked.returncode == 0, asked.stderr[-4000:]
    assert json.loads(asked.stdout) == answer(emit_on_change, release)
    assert json.loads(asked.stdout) in KEPT


@pytest.mark.parametrize("kept", KEPT, ids=[kept["release"] for kept in KEPT])
def test_the_rules_avoid_the_releases_that_lose_updates_and_no_other(kept: dict[str, Any]) -> None:
    """The row's releases are those whose kept answer shows it; each one that it calls fixed was asked."""
    [row] = [row for row in upgrade_path_rules().defects if row.id == "lost-updates-kip-557"]
    assert kept == answer(within(Release(kept["release"]), row.releases), kept["release"])
    assert set(row.first_fixed) <= {one["release"] for one in KEPT}
