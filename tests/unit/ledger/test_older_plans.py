"""Plans as the release before stages kept them: bounces alone. Approvals are bound to their digests."""

import gzip
import json
from pathlib import Path

import pytest
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.runs.object_stages import CreateTopics
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, StartAll
from kstreams_runbooks.model.writes import TopicShape
from world.older_plans import PLANS, digests_in

_LEDGER = Path(__file__).parent / "samples" / "before_the_rooms.db.gz"


@pytest.mark.parametrize("runbook", PLANS)
def test_a_plan_of_an_older_release_keeps_its_digest(runbook: str) -> None:
    """Decoded, encoded by this release and decoded again, its bounces are stages, and nothing is lost."""
    kept = PLANS[runbook]
    plan = decode(Plan, kept["plan"])
    again = decode(Plan, json.loads(json.dumps(encode(plan))))
    assert again == plan
    assert (plan.runbook, plan.digest, again.digest) == (runbook, kept["digest"], kept["digest"])
    assert [encode(bounce)["number"] for bounce in plan.bounces] == [one["number"] for one in kept["plan"]["bounces"]]
    assert all(isinstance(stage, Bounce) for stage in plan.stages)
    cleared = [bool(one["deletes"]["names"] or one["clear_state"]) for one in kept["plan"]["bounces"]]
    assert [bounce.clears is not None for bounce in plan.bounces] == cleared


def test_open_runs_of_an_older_release_keep_their_digests(ledger: Ledger) -> None:
    """From the database's own types of columns; tests/hostile has the same on PostgreSQL."""
    assert digests_in(ledger) == {runbook: kept["digest"] for runbook, kept in PLANS.items()}


def test_a_completed_bump_and_its_undo_keep_theirs(tmp_path: Path) -> None:
    """The ledger that a release before wrote on a real broker."""
    file = tmp_path / "ledger.db"
    file.write_bytes(gzip.decompress(_LEDGER.read_bytes()))
    ledger = Ledger.open(f"sqlite:///{file}")
    found = {run.dag_id: decode(Plan, ledger.plan(run.run_key)).digest for run in ledger.runs()}
    assert found == {run.dag_id: run.plan_digest for run in ledger.runs()}
    assert found.keys() == {"library_bump", "undo"}


def test_other_stages_bind() -> None:
    """A stage more, another topic in it or another place makes another plan."""
    plan = decode(Plan, PLANS["library_bump"]["plan"])
    make = CreateTopics(3, (TopicShape("orders-control", 4, 1),))
    plans = [
        plan,
        *(
            Plan(**{**{name: getattr(plan, name) for name in Plan.__slots__}, "stages": (*plan.stages, one)})
            for one in (
                make,
                CreateTopics(4, make.topics),
                CreateTopics(3, (TopicShape("orders-control", 5, 1),)),
                CreateTopics(3, make.topics, side="green"),
                StartAll(3, "4.3.1", ()),
                StartAll(3, "4.3.1", (), must_clear=True),
                StartAll(3, "4.3.1", (), once=(("cleanup.on.start", "true"),)),
            )
        ),
    ]
    assert len({one.digest for one in plans}) == len(plans)
    for one in plans:
        assert decode(Plan, json.loads(json.dumps(encode(one)))) == one
