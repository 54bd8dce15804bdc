"""What a person on call reads of a plan: the answer, one block for each rule, one order of steps, sources once."""

import re
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.change.reading import OF_CODE, read_change
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.readings.buffers import PolledBuffers, SuppressBuffer
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.change import ChangeFigures
from kstreams_runbooks.present.change.blocks import blocks
from kstreams_runbooks.present.change.document import document, exit_code
from kstreams_runbooks.present.change.gaps import declare_commands, gap_lines, sides_of_join
from kstreams_runbooks.present.change.headline import headline, notes
from kstreams_runbooks.present.change.sections import buffer_lines
from kstreams_runbooks.present.change.text import as_markdown, as_text
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from world.pairs import compared, expected
from world.sides import COUNTS, declaration

SHIFTED = "filter-before-unnamed-foreign-key-join"
NOT_DECLARED = "count-becomes-sum/not-declared"
STAYS = "count-store-renamed/to-another-release"


def read(case: str) -> Any:
    both = compared(case)
    return read_change(both.before, both.after, topology_change_rules(), upgrade_path_rules())


def plan(case: str) -> dict[str, Any]:
    return document(read(case))


def section(text: str, title: str) -> list[str]:
    """The lines below a title."""
    lines = text.splitlines()
    start = lines.index(title) + 1
    return lines[start : next((at for at in range(start, len(lines)) if not lines[at]), len(lines))]


@pytest.mark.parametrize("case", expected())
def test_the_headline_agrees_with_the_exit_code(case: str) -> None:
    """SAFE is exit code 0 and nothing else; a danger is never next to it."""
    reading = read(case)
    first = headline(document(reading))
    words = {
        0: ("SAFE: ",),
        1: ("RUNBOOK NEEDED: ", "LIBRARY BUMP: ", "CANNOT: "),
        2: ("CANNOT: ",),
        3: ("NOT KNOWN: declare ", "NOT KNOWN: the text does not show ", "NOT KNOWN: at least "),
    }
    assert first.startswith(words[exit_code(reading)])
    assert not first.startswith("SAFE") or "danger" not in as_text(document(reading))


@pytest.mark.parametrize(
    ("guarantee", "in_memory", "words", "code"),
    [
        ("exactly_once_v2", False, "RUNBOOK NEEDED: rolling_bounce (danger: KAFKA-16017, KAFKA-18943)", 1),
        ("at_least_once", False, "SAFE: rolling_bounce, as far as described; known defects that bite or may: ", 0),
    ],
)
def test_a_known_defect_that_costs_data_is_not_called_safe(
    guarantee: str, in_memory: bool, words: str, code: int
) -> None:
    """One on which nothing hangs is in the list, and its number in the answer."""
    declared = declaration(
        stores={"counts": replace(declaration().stores["counts"], in_memory=in_memory)},
        config={"processing.guarantee": guarantee},
        library=Release("3.6.1"),
    )
    same = Side(parse_topology(COUNTS), declared)
    reading = read_change(same, same, topology_change_rules(), upgrade_path_rules())
    plan = document(reading)
    assert headline(plan).startswith(words)
    assert exit_code(reading) == code
    shown = section(as_text(plan), "known defects of these releases (plan --explain ID has the source)")
    assert any(line.startswith("  warning KAFKA-16025 on 3.6.1: If the cleanup of old state") for line in shown)
    assert "### Known defects of these releases" in as_markdown(plan)
    assert {one["id"] for one in plan["defects"]} >= {"KAFKA-16025", "KAFKA-19012"}


def test_findings_of_one_rule_are_one_block_with_its_objects() -> None:
    """Two stores and two topics have moved: one block, two meanings, the reason once for each."""
    (shifted,) = [one for one in blocks(plan(SHIFTED)) if one.rule == "generated-name-shifted"]
    stores, topics = shifted.parts
    assert stores.says.startswith("2 stores, because KTABLE-FILTER-0000000003 was added: ")
    assert stores.objects[1] == "customers-STATE-STORE-0000000003 → customers-STATE-STORE-0000000004"
    assert stores.data == "Nothing fails; the store's results start from nothing: a count goes on from 0"
    assert topics.says.startswith("2 internal topics, because ")
    text = as_text(plan(SHIFTED))
    assert len(re.findall(r"^  danger ", text, re.MULTILINE)) == 1
    assert "          Nothing fails; records that were in the old topic" in text


