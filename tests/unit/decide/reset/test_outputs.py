"""Outputs whose records may be deleted: their writers, readers and cuts; one fact changed, one answer."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.fleet_graph import fleet_graph
from kstreams_runbooks.decide.registry import DECISIONS
from kstreams_runbooks.decide.reset.outputs import (
    CleanedOutputs,
    clean_stage,
    cuts,
    direct_readers,
    is_own,
    may_clean,
)
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import RunningUse, TopicUser
from kstreams_runbooks.model.readings.reset_outputs import (
    OutputFacts,
    OutputPartition,
    OutputProducer,
    UnreadBelow,
)
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from world.samples import declared

PROCESS = "0b8f3a52-5c1e-4f0e-9d55-2f6f7a0a9f11"
OWN = declared(outputs=("results",))
BILLING = replace(OWN, name="billing", application_id="billing-app", inputs=("results",), outputs=("bills",))
SHIPPING = replace(OWN, name="shipping", application_id="shipping", inputs=("bills",), outputs=())
ASKED = CleanedOutputs(OWN, frozenset({"results", "audit"}), ("results",))
GRAPH = fleet_graph((OWN, BILLING, SHIPPING))
ROW = OutputPartition("results", 0, "id-1", 10, 50)
READS = TopicUser("results", "billing-app", "classic", "Stable", commits=True, assigned=True)
BEHIND = UnreadBelow("billing-app", "results", 0, 40, 7)
FACTS = OutputFacts(
    partitions=(ROW, replace(ROW, partition=1, start=0, cut=5)),
    policies={"results": "delete"},
    users=(READS,),
    others=(),
    unread=(),
    producers=(OutputProducer("results", 0, 1, f"orders-{PROCESS}-1", 1_000, is_open=True),),
    owners={"billing": "team billing"},
)


def judged(asked: CleanedOutputs = ASKED, *, planned: bool = True, **changes: Any) -> Verdict:
    return may_clean(asked, replace(FACTS, **changes), GRAPH, planned=planned)


def found(verdict: Verdict) -> dict[str, str]:
    return {one.id: one.message for one in verdict.findings}


def test_an_output_that_all_have_read_may_be_cleaned() -> None:
    """The approval names the cut, the reader with its owner, and the tables that keep old keys."""
    verdict = judged()
    assert verdict == replace(verdict, outcome=Outcome.PROCEED, reasons=("results: 45 offsets below the cuts may go",))
    messages = found(verdict)
    assert messages.keys() == {"outputs-cleaned", "downstream-keeps-keys"}
    assert "45 offsets are deleted (results-0 below 50, results-1 below 5)" in messages["outputs-cleaned"]
    assert "read by billing (owner team billing)" in messages["outputs-cleaned"]
    assert "tables that billing (owner team billing) may build" in messages["downstream-keeps-keys"]
    assert cuts(FACTS) == {("results", 0): 50, ("results", 1): 5}
    assert direct_readers(ASKED, GRAPH) == ("billing",)
    stage = clean_stage(ASKED, GRAPH)
    assert (stage.topics, stage.shown, stage.readers) == (("results",), True, ("billing",))
    assert stage.sentence == "delete the records of results up to the ends that the plan shows"


def test_a_group_that_no_entry_has_is_named() -> None:
    user = replace(READS, group_id="report", state="Empty")
    messages = found(judged(users=(user,)))
    assert "read by billing (owner team billing), group report" in messages["outputs-cleaned"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"policies": {"results": "compact"}}, "output results: is only compacted (cleanup.policy=compact"),
        (
            {"others": (RunningUse("results", "orders-next", writes=True),)},
            "output results: is written by orders-next too (expected: by orders alone)",
        ),
        (
            {"producers": (OutputProducer("results", 1, 9, "orders-next-1", 1_000, is_open=True),)},
            "output results-1: orders-next-1 has a transaction open on it (expected: orders alone writes it)",
        ),
        (
            {"unread": (BEHIND,), "users": (replace(READS, state="Empty"),)},
            "output results-0: group billing-app has not read 7 records below the cut (committed 40; limit 0)",
        ),
        (
            {"unread": (replace(BEHIND, committed=None, at_least=True),), "users": ()},
            "has not read at least 7 records below the cut (no committed offset; limit 0)",
        ),
    ],
)
def test_refusals_are_one_sentence_each(changes: dict[str, Any], said: str) -> None:
    verdict = judged(**changes)
    assert verdict.outcome is Outcome.REFUSE
    [reason] = verdict.reasons
    assert said in reason


def test_a_topic_that_is_compacted_and_deleted_may_be_cleaned() -> None:
    assert judged(policies={"results": "compact,delete"}).outcome is Outcome.PROCEED


def test_a_topic_that_is_not_an_output_is_refused() -> None:
    verdict = judged(replace(ASKED, topics=("orders",)))
    assert verdict.reasons[0].startswith(
        "output orders: is not an output of orders (its outputs: audit, results); name one of them"
    )


@pytest.mark.parametrize(
    "asked",
    [replace(ASKED, read=frozenset({"results"})), replace(ASKED, declared=replace(OWN, inputs=("results",)))],
)
def test_a_topic_that_the_application_reads_itself_is_not_cleaned(asked: CleanedOutputs) -> None:
    """Its own group is not among the readers, and what it has not processed would be lost."""
    verdict = judged(asked)
    assert verdict.outcome is Outcome.REFUSE
    [reason] = verdict.reasons
    assert "output results: orders reads it itself" in reason


def test_an_entry_that_declares_the_output_too_is_a_writer() -> None:
    """Also if it does not run."""
    graph = fleet_graph((OWN, replace(SHIPPING, outputs=("results",))))
    verdict = may_clean(ASKED, FACTS, graph, planned=True)
    assert verdict.reasons == (
        "output results: is written by shipping too (expected: by orders alone), whose records would be deleted; "
        "leave it out",
    )


def test_a_group_that_works_may_read_on_until_the_records_go() -> None:
    """At the plan its unread records are shown; right before the deletion they are waited for."""
    planned = judged(unread=(BEHIND,))
    assert planned.outcome is Outcome.PROCEED
    assert "results-0 by group billing-app: 7 records" in found(planned)["outputs-unread"]
    waits = judged(unread=(BEHIND,), planned=False)
    assert waits.outcome is Outcome.WAIT
    assert "has not read 7 records below the cut" in waits.reasons[0]
    assert judged(unread=(BEHIND,), planned=False, policies={"results": "compact"}).outcome is Outcome.REFUSE


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"problems": ("share group s is Stable",)}, "share group s is Stable"),
        ({"policies": {}}, "cleanup.policy is not visible"),
        ({"partitions": ()}, "output results: its partitions were not read"),
        ({"partitions": (replace(ROW, cut=Missing("no leader")),)}, "output results-0: no leader"),
        (
            {"unread": (replace(BEHIND, records=Missing("Spark is down")),)},
            "how many records group billing-app has not read is not known: Spark is down",
        ),
    ],
)
@pytest.mark.parametrize("planned", [True, False])
def test_what_is_unknown_is_never_allowed(changes: dict[str, Any], said: str, *, planned: bool) -> None:
    verdict = judged(planned=planned, **changes)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert said in verdict.reasons[0]


def test_a_certain_refusal_counts_although_something_is_unknown() -> None:
    verdict = judged(policies={"results": "compact"}, problems=("groups are hidden",))
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons[-1] == "groups are hidden"


def test_other_producers_are_suspects_and_refuse_nothing() -> None:
    """Brokers list those of the stopped application too, without a name if it writes without transactions."""
    unnamed = OutputProducer("results", 0, 4711, None, 978_307_200_000, is_open=False)
    verdict = judged(producers=(*FACTS.producers, unnamed))
    assert verdict.outcome is Outcome.PROCEED
    assert (
        "producer 4711 on results-0, last record of 2001-01-01 00:00:00 UTC"
        in (found(verdict)["outputs-suspect-writer"])
    )


@pytest.mark.parametrize(
    ("transactional_id", "own"),
    [
        (f"orders-{PROCESS}-1", True),
        ("orders-0_3", True),
        (f"orders-next-{PROCESS}-1", False),
        ("orders-next-0_3", False),
        ("orders", False),
        ("orders-", False),
        ("payments-0_1", False),
    ],
)
def test_the_names_of_its_own_producers(transactional_id: str, *, own: bool) -> None:
    assert is_own(transactional_id, "orders") is own


def test_the_decision_can_be_made_again_from_its_evidence() -> None:
    inputs: dict[str, Any] = {
        "asked": ASKED,
        "facts": replace(FACTS, unread=(BEHIND,)),
        "graph": GRAPH,
        "planned": True,
    }
    result = may_clean(**inputs)
    payload = encode_call(may_clean, inputs, result)
    assert call_again(DECISIONS["may_clean"], payload) == encode(result)
