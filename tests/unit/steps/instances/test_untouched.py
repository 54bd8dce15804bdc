"""What a failed step really changed: an instance that is as before is not among what a run has changed."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.model.readings.readings import Deployment
from kstreams_runbooks.steps.conclude import facts_of
from kstreams_runbooks.steps.instances import untouched
from kstreams_runbooks.steps.instances.untouched import keep_untouched
from kstreams_runbooks.steps.plan.cards import cards_that_count, had_before
from kstreams_runbooks.steps.run.run import Run
from world.samples import OLD, card, instance

BEFORE = instance("orders-1")


@pytest.fixture
def now(run: Run, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the deployer shows after the failure: a deployment, or an error; the run has announced a change of it."""
    found: list[Any] = []

    def instances() -> tuple[Deployment, ...]:
        if isinstance(found[0], Exception):
            raise found[0]
        return tuple(found)

    monkeypatch.setattr(untouched, "make_deployer", lambda *_, **__: SimpleNamespace(instances=instances))
    vars(run)["application"] = SimpleNamespace()
    run.ledger.write_card(card(run_key=run.key))
    return found


def test_an_instance_that_is_as_before_was_not_changed(run: Run, now: list[Any]) -> None:
    """The same process with the same settings: its stop was refused; the card stays, and does not count."""
    now.append(BEFORE.deployment)
    keep_untouched(run, [BEFORE])
    assert cards_that_count(run) == []
    assert facts_of(run).wrote == ()
    assert len(run.ledger.cards(run.key)) == 1
    run.ledger.write_card(replace(card(run_key=run.key), seq=2))
    assert [one.seq for one in cards_that_count(run)] == [2]


def test_whatever_differs_or_is_not_read_counts_as_changed(run: Run, now: list[Any]) -> None:
    """Another process, other settings, down, and a deployer that does not answer."""
    assert isinstance(BEFORE.deployment, Deployment)
    for found in (
        replace(BEFORE.deployment, pid=999_999),
        replace(BEFORE.deployment, settings=(("upgrade.from", "2.8"),)),
        replace(BEFORE.deployment, process="stopped", pid=None),
        Unreachable("supervisord does not answer"),
    ):
        now[:] = [found]
        keep_untouched(run, [BEFORE])
        assert len(facts_of(run).wrote) == 1


def test_what_it_had_is_that_of_its_card(run: Run) -> None:
    """Written before the first write; without a card it is not known."""
    assert had_before(run, "orders-1") is None
    before = {"instance": "orders-1", "release": OLD, "settings": [["upgrade.from", "2.8"]], "version": OLD}
    run.ledger.write_card(card(run_key=run.key, facts={"before": before}))
    had = had_before(run, "orders-1")
    assert had is not None
    assert had.text == f"release={OLD}, upgrade.from=2.8"
