"""Whether `plan` lets a store begin empty only if the form names it, and shows it from then on.

What the cluster has of a log is read live (tests/long/test_only_copy.py).
"""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Declaration, Described
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.steps.plan import only_copy
from kstreams_runbooks.steps.plan.only_copy import with_losses
from kstreams_runbooks.steps.run.form import given_lost
from kstreams_runbooks.steps.run.run import Run
from world.samples import declared, reading
from world.sides import BEFORE


@pytest.fixture
def clears() -> Plan:
    """A stop and restart that deletes all local state."""
    made = restart_plan(reading(), declared(), None, {}, (), (), "code", at_once=True)
    return replace(made, stages=(replace(made.bounces[0], clear_state=True),))


def asked(run: Run, *, keeps_state: bool | None = True, **params: Any) -> Run:
    """The run with these fields of its form, and a deployer whose instances find their state of before, or may not."""
    made = replace(run, record=replace(run.record, params=params))
    able = Abilities(True, True, clear=True, act=True, clear_directories=True, keeps_state=keeps_state)
    deployer = SimpleNamespace(abilities=able)
    vars(made).update(declared=declared(), kafka={"bootstrap.servers": "127.0.0.1:1"}, deployer=deployer)
    return made


def runs(monkeypatch: pytest.MonkeyPatch, version: Described | Missing) -> None:
    """What the instances run, and a cluster without a log of it."""
    monkeypatch.setattr(only_copy, "running_or_missing", lambda *_: (version,))
    monkeypatch.setattr(only_copy, "logs_of", lambda *_: {})


def unlogged() -> Described:
    store = replace(BEFORE.declaration.stores["counts"], logging=False)
    return replace(BEFORE, declared=replace(BEFORE.declaration, stores={"counts": store}))


def test_the_only_copy_is_kept_unless_the_form_names_its_store(
    run: Run, clears: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan binds the store: approval, undo cards and outcome read it there, and its digest is another one."""
    runs(monkeypatch, unlogged())
    with pytest.raises(Refused, match=r"store counts: it has no changelog.*--param lose_state=counts"):
        with_losses(asked(run), clears, reading())
    made = with_losses(asked(run, lose_state="counts"), clears, reading())
    assert made.emptied == ("counts",)
    assert [(one.id, one.severity) for one in made.findings[-1:]] == [("state-given-up", "danger")]
    assert made.digest != clears.digest
    with pytest.raises(BadInput, match="lose_state: store totals keeps its content"):
        with_losses(asked(run, lose_state=["counts", "totals"]), clears, reading())


def test_a_name_is_judged_also_if_the_run_touches_no_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that means nothing is not passed over."""
    runs(monkeypatch, unlogged())
    rolls = restart_plan(reading(), declared(), None, {}, (), (), "code", at_once=False, restart=True)
    rolls = replace(rolls, costs=tuple(replace(cost, session_ms=900_000) for cost in rolls.costs))
    assert with_losses(asked(run), rolls, reading()) == rolls
    with pytest.raises(BadInput, match="store counts keeps its content in this run"):
        with_losses(asked(run, lose_state="counts"), rolls, reading())


def test_a_deployer_whose_instances_lose_their_state_is_asked_first(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A roll that deletes nothing is refused too: the container of before is gone with its files."""
    runs(monkeypatch, unlogged())
    rolls = restart_plan(reading(), declared(), None, {}, (), (), "code", at_once=False, restart=True)
    with pytest.raises(Refused, match=r"deployer\.keeps_state: false.*--param lose_state=counts"):
        with_losses(asked(run, keeps_state=False), rolls, reading())
    with pytest.raises(Inconclusive, match=r"declare deployer\.keeps_state"):
        with_losses(asked(run, keeps_state=None), rolls, reading())
    assert with_losses(asked(run, keeps_state=False, lose_state="counts"), rolls, reading()).emptied == ("counts",)


def test_a_version_that_nothing_describes_stops_the_run(
    run: Run, clears: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which stores only disks have is not known."""
    runs(monkeypatch, Missing("no topology command"))
    with pytest.raises(Inconclusive, match="is not known: no topology command"):
        with_losses(asked(run), clears, reading())


@pytest.mark.parametrize(
    ("given", "names"),
    [(None, ()), ("", ()), ("a, b,a", ("a", "b")), (["a", " b "], ("a", "b")), ([], ())],
)
def test_the_stores_of_the_form(given: Any, names: tuple[str, ...]) -> None:
    """Names, each once."""
    assert given_lost({"lose_state": given}) == names


@pytest.mark.parametrize("given", [1, {"a": 1}, [1], True])
def test_anything_but_names_is_bad_input(given: Any) -> None:
    """With what was given."""
    with pytest.raises(BadInput, match=r"lose_state: .* is not a list of stores"):
        given_lost({"lose_state": given})


def test_a_reset_that_clears_state_judges_its_own_names(run: Run, clears: Plan) -> None:
    """Its blast radius has refused a wrong one already; nothing is read again."""
    own = replace(clears, runbook="reset_and_cleanup", change=(("mode", "state"),))
    assert with_losses(asked(run, lose_state="counts"), own, reading()) == own


def test_a_reset_does_not_clear_state_where_it_is_not(run: Run, clears: Plan) -> None:
    """It would go on from what it should forget."""
    own = replace(clears, runbook="reset_and_cleanup", change=(("mode", "state"),))
    judged = asked(run)
    able = replace(judged.deployer.abilities, state_dirs=(("orders-1", "/data/state"),))
    shown = FactsReading(Taken(1, "test"), "client", Declaration(config={"application.id": "orders"}))
    vars(judged).update(deployer=SimpleNamespace(abilities=able), running_facts=lambda _: {"orders-1": shown})
    with pytest.raises(Inconclusive, match="reset_and_cleanup clears local state where it is not: orders-1 keeps"):
        with_losses(judged, own, reading())
    vars(judged)["running_facts"] = lambda _: {}
    assert with_losses(judged, own, reading()) == own


def test_a_reset_of_offsets_alone_keeps_state_and_is_judged_as_any_restart(
    run: Run, clears: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container that is created again loses it there too."""
    runs(monkeypatch, unlogged())
    kept = replace(clears.bounces[0], clear_state=False)
    own = replace(clears, runbook="reset_and_cleanup", change=(("mode", "offsets"),), stages=(kept,))
    with pytest.raises(Refused, match=r"deployer\.keeps_state: false"):
        with_losses(asked(run, keeps_state=False), own, reading())
