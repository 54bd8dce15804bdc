"""A window that changes under a running application: results mix until stream time has passed both windows."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.deployers import make_deployer
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.readings.readings import ApplicationReading
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.observe import ClusterReader, read_application
from lab import application
from lab.afresh import afresh
from lab.application import FROM_RELEASE, Deployed
from lab.stack import Stack
from lab.supervise import until
from world.new_ledger import new_ledger

pytestmark = pytest.mark.long

STORE, IN_FRONT = "orders-windowed-store", "orders-orders-by-customer-repartition"
OLD_MS, NEW_MS, GRACE_MS = 4_000, 2_000, 3_000
MIXED_MS = OLD_MS + GRACE_MS


def windows(size_ms: int) -> Deployed:
    return Deployed(settings={"window.size.ms": str(size_ms), "window.grace.ms": str(GRACE_MS)})


def declaration(stack: Stack, size_ms: int, file: Path) -> str:
    """The declaration of a version, in a file."""
    kept = stack.lab.config / "applications" / "orders" / f"{FROM_RELEASE}.yaml"
    declared = yaml.safe_load(kept.read_text(encoding="utf-8"))
    declared["stores"][STORE]["window"] |= {"size_ms": size_ms, "grace_ms": GRACE_MS}
    file.write_text(yaml.safe_dump(declared), encoding="utf-8")
    return str(file)


def read(stack: Stack) -> ApplicationReading:
    entry = load_fleet().application("orders")
    with ClusterReader({"bootstrap.servers": stack.lab.bootstrap}) as reader:
        return read_application(entry, reader, make_deployer(entry, dry_run=True))


@pytest.fixture(scope="module")
def changed(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[str], ApplicationReading]]:
    """The application with another window than it began with: options that name both, and the reading afterwards."""
    folder = tmp_path_factory.mktemp("declared")
    afresh(stack, windows(OLD_MS))
    stack.start_traffic()
    until(lambda: None not in stream_times(read(stack)), 60, "every partition has a stream time")
    stack.stop_traffic()
    after = windows(NEW_MS)
    stack.supervisor.stop(*after.names)
    application.write_instances(stack.lab, after)
    time.sleep(0.2)
    stack.supervisor.start(*after.names)
    application.wait_running(stack.lab, stack.supervisor, after.names)
    options = ["--from-declaration", declaration(stack, OLD_MS, folder / "old.yaml")]
    options += ["--to-declaration", declaration(stack, NEW_MS, folder / "new.yaml")]
    yield options, read(stack)
    stack.stop_traffic()


def stream_times(reading: ApplicationReading) -> list[int | None]:
    """Of the partitions in front of the store."""
    assert isinstance(reading.partitions, tuple)
    return [one.stream_time_ms for one in reading.partitions if one.topic == IN_FRONT] or [None]


def mixed(*options: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(cli, ["mixed-windows", "orders", *options, "--format", "json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout)


def test_old_and_new_windows_mix_until_stream_time_has_passed_both(
    stack: Stack, changed: tuple[list[str], ApplicationReading], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the reading that verified a run: as long as no record comes, stream time stands; then it passes the end."""
    options, after = changed
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{tmp_path / 'ledger.db'}")
    with pytest.raises(Inconclusive, match="no verified run in the ledger"):
        mixed(*options)
    ledger = new_ledger(tmp_path / "ledger.db")
    key = ledger.start_run(
        RunRecord("", "stop_and_restart", "r", "orders", "demo", "oncall", False, "smaller windows", {}, 1)
    ).run_key
    ledger.mark_written(key, 1)
    payload = {"decision": "change_verified", "inputs": {"after": encode(after)}, "result": {"outcome": "proceed"}}
    ledger.record(key, "verify", 1, "verdict", "change_verified", payload, 1)

    code, document = mixed(*options)
    [store] = document["stores"]
    assert (code, document["status"], store["store"], store["mixed_for_ms"]) == (1, "mixed", STORE, MIXED_MS)
    assert document["change"] == "verified by run r"
    partitions = store["partitions"]
    assert {one["topic"] for one in partitions} == {IN_FRONT}
    assert [one["since_ms"] for one in partitions] == stream_times(after)
    assert all(one["until_ms"] == one["since_ms"] + MIXED_MS and one["over"] is False for one in partitions)

    stack.start_traffic()
    until(lambda: mixed(*options)[0] == 0, 60, "old and new windows mix no more")
    stack.stop_traffic()
    _, document = mixed(*options)
    assert all(one["stream_time_ms"] > one["until_ms"] for one in document["stores"][0]["partitions"])


def test_the_moment_of_the_change_may_be_given(changed: tuple[list[str], ApplicationReading]) -> None:
    """A time after the present stream time is not over, and one long before it is."""
    options, after = changed
    latest = max(one for one in stream_times(after) if one is not None)
    for shift_s, code in ((3_600, 1), (-3_600, 0)):
        since = datetime.fromtimestamp(latest / 1000 + shift_s, UTC).isoformat()
        assert mixed(*options, "--since", since)[0] == code
    same = [*options[:3], options[1]]
    assert mixed(*same, "--since", since)[1]["stores"] == []
