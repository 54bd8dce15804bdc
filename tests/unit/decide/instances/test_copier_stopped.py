"""Whether a copier has stopped cleanly, and whether it stays stopped."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.instances.copier_stopped import still_stopped, stopped_cleanly
from kstreams_runbooks.decide.registry import DECISIONS
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.copying import AS_DEPLOYED
from kstreams_runbooks.model.readings.copying import CopierReading, TopicEnd
from kstreams_runbooks.model.readings.drain import OpenTransaction
from kstreams_runbooks.model.readings.readings import Deployment, GroupReading, MemberReading, Missing, Taken
from kstreams_runbooks.model.verdicts import Outcome

_TAKEN = Taken(1_000, "test")
_DOWN = Deployment(
    _TAKEN, "p-1", "stopped", None, None, AS_DEPLOYED, (), applied=Missing("not running"), ended_cleanly=True
)
_EMPTY = GroupReading(_TAKEN, "passing", "classic", "Empty", ())
_MEMBER = MemberReading("m", "p-9", "/10.0.0.9")
STOPPED = CopierReading(
    taken=_TAKEN,
    copier="passing",
    cluster="demo",
    group_id="passing",
    delivery="exactly_once",
    topics=("orders",),
    deployments=(_DOWN,),
    group=_EMPTY,
    open=(),
    ends=(TopicEnd("orders", 0, 10), TopicEnd("orders", 1, 20)),
)
_OPEN = OpenTransaction("orders-1", "p-1", 7, 100, 60_000, 19)


def reading(**changes: Any) -> CopierReading:
    """The stopped copier with other readings."""
    return replace(STOPPED, **changes)


def test_no_process_no_member_no_transaction_and_ends_that_stand_still_are_a_clean_stop() -> None:
    """Nothing is found; evidence can decide it again."""
    verdict = stopped_cleanly(STOPPED, STOPPED)
    assert (verdict.outcome, verdict.findings) == (Outcome.PROCEED, ())
    assert "group passing EMPTY, no open transaction on orders" in verdict.sentence
    kept = encode_call(stopped_cleanly, {"earlier": STOPPED, "now": STOPPED}, verdict)
    assert call_again(DECISIONS["stopped_cleanly"], kept) == encode(verdict)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"deployments": (replace(_DOWN, process="running"),)}, "p-1: its process is running (expected stopped)"),
        (
            {"group": replace(_EMPTY, state="Stable", members=(_MEMBER,))},
            "group passing: Stable, 1 members (limit 0): p-9",
        ),
        ({"open": (_OPEN,)}, "orders-1: a transaction of p-1 is open"),
        (
            {"ends": (TopicEnd("orders", 0, 10), TopicEnd("orders", 1, 21))},
            "orders-1 ends at 21 (before: 20): something still writes to the control topics of copier passing",
        ),
    ],
)
def test_what_passes_by_itself_is_waited_for(changes: dict[str, Any], reason: str) -> None:
    """One reason, with what was observed."""
    verdict = stopped_cleanly(STOPPED, reading(**changes))
    assert verdict.outcome is Outcome.WAIT
    assert verdict.reasons == (reason,)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"deployments": Missing("no answer")}, "processes of copier passing: no answer"),
        ({"deployments": (replace(_DOWN, process="unknown"),)}, "p-1: its deployer does not know whether"),
        ({"group": Missing("hidden")}, "group passing of copier passing: hidden"),
        ({"open": Missing("denied")}, "transactions on the control topics of passing: denied"),
        ({"ends": Missing("hidden")}, "control topics of passing: hidden"),
        ({"ends": (TopicEnd("orders", 0, Missing("no leader")),)}, "orders-0: its end cannot be read: no leader"),
        ({"ends": ()}, "control topic orders of copier passing: not read; does it exist?"),
    ],
)
def test_a_missing_reading_is_never_a_stop(changes: dict[str, Any], reason: str) -> None:
    """Neither at the stop nor later."""
    for verdict in (stopped_cleanly(STOPPED, reading(**changes)), still_stopped(STOPPED, reading(**changes))):
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert verdict.reasons[0].startswith(reason)


@pytest.mark.parametrize(
    ("ended", "why"), [(False, "it was killed"), (Missing("not reported"), "not reported"), (True, "")]
)
def test_a_killed_copier_that_is_at_least_once_may_repeat(ended: bool | Missing, why: str) -> None:
    """A finding and no refusal; one that is exactly-once repeats nothing."""
    deployments = (replace(_DOWN, ended_cleanly=ended),)
    found = stopped_cleanly(STOPPED, reading(delivery="at_least_once", deployments=deployments))
    assert found.outcome is Outcome.PROCEED
    assert [one.id for one in found.findings] == (["copier-may-repeat"] if why else [])
    assert all(why in one.message for one in found.findings)
    assert stopped_cleanly(STOPPED, reading(deployments=deployments)).findings == ()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"group": replace(_EMPTY, state="Stable", members=(_MEMBER,))},
            "group passing: member p-9 on /10.0.0.9: copier passing was started again while it has to stay stopped; "
            "stop it there",
        ),
        (
            {"deployments": (replace(_DOWN, process="running"),), "open": Missing("denied")},
            "p-1: its process is running (expected stopped): it was started again while it has to stay stopped; stop "
            "it",
        ),
        (
            {"open": (_OPEN,)},
            "orders-1: a transaction of p-1 is open (expected none while copier passing is stopped)",
        ),
        (
            {"ends": (TopicEnd("orders", 0, 12), TopicEnd("orders", 1, 20), TopicEnd("orders", 2, 0))},
            "orders-0 ends at 12 (before: 10), orders-2 is a partition more than before: another producer wrote to the "
            "control topics of copier passing after it had stopped; find and stop it, then clear pause_inputs and what "
            "follows it",
        ),
    ],
)
def test_whoever_starts_it_again_is_named(changes: dict[str, Any], reason: str) -> None:
    """Also if another reading failed."""
    verdict = still_stopped(STOPPED, reading(**changes))
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons == (reason,)


def test_a_copier_that_stays_stopped_may_be_relied_on() -> None:
    """Its ends are where they were."""
    assert still_stopped(STOPPED, STOPPED).outcome is Outcome.PROCEED


@pytest.mark.parametrize(
    ("grown", "end", "outcome"),
    [(("orders",), 0, Outcome.PROCEED), (("orders",), 1, Outcome.REFUSE), (("customers",), 0, Outcome.REFUSE)],
)
def test_new_partitions_of_topics_that_the_run_has_grown_are_empty(
    grown: tuple[str, ...], end: int, outcome: Outcome
) -> None:
    """A record in one of them was written by another producer."""
    now = reading(ends=(TopicEnd("orders", 0, 10), TopicEnd("orders", 1, 20), TopicEnd("orders", 2, end)))
    assert still_stopped(STOPPED, now, grown).outcome is outcome
