"""Whether two sides agree in an output: topics of a real broker, compared by Spark over Connect below noted ends."""

import json
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.outputs.sides import sides_are_equal
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.output_classes import OutputClass
from kstreams_runbooks.model.readings.outputs import OutputComparison, UnlikeKeys
from kstreams_runbooks.model.readings.sides import ComparedSides, NotedEnds, SideHistory
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.watch.sides import OutputPair, note_ends, read_sides, sides_here
from lab.settings import CHECKOUT, Lab, Ports
from lab.supervise import until
from world.compared import Compared, Written, compared
from world.given import Kafka

PACED = SideHistory(is_paced=True)
TABLE = OutputClass("totals", "exact", "exact", "latest")
WINDOWS = replace(TABLE, compare="windows")
# Each closed segment is compacted at once.
COMPACTED = {"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"}
HOUR_MS = 3_600_000


@pytest.fixture
def pair(kafka: Kafka, remote: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compared]:
    """Two empty topics, and a Connect server."""
    monkeypatch.setenv("SPARK_REMOTE", remote)
    with compared(kafka.bootstrap) as topics:
        yield topics


def noted(topics: Compared) -> NotedEnds:
    """The ends of both topics now."""
    with ClusterReader({"bootstrap.servers": topics.bootstrap}) as reader:
        return note_ends(reader, (topics.first, topics.second))


def judged(topics: Compared, ends: NotedEnds, output: OutputClass = TABLE) -> tuple[Verdict, ComparedSides]:
    """The verdict on both topics below these ends."""
    config = {"bootstrap.servers": topics.bootstrap}
    found = read_sides(config, OutputPair(topics.first, topics.second, output), ends, sides_here(config))
    return sides_are_equal(found, PACED), found


def comparison(found: ComparedSides) -> OutputComparison:
    """What Spark found."""
    assert found.reading.comparison is not None
    return found.reading.comparison


def keys(found: ComparedSides) -> UnlikeKeys:
    """The counts of keys."""
    return comparison(found).keys or UnlikeKeys()


def rows(of_keys: int, at_ms: int = 1_763_750_000_000, **fields: Any) -> list[Written]:
    """One record of JSON for each of so many keys."""
    return [
        Written(b"key-%d" % number, json.dumps({"count": number, **fields}).encode(), number % 2, at_ms + number)
        for number in range(of_keys)
    ]


def test_sides_agree_below_the_ends_while_both_go_on(pair: Compared) -> None:
    """Other histories, times and deleted keys; what comes behind the ends is not compared."""
    pair.write(pair.first, [*rows(1_500), *rows(200, count=9), Written(b"gone", b"{}"), Written(b"gone", None)])
    pair.write(pair.second, [*rows(200, count=3), *rows(1_500, 5), *rows(200, 7, count=9)])
    ends = noted(pair)
    pair.write(pair.first, rows(100, count=77))
    verdict, found = judged(pair, ends)
    assert verdict.outcome is Outcome.PROCEED, verdict.text
    assert (keys(found).equal, keys(found).unlike) == (1_500, 0)
    assert found.reading.first.ranges[0].grown_to > found.reading.first.ranges[0].end
    # The same topics at the ends of now.
    later, found = judged(pair, noted(pair))
    assert later.outcome is Outcome.REFUSE
    assert (keys(found).changed, keys(found).equal) == (100, 1_400)


def test_exactly_the_keys_that_are_wrong_are_named(kafka: Kafka, pair: Compared) -> None:
    """Three of 100,000, drawn at run time: a changed value, a key that is not there, and one too much."""
    assert pair
    chance = random.SystemRandom()
    changed, missing, extra = chance.sample(range(100_000), 3)
    assert len({changed, missing, extra}) == 3
    right = rows(100_000)
    wrong = {number: one for number, one in enumerate(right) if number != missing}
    wrong[changed] = replace(right[changed], value=b'{"count": -1}')
    with compared(kafka.bootstrap, (2, 2)) as topics:
        topics.write(topics.first, [one for number, one in enumerate(right) if number != extra])
        topics.write(topics.second, list(wrong.values()))
        verdict, found = judged(topics, noted(topics))
    assert verdict.outcome is Outcome.REFUSE
    assert keys(found) == UnlikeKeys(equal=99_997, missing=1, extra=1, changed=1)
    named = {
        (one.kind, (one.first or one.second or pytest.fail("no record")).key, one.fields)
        for one in comparison(found).examples
    }
    assert named == {
        ("changed", f"key-{changed}", ("$.count",)),
        ("missing", f"key-{missing}", ()),
        ("extra", f"key-{extra}", ()),
    }
    for number in (changed, missing, extra):
        assert f"key-{number} (" in verdict.text
    assert "3 of 100,000 keys differ (limit 0)" in verdict.text
    assert "fields that differ: $.count of 1 keys" in verdict.text


