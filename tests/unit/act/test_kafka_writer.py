"""Results of a write: every object has one, and a failed one is never passed over."""

import pytest
from kafka.errors import GroupAuthorizationFailedError, KafkaTimeoutError, PolicyViolationError
from kstreams_runbooks.act.kafka_writer import KafkaWriter, PartlyWritten, broker_error, demand_written, refuse_if
from kstreams_runbooks.errors import Refused, Unreachable, WriteRefused
from kstreams_runbooks.model.writes import ObjectWritten


def test_a_partial_success_has_every_result() -> None:
    done, failed = ObjectWritten("topic a", "done", "id"), ObjectWritten("topic b", "failed", error="topic b: denied")
    assert demand_written("create topics", [done]) == (done,)
    with pytest.raises(PartlyWritten, match="create topics: 1 of 2 done, 1 not: topic b: denied; correct") as partly:
        demand_written("create topics", [done, failed])
    assert partly.value.written == (done, failed)
    assert isinstance(partly.value, Refused)
    assert not isinstance(partly.value, WriteRefused)


def test_every_reason_of_a_refusal_is_shown_up_to_a_limit() -> None:
    refuse_if(["", ""])
    with pytest.raises(WriteRefused, match=r"^a; b; this write changed nothing$"):
        refuse_if(["a", "", "b"])
    with pytest.raises(WriteRefused, match="and 35 more; this write changed nothing"):
        refuse_if([f"reason {number}" for number in range(40)])


def test_a_right_is_named_and_any_other_error_is_the_brokers() -> None:
    assert broker_error("topic a", 29, "Alter on Topic a") == (
        "topic a: this login may not do this; grant it Alter on Topic a"
    )
    assert "grant it Read on Group g" in broker_error("g", GroupAuthorizationFailedError, "Read on Group g")
    assert broker_error("a-0", PolicyViolationError, "x") == "a-0: the broker answered PolicyViolation"
    assert broker_error("topic a", 38, "x", "too many replicas") == (
        "topic a: the broker answered InvalidReplicationFactor (too many replicas)"
    )


def test_without_an_answer_it_is_not_known_whether_the_change_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The request may have arrived: a rerun reads first."""

    class Silent(KafkaWriter):
        def write(self) -> None:
            with self._client():
                raise KafkaTimeoutError("no answer within 8000 ms")

    class Admin:
        def __init__(self, **_: object) -> None:
            pass

        def close(self) -> None:
            """Nothing is open."""

    monkeypatch.setattr("kstreams_runbooks.observe.kafka.admin_client.AdminClient", Admin)
    monkeypatch.setattr("kstreams_runbooks.act.kafka_writer.let_in", dict)
    with pytest.raises(Unreachable, match=r"KafkaTimeoutError.*Whether they made the change is not known"):
        Silent({"bootstrap.servers": "one:9092"}, dry_run=False).write()
