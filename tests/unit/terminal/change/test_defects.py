"""`defects` on the terminal: one pair, the application's own files, the exit codes of its help."""

import json
import sys
from pathlib import Path

import pytest
from kstreams_runbooks.cli import main
from world.sides import COUNTS

STATELESS = """Topologies:
   Sub-topology: 0
    Source: orders-source (topics: [orders])
      --> orders-sink
    Sink: orders-sink (topic: copied)
      <-- orders-source
"""


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the real entry point."""
    monkeypatch.setattr(sys, "argv", ["kstreams-runbooks", "defects", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    return int(str(ended.value.code)), said.out, said.err


def test_one_release_and_one_pair(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without files nothing is certain; the way to another release has its own defects."""
    code, out, _ = run(capsys, monkeypatch, "--from", "4.4.0", "--broker", "4.4", "--format", "json")
    alone = json.loads(out)
    assert (code, alone["from"], alone["to"]) == (3, "4.4.0", None)
    code, out, _ = run(capsys, monkeypatch, "--from", "4.2.1", "--to", "4.3.0", "--broker", "4.4", "--format", "json")
    pair = {one["id"]: one for one in json.loads(out)["defects"]}
    assert code == 1
    assert pair["rocksdb-leak-4.3.0"]["message"].startswith("A critical leak of native memory")
    assert set(pair["rocksdb-leak-4.3.0"]) == {"id", "severity", "object", "message", "source"}
    assert "rocksdb-leak-4.3.0" not in {one["id"] for one in alone["defects"]}


def test_the_files_of_the_application_decide(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its topology and its settings: the same pair, with and without anything to lose."""
    topology, config = tmp_path / "topology.txt", tmp_path / "app.properties"
    topology.write_text(COUNTS, encoding="utf-8")
    config.write_text("processing.guarantee=exactly_once_v2\n", encoding="utf-8")
    asked = ("--from", "3.6.1", "--to", "4.4.0", "--broker", "4.4", "--topology", str(topology))
    code, out, _ = run(capsys, monkeypatch, *asked, "--config", str(config))
    assert (code, "KAFKA-16017: 3.6.1" in out, "KAFKA-18943: 3.6.1" in out) == (1, True, True)
    topology.write_text(STATELESS, encoding="utf-8")
    config.write_text("processing.guarantee=at_least_once\n", encoding="utf-8")
    code, out, _ = run(capsys, monkeypatch, *asked, "--config", str(config))
    assert (code, "KAFKA-16017" in out, "KAFKA-18943" in out) == (3, False, False)
    assert "replaced-threads-stay-in-the-group" in out, "no file shows its handler of uncaught exceptions"
    config.write_text("processing.guarantee=at_least_once\ngroup.protocol=streams\n", encoding="utf-8")
    code, out, _ = run(capsys, monkeypatch, *asked, "--config", str(config))
    assert (code, "replaced-threads" in out) == (0, False)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "--from: is not given (expected: the running Kafka Streams release"),
        (("--from", "2.9.0"), "release 2.9.0: not a published release of Kafka Streams; known are 0.10.0.0"),
        (("--from", "4.3.1", "--to", "four"), "release 'four' is not a Kafka release"),
        (("--from", "4.3.1", "--config", "app.properties"), "--config: belongs to a topology"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple[str, ...],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit code 2, and nothing on stdout."""
    code, out, err = run(capsys, monkeypatch, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(sentence)
    assert err.count("\n") == 1


def test_the_page(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What `make docs` writes."""
    code, out, _ = run(capsys, monkeypatch, "--page")
    assert code == 0
    assert out.startswith("# Known defects\n")