# A pair of values, and the fields that differ: without ignored paths, and without $.event, $.of.seq and $.lines[*].at.
VALUES: dict[str, tuple[bytes, bytes, tuple[str, ...], tuple[str, ...]]] = {
    "a number": (b'{"sum": 1, "event": 1}', b'{"sum": 2, "event": 2}', ("$.event", "$.sum"), ("$.sum",)),
    "only the event": (b'{"sum": 1, "event": "a"}', b'{"sum": 1, "event": "b"}', ("$.event",), ()),
    "an event that one side has": (b'{"sum": 1, "event": "a"}', b'{"sum": 1}', ("$.event",), ()),
    "a nested field": (b'{"of": {"seq": 1, "id": 1}}', b'{"of": {"seq": 2, "id": 1}}', ("$.of",), ()),
    "next to a nested field": (b'{"of": {"seq": 1, "id": 1}}', b'{"of": {"seq": 1, "id": 2}}', ("$.of",), ("$.of",)),
    "in an array": (b'{"lines": [{"at": 1}, {"at": 2}]}', b'{"lines": [{"at": 3}, {"at": 4}]}', ("$.lines",), ()),
    "a longer array": (b'{"lines": [{"at": 1}]}', b'{"lines": [{"at": 1}, {"at": 1}]}', ("$.lines",), ("$.lines",)),
    "an object for an array": (b'{"lines": [{"at": 1}]}', b'{"lines": {"at": 1}}', ("$.lines",), ("$.lines",)),
    "null for absent": (b'{"sum": null}', b"{}", ("$.sum",), ("$.sum",)),
    "text for a number": (b'{"sum": 1}', b'{"sum": "1"}', ("$.sum",), ("$.sum",)),
    "a large number": (b'{"sum": 9007199254740993}', b'{"sum": 9007199254740992}', ("$.sum",), ("$.sum",)),
    "a number that is rounded": (b'{"sum": 1e400}', b'{"sum": 2e400}', ("$",), ("$",)),
    "digits that are rounded": (b'{"sum": 1.%s1}' % (b"0" * 40), b'{"sum": 1.%s2}' % (b"0" * 40), ("$",), ("$",)),
    "another order of names": (b'{"sum": 1, "id": 2}', b'{"id": 2, "sum": 1}', ("$",), ()),
    "a name twice": (b'{"sum": 1, "sum": 2}', b'{"sum": 2}', ("$",), ("$",)),
    "no JSON": (b"event=1", b"event=2", ("$",), ("$",)),
    "no UTF-8": (b'{"sum": "\xff"}', b'{"sum": "\xfe"}', ("$",), ("$",)),
    "an array of its own": (b"[1, 2]", b"[1, 3]", ("$",), ("$",)),
}
IGNORED = ("$.event", "$.of.seq", "$.lines[*].at")


def test_each_field_is_compared_unless_it_is_ignored(pair: Compared) -> None:
    """A path leaves out one field; a value that has no fields is compared as a whole."""
    pair.write(pair.first, [*(Written(name.encode(), value) for name, (value, *_) in VALUES.items()), *rows(1_000)])
    pair.write(pair.second, [*(Written(name.encode(), value) for name, (_, value, *_) in VALUES.items()), *rows(1_000)])
    ends = noted(pair)
    for output, place in ((TABLE, 2), (replace(TABLE, kind="exact_without_fields", ignore=IGNORED), 3)):
        verdict, found = judged(pair, ends, replace(output, mask=()))
        unlike: dict[str, Any] = {name: values[place] for name, values in VALUES.items() if values[place]}
        assert keys(found).changed == len(unlike)
        assert keys(found).equal == 1_000 + len(VALUES) - len(unlike)
        counts: dict[str, int] = {}
        for field in (each for fields in unlike.values() for each in fields):
            counts[field] = counts.get(field, 0) + 1
        assert {one.field: one.keys for one in comparison(found).fields} == counts
        assert verdict.outcome is Outcome.REFUSE
        for one in comparison(found).examples:
            assert one.first is not None
            assert sorted(one.fields) == sorted(unlike[str(one.first.key)]), one.first.key
    pair.write(pair.second, [Written(name.encode(), values[0]) for name, values in VALUES.items()])
    only = replace(TABLE, kind="exact_without_fields", ignore=IGNORED)
    verdict, _ = judged(pair, noted(pair), only)
    assert verdict.text.endswith("are equal ($.event, $.of.seq, $.lines[*].at not compared)")


