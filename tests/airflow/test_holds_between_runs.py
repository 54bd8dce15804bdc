"""Two runs want one application: one of them has it, the other is told which."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.ledger import RunRecord
from lab.airflow import APPROVER
from lab.stack import Stack
from world.endings import NOTHING_CHANGED, Trial, begun, ended, held_by
from world.runs import DAG, log_of, question

_TAKERS = 50
# Airflow's API server has fifteen connections to its database: of fifty requests at once some wait for ever.
_ASKERS = 8
_RESOURCES = ("application:demo:orders",)


@pytest.fixture(scope="module")
def first(fresh: Stack) -> Trial:
    """A run that has the application and waits for its approval."""
    trial = begun(fresh)
    question(fresh, trial.run_id)
    return trial


def test_two_runs_for_one_application(fresh: Stack, first: Trial) -> None:
    """The second is refused with the run that is first, and changes nothing of the first one's hold."""
    second = begun(fresh)
    document = ended(second, state="failed", outcome=NOTHING_CHANGED, holds=(first.run_id,))
    assert f"application orders is held by run {DAG}/{first.run_id}" in document["run"]["outcome_sentence"]
    assert first.run_id in log_of(fresh, second.run_id, "check")
    # It waits for an answer: it keeps the application from others, not the cluster.
    assert [(hold.resource, hold.changing) for hold in _ledger(fresh).holds()] == [(_RESOURCES[0], False)]


def test_fifty_concurrent_takers_of_one_hold_one_wins(fresh: Stack, first: Trial) -> None:
    """Against a run that waits all of them lose; once it has ended one of them wins and the others are told which.

    They ask the ledger that the runs use, and Airflow about whoever is in the way. It knows no run of the winner's, so
    the next real run finds that hold free.
    """
    keys = [_started(fresh, f"taker-{number}") for number in range(_TAKERS)]
    winners, refusals = _all_at_once(fresh, keys)
    assert winners == []
    assert all(f"held by run {DAG}/{first.run_id}" in refusal for refusal in refusals)
    fresh.api(APPROVER).answer(DAG, first.run_id, "approve_plan", "Reject")
    ended(first, state="failed", outcome=NOTHING_CHANGED)

    winners, refusals = _all_at_once(fresh, keys)
    assert (len(winners), len(refusals)) == (1, _TAKERS - 1)
    assert all(f"held by run {winners[0]}" in refusal for refusal in refusals)
    assert held_by(fresh) == (winners[0].partition("/")[2],)

    second = begun(fresh)
    question(fresh, second.run_id)
    assert held_by(fresh) == (second.run_id,)
    fresh.api(APPROVER).answer(DAG, second.run_id, "approve_plan", "Reject")
    ended(second, state="failed", outcome=NOTHING_CHANGED)


def _started(stack: Stack, run_id: str) -> str:
    """A run in the ledger that Airflow has never heard of; returns its key."""
    record = RunRecord(
        run_key=f"{DAG}/{run_id}",
        dag_id=DAG,
        run_id=run_id,
        application="orders",
        cluster="demo",
        requested_by="test",
        dry_run=False,
        reason="test",
        params={},
        started_at_ms=1,
    )
    return _ledger(stack).start_run(record).run_key


def _all_at_once(stack: Stack, keys: list[str]) -> tuple[list[str], list[str]]:
    """Every key asks for the application's hold at the same time: who has it, and what the others were told."""
    barrier, ledger, api = threading.Barrier(len(keys)), _ledger(stack), stack.api()
    asking = threading.Semaphore(_ASKERS)

    def over(run_key: str) -> bool:
        run_id = run_key.partition("/")[2]
        if run_key in keys:
            return False
        with asking:
            return api.run(DAG, run_id)["state"] in {"success", "failed"}

    def take(key: str) -> str:
        barrier.wait()
        try:
            ledger.take_hold(key, _RESOURCES, cluster="demo", limit=1, at_ms=2, is_finished=over)
        except Refused as refusal:
            return str(refusal)
        return ""

    with ThreadPoolExecutor(len(keys)) as pool:
        said = list(pool.map(take, keys))
    return [key for key, refusal in zip(keys, said, strict=True) if not refusal], [one for one in said if one]


def _ledger(stack: Stack) -> Ledger:
    return Ledger.open(stack.environment()["KSTREAMS_RUNBOOKS_LEDGER"])
