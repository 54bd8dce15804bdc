"""What a release changes, before it is rolled."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.change.preflight import may_be_rolled
from kstreams_runbooks.decide.change.unchanged import with_unchanged
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import Contradiction, Described, Serde, Unchanged
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.rules import release_settings, topology_change_rules, upgrade_path_rules
from world.samples import NEW, OLD
from world.sides import AFTER, AUDITED, BEFORE, COUNTS, OTHER, RENAMED, declaration, described, known

FILTER = """    Processor: filter (stores: [])
      --> out
      <-- count
"""


def verdict(after: Described | Missing, *before: Described, at_once: bool = False) -> Verdict:
    return may_be_rolled(
        before or (BEFORE,), after, known(), topology_change_rules(), upgrade_path_rules(), at_once=at_once
    )


def test_the_same_topology_rolls_whatever_the_library() -> None:
    """What lies between two libraries has a planner of its own."""
    found = verdict(AFTER)
    assert (found.outcome, found.findings) == (Outcome.PROCEED, ())
    assert verdict(described(), described(COUNTS, NEW)).outcome is Outcome.PROCEED


@pytest.mark.parametrize("at_once", [True, False])
def test_a_release_whose_settings_the_library_refuses_is_not_planned(at_once: bool) -> None:
    """It cannot start, one after another or all at once; the library of the new release judges."""
    after = described(COUNTS, NEW, declaration(config={"built.in.metrics.version": "0.10.0-2.4"}))
    found = may_be_rolled(
        (BEFORE,),
        after,
        known(),
        topology_change_rules(),
        upgrade_path_rules(),
        at_once=at_once,
        catalogue=release_settings(),
    )
    assert found.outcome is Outcome.REFUSE
    assert "cannot start: 4.3.1 refuses built.in.metrics.version=0.10.0-2.4 (expected: latest)" in found.sentence
    assert [one.id for one in found.findings] == ["setting-refused"]
    assert verdict(after, at_once=at_once).outcome is Outcome.PROCEED


def test_with_nothing_declared_the_same_description_is_enough() -> None:
    """It is said that nothing else was compared."""
    (finding,) = verdict(described(COUNTS, NEW), described()).findings
    assert (finding.id, finding.severity) == ("nothing-declared", "info")
    assert "only the description was compared" in finding.message


def only_read(release: str, **store: Any) -> Described:
    """A version without a declaration, of whose program everything but the meaning of its keys was read."""
    read = declaration()
    known_store = replace(read.stores["counts"], key=None, **store)
    return replace(described(COUNTS, release, replace(read, stores={"counts": known_store})), read=True)


def test_facts_that_were_read_do_not_ask_for_a_declaration() -> None:
    """An equal description goes on without declarations if no fact differs, and the plan tells it."""
    (finding,) = verdict(only_read(NEW), only_read(OLD)).findings
    assert finding.id == "nothing-declared"
    assert "only what was read from both programs and the description were compared" in finding.message
    for one_side in (verdict(only_read(NEW), described()), verdict(described(COUNTS, NEW), only_read(OLD))):
        assert "only the description was compared" in one_side.findings[0].message
    assert verdict(only_read(NEW), replace(only_read(OLD), file=declaration())).outcome is Outcome.INCONCLUSIVE


def test_a_change_that_no_description_shows_is_refused_by_what_was_read() -> None:
    """Without a declaration: the format of a store."""
    found = verdict(only_read(NEW, value_serde=Serde("string")), only_read(OLD))
    assert found.outcome is Outcome.REFUSE
    assert "serde-changed (counts)" in found.sentence


def test_a_declaration_that_the_program_contradicts_is_shown_to_the_approver() -> None:
    """It stops nothing: the plan uses what was read."""
    wrong = Contradiction("stores.counts.logging", "false", "true")
    found = verdict(described(COUNTS, NEW, replace(declaration(), contradictions=(wrong,))))
    assert found.outcome is Outcome.PROCEED
    (finding,) = found.findings
    assert (finding.id, finding.severity) == ("declaration-contradicted", "info")
    assert "stores.counts.logging: the new version declares false, and its program has true" in finding.message


@pytest.mark.parametrize("before", [BEFORE, described()])
def test_another_set_of_topics_is_not_rolled(before: Described) -> None:
    """Declared or not: the rule and the runbook are named."""
    declares = declaration("counts", "audit-repartition") if before.declared else None
    found = verdict(described(AUDITED, declares=declares), before)
    assert found.outcome is Outcome.REFUSE
    assert "repartition-added (audit-repartition)" in found.sentence
    assert "use stop_and_restart in place of this" in found.sentence


def test_a_bump_that_changes_the_topology_too_is_two_changes() -> None:
    """The other runbook takes no other library: the sentence says which change comes first."""
    found = verdict(described(AUDITED, NEW, declaration("counts", "audit-repartition")))
    assert "use stop_and_restart in place of this; it takes no other library, so bring this change on 3.4.1 first" in (
        found.sentence
    )


def test_a_store_of_another_name_is_not_rolled() -> None:
    """What asks for a runbook that is not a DAG yet is refused like any other."""
    found = verdict(described(RENAMED, declares=declaration("totals")))
    assert found.outcome is Outcome.REFUSE
    assert "store-renamed (totals)" in found.sentence
    assert "use store_migration in place of this" in found.sentence


def test_another_topology_that_nobody_declares_is_inconclusive() -> None:
    """An operator more is harmless, as far as anybody can see."""
    more = COUNTS.replace("--> out\n", "--> peek\n").replace("<-- count\n", "<-- peek\n")
    more = more.replace(
        "    Sink: out", "    Processor: peek (stores: [])\n      --> out\n      <-- count\n    Sink: out"
    )
    found = verdict(described(more, NEW), described())
    assert found.outcome is Outcome.INCONCLUSIVE
    assert (
        "whether release 4.3.1 may be rolled next to release 3.4.1 cannot be said: declare kind, window"
        in found.sentence
    )
    assert verdict(described(more, NEW, declaration())).outcome is Outcome.PROCEED


def test_a_declaration_of_one_release_alone_is_inconclusive() -> None:
    """What it says cannot be compared with anything."""
    assert verdict(AFTER, described()).outcome is Outcome.INCONCLUSIVE


def test_every_version_that_runs_is_compared() -> None:
    """In the middle of a change there are two."""
    half = described(RENAMED, NEW, declaration("totals"))
    assert verdict(AFTER, BEFORE, half).outcome is Outcome.REFUSE


def test_all_at_once_may_change_the_topology() -> None:
    """No two versions run together; what has to be done first is for a person, and is shown."""
    after = described(COUNTS, OLD, declaration())
    found = verdict(after, described(AUDITED, OLD, declaration("counts", "audit-repartition")), at_once=True)
    assert found.outcome is Outcome.PROCEED
    dropped = next(one for one in found.findings if one.id == "repartition-removed")
    assert (dropped.severity, dropped.object) == ("danger", "audit-repartition")
    assert "have the inputs paused and read to their end before you approve" in dropped.message
    undeclared = verdict(described(AUDITED), described(), at_once=True)
    assert {one.id for one in undeclared.findings} >= {"repartition-added", "change-not-declared"}


@pytest.mark.parametrize("at_once", [True, False])
def test_two_applications_are_never_one_change(*, at_once: bool) -> None:
    """Whatever way they would be deployed."""
    found = verdict(described(OTHER), described(), at_once=at_once)
    assert found.outcome is Outcome.REFUSE
    assert "whether two applications were mixed up" in found.sentence


def test_what_cannot_be_described_is_shown_to_who_approves() -> None:
    """A deployer need not have a topology command."""
    (finding,) = verdict(Missing("no topology command is declared")).findings
    assert (finding.id, finding.severity) == ("topology-not-compared", "warning")
    assert "no topology command is declared" in finding.message


def in_form(one: Described, *fields: Unchanged) -> Described:
    return replace(one, declared=with_unchanged(one.declaration, fields, "in the form by ada"))


def test_what_the_form_names_lets_a_release_roll_and_the_approver_reads_it() -> None:
    """Another operator, a format that is a class: inconclusive with the fields to name, and decided with them."""
    of_class = Serde("com.acme.Orders", is_class=True)
    text = COUNTS.replace("--> out", "--> filter").replace("      <-- count\n", "      <-- filter\n") + FILTER
    before, after = (only_read(release, value_serde=of_class) for release in (OLD, NEW))
    after = replace(after, text=text)
    found = verdict(after, before)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.sentence.endswith(
        "; trigger a new run of this runbook with --param unchanged=key,value_serde if the code of these did not change"
    )
    found = verdict(in_form(after, "key", "value_serde"), before)
    assert found.outcome is Outcome.PROCEED
    assert ("named-unchanged", "declared in the form by ada: key, value_serde unchanged") in {
        (one.id, one.message) for one in found.findings
    }


def test_a_name_in_the_form_is_no_declaration() -> None:
    """Of two releases without any, only the description is compared, as without the form."""
    (finding,) = verdict(in_form(described(COUNTS, NEW), "key"), described()).findings
    assert (finding.id, "only the description was compared" in finding.message) == ("nothing-declared", True)
