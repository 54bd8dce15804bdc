"""A control-topic flush on a real cluster under traffic: a repartition topic goes, and no record with it."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from confluent_kafka.admin import AdminClient
from lab.afresh import afresh
from lab.application import TO_RELEASE, Deployed
from lab.judge import judged
from lab.stack import Stack
from world.endings import COMPLETED, begun_other, ended, held_by
from world.given import declared_as
from world.runs import approve, evidence, finished, log_of

_INPUTS = {"topic.orders": "orders", "topic.customers": "customers"}
_SETTABLE = ["num.stream.threads", "audit", *_INPUTS]
_AUDIT = "orders-orders-audit-repartition"
_EMPTY = {f"empty-of-{topic}-for-orders" for topic in _INPUTS.values()}
_SHORT = {"gate_interval_s": 0.5, "gate_good_readings": 2}


def entry(stack: Stack) -> dict[str, Any]:
    """The fleet entry with settings that name the inputs, and `audit`, which adds a repartition topic."""
    found = yaml.safe_load((stack.lab.config / "applications" / "orders.yaml").read_text(encoding="utf-8"))
    return {"deployer": found["deployer"] | {"settable": _SETTABLE}, "input_settings": _INPUTS, "limits": _SHORT}


def topics(stack: Stack) -> set[str]:
    """Every topic of the cluster."""
    return set(AdminClient({"bootstrap.servers": stack.lab.bootstrap}).list_topics(timeout=10).topics)


@pytest.fixture(scope="module")
def audited(stack: Stack) -> Iterator[Stack]:
    """Two instances with one more repartition topic, under traffic."""
    afresh(stack, Deployed(release=TO_RELEASE, settings={"audit": "true"}))
    with declared_as(stack, **entry(stack)):
        stack.start_traffic()
        time.sleep(5)
        yield stack


def test_a_dry_run_shows_every_stage(audited: Stack) -> None:
    """What would be done; nothing is changed, no topic is created."""
    trial = begun_other(audited, "control_topic_flush", settings={"audit": False}, switch="swap", dry_run=True)
    assert finished(audited, trial.run_id) == "success"
    assert "empty-of-orders-for-orders" in log_of(audited, trial.run_id, "pause_inputs")
    assert "would prove that nothing is left to read" in log_of(audited, trial.run_id, "certify")
    ended(trial, state="success", outcome="dry run")
    assert not _EMPTY & topics(audited)


def test_a_repartition_topic_goes_while_producers_go_on(audited: Stack) -> None:
    """Swapped inputs: nothing missing, nothing extra, nothing twice; the empty topics are gone at the end."""
    trial = begun_other(audited, "control_topic_flush", settings={"audit": False}, switch="swap")
    approve(audited, trial.run_id, "approve_plan")
    assert finished(audited, trial.run_id) == "success", evidence(audited, trial.run_id)["run"]["outcome_sentence"]
    judgement = judged(audited)
    assert (judgement.code, judgement.faults()) == (0, {})
    document = evidence(audited, trial.run_id)
    assert document["run"]["outcome"] == COMPLETED
    assert held_by(audited) == ()
    assert not _EMPTY & topics(audited)
