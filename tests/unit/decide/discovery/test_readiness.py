"""What is missing for a runbook, what is not known, and what it works without."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.decide.discovery.readiness import readiness, readiness_facts
from kstreams_runbooks.decide.runbooks import RUNBOOKS, Runbook
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.discovery.readiness import Condition, DeclaredNames, Readiness, ReadinessReading
from kstreams_runbooks.model.readings.acls import Acl, RightsAnswer
from kstreams_runbooks.model.readings.readings import ApplicationReading, GroupReading, Missing, Taken
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, DeclaredSuppression
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.rules import procedures
from world.pairs import PAIRS
from world.samples import declared, instance, member, reading

DAGS = Path(__file__).resolve().parents[4] / "dags"
UNNAMED = (PAIRS / "filter-before-unnamed-count" / "before.txt").read_text(encoding="utf-8")
STATELESS = """Topologies:
   Sub-topology: 0
    Source: in (topics: [clicks])
      --> out
    Sink: out (topic: counts)
      <-- in
"""


ALL = Abilities(instances=True, topology=True, clear=True, act=True, clear_directories=True)
NOTHING = DeclaredNames(frozenset(), frozenset())


def running(topology: str = STATELESS) -> ApplicationReading:
    """Two healthy instances with this topology."""
    return reading(*(instance(f"orders-{number}", topology=topology) for number in (1, 2)))


def found(of: ApplicationReading | None = None, **changes: Any) -> ReadinessReading:
    """An application that has everything; keyword arguments take away."""
    everything = ReadinessReading(
        reading=of or running(),
        declared=declared(),
        control=("clicks-raw",),
        settable=(),
        abilities=ALL,
        described={"3.4.1": NOTHING},
    )
    return replace(everything, **changes)


def answers(of: ReadinessReading) -> dict[str, Readiness]:
    return {one.runbook: one for one in readiness(readiness_facts(of), RUNBOOKS)}


def test_one_that_has_everything_is_ready_for_every_runbook() -> None:
    """What there is nothing to do for is told apart."""
    statuses = {runbook: one.status for runbook, one in answers(found()).items()}
    assert {name for name, status in statuses.items() if status == "not needed"} == {
        "store_migration",
        "suppress_removal",
    }
    assert {status for status in statuses.values() if status != "not needed"} == {"ready"}


def test_a_right_that_is_missing_makes_its_runbook_alone_not_ready() -> None:
    """Missing, and not known if nothing else is missing."""
    acl = Acl("User:a", "Read", "Topic", "in")
    given = (RightsAnswer("undo", (acl,)), RightsAnswer("library_bump", (), ((acl, "hidden"),)))
    ready = {one.runbook: one for one in readiness(readiness_facts(found()), RUNBOOKS, given)}
    assert (ready["undo"].status, ready["library_bump"].status) == ("missing", "not known")
    assert (ready["undo"].rights, ready["rolling_bounce"].rights) == (given[0], None)
    assert ready["rolling_bounce"].status == answers(found())["rolling_bounce"].status


def test_every_runbook_and_every_procedure_has_its_row() -> None:
    """A new one cannot be forgotten; every need is a fact that there is."""
    # The monitor is not a runbook.
    dags = {file.stem for file in DAGS.glob("*.py")} - {"fleet_check"}
    assert dags == {row.name for row in RUNBOOKS if row.is_dag}
    assert {one.runbook for one in procedures()} == {row.name for row in RUNBOOKS if not row.is_dag}
    facts = readiness_facts(found())
    for row in RUNBOOKS:
        assert {*row.needs, *row.wants, *filter(None, [row.only_where])} <= facts.keys(), row.name


@pytest.mark.parametrize(
    ("of", "runbook", "missing"),
    [
        (found(control=()), "control_topic_flush", "no control topic, and inputs not settable"),
        # What steers the application stops nothing in front of it.
        (
            found(control=(), declared=declared(rule_topics=("switch",))),
            "control_topic_flush",
            "no control topic, and inputs not settable",
        ),
        (found(abilities=replace(ALL, instances=False)), "library_bump", "no instances command"),
        (
            found(declared=declared(releases=("3.4.1",))),
            "library_bump",
            "no release declared but 3.4.1, which runs",
        ),
        (
            found(
                replace(running(), group=GroupReading(Taken(1, "t"), "orders", "consumer", "Stable", (member("a"),)))
            ),
            "rolling_bounce",
            "a consumer group (KIP-848), not a classic one",
        ),
        (found(abilities=replace(ALL, topology=False)), "plan_change", "no topology command"),
        (found(abilities=replace(ALL, clear=False)), "undo", "no clear_state command"),
        (found(declared=declared(processing_guarantee="unknown")), "library_bump", None),
        (found(declared=declared(approvers=("nobody",))), "rolling_bounce", "no approver declared"),
        (found(reading(auto_create=True)), "reset_and_cleanup", "auto.create.topics.enable is true on the brokers"),
        (
            found(replace(running(), instances=(replace(instance("orders-1"), streams=Missing("refused")),))),
            "certify_drain",
            "Jolokia does not answer for 1 of 1 instances (orders-1)",
        ),
        (
            found(replace(running(), group=GroupReading(Taken(1, "t"), "orders", "classic", "Empty", ()))),
            "rolling_bounce",
            "no member runs (group Empty)",
        ),
        (
            found(replace(running(), group=GroupReading(Taken(1, "t"), "orders", "streams", "Stable", (member("a"),)))),
            "library_bump",
            "a streams group (KIP-1071)",
        ),
    ],
)
def test_what_is_known_to_be_missing(of: ReadinessReading, runbook: str, missing: str | None) -> None:
    """In a few words, for the runbook that needs it; what nobody declared is not known."""
    answer = answers(of)[runbook]
    assert (answer.status, missing in answer.missing) == (("missing", True) if missing else ("not known", False)), (
        answer
    )
    assert bool(answer.unknown) is (answer.status == "not known") or runbook in {"certify_drain", "reset_and_cleanup"}


@pytest.mark.parametrize(
    ("of", "runbook", "unknown"),
    [
        (found(replace(running(), group=Missing("hidden"))), "library_bump", "group unknown: hidden"),
        (found(reading()), "certify_drain", "topology not known: topology description"),
        (found(reading(auto_create=Missing("not told"))), "reset_and_cleanup", "auto.create.topics.enable: not told"),
        (
            found(replace(running(), instances=(replace(instance("o"), deployment=Missing("no answer")),))),
            "rolling_bounce",
            "what o is deployed as cannot be seen: no answer",
        ),
    ],
)
def test_what_could_not_be_read_is_not_known(of: ReadinessReading, runbook: str, unknown: str) -> None:
    """Never missing, and never ready."""
    answer = answers(of)[runbook]
    assert answer.status in {"not known", "missing"}
    assert any(why.startswith(unknown) for why in answer.unknown), answer


@pytest.mark.parametrize(
    ("runs", "releases", "holds"),
    [
        (("3.4.1", "3.4.1"), ("3.4.1", "4.3.1"), True),
        (("3.4.1", "3.4.1"), ("3.4.1",), False),
        (("3.4.1", "4.3.1"), ("3.4.1", "4.3.1"), True),
        (("3.4.1", "4.3.1"), ("4.3.1",), True),
        ((), ("3.4.1", "4.3.1"), True),
        ((), ("3.4.1",), None),
    ],
)
def test_a_bump_needs_a_release_to_go_to(
    runs: tuple[str, ...], releases: tuple[str, ...], *, holds: bool | None
) -> None:
    """One that not all of it runs already; where nobody tells what runs, two of which one is another."""
    instances = tuple(instance(f"orders-{number}", release=release) for number, release in enumerate(runs))
    of = found(replace(running(), instances=instances), declared=declared(releases=releases))
    assert readiness_facts(of)["target_declared"].holds is holds


def test_what_a_runbook_works_without_is_said() -> None:
    """Static membership, names that last, a declaration of the release: ready, at a cost."""
    group = GroupReading(Taken(1, "t"), "orders", "classic", "Stable", (member("orders-1", static=False),))
    ready = answers(found(replace(running(UNNAMED), group=group), described={}))
    assert (ready["library_bump"].status, ready["library_bump"].better) == ("ready", ("static membership absent",))
    assert ready["plan_change"].better == (
        "nothing declared of 3.4.1 beside the fleet entry",
        "1 generated store name",
    )


def test_an_application_with_stores_may_grow_in_place_if_they_accept_it() -> None:
    """Only the declaration of a release accepts a loss, and that is read by the run."""
    answer = answers(found(running(UNNAMED)))["partition_increase"]
    assert (answer.status, answer.better) == ("ready", ("keeps state in 1 store: each has to accept its loss",))


def suppressing(name: str, store: str) -> str:
    """A topology with one operator that keeps one store."""
    node = f"    Processor: {name} (stores: [{store}])\n      --> out\n      <-- in\n"
    return (
        STATELESS.replace("--> out", f"--> {name}")
        .replace("    Sink", f"{node}    Sink")
        .replace("counts)\n      <-- in", f"counts)\n      <-- {name}")
    )


@pytest.mark.parametrize(
    ("topology", "names", "fact"),
    [
        (STATELESS, NOTHING, Condition(holds=False, why="has no suppression")),
        (suppressing("count", "counts"), NOTHING, Condition(holds=False, why="has no suppression")),
        (
            suppressing("KTABLE-SUPPRESS-0000000003", "KTABLE-SUPPRESS-STATE-STORE-0000000004"),
            NOTHING,
            Condition(holds=True),
        ),
        (
            suppressing("closed", "closed-store"),
            NOTHING,
            Condition(None, "whether closed is a suppression is not in the topology"),
        ),
        (
            suppressing("closed", "closed-store"),
            DeclaredNames(frozenset({"closed"}), frozenset()),
            Condition(holds=True),
        ),
        (
            suppressing("closed", "closed-store"),
            DeclaredNames(frozenset(), frozenset({"closed-store"})),
            Condition(holds=False, why="has no suppression"),
        ),
    ],
)
def test_a_suppression_may_hide_behind_its_name(topology: str, names: DeclaredNames, fact: Condition) -> None:
    """A generated name shows it; a chosen one with a store of its name may be one, until it is declared."""
    of = found(running(topology), described={"3.4.1": names})
    assert readiness_facts(of)["suppression"] == fact
    read = Declaration(
        stores={name: DeclaredStore() for name in names.stores},
        suppressions={name: DeclaredSuppression("until_window_closes") for name in names.suppressions},
    )
    shown = found(running(topology), described={}, facts={"orders-1": FactsReading(Taken(1, "t"), "c", read)})
    assert readiness_facts(shown)["suppression"] == fact


def test_a_rule_that_asks_for_what_is_no_fact_fails() -> None:
    """Never taken for something that holds."""
    with pytest.raises(KeyError):
        readiness({}, (Runbook("library_bump", ("typo",)),))


@pytest.mark.parametrize("runbook", ["stop_and_restart", "undo"])
def test_directories_that_cannot_be_deleted_alone_are_a_cost(runbook: str) -> None:
    """A script that deletes all local state or none still restarts and undoes, with another choice of local state."""
    answer = answers(found(abilities=replace(ALL, clear_directories=False)))[runbook]
    assert answer.status == "ready"
    assert answer.better == ("task directories not clearable: clear_state without {directories}",)
    assert answers(found())[runbook].better == ()
    without = answers(found(abilities=replace(ALL, clear=False, clear_directories=False)))["stop_and_restart"]
    assert without.better == ("task directories not clearable: no clear_state command",)