def test_sixteen_names_are_sixteen_lines() -> None:
    """Not a paragraph each; beyond twenty they are counted."""
    made = plan("filter-before-unnamed-count")
    (one,) = [found for found in made["findings"] if found["id"] == "generated-name-shifted"]
    for count, lines in ((16, 16), (30, 21)):
        names = [f"new-{number}" for number in range(count)]
        findings = [
            {**one, "object": name, "message": f"store old{len(name) * 7}{name[4:]}0 → {name}, because x: gone"}
            for name in names
        ]
        (block,) = blocks({**made, "findings": findings})
        (part,) = block.parts
        assert (part.says, len(part.objects)) == (f"{count} stores, because x: gone", lines)
    assert part.objects[-1] == "10 more: --format json"


def test_infos_keep_their_sentence() -> None:
    """Several of one rule are one sentence with the other names."""
    made = plan("filter-before-unnamed-count")
    (info,) = [one for one in made["findings"] if one["id"] == "operator-added-or-removed"]
    two = [{**info, "object": name, "message": f"operator {name} is new"} for name in ("first", "second")]
    (block,) = blocks({**made, "findings": two})
    assert block.parts[0].says == "operator first is new; the same for second"


@pytest.mark.parametrize("made", [as_text, as_markdown])
def test_each_source_is_printed_once(made: Any) -> None:
    """At the end, by the number that its findings have."""
    for case in (SHIFTED, STAYS):
        document_ = plan(case)
        flat = " ".join(made(document_).replace("\\", "").replace("`", "").split())
        before, _, after = re.split("(ources )", flat, maxsplit=1)
        own = [one for one in document_["findings"] if one["covered_by"] is None]
        for source in {one["source"] for one in own if not one["id"].startswith("api-changes-")}:
            assert source not in before, source
            assert source in after, source


def test_a_change_with_a_release_has_one_order_of_steps() -> None:
    """The upgrade comes second, in its own run, and is not printed as another answer."""
    text = as_text(plan(STAYS))
    assert section(text, "order of steps") == [
        "  1. store_migration: bring the change of the topology and keep the present library",
        "  2. library_bump, in a run of its own: 3.9.1 to 4.3.1: one rolling bounce",
    ]
    assert text.count("one rolling bounce") - text.count("4.4: one rolling bounce") == 1
    assert "order of steps" not in as_text(plan(SHIFTED))


def test_a_reason_that_is_a_finding_is_printed_once() -> None:
    """A refusal names its findings; two applications that were mixed up have only the reason."""
    refused = plan("partitions-of-one-joined-topic-added")
    assert len(refused["reasons"]) == 2
    assert notes(refused) == [f"not compared, not given: Kafka Streams release, {OF_CODE}"]
    assert notes({**refused, "reasons": ["nothing in common"]})[0] == "nothing in common"


def test_what_is_missing_has_its_commands_with_the_files_that_were_given() -> None:
    """A side with a declaration gets lines to add; a side without one gets a file."""
    made = plan(NOT_DECLARED)
    (line,) = gap_lines(made)
    assert line.startswith("aggregate of store totals (old, new). If the change touches none of them, ")
    assert line.endswith("unchanged: [aggregate]")
    assert sides_of_join(["aggregate"]) == ""
    assert sides_of_join(["aggregate", "join"]) == " and no join gets its tables in another order"
    given = {"from_topology": "a/old.txt", "to_topology": "a/new.txt", "to_declaration": "a/n.yaml"}
    both = "--from-topology a/old.txt --to-topology a/new.txt"
    assert list(declare_commands(given, made)) == [
        "if the code of these did not change, plan again:",
        f"kstreams-runbooks plan {both} --to-declaration a/n.yaml --unchanged aggregate",
        "otherwise:",
        f"kstreams-runbooks declare {both} --to-declaration a/n.yaml --side old > a/old.yaml",
        "add the lines that this prints to a/n.yaml:",
        f"kstreams-runbooks declare {both} --to-declaration a/n.yaml --side new",
        "replace or delete every null, then plan again:",
        f"kstreams-runbooks plan {both} --from-declaration a/old.yaml --to-declaration a/n.yaml",
    ]