def test_a_window_comes_at_most_once(pair: Compared) -> None:
    """The last value of a window that came twice may be right all the same."""
    pair.write(pair.first, rows(1_200))
    pair.write(pair.second, [*rows(1_200), *rows(2)])
    ends = noted(pair)
    assert judged(pair, ends)[0].outcome is Outcome.PROCEED
    verdict, found = judged(pair, ends, WINDOWS)
    assert verdict.outcome is Outcome.REFUSE
    assert (keys(found).repeated, keys(found).equal) == (2, 1_198)
    assert "2 with a window more than once" in verdict.text
    assert {one.kind for one in comparison(found).examples} == {"repeated"}


@pytest.mark.long
def test_too_few_keys_and_records_deleted_since_the_note_prove_nothing(pair: Compared) -> None:
    """All keys of a small topic are enough, unless more have come since."""
    for topic in (pair.first, pair.second):
        pair.write(topic, rows(20))
    ends = noted(pair)
    assert judged(pair, ends)[0].outcome is Outcome.PROCEED
    pair.write(pair.first, rows(3_000))
    verdict, _ = judged(pair, ends)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "20 keys of " in verdict.text
    assert "were compared (limit 1,000; the topics have 3,000 now)" in verdict.text
    pair.delete_before(pair.first, 0, 5)
    verdict, _ = judged(pair, ends)
    assert f"records are deleted: {pair.first}-0 begins at offset 5 (compared from 0)" in verdict.text
    # A new note begins there: the other side still has keys that retention may have taken from this one.
    pair.write(pair.second, rows(3_000))
    pair.write(pair.first, [Written(b"only here", b"{}", 1)])
    pair.write(pair.second, [Written(b"only there", b"{}", 1)])
    verdict, _ = judged(pair, noted(pair))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "1 keys are not in " in verdict.text


@pytest.mark.long
def test_examples_leave_out_what_is_masked(pair: Compared) -> None:
    """All values, unless an entry declares otherwise; names of fields too, if it says so."""
    pair.write(pair.first, [Written(b"ada", b'{"mail": "ada@example.com", "sum": 1}')])
    pair.write(pair.second, [Written(b"ada", b'{"mail": "ada@example.com", "sum": 2}')])
    ends = noted(pair)
    for mask, shown, fields in (
        (("value", "headers"), "***", ("$.sum",)),
        (("$.mail",), '{"mail":"***","sum":1}', ("$.sum",)),
        (("value", "fields"), "***", ()),
    ):
        verdict, found = judged(pair, ends, replace(TABLE, mask=mask))
        [example] = comparison(found).examples
        assert example.first is not None
        assert (example.first.value, example.fields) == (shown, fields)
        assert "example.com" not in verdict.text
    verdict, found = judged(pair, ends, replace(TABLE, mask=("key", "value")))
    assert "ada" not in verdict.text + str(comparison(found))


