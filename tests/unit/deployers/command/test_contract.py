"""What a team's commands may print: read strictly, and refused with the place and no value."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.deployers.command.contract import (
    DescribedInstance,
    DescribedTopology,
    InstancesDocument,
    deployment_of,
    parsed,
)
from kstreams_runbooks.deployers.requests import request_sentence
from kstreams_runbooks.deployers.scripts import end_of_log, tail_of
from kstreams_runbooks.deployers.settable import settable_keys
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.target import Target

ONE: dict[str, Any] = {
    "instance": "o1",
    "process": "running",
    "started_at_ms": 1_763_000_000_000,
    "pid": 41,
    "release": "3.4.1",
    "settings": {"upgrade.from": "3.4"},
    "applied": True,
}


def document(**changes: Any) -> str:
    """One instance as `instances` prints it."""
    return json.dumps({"schema_version": 1, "instances": [ONE | changes]})


def test_every_field_is_taken_over() -> None:
    """As it was printed."""
    taken = Taken(7, "here")
    one = deployment_of(parsed(document(), InstancesDocument, "instances").instances[0], taken, settable_keys(()))
    assert (one.taken, one.instance, one.process, one.pid) == (taken, "o1", "running", 41)
    assert one.started_at_ms == 1_763_000_000_000
    assert (one.release, one.settings, one.applied, one.obstacles) == ("3.4.1", (("upgrade.from", "3.4"),), True, ())


def test_the_example_in_the_docs_is_the_contract() -> None:
    """As a reader would copy it."""
    docs = Path(__file__).resolve().parents[4] / "docs" / "deployers.md"
    [example] = re.findall(r"```json\n(.*?)```", docs.read_text("utf-8"), re.DOTALL)
    [one] = parsed(example, InstancesDocument, "the docs").instances
    assert set(DescribedInstance.model_fields) == set(json.loads(example)["instances"][0])
    assert (one.instance, one.applied) == ("orders-1", True)


def test_null_is_missing_with_the_scripts_own_reason() -> None:
    """Never a guess."""
    text = document(release=None, applied=None, missing="git is away", obstacles=["frozen until Monday"])
    one = deployment_of(parsed(text, InstancesDocument, "instances").instances[0], Taken(0, ""), settable_keys(()))
    assert one.release == Missing("its release: git is away")
    assert one.applied == Missing("whether its settings are in effect: git is away")
    assert one.obstacles == ("frozen until Monday",)


@pytest.mark.parametrize(
    ("printed", "seen"),
    [
        ({"autorestart": True}, True),
        ({"autorestart": False}, False),
        ({"autorestart": None}, Missing("the instances command does not print its autorestart")),
        ({}, Missing("the instances command does not print its autorestart")),
    ],
)
def test_what_starts_an_instance_again_is_taken_over_or_missing(printed: dict[str, Any], seen: object) -> None:
    """A script that prints nothing about it is not one that says no."""
    text = document(**printed)
    one = deployment_of(parsed(text, InstancesDocument, "instances").instances[0], Taken(0, ""), settable_keys(()))
    assert one.autorestart == seen


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the document: is not valid JSON: line 1: Expecting value"),
        ("deployed!\n" + document(), "the document: is not valid JSON: line 1: Expecting value"),
        (document() + document(), "the document: is not valid JSON: line 1: Extra data"),
        ("[]", "the document: "),
        ('{"instances": []}', "schema_version: Field required"),
        ('{"schema_version": 2, "instances": []}', "schema_version: Input should be 1"),
        ('{"schema_version": 1, "instances": [], "status": "ok"}', "status: Extra inputs are not permitted"),
        (document(process="Running"), "instances.0.process: Input should be 'running', 'stopped'"),
        (document(started_at_ms=1_763_000_000), "instances.0.started_at_ms: Input should be greater than or equal to"),
        (document(started_at_ms="2026-11-21"), "instances.0.started_at_ms: Input should be a valid integer"),
        (document(pid=0), "instances.0.pid: Input should be greater than 0"),
        (document(applied="yes"), "instances.0.applied: Input should be a valid boolean"),
        (document(settings={"num.stream.threads": 4}), "num.stream.threads: Input should be a valid string"),
        (document(settings=None), "instances.0.settings: Input should be an object"),
        (document(replicas=2), "instances.0.replicas: Extra inputs are not permitted"),
        (document(process="stopped"), "applied is true although the process is stopped"),
        (json.dumps({"schema_version": 1, "instances": [ONE, ONE]}), "instance o1 is listed twice"),
        (json.dumps({"schema_version": 1, "instances": [{"instance": "o1"}]}), "instances.0.process: Field required"),
    ],
)
def test_anything_else_is_inconclusive(text: str, why: str) -> None:
    """Never taken for fine, whatever it looks like."""
    with pytest.raises(Inconclusive) as raised:
        parsed(text, InstancesDocument, "orders: instances (deploy)")
    assert str(raised.value).startswith("orders: instances (deploy) printed output that does not match the contract")
    assert why in str(raised.value)


def test_values_are_not_repeated() -> None:
    """What stands where it does not belong may be a secret."""
    for text in (document(password="hunter2"), document(applied="hunter2"), "hunter2"):  # noqa: S106 - not one of ours
        with pytest.raises(Inconclusive) as raised:
            parsed(text, InstancesDocument, "instances")
        assert "hunter2" not in str(raised.value)


def test_topology_begins_as_kafka_streams_prints_it() -> None:
    """An error message with exit code 0 is no topology."""
    good = '{"schema_version": 1, "release": "4.3.1", "topology": "Topologies:\\n   Sub-topology: 0"}'
    assert parsed(good, DescribedTopology, "topology").topology.startswith("Topologies:")
    with pytest.raises(Inconclusive, match="topology: String should match pattern"):
        parsed(good.replace("Topologies:", "Exception"), DescribedTopology, "topology")


@pytest.mark.parametrize(
    ("said", "tail"),
    [
        ("", ""),
        ("first\n  last  \n\n", "last"),
        ("cannot reach https://me:hunter2@git/x.git", "cannot reach https[:]//(hidden)@git/x.git"),
        ("db_password=hunter2 is wrong", "db_password=(hidden)"),
        ('{"apiKey": "hunter2"}', '{"apiKey": (hidden)'),
        ("Authorization: Bearer hunter2", "Authorization: (hidden)"),
        ("curl: --token hunter2", "curl: --token (hidden)"),
        ("sasl.jaas.config = x required password hunter2;", "sasl.jaas.config = (hidden)"),
        ("cannot log in: DB_PASS=hunter2", "cannot log in: DB_PASS=(hidden)"),
        ("dbpass: hunter2", "dbpass: (hidden)"),
        ("DB_PASS_2=hunter2", "DB_PASS_2=(hidden)"),
        ("user=me pwd=hunter2", "user=me pwd=(hidden)"),
        ("private_key=hunter2", "private_key=(hidden)"),
        ('{"privateKey": "hunter2"}', '{"privateKey": (hidden)'),
        ("aws.access-key = hunter2", "aws.access-key = (hidden)"),
        ("KAFKA_KEY=hunter2", "KAFKA_KEY=(hidden)"),
        ("the password is hunter2", "the password is (hidden)"),
        ("refused: token hunter2", "refused: token (hidden)"),
        ("refused: token eyJhbGciOiJIUzI1NiJ9.e30", "refused: token (hidden)"),
        ("usage: --db-pass hunter2", "usage: --db-pass (hidden)"),
    ],
)
def test_last_line_of_stderr_without_credentials(said: str, tail: str) -> None:
    """What helps stays."""
    assert tail_of(said) == tail


@pytest.mark.parametrize(
    "said",
    [
        "no partition for key=orders-1",
        "record with message_key=7, key: orders-1 was dropped",
        "key.serializer=org.apache.kafka.common.serialization.StringSerializer",
        "passed: 7, bypass=true, compass: 1, passes=3",
        "the password is wrong",
        "token is expired",
        "the token endpoint is away",
        "unexpected token 5 in line 7",
        "password for user1234 rejected",
    ],
)
def test_a_last_line_without_a_credential_is_whole(said: str) -> None:
    """It is all that the person on call has of it."""
    assert tail_of(said) == said


_TRACE = """
2026-11-26 03:00:01 INFO  starts with processing.exception.handler = class LogAndFailProcessingExceptionHandler
2026-11-26 03:00:02 ERROR stream-thread [orders-1] Encountered the following exception
org.apache.kafka.streams.errors.StreamsException: task 0_1
\tat org.apache.kafka.common.errors.TimeoutException.<init>(TimeoutException.java:29)
Caused by: java.lang.IllegalStateException: no codec, password=hunter2
\t... 12 more
2026-11-26 03:00:03 INFO  stream-client [orders-1] Shutdown complete, errors: 0
"""


@pytest.mark.parametrize(
    ("log", "end"),
    [
        (_TRACE, "last error in its log: Caused by: java.lang.IllegalStateException: no codec, password=(hidden)"),
        (
            "Error: Could not find or load main class A\n",
            "last error in its log: Error: Could not find or load main class A",
        ),
        ('{"level":"ERROR","m":"x"}\nbye', 'last error in its log: {"level":"ERROR","m":"x"}'),
        (
            "Caused by: java.lang.NullPointerException\n",
            "last error in its log: Caused by: java.lang.NullPointerException",
        ),
        ("WARN 0 errors, ErrorHandler is set\nKilled\n\n", "last line of its log: Killed"),
        ("\n \n", ""),
    ],
)
def test_a_log_ends_with_its_last_error(log: str, end: str) -> None:
    """The root cause, not what a client logs as it closes; without an error the last line; never a credential."""
    assert end_of_log(log) == end


def test_requests_are_complete_sentences() -> None:
    """Release, what it is called there, every setting; what must not be left behind is named."""
    with_ = request_sentence("deploy", "o1", Target("4.3.1", (("upgrade.from", "3.4"),)), "orders:18")
    assert with_ == (
        "set o1 to release 4.3.1 (orders:18) with upgrade.from=3.4 and without other settings of runbooks, then "
        "restart o1"
    )
    without = request_sentence("deploy", "o1", Target("4.3.1"), "4.3.1")
    assert without == (
        "set o1 to release 4.3.1 without settings of runbooks (leave upgrade.from unset), then restart o1"
    )
    with pytest.raises(ValueError, match="deploy o1: no target"):
        request_sentence("deploy", "o1")
    assert request_sentence("stop", "o1") == "stop o1 and leave it stopped"
    assert request_sentence("start", "o1") == "start o1"
    assert "delete the local state of o1 while it is stopped" in request_sentence("clear_state", "o1")