def test_a_printed_command_keeps_what_was_stated() -> None:
    """Fields, also those of two options, the one build and the application: without them the same is asked again."""
    made = plan(NOT_DECLARED)
    given = {"from_topology": "old.txt", "to_topology": "new.txt", "unchanged": ("value_serde, key", "join")}
    both = "--from-topology old.txt --to-topology new.txt"
    stated = {"same_program": True, "application": "orders"}
    commands = [one for one in declare_commands({**given, **stated}, made) if one.startswith("kstreams-runbooks")]
    end = "--same-program --application orders"
    assert commands == [
        f"kstreams-runbooks plan {both} --unchanged key,value_serde,aggregate,join {end}",
        f"kstreams-runbooks declare {both} --unchanged key,value_serde,join --same-program --side old > old.yaml",
        f"kstreams-runbooks declare {both} --unchanged key,value_serde,join --same-program --side new > new.yaml",
        f"kstreams-runbooks plan {both} --from-declaration old.yaml --to-declaration new.yaml "
        f"--unchanged key,value_serde,join {end}",
    ]
    same = {**made, "same_program_is_enough": True}
    assert f"kstreams-runbooks plan {both} --unchanged key,value_serde,join --same-program" in declare_commands(
        given, same
    )


def test_what_no_declaration_can_say_is_not_asked_for() -> None:
    """Two identical operators: the program has to show which is which, and no file is to be filled in."""
    made = plan("filter-before-two-identical-unnamed-counts")
    new, old = "KSTREAM-AGGREGATE-STATE-STORE-0000000002", "KSTREAM-AGGREGATE-STATE-STORE-0000000001"
    assert headline(made).startswith(f"NOT KNOWN: the text does not show what {new} was ({old} or ")
    assert headline(made).endswith("); and 1 more")
    assert all("give each operator of the new version its old name" in line for line in gap_lines(made))
    given = {"from_topology": "old.txt", "to_topology": "new.txt"}
    assert list(declare_commands(given, made)) == [
        "change the program, then plan again:",
        "kstreams-runbooks plan --from-topology old.txt --to-topology new.txt",
    ]


def test_stores_that_lack_the_same_are_one_line() -> None:
    """Their names once, the fields once."""
    missing = [
        {"where": f"stores.{name}", "field": field, "sides": "new"} for name in ("a", "b") for field in ("kind", "key")
    ]
    made = {"undecided": [{"matters": True, "missing": missing}]}
    assert list(gap_lines(made)) == ["kind and key of 2 stores: a, b (new)"]


def test_a_buffer_that_holds_more_than_its_new_limit_is_not_safe() -> None:
    """The answer and a section say so; without a poll there is no section, and JSON has the limits.

    A buffer that fits now may hold more when the old version stops: that stays for a person.
    """
    reading = read("suppress-buffer-bounded")
    title = "suppress buffers now, and their new limits"
    [unread] = document(reading)["buffers"]
    assert (unread["max_records"], unread["records"], unread["why"]) == (10_000, None, "no instance was polled")
    assert title not in as_text(document(reading))

    def polled(records: int | None) -> ChangeFigures:
        buffer = SuppressBuffer("final-only-store", "1_3", records, records and 2_000_000)
        return ChangeFigures(buffers=(PolledBuffers("orders-1", "4.3.1", (buffer,)),))

    fits, over, unknown = polled(10_000), polled(10_001), polled(None)
    assert [exit_code(reading, one) for one in (fits, over, unknown)] == [1, 1, 1]
    needed = "RUNBOOK NEEDED: rolling_bounce (warning: suppress-buffer-smaller)"
    assert headline(document(reading, fits)) == needed
    assert headline(document(reading, over)) == (
        "RUNBOOK NEEDED: rolling_bounce (danger: a suppress buffer holds more than its new limit)"
    )
    [line] = buffer_lines(document(reading, fits))
    assert line == (
        "suppress final-only: task 1_3 of orders-1 held 10,000 records and 2,000,000 bytes within the last 60 s, which "
        "fits into the new limit of 10,000 records"
    )
    [line] = buffer_lines(document(reading, over))
    assert line.endswith("which is over the new limit of 10,000 records: the new version shuts down at once")
    [line] = buffer_lines(document(reading, unknown))
    assert "is unknown: orders-1: Streams has not measured it" in line
    assert "final-only" in " ".join(section(as_text(document(reading, over)), title))