@pytest.mark.long
def test_compaction_that_took_a_key_below_the_ends_proves_nothing(kafka: Kafka, pair: Compared) -> None:
    """A newer record behind the ends replaces it, on both sides; a topic that keeps records longer loses none."""
    assert pair
    for lag_ms in (0, HOUR_MS):
        settings = {**COMPACTED, "min.compaction.lag.ms": str(lag_ms)}
        with compared(kafka.bootstrap, (1, 1), settings) as topics:

            def record(key: bytes, number: int) -> list[Written]:
                # The times of records close segments: these are written seconds apart.
                return [Written(key, b'{"n": %d}' % number, 0, time.time_ns() // 1_000_000)]

            for topic in (topics.first, topics.second):
                topics.write(topic, [*record(b"hot", 1), *record(b"cold", 1)])
            ends = noted(topics)

            def hot_is_gone(topics: Compared = topics, ends: NotedEnds = ends) -> bool:
                # A record in a segment of its own closes the one before it.
                for topic in (topics.first, topics.second):
                    topics.write(topic, record(b"hot", 2))
                _, found = judged(topics, ends)
                behind = comparison(found).behind
                return behind is not None and all(one.only_there for one in behind)

            if lag_ms == 0:
                until(hot_is_gone, 90, "the older record of the key is compacted", poll_s=2)
                verdict, found = judged(topics, ends)
                assert verdict.outcome is Outcome.INCONCLUSIVE
                assert keys(found).equal == 1
                assert "have records behind the noted ends alone (limit 0)" in verdict.text
            else:
                assert not hot_is_gone()
                verdict, found = judged(topics, ends)
                assert (verdict.outcome, keys(found).equal) == (Outcome.PROCEED, 2), verdict.text


def fleet(kafka: Kafka, folder: Path, monkeypatch: pytest.MonkeyPatch, topics: Compared) -> tuple[Path, Path]:
    """Two applications with one output each, and the facts of both programs."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(folder))
    for name, value in Lab(folder, Ports(int(kafka.bootstrap.rpartition(":")[2]))).fleet_environment().items():
        monkeypatch.setenv(name, str(folder) if name == "KSTREAMS_RUNBOOKS_CONFIG" else value)
    for part in ("clusters", "applications"):
        (folder / part).mkdir()
    (folder / "clusters" / "demo.yaml").write_text("connection: kafka_demo\n", "utf-8")
    facts = CHECKOUT / "tests" / "apps" / "topologies" / "outputs" / "aggregate-regrouped.facts.yaml"
    files = []
    for name, topic in (("totals", topics.first), ("totals-green", topics.second)):
        entry = {
            "application_id": name,
            "cluster": "demo",
            "inputs": ["in"],
            "outputs": [topic],
            "output_semantics": {topic: {"ignore": ["$.event"], "mask": []}},
            "owner": "team-totals",
            "approvers": ["approver"],
            "deployer": {
                "kind": "manual",
                "instances": [{"name": f"{name}-1", "metrics": "http://127.0.0.1:1/jolokia"}],
                "releases": {"4.3.1": "totals:1"},
                "how": "restart it",
                "commands": {"instances": {"run": ["/bin/true"]}},
            },
        }
        (folder / "applications" / f"{name}.yaml").write_text(json.dumps(entry), "utf-8")
        text = (
            facts.read_text("utf-8").replace("(topic: out)", f"(topic: {topic})").replace("  out:\n", f"  {topic}:\n")
        )
        assert read_facts(text, "facts").text is not None
        files.append(folder / f"{name}.facts.yaml")
        files[-1].write_text(text, "utf-8")
    return files[0], files[1]


def compare(*words: str) -> tuple[int, str]:
    """Exit code and stdout of the command."""
    result = CliRunner().invoke(cli, ["compare-outputs", "totals", "totals-green", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def test_the_command_compares_below_the_ends_that_it_wrote(
    kafka: Kafka, pair: Compared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Class, ignored paths and masks are those of both entries and programs."""
    blue, green = fleet(kafka, tmp_path, monkeypatch, pair)
    topologies = ("--blue-topology", str(blue), "--green-topology", str(green))
    pair.write(pair.first, rows(1_100, event="a"))
    pair.write(pair.second, rows(1_100, event="b"))
    ends = tmp_path / "ends.json"
    assert compare("--note", str(ends)) == (0, f"4 ends written to {ends}\n")
    pair.write(pair.second, [Written(b"key-3", b'{"count": 0}', 1)])
    code, text = compare("--ends", str(ends), *topologies)
    assert (code, text.splitlines()[0]) == (
        0,
        f"[totals {pair.first} ↔ totals-green {pair.second}] EQUAL (exact without fields, latest)",
    )
    code, text = compare(*topologies, "--format", "json")
    [found] = json.loads(text)["outputs"]
    assert (code, found["verdict"], found["comparison"]["keys"]["changed"]) == (1, "refuse", 1)
    assert found["comparison"]["fields"] == [{"field": "$.count", "keys": 1}]
    assert found["output"]["ignore"] == ["$.event"]
    assert compare("--ends", str(ends), "--max-records", "10", *topologies)[0] == 3
    for words, sentence in (
        (("--pair", "nothing"), "--pair nothing: is not A=B"),
        (("--pair", f"other={pair.second}"), "other is not an output of totals"),
        (("--ends", str(blue)), "has no ends that --note has written"),
        (("--ends", str(ends), "--note", str(ends)), "give one of both"),
    ):
        with pytest.raises(BadInput, match=sentence):
            compare(*words, *topologies)


@pytest.mark.long
def test_without_a_connect_server_a_job_compares(kafka: Kafka, jars: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answer from a process of its own, with ignored paths and what is behind the ends."""
    assert jars
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    with compared(kafka.bootstrap) as topics:
        topics.write(topics.first, rows(1_100, event="a"))
        topics.write(topics.second, [*rows(1_100, event="b"), Written(b"key-8", b'{"count": 9}')])
        ends = noted(topics)
        topics.write(topics.first, [Written(b"new", b"{}")])
        verdict, found = judged(topics, ends, replace(TABLE, kind="exact_without_fields", ignore=("$.event",)))
    assert verdict.outcome is Outcome.REFUSE
    assert (keys(found).equal, keys(found).changed) == (1_099, 1)
    behind = comparison(found).behind
    assert behind is not None
    assert [one.only_there for one in behind] == [1, 0]
