"""What a release changes, before it is rolled."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.change.described import Known
from kstreams_runbooks.decide.change.preflight import may_be_rolled
from kstreams_runbooks.decide.change.unchanged import with_unchanged
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import Contradiction, Described, Serde, Unchanged
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.rules import release_settings, topology_change_rules, upgrade_path_rules
from world.pairs import PAIRS, compared
from world.samples import NEW, OLD, declared
from world.sides import AFTER, AUDITED, BEFORE, COUNTS, OTHER, RENAMED, declaration, described, known

FILTER = """    Processor: filter (stores: [])
      --> out
      <-- count
"""


def verdict(after: Described | Missing, *before: Described, at_once: bool = False, **more: Any) -> Verdict:
    return may_be_rolled(
        before or (BEFORE,), after, known(), topology_change_rules(), upgrade_path_rules(), at_once=at_once, **more
    )


def test_the_same_topology_rolls_whatever_the_library() -> None:
    """What lies between two libraries has a planner of its own."""
    found = verdict(AFTER)
    assert (found.outcome, found.findings) == (Outcome.PROCEED, ())
    declared = described(COUNTS, NEW, declaration())
    assert verdict(described(declares=declaration()), declared).outcome is Outcome.PROCEED


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


@pytest.mark.parametrize(
    ("running", "wanted", "name", "heeded"),
    [
        ("3.9.1", "4.0.0", "processing.exception.handler", True),
        ("3.8.1", "3.9.1", "processing.exception.handler", False),
        ("3.4.1", "3.9.1", "deserialization.exception.handler", True),
        ("3.4.1", "4.3.1", "processing.exception.handler", False),
    ],
)
def test_a_setting_that_only_the_new_release_heeds_is_a_finding_of_a_bump(
    running: str, wanted: str, name: str, *, heeded: bool
) -> None:
    """It stands in the settings of both, and begins to count; one that both heed, or neither, is none."""
    settings = {"application.id": "orders", name: "com.acme.Skips"}
    before = replace(described(COUNTS, OLD, declaration(config=settings)), library=running)
    after = replace(described(COUNTS, NEW, declaration(config=settings)), library=wanted)
    judged = may_be_rolled(
        (before,),
        after,
        known(),
        topology_change_rules(),
        upgrade_path_rules(),
        at_once=False,
        catalogue=release_settings(),
    )
    told = [one for one in judged.findings if one.object == name]
    assert [one.severity for one in told] == ([] if heeded else ["warning"])


@pytest.mark.parametrize("at_once", [True, False])
def test_with_nothing_declared_the_same_description_is_not_enough(*, at_once: bool) -> None:
    """It has no window, format or key: what is not known is named, and what a person may do."""
    found = verdict(described(COUNTS, NEW), described(), at_once=at_once, accepted="")
    assert (found.outcome, found.findings) == (Outcome.INCONCLUSIVE, ())
    assert found.text == (
        "nothing but the description is known of release 3.4.1 and release 4.3.1: the descriptions are the same, and "
        "have no windows, formats, keys or aggregates; let the topology command and the instances show topology facts "
        "(docs/facts.md), or declare both releases (or accept that, with a reason in without_topology)"
    )


def test_an_equal_topology_in_another_text_is_the_same() -> None:
    """An instance and its topology command print the subtopologies with other spaces."""
    spaced = replace(described(COUNTS, NEW), text=COUNTS.replace("\n", "  \n"))
    assert verdict(spaced, described()).text.startswith("nothing but the description is known of release 3.4.1 and")


def test_a_person_may_accept_what_no_description_shows() -> None:
    """The approver reads the danger with the reason; a change that was seen is never accepted unseen."""
    found = verdict(described(COUNTS, NEW), described(), accepted="same jar, rebuilt for a CVE")
    assert found.outcome is Outcome.PROCEED
    [danger] = found.findings
    assert (danger.id, danger.severity) == ("topology-not-compared", "danger")
    assert danger.message.startswith("NOT COMPARED: nothing but the description is known of release 3.4.1 and")
    assert danger.message.endswith("accepted with the reason: same jar, rebuilt for a CVE")
    audited = verdict(described(AUDITED, NEW), described(), accepted="same jar")
    assert audited.outcome is Outcome.REFUSE
    filtered = COUNTS.replace("--> out\n", "--> filter\n").replace("      <-- count\n", "      <-- filter\n") + FILTER
    assert verdict(described(filtered, NEW), described(), accepted="same jar").outcome is Outcome.INCONCLUSIVE


def only_read(release: str, **store: Any) -> Described:
    """A version without a declaration, of whose program everything but the meaning of its keys was read."""
    read = declaration()
    known_store = replace(read.stores["counts"], key=None, **store)
    return replace(described(COUNTS, release, replace(read, stores={"counts": known_store})), read=True)


def test_facts_that_were_read_leave_what_code_does_not_show() -> None:
    """The meaning of a key: named in the form, it decides; read on one side alone, nothing is compared."""
    found = verdict(only_read(NEW), only_read(OLD))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.text.endswith("with --param unchanged=key if the code of these did not change")
    assert verdict(in_form(only_read(NEW), "key"), only_read(OLD)).outcome is Outcome.PROCEED
    for one_side in (verdict(only_read(NEW), described()), verdict(described(COUNTS, OLD), only_read(NEW))):
        assert one_side.outcome is Outcome.INCONCLUSIVE
        assert one_side.text.startswith("nothing but the description is known of release 3.4.1: ")
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
    assert undeclared.outcome is Outcome.INCONCLUSIVE
    assert "whether release 3.4.1 may take over from release 3.4.1 cannot be said" in undeclared.text


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    "changed",
    [
        {"application.id": "orders-2"},
        {"application.id": "orders", "__internal.override.topic.prefix__": "other"},
    ],
)
def test_a_release_that_is_another_application_is_refused(changed: dict[str, str], *, at_once: bool) -> None:
    """No step would look at its group; near: the same id, given by one of the two alone."""
    before = described(COUNTS, OLD, declaration(config={"application.id": "orders"}))
    after = described(COUNTS, NEW, declaration(config=changed))
    refused = verdict(after, before, at_once=at_once)
    assert refused.outcome is Outcome.REFUSE
    assert refused.text.startswith("release 4.3.1 is another application than orders")
    assert verdict(described(COUNTS, NEW, declaration(config={})), before, at_once=at_once).outcome is Outcome.PROCEED


@pytest.mark.parametrize("at_once", [True, False])
def test_what_the_only_copy_costs_is_accepted_by_name_or_kept(*, at_once: bool) -> None:
    """A reset would delete it, so no sentence leads there; what else a roll may not do is told first."""
    unlogged = replace(declaration().stores["counts"], logging=False, in_memory=False)
    before = described(COUNTS, OLD, declaration(stores={"counts": unlogged}))
    renamed = described(COUNTS.replace("[counts]", "[totals]"), NEW, declaration(stores={"totals": unlogged}))
    refused = verdict(renamed, before, at_once=at_once)
    assert refused.outcome is Outcome.REFUSE
    assert "store totals is on local disks alone, and it begins empty (it was called counts" in refused.text
    assert refused.text.endswith("to accept that, trigger this again with --param lose_state=totals")
    lost = replace(unlogged, loss_acceptable=True)
    accepted = described(COUNTS.replace("[counts]", "[totals]"), NEW, declaration(stores={"totals": lost}))
    assert verdict(accepted, before, at_once=at_once).outcome is Outcome.PROCEED
    audited = described(
        AUDITED.replace("[counts]", "[totals]"),
        NEW,
        declaration("totals", "audit-repartition", stores={"totals": unlogged}),
    )
    other = verdict(audited, before, at_once=at_once)
    assert ("stop_and_restart" in other.text) is not at_once


def test_dangers_are_left_to_the_approver_by_name() -> None:
    """A verdict that lets a run go on never sounds like nothing was found."""
    after = described(COUNTS, NEW, declaration())
    found = verdict(after, described(AUDITED, OLD, declaration("counts", "audit-repartition")), at_once=True)
    assert found.text.endswith("repartition-removed, static-assignment-stale: for the approver to accept")
    assert "nothing speaks against it" in verdict(after, BEFORE, at_once=True).text


def test_what_only_a_roll_does_is_not_shown_to_the_approver_of_a_stop() -> None:
    """A second count needs a changelog that old members do not know: no two versions run next to each other."""
    second = COUNTS.replace("--> count\n", "--> count, second\n").replace(
        "    Processor: count (",
        "    Processor: second (stores: [seconds])\n      --> none\n      <-- by-customer-source\n"
        "    Processor: count (",
    )
    counts = declaration().stores["counts"]
    after = described(second, NEW, declaration(stores={"counts": counts, "seconds": counts}))
    rolled, stopped = verdict(after), verdict(after, at_once=True)
    assert (rolled.outcome, stopped.outcome) == (Outcome.REFUSE, Outcome.PROCEED)
    assert "mixed-topology-roll" in {one.id for one in rolled.findings}
    assert "mixed-topology-roll" not in {one.id for one in stopped.findings}


def test_members_that_rebalance_otherwise_are_mixed_by_a_roll_alone() -> None:
    """The new release starts, and the old one has to lose its setting first; a stop of all mixes nothing."""
    eager = described(COUNTS, "2.8.2", declaration(library=Release("2.8.2"), config={"upgrade.from": "2.3"}))
    after = described(COUNTS, "3.4.1", declaration(library=Release("3.4.1"), config={}))
    sides = (replace(after, library="3.4.1"), replace(eager, library="2.8.2"))
    rolled, stopped = (verdict(*sides, at_once=at_once, catalogue=release_settings()) for at_once in (False, True))
    assert rolled.outcome is Outcome.REFUSE
    assert "changes more than a roll may: upgrade-from-still-eager" in rolled.text
    assert "cannot start" not in rolled.text
    assert stopped.outcome is Outcome.PROCEED
    assert "upgrade-from-still-eager" not in {one.id for one in stopped.findings}


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("config", "library", "refused"),
    [
        ({}, "4.3.1", True),
        ({"default.key.serde": "x.S"}, "4.3.1", False),
        # From 3.0 to 3.7 a sink that takes one serde from the settings dies without the other.
        ({"default.key.serde": "x.S"}, "3.4.1", True),
        ({"default.key.serde": "x.S", "default.value.serde": "x.S"}, "3.4.1", False),
        ({}, "2.8.2", False),
    ],
)
def test_a_sink_without_a_serde_is_refused_by_every_run(
    config: dict[str, str], library: str, *, refused: bool, at_once: bool
) -> None:
    """The program leaves it to the settings, which do not give it: its first task dies."""
    of_settings = {"operators.out.key_serde": frozenset({"default.key.serde"})}

    def shown(**more: Any) -> Described:
        base = declaration(library=Release(library), config=config, not_read={"topics.orders.partitions": "x"}, **more)
        return replace(described(COUNTS, OLD, base), library=library, read=True)

    found = verdict(shown(of_settings=of_settings), shown(), at_once=at_once)
    assert (found.outcome is Outcome.REFUSE) is refused
    assert ("an instance starts, and its first task dies" in found.text) is refused


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("case", "finding"),
    [
        ("processor-upgraded", {"global-store-restored-by-processor"}),
        ("processor-in-memory-upgraded", {"global-store-restored-by-processor"}),
        ("processor-downgraded", {"global-store-restored-past-processor"}),
        ("processor-that-stores-as-it-comes-downgraded", set()),
        ("table-downgraded", set()),
    ],
)
def test_how_a_release_restores_a_global_store_is_shown_in_a_run(
    case: str, finding: set[str], *, at_once: bool
) -> None:
    """It depends on the libraries alone, and the comparison of a run leaves them out."""
    pair, sides = "global-table-joiner-changed", compared(f"global-table-joiner-changed/{case}")
    before, after = (
        Described(
            release,
            str(side.declared.library),
            side_name,
            (PAIRS / pair / f"{side_name}.txt").read_text(),
            side.declared,
        )
        for release, side_name, side in ((OLD, "before", sides.before), (NEW, "after", sides.after))
    )
    fleet = Known(declared(application_id="app"), {}, "4.3")
    rules = (topology_change_rules(), upgrade_path_rules())
    found = {one.id for one in may_be_rolled((before,), after, fleet, *rules, at_once=at_once).findings}
    assert {one for one in found if one.startswith("global-store-restored")} == finding


def test_settings_alone_ask_for_no_declaration_at_once() -> None:
    """One build on both sides: its code decides formats and keys, and the approver reads what nobody declares."""
    found = verdict(described(AUDITED), described(), at_once=True, same_build=True)
    assert found.outcome is Outcome.PROCEED
    assert {one.id for one in found.findings} >= {"repartition-added", "change-not-declared"}
    assert verdict(described(AUDITED), described(), same_build=True).outcome is Outcome.REFUSE


def test_one_build_rolls_with_what_only_its_code_decides() -> None:
    """Equal text alone proves nothing; what is known to differ counts for one build too."""
    by = "by its deployer, which shows build sha256:1 on every instance"
    same = verdict(described(), described(), same_program=by)
    assert same.outcome is Outcome.PROCEED
    assert any(by in one.message for one in same.findings)
    assert verdict(described(), described()).outcome is Outcome.INCONCLUSIVE
    other = described(declares=declaration(stores={"counts": replace(declaration().stores["counts"], key="page")}))
    assert verdict(other, BEFORE, same_program=by).outcome is Outcome.REFUSE
    unlogged = replace(declaration().stores["counts"], logging=False)
    assert verdict(
        described(MOVED, OLD, declaration(stores={"counts": unlogged})), BEFORE, same_program=by
    ).outcome is (Outcome.REFUSE)


MOVED = COUNTS.replace("Sub-topology: 1", "Sub-topology: 2").replace(
    "  Sub-topology: 2", "  Sub-topology: 1\n    Source: audit (topics: [orders])\n      --> none\n\n  Sub-topology: 2"
)


def moved(**store: bool | None) -> tuple[Described, Described]:
    """The store in another subtopology, with these facts of it on both sides."""
    one = replace(declaration().stores["counts"], **store)  # type: ignore[arg-type]
    both = declaration(stores={"counts": one})
    return described(COUNTS, OLD, both), described(MOVED, OLD, both)


@pytest.mark.parametrize("same_build", [True, False])
def test_a_moved_store_whose_logging_is_not_known_stops_a_restart_of_all(*, same_build: bool) -> None:
    """Its directory is named after the subtopology. Neither one build nor an unread topology answers that."""
    old, new = moved(logging=None)
    found = verdict(new, old, at_once=True, same_build=same_build, accepted="approved by ada")
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "declare stores.counts.logging" in found.text
    assert "--param lose_state=counts" in found.text


def test_a_moved_store_begins_empty_only_if_that_is_named() -> None:
    """What the form names is accepted; a changelog restores the store, and a certain loss is refused."""
    old, new = moved(logging=None, loss_acceptable=True)
    found = verdict(new, old, at_once=True, same_build=True)
    assert found.outcome is Outcome.PROCEED
    [given] = [one for one in found.findings if one.id == "only-copy-given-up"]
    assert "store counts may be on local disks alone (stores.counts.logging not declared)" in given.message
    old, new = moved(logging=True)
    assert verdict(new, old, at_once=True, same_build=True).outcome is Outcome.PROCEED
    old, new = moved(logging=False)
    assert verdict(new, old, at_once=True, same_build=True).outcome is Outcome.REFUSE


@pytest.mark.parametrize("at_once", [True, False])
def test_two_applications_are_never_one_change(*, at_once: bool) -> None:
    """Whatever way they would be deployed."""
    found = verdict(described(OTHER), described(), at_once=at_once)
    assert found.outcome is Outcome.REFUSE
    assert "whether two applications were mixed up" in found.sentence


@pytest.mark.parametrize("at_once", [True, False])
def test_what_cannot_be_described_is_inconclusive(*, at_once: bool) -> None:
    """A deployer need not have a topology command: a person may accept that, unless the run is a flush."""
    unread = Missing("release 4.3.1: no topology command is declared")
    found = verdict(unread, at_once=at_once)
    assert (found.outcome, found.findings) == (Outcome.INCONCLUSIVE, ())
    assert found.text == (
        "whether the topology changes is not known: release 4.3.1: no topology command is declared; correct that, "
        "then trigger a new run"
    )
    assert verdict(unread, at_once=at_once, accepted="").text.endswith(
        "trigger a new run (or accept that, with a reason in without_topology)"
    )
    found = verdict(unread, at_once=at_once, accepted="the registry is down")
    assert (found.outcome, [one.severity for one in found.findings]) == (Outcome.PROCEED, ["danger"])
    flush = verdict(unread, at_once=at_once, accepted="the registry is down", flushed=True)
    assert (flush.outcome, "without_topology" in flush.text) == (Outcome.INCONCLUSIVE, False)


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
    """Of two releases without any, a name alone leaves the rest open, and naming all that code hides decides less."""
    found = verdict(in_form(described(COUNTS, NEW), "key"), described())
    assert (found.outcome, "nothing but the description is known" in found.text) == (Outcome.INCONCLUSIVE, True)
