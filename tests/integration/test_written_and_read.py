"""A topic that an application writes and reads: a loop of its own, or an input that others write too, on a broker.

The entry decides: its `inputs` are what others write. Each plan asks the same question of the same application.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.plans.adopt import COPIER
from kstreams_runbooks.decide.plans.swap import may_swap
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.plan import DeployedInstance
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.steps.adoption.plan import _read, _states
from kstreams_runbooks.steps.inputs.swap import read_swap
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.watch.blast_radius import ResetQuestion, read_reset
from kstreams_runbooks.watch.green import GreenSides, read_green
from lab.fake_streams import FakeStreams
from lab.kafka import create_topics
from world.new_ledger import new_ledger

_IN, _BACK, _OUT = "loop-in", "loop-back", "loop-out"
_SETTINGS = {f"topic.{topic}": topic for topic in (_IN, _BACK)}
_TEXT = f"""Topologies:
   Sub-topology: 0
    Source: a (topics: [{_IN}, {_BACK}])
      --> back, out
    Sink: back (topic: {_BACK})
      <-- a
    Sink: out (topic: {_OUT})
      <-- a

"""
# Prints the description with the topics of the settings; with `sinks` in the place of the sink too.
_COMMAND = """
import json, sys
release, settings, text, *sinks = sys.argv[1:]
for name, topic in json.loads(settings).items():
    old = name.removeprefix("topic.")
    text = text.replace(f"{old},", f"{topic},").replace(f"{old}]", f"{topic}]")
    text = text.replace(f"(topic: {old})", f"(topic: {topic})") if sinks else text
print(json.dumps({"schema_version": 1, "release": release, "topology": text}))
"""
_DECLARED = pytest.mark.parametrize("declared", [False, True], ids=["loop", "input"])


@pytest.fixture(scope="module")
def topics(broker: str) -> Iterator[str]:
    """The broker, with the topics of the application and an offset of its group."""
    config: dict[str, Any] = {"bootstrap.servers": broker}
    create_topics(broker, (_IN, _BACK, _OUT), 2)
    consumer = Consumer({**config, "group.id": "app", "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition(_IN, 0, 0)], asynchronous=False)
    consumer.close()
    yield broker
    admin = AdminClient(config)
    for future in admin.delete_topics([_IN, _BACK, _OUT]).values():
        future.result(30)
    admin.delete_consumer_groups(["app"])["app"].result(30)


@pytest.fixture
def run(topics: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A run about the application, which runs in the body of what this makes, and its reading."""
    config = {"bootstrap.servers": topics}
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_LONE", json.dumps({"conn_type": "kafka", "extra": config}))

    @contextmanager
    def begun(*, declared: bool, sinks: bool = False, **params: Any) -> Iterator[tuple[Run, Any]]:
        inputs = (_IN, _BACK) if declared else (_IN,)
        made = FakeStreams(tmp_path, "app", _TEXT, inputs, (_BACK, _OUT), cluster="lone")
        with made.running():
            file = tmp_path / "applications" / "app.yaml"
            entry = json.loads(file.read_text(encoding="utf-8"))
            entry["input_settings"] = {name: topic for name, topic in _SETTINGS.items() if topic in inputs}
            (tmp_path / "describe.py").write_text(_COMMAND, encoding="utf-8")
            words = [
                sys.executable,
                str(tmp_path / "describe.py"),
                "{release}",
                "{settings}",
                _TEXT,
                *["sinks"] * sinks,
            ]
            entry["deployer"]["commands"]["topology"] = {"run": words}
            entry["deployer"]["settable"] = [*_SETTINGS]
            file.write_text(json.dumps(entry), encoding="utf-8")
            ledger = new_ledger(tmp_path / f"{now_ms()}.db")
            record = RunRecord("", "control_topic_flush", "r", "app", "lone", "oncall", True, "", params, now_ms())
            found = Run(ledger.start_run(record), "observe", 1, ledger)
            yield found, found.read()

    return begun


