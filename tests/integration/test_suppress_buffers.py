"""Suppress buffers of an application that runs, next to declared limits: `lag`, the scheduled check and `plan`."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.readings.readings import StreamsReading
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.observe.application.metrics import read_streams
from kstreams_runbooks.watch.judge import judge_fleet
from kstreams_runbooks.watch.settings import CheckSettings
from kstreams_runbooks.watch.status import read_cluster
from lab.afresh import afresh
from lab.application import FROM_RELEASE, Deployed
from lab.stack import Stack
from lab.supervise import until
from world.new_ledger import new_ledger

pytestmark = pytest.mark.long

OPERATOR = "orders-windowed-closed"
DEBUG = {"metrics.recording.level": "DEBUG"}
NONE, SMALL, LARGE = None, 1_000, 10**9


@pytest.fixture(scope="module")
def measured(stack: Stack) -> Stack:
    """The application with metrics at DEBUG, once each of its buffers holds something."""
    afresh(stack, Deployed(settings=DEBUG))
    stack.start_traffic()

    def held() -> bool:
        found = [read_streams(stack.lab.metrics_url(number)) for number in (1, 2)]
        buffers = [one.buffers for one in found if isinstance(one, StreamsReading)]
        return len(buffers) == 2 and all(
            each and all((one.bytes or 0) > SMALL for one in each) for each in buffers if isinstance(each, tuple)
        )

    until(held, 60, "every buffer holds something", poll_s=0.5)
    stack.stop_traffic()
    return stack


@contextmanager
def limited(stack: Stack, max_bytes: int | None) -> Iterator[Path]:
    """The running release declared with a limit of its suppression."""
    file = stack.lab.config / "applications" / "orders" / f"{FROM_RELEASE}.yaml"
    before = file.read_text(encoding="utf-8")
    declared = yaml.safe_load(before)
    if max_bytes is not None:
        declared["suppressions"][OPERATOR] |= {"max_bytes": max_bytes, "when_full": "shut_down"}
    file.write_text(yaml.safe_dump(declared), encoding="utf-8")
    try:
        yield file
    finally:
        file.write_text(before, encoding="utf-8")


def status() -> tuple[str, str]:
    """The status of the application, and the text with its sentence."""
    document, text = (CliRunner().invoke(cli, ["lag", "orders", *more]).stdout for more in (["--format", "json"], []))
    return json.loads(document)["applications"][0]["status"], text


@pytest.mark.parametrize(("max_bytes", "word"), [(NONE, "healthy"), (SMALL, "filling"), (LARGE, "healthy")])
def test_a_buffer_is_judged_by_its_declared_limit(measured: Stack, max_bytes: int | None, word: str) -> None:
    """Real sizes of a real library; without a limit nothing is said."""
    with limited(measured, max_bytes):
        until(lambda: status()[0] == word, 30, f"orders is {word}", poll_s=0.5)
        text = status()[1]
    assert ("a full suppress buffer shuts the application down" in text) is (word == "filling")
    assert (f"{OPERATOR} (task 1_" in text) is (word == "filling")


def test_the_scheduled_check_polls_and_keeps_it(measured: Stack, tmp_path: Path) -> None:
    """In every check, although the application was healthy and its topology is known."""
    fleet, ledger, settings = load_fleet(), new_ledger(tmp_path / "ledger.db"), CheckSettings(apart_seconds=0)
    entry = fleet.application("orders")
    config = kafka_config(fleet.cluster(entry.cluster).connection)
    read_cluster(ledger, entry.cluster, [entry], config, settings)
    assert read_cluster(ledger, entry.cluster, [entry], config, settings).asked == {}
    with limited(measured, SMALL):
        found = read_cluster(ledger, entry.cluster, [entry], config, settings)
        assert found.asked == {"has a limited suppress buffer": 1}
        judged = judge_fleet(
            ledger, [entry], settings, read_at_ms={entry.cluster: found.at_ms}, problems={}, now_ms=found.at_ms
        )
    [one] = judged.statuses
    assert one.word == "filling"
    [kept] = ledger.lag_readings(entry.cluster, ["orders"], 1)["orders"][0].buffers
    assert (kept.operator, kept.max_bytes) == (OPERATOR, SMALL)
    assert (kept.bytes or 0) > SMALL


@pytest.mark.parametrize(("max_bytes", "fits", "code"), [(SMALL, False, 1), (LARGE, True, 0)])
def test_a_plan_shows_what_the_buffer_holds_next_to_its_new_limit(
    measured: Stack, tmp_path: Path, *, max_bytes: int, fits: bool, code: int
) -> None:
    """The limit alone changes: a rolling bounce, unless the new version shuts down at once."""
    text = tmp_path / "topology.txt"
    text.write_text(make_deployer(load_fleet().application("orders"), dry_run=True).topology(Target(FROM_RELEASE)))
    words = ["plan", "--application", "orders", "--format", "json"]
    words += ["--from-topology", str(text), "--to-topology", str(text)]
    with limited(measured, NONE) as file:
        (old := tmp_path / "old.yaml").write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    with limited(measured, max_bytes) as file:
        (new := tmp_path / "new.yaml").write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    result = CliRunner().invoke(cli, [*words, "--from-declaration", str(old), "--to-declaration", str(new)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    document: dict[str, Any] = json.loads(result.stdout)
    [one] = document["buffers"]
    assert (one["operator"], one["fits"], one["when_full"]) == (OPERATOR, fits, "shut_down")
    assert one["bytes"] > SMALL
    assert document["runbooks"] == ["rolling_bounce"]
    assert result.exit_code == code


def test_without_the_level_it_is_unknown(measured: Stack) -> None:
    """And never healthy; the sentence has the setting."""
    afresh(measured, Deployed())
    with limited(measured, SMALL):
        until(lambda: status()[0] == "unknown", 30, "orders is unknown", poll_s=0.5)
    with limited(measured, NONE):
        until(lambda: status()[0] == "healthy", 30, "orders is healthy", poll_s=0.5)
