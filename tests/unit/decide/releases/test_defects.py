"""Known defects: when each bites, what it needs of an application, and that a fact that is not known hides none."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.releases.defects import defect_findings, done_differently, may_apply, refuses
from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.model.releases.path import PathFinding, PathQuestion
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import DEFECT_FACTS, Defect, DefectFacts, DefectTime
from kstreams_runbooks.rules import upgrade_path_rules

RULES = upgrade_path_rules()
BY_ID = {row.id: row for row in RULES.defects}
EOS: DefectFacts = {"guarantee": ("exactly_once_v2",), "protocol": ("classic",)}
BIT = Defect("bit", ("3.5..3.6.1",), ("going_to",), ("warn",), "kept", ("3.6.2",), "It stops.", "read", "KAFKA-1")


def found(
    running: str | None, target: str | None, facts: DefectFacts, *rows: Defect, broker: str | None = None
) -> list[PathFinding]:
    ends = [None if one is None else Release(one) for one in (running, target)]
    rules = replace(RULES, defects=rows or RULES.defects)
    return list(defect_findings(ends[0], ends[1], facts, rules, None if broker is None else Release(broker)))


@pytest.mark.parametrize(
    ("when", "running", "target", "bites"),
    [
        ("going_to", "3.4.1", "3.5.2", True),
        ("going_to", "3.5.2", "3.6.1", True),
        ("going_to", "3.5.2", "3.5.2", False),
        ("going_to", "3.5.2", None, False),
        ("going_to", "3.6.1", "3.6.2", False),
        ("leaving", "3.6.1", "3.6.2", True),
        ("leaving", "3.6.1", "3.6.1", True),
        ("leaving", "3.6.1", None, True),
        ("leaving", "3.4.1", "3.6.1", False),
        ("while_running", "3.4.1", "3.6.1", True),
        ("while_running", "3.6.1", None, True),
        ("while_running", "3.6.1", "3.6.2", False),
        ("at_a_kill", "3.6.1", "3.6.2", True),
        ("at_a_kill", "3.4.1", "3.6.1", True),
        ("at_a_kill", "3.4.1", "3.6.2", False),
        ("while_running", None, "3.6.1", True),
        ("leaving", None, "3.6.1", False),
    ],
)
def test_each_time_at_which_a_defect_bites(
    when: DefectTime, running: str | None, target: str | None, bites: bool
) -> None:
    """A defect that only the running release has, and that does not bite on the way, is information."""
    shown = found(running, target, {}, replace(BIT, when=(when,)))
    assert any(one.severity == "warning" for one in shown) is bites
    left = not bites and running is not None and within(Release(running), BIT.releases)
    assert [one.severity for one in shown] == (["warning"] if bites else ["info"] if left else [])


@pytest.mark.parametrize("row", RULES.defects, ids=lambda row: row.id)
def test_each_row_bites_who_meets_its_needs_and_nobody_else(row: Defect) -> None:
    """Each need that is not met takes the row away; each that is not known keeps it, and is named."""
    known = [one for one in RULES.releases if within(one, row.releases)]
    before = [one for one in RULES.releases if one < known[0] and not within(one, row.releases)]
    running = str(known[-1]) if row.of == "broker" or "going_to" not in row.when else str(before[-1])
    target = str(known[-1]) if "going_to" in row.when else None
    broker = str(known[-1]) if row.of == "broker" else "3.9.2"

    def ids(facts: DefectFacts) -> dict[str, PathFinding]:
        return {one.id: one for one in found(running, target, facts, broker=broker) if one.severity != "info"}

    met = {name: (values[0],) for name, values in row.needs.items()}
    assert not may_apply(ids(met)[row.id])
    assert done_differently(row) in ids(met)[row.id].message
    for name, values in row.needs.items():
        others = set(DEFECT_FACTS[name]) - set(values)
        assert others, "a need that every application meets is not a need"
        assert row.id not in ids({**met, name: tuple(sorted(others))})
        assert row.id in ids({**met, name: DEFECT_FACTS[name]}), "it may be either: it is shown"
        if name == "protocol" and row.of == "library":
            continue
        unknown = ids({other: value for other, value in met.items() if other != name})[row.id]
        assert may_apply(unknown)
        assert unknown.severity == "warning"


@pytest.mark.parametrize(
    ("facts", "severity"),
    [
        ({**EOS, "stores": ("persistent",)}, "danger"),
        ({**EOS, "stores": ("in_memory", "persistent")}, "danger"),
        (EOS, "warning"),
        ({"stores": ("persistent",)}, "warning"),
    ],
)
def test_data_that_suffers_for_certain_is_a_danger(facts: DefectFacts, severity: str) -> None:
    """What only may apply is a warning, with the facts that are not known."""
    (finding,) = [one for one in found("3.6.1", "3.9.2", facts) if one.id == "KAFKA-16017"]
    assert finding.severity == severity
    assert (
        "Stop an instance only while none of its tasks restores, as a run does. Fixed in 3.6.2, 3.7.0."
        in finding.message
    )
    assert finding.source.endswith("(read in the releases)")


@pytest.mark.parametrize(
    "facts",
    [
        {"guarantee": ("at_least_once",), "stores": ("persistent",)},
        {**EOS, "stores": ("in_memory",)},
        {**EOS, "stores": ("none",)},
    ],
)
def test_a_near_miss_is_not_shown(facts: DefectFacts) -> None:
    """Another guarantee, or stores without files: the same release, and nothing to lose."""
    assert "KAFKA-16017" not in {one.id for one in found("3.6.1", "3.9.2", facts)}
    assert "KAFKA-16017" not in {one.id for one in found("3.6.2", "3.9.2", {**EOS, "stores": ("persistent",)})}


@pytest.mark.parametrize(
    ("broker", "facts", "shown"),
    [
        ("4.2.0", {"protocol": ("streams",)}, "certain"),
        ("4.2.0", {}, "may"),
        (None, {"protocol": ("streams",)}, "may"),
        ("4.2.1", {"protocol": ("streams",)}, "no"),
        ("4.2.0", {"protocol": ("classic",)}, "no"),
    ],
)
def test_a_defect_of_brokers_depends_on_their_release(broker: str | None, facts: DefectFacts, shown: str) -> None:
    """On no release of the application; an unknown broker may have it."""
    rows = [one for one in found("4.3.1", None, facts, broker=broker) if one.id == "group-migration-4.2.0"]
    assert ["may" if may_apply(one) else "certain" for one in rows] == ([] if shown == "no" else [shown])


def test_releases_without_the_protocol_need_not_say_it() -> None:
    """Before 4.1 every group is a classic one."""
    ids = {one.id for one in found("3.9.2", "4.0.2", {}, broker="4.2.0")}
    assert not ids & {"group-migration-4.2.0", "KAFKA-20899"}
    assert "group-migration-4.2.0" in {one.id for one in found("3.9.2", "4.3.1", {}, broker="4.2.0")}


def test_a_target_is_refused_for_who_has_the_defect() -> None:
    """For no other application, and by no row that does not refuse."""
    row = BY_ID["lost-updates-kip-557"]
    assert refuses(row, Release("2.7.0"), {"guarantee": ("at_least_once",)})
    assert not refuses(row, Release("2.7.0"), EOS)
    assert not refuses(row, Release("2.7.0"), {}), "every guarantee is tried, each for itself"
    assert not refuses(row, Release("2.7.1"), {"guarantee": ("at_least_once",)})
    assert not refuses(BY_ID["KAFKA-19479"], Release("3.9.1"), {"guarantee": ("at_least_once",)})


def test_what_a_row_refuses_is_no_bridge_and_what_only_bites_there_may_be_one() -> None:
    """A defect that nearly every release has would leave no bridge at all."""
    assert BY_ID["rocksdb-leak-4.3.0"].shuns
    assert BY_ID["upgrade-from-3.4-throws"].shuns
    assert not BY_ID["CVE-2026-111496"].shuns
    question = PathQuestion(Release("2.3.1"), Release("4.3.1"), Release("3.9"), "at_least_once", "no", "no", "classic")
    assert upgrade_path(question, RULES).bridge == "3.9.2"


def test_a_path_shows_the_defects_of_both_ends_with_what_the_question_has() -> None:
    """No path changes with it; what no question has may apply."""
    question = PathQuestion(
        Release("3.6.1"), Release("4.3.1"), Release("4.3"), "exactly_once_v2", "no", "no", "classic"
    )
    path, other = upgrade_path(question, RULES), upgrade_path(replace(question, guarantee="at_least_once"), RULES)
    assert (path.verdict, path.legs) == (other.verdict, other.legs)
    ids, fewer = ({one.id for one in each.findings} for each in (path, other))
    assert {"KAFKA-16017", "KAFKA-18943", "CVE-2026-111496", "KAFKA-20731"} <= ids
    assert "KAFKA-18943" not in fewer
    assert "KAFKA-20731" in fewer


def test_what_is_tried_names_its_test() -> None:
    """A row is tried by a test of this project, or it is read or reported."""
    assert all("tests/" in row.source for row in RULES.defects if row.proof == "tried")