def running() -> Any:
    """The version that runs."""
    return parsed(Described("4.3.1", "", "test", _TEXT))


@_DECLARED
@pytest.mark.parametrize("sinks", [False, True])
def test_a_swap_holds_it_if_others_write_it(run: Callable[..., Any], *, declared: bool, sinks: bool) -> None:
    """Unless its setting names the sink too: results of the flush would be in the empty topic, which is deleted."""
    with run(declared=declared, sinks=sinks) as (own, reading):
        seen = read_swap(own, reading, DeployedInstance("one", "4.3.1", (), "4.3.1"), running())
    empty = f"empty-of-{_BACK}-for-app"
    assert (seen.sources, seen.kept) == (((_BACK, _IN), ()) if declared else ((_IN,), (_BACK,)))
    assert seen.written == ((empty,) if declared and sinks else ())
    verdict = may_swap(seen)
    assert verdict.outcome == ("refuse" if declared and sinks else "proceed"), verdict.text
    assert (f"also writes {empty}" in verdict.text) is (declared and sinks)


@_DECLARED
def test_a_copier_in_front_copies_it_if_others_write_it(
    run: Callable[..., Any], tmp_path: Path, *, declared: bool
) -> None:
    """Its sink goes on to write the input, and the control topic gets these records too."""
    with run(declared=declared, copier="passing") as (own, reading):
        deployer = yaml.safe_load((tmp_path / "applications" / "app.yaml").read_text(encoding="utf-8"))["deployer"]
        entry = {
            "kind": "copier",
            "program": "topic-copier",
            "application_id": "passing",
            "cluster": "lone",
            "routes": {_IN: f"{_IN}-control"},
            "owner": "team",
            "approvers": ["ada"],
            "deployer": {
                "kind": "manual",
                "instances": [{"name": "p-1", "metrics": "http://127.0.0.1:1"}],
                "releases": deployer["releases"],
            },
        }
        (tmp_path / "applications" / "passing.yaml").write_text(json.dumps(entry), encoding="utf-8")
        side = own.side(COPIER)
        side.keep("reading", "application", replace(side.read(), instances=()))
        routes = side.declared.routes
        seen = _read(own, side, reading, running(), _states(own, routes), "adopt")
    assert seen.sources == ((_BACK, _IN) if declared else (_IN,))


@_DECLARED
def test_a_second_side_reads_it_from_its_beginning_if_others_write_it(
    run: Callable[..., Any], topics: str, *, declared: bool
) -> None:
    """And it is an output of its own in any case, which has to stand for one of the first side."""
    with run(declared=declared) as (own, reading):
        entry = own.application
        blue = entry.model_copy(update={"name": "blue", "application_id": "blue"})
        sides = GreenSides(load_fleet(), entry, blue, Side(running().topology), ())
        radius: Any = SimpleNamespace(late=())
        seen = read_green(sides, {"bootstrap.servers": topics}, reading, radius, "", "User:ANONYMOUS")
    assert [one.topic for one in seen.inputs] == ([_BACK, _IN] if declared else [_IN])
    assert {one.topic for one in seen.outputs} == {_BACK, _OUT}


@_DECLARED
def test_a_reset_begins_it_at_its_end_unless_others_write_it(run: Callable[..., Any], *, declared: bool) -> None:
    """Then a person says where: from earliest its own records are processed twice, at latest those of others never."""
    with run(declared=declared):
        kinds = {}
        for given in ({"*": "earliest"}, {"*": "earliest", _BACK: "earliest"}):
            read = read_reset("app", ResetQuestion("reset", given), print)
            kinds[len(given)] = read.targets[_BACK].kind
            asked = [one.undecided for one in read.radius.offsets if one.undecided]
            assert bool(asked) is (declared and len(given) == 1), asked
    assert kinds == {1: "undecided" if declared else "latest", 2: "earliest"}
