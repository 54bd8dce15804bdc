"""`plan`, `verify` and `declare` on texts of the real library."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.decide.change.reading import OF_CODE
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.topology.declaration import OTHER_CODE
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.terminal.change.plan import _worse
from world.pairs import DECLARED, PAIRS

CLICKS = "filter-before-unnamed-count"
DAILY = "daily-orders-grouped-by-cleaned-key"
FINDING = Finding("topics-not-compared", "warning", "orders", "not compared", "docs/topics.md")
SAFE = "filter-before-named-count"


def run(*arguments: str | Path, text: str | None = None) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], input=text)


def plan(pair: str, *more: str | Path, declared: bool = True, form: str = "json") -> Result:
    """The plan of a pair with the declarations beside it; the rest of the code is named as unchanged."""
    sides = (("--from", "before"), ("--to", "after"))
    arguments: list[str | Path] = ["plan", "--format", form, *more]
    arguments += ["--unchanged", OTHER_CODE] if declared else []
    for option, side in sides:
        arguments += [f"{option}-topology", PAIRS / pair / f"{side}.txt"]
        if declared:
            arguments += [f"{option}-declaration", DECLARED / pair / f"{side}.yaml"]
    return run(*arguments)


def document(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_document_has_everything_about_a_change() -> None:
    """The guide's daily orders: what is created, restored and found, and what only a cluster tells is null."""
    result = plan(DAILY)
    found = document(result)
    assert result.exit_code == 1
    assert (found["schema_version"], found["verdict"], found["runbooks"]) == (1, "proceed", ["reset_and_cleanup"])
    assert found["internal_topics"] == {
        "created": [{"name": "app-GroupOrders-repartition", "partitions": None, "bytes": None}],
        "orphaned": [],
        "kept": [{"name": "app-orders-changelog", "partitions": None, "bytes": None}],
    }
    assert [(one["store"], one["before"], one["after"], one["bytes"]) for one in found["restores"]] == [
        ("orders", "0", "1", None)
    ]
    assert found["stale_task_directories"] == []
    [repartition] = [one for one in found["findings"] if one["id"] == "repartition-added"]
    assert {"id", "severity", "object", "message", "data", "source", "runbook", "covered_by"} == set(repartition)
    assert (repartition["runbook"], repartition["covered_by"]) == ("stop_and_restart", None)
    assert found["alternatives"][0]["runbook"] == "blue_green_cutover"
    assert found["procedures"] == []
    assert found["costs"] == {"bytes_to_restore": None, "records_to_reprocess": None, "inputs_reach_back_to_ms": None}


def test_a_roll_is_enough_exits_with_none() -> None:
    """With everything declared; without it the same text is inconclusive, and says what to declare.

    What no declaration has is asked as a whole: a description never shows that the code is the same.
    """
    assert plan(SAFE).exit_code == 0
    declared = [
        f"--{side}-declaration={DECLARED / SAFE / file}.yaml" for side, file in (("from", "before"), ("to", "after"))
    ]
    silent = plan(SAFE, *declared, declared=False, form="text")
    assert (silent.exit_code, silent.stdout.splitlines()[0]) == (
        3,
        "NOT KNOWN: declare other_code of the program (new)",
    )
    assert f"--to-declaration {DECLARED / SAFE}/after.yaml --unchanged other_code" in silent.stdout
    assert "other_code of the program: kinds of joins, filters and branches of tables" in " ".join(
        silent.stdout.split()
    )
    result = plan(SAFE, declared=False)
    assert result.exit_code == 3
    found = document(result)
    assert (found["verdict"], found["runbooks"]) == ("inconclusive", [])
    assert any(
        "declare kind, window" in one and "of stores.clicks-per-page (old, new)" in one for one in found["reasons"]
    )


def test_unnamed_operators_before_state_lean_to_a_reset_where_nothing_is_declared() -> None:
    """With the declarations a migration is enough."""
    assert document(plan(CLICKS, declared=False))["runbooks"] == ["reset_and_cleanup"]
    assert document(plan(CLICKS))["runbooks"] == ["store_migration"]


def test_what_a_person_reads_begins_with_the_verdict_and_ends_with_what_to_do() -> None:
    """The runbook is not a DAG yet, so its steps are printed and it is said so."""
    lines = plan(CLICKS, form="text").stdout.splitlines()
    assert lines[0] == "RUNBOOK NEEDED: store_migration (danger: generated-name-shifted)"
    assert any("because KSTREAM-FILTER-0000000001 was added" in line for line in lines)
    assert any(line.startswith("store_migration is not a DAG yet, manual procedure") for line in lines)
    roll = plan(SAFE, form="text").stdout
    assert "kstreams-runbooks trigger rolling_bounce" in roll
    assert "manual procedure" not in roll


def test_fields_may_be_named_one_by_one_as_unchanged() -> None:
    """The option counts as often as it is given, and a wrong word is one sentence."""
    pair = "branch-condition-changed"
    together = document(plan(pair, "--unchanged", "key,key_serde,value_serde", declared=False))
    apart = document(plan(pair, "--unchanged", "key", "--unchanged", "key_serde,value_serde", declared=False))
    assert apart == together
    assert "with --unchanged: key, key_serde, value_serde unchanged" in str(apart)
    assert "'keys' is not a field" in str(plan(pair, "--unchanged", "keys", declared=False).exception)


def test_one_build_with_other_settings_asks_for_no_fact_of_its_code(tmp_path: Path) -> None:
    """A person's word, shown in the plan; equal descriptions alone never are, and different ones refuse it."""
    (old := tmp_path / "old.properties").write_text("application.id=app\ncommit.interval.ms=100\n")
    (new := tmp_path / "new.properties").write_text("application.id=app\ncommit.interval.ms=200\n")
    text = PAIRS / SAFE / "before.txt"
    given = ("plan", "--from-topology", text, "--to-topology", text, "--from-config", old, "--to-config", new)
    asked = run(*given)
    assert (asked.exit_code, asked.stdout.splitlines()[0][:9]) == (3, "NOT KNOWN")
    assert "if both versions are one build, such as one image, plan again:" in asked.stdout
    assert f"--to-config {new} --same-program" in asked.stdout
    targets = [line.rpartition(" > ")[2] for line in asked.stdout.splitlines() if " > " in line]
    assert sorted(targets) == [str(text.with_suffix(".new.yaml")), str(text.with_suffix(".old.yaml"))]
    same = run(*given, "--same-program")
    assert (same.exit_code, same.stdout.splitlines()[0]) == (0, "SAFE: rolling_bounce")
    assert "declared with --same-program: both versions are one program" in " ".join(same.stdout.split())
    other = run("plan", "--from-topology", text, "--to-topology", PAIRS / CLICKS / "after.txt", "--same-program")
    assert isinstance(other.exception, BadInput)
    assert str(other.exception).startswith("with --same-program: the two descriptions differ")


@pytest.mark.parametrize(
    ("setting", "finding", "code"),
    [
        ("client.id", "setting-changed", 0),
        # A store that has no changelog loses what tasks leave behind that move.
        ("num.stream.threads", "setting-changed", 3),
        ("default.value.serde", "default-serde-changed", 1),
        # Older releases do not have that protocol, and no release is given.
        ("group.protocol", "group-protocol-changed", 3),
        ("state.dir", "state-dir-changed", 3),
        ("default.timestamp.extractor", "", 3),
    ],
)
def test_what_a_setting_changes_of_one_build_counts(tmp_path: Path, setting: str, finding: str, code: int) -> None:
    """Only differences of code are decided by the word; that a moved directory has the only copy is not one of them."""
    values = {"num.stream.threads": ("1", "2"), "group.protocol": ("classic", "streams")}.get(setting, ("a.B", "a.C"))
    files = []
    for name, value in zip(("old", "new"), values, strict=True):
        files.append(tmp_path / name)
        files[-1].write_text(f"application.id=app\n{setting}={value}\n")
    text = PAIRS / SAFE / "before.txt"
    given = ("--from-topology", text, "--to-topology", text, "--from-config", files[0], "--to-config", files[1])
    found = run("plan", *given, "--same-program", "--format", "json")
    assert found.exit_code == code
    assert not finding or finding in {one["id"] for one in document(found)["findings"]}


def test_an_answer_that_is_not_known_gives_what_is_certain_first() -> None:
    """The runbook of the findings alone, with the worst; without any it only asks."""
    first = plan("source-topic-added", declared=False, form="text").stdout.splitlines()[0]
    assert first.startswith("NOT KNOWN: at least stop_and_restart (warning: source-topic-added); not known: declare ")
    assert plan(SAFE, declared=False, form="text").stdout.startswith("NOT KNOWN: declare ")


def test_markdown_is_for_a_review() -> None:
    """A table of findings whose cells do not break it."""
    text = plan(DAILY, form="markdown").stdout
    assert text.startswith("## RUNBOOK NEEDED: reset_and_cleanup (warning: ")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({row.replace("\\|", "").count("|") for row in rows}) == 1


def test_settings_and_releases_are_part_of_a_version(tmp_path: Path) -> None:
    """A properties file and a release beside the declaration; what contradicts it is bad input."""
    settings = tmp_path / "new.properties"
    settings.write_text("application.id=app\nrocksdb.config.setter=app.Rocks\n", encoding="utf-8")
    found = document(plan(SAFE, "--to-config", settings, "--from-version", "3.9.1", "--to-version", "4.3.1"))
    ids = {one["id"] for one in found["findings"]}
    assert {"rocksdb-settings-changed", "library-changed"} <= ids
    assert found["runbooks"] == ["library_bump"]
    settings.write_text("application.id=other\n", encoding="utf-8")
    wrong = plan(SAFE, "--to-config", settings)
    assert isinstance(wrong.exception, BadInput)
    assert "application.id is other, and app in the declaration" in str(wrong.exception)


def test_a_version_that_cannot_start_with_its_settings_is_refused(tmp_path: Path) -> None:
    """The value, and those that the release takes; what differs is shown with what it controls."""
    settings = tmp_path / "new.properties"
    settings.write_text("application.id=app\nprocessing.guarantee=exactly_once\nlinger.ms=5\n", encoding="utf-8")
    asked = plan(SAFE, "--to-config", settings, "--from-version", "4.3.1", "--to-version", "4.3.1")
    found = document(asked)
    assert (found["verdict"], found["runbooks"], asked.exit_code) == ("refuse", [], 1)
    assert (
        "4.3.1 refuses processing.guarantee=exactly_once (expected: at_least_once, exactly_once_v2)"
        in (found["reasons"][0])
    )
    assert "linger.ms not set → 5; it controls how long a producer waits for more records of a batch" in [
        one["message"] for one in found["findings"]
    ]


def test_what_neither_version_gives_is_said_to_be_left_out() -> None:
    """A release of one side alone is another matter: something has changed, and nobody says from what."""
    assert document(plan(SAFE))["not_compared"] == ["Kafka Streams release", OF_CODE]
    one_sided = plan(SAFE, "--to-version", "4.3.1")
    assert one_sided.exit_code == 3
    assert document(one_sided)["reasons"] == ["declare library (old); library-changed depends on it"]


def bad(*arguments: str | Path, text: str | None = None) -> str:
    """The one sentence of bad input."""
    result = run(*arguments, text=text)
    assert isinstance(result.exception, BadInput), result.output
    assert result.stdout == ""
    return str(result.exception)


def test_what_is_no_properties_file_is_named(tmp_path: Path) -> None:
    """XML and JSON are read by Java's rules as keys without a value, which says nothing."""
    file = tmp_path / "settings"
    for text in ("<settings/>", '{"application.id": "app"}'):
        file.write_text(text, encoding="utf-8")
        sides = ("--from-topology", PAIRS / SAFE / "before.txt", "--to-topology", PAIRS / SAFE / "after.txt")
        assert "is not a setting (expected lines such as name=value)" in bad("plan", *sides, "--to-config", file)


def test_two_applications_mixed_up_are_refused() -> None:
    """Nothing in common: bad input, and the document says refuse."""
    result = run(
        "plan", "--format", "json",
        "--from-topology", PAIRS / CLICKS / "before.txt", "--to-topology", PAIRS / DAILY / "after.txt",
    )  # fmt: skip
    assert result.exit_code == 2
    found = document(result)
    assert (found["verdict"], found["runbooks"]) == ("refuse", [])
    assert "nothing in common" not in result.stdout
    assert "have no topic, store or internal topic in common" in found["reasons"][0]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"Topologies:\n", "no sub-topology in it"),
        (b"\xff\xfe\x00", "line 1 has bytes that are not UTF-8"),
        (b"hello", "line 1: 'hello' (expected `Topologies:`)"),
        (None, "does not exist; give the path of a file"),
    ],
)
def test_a_bad_description_is_named_with_its_place(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    """On either side, for both commands."""
    file = tmp_path / "topology.txt"
    if content is not None:
        file.write_bytes(content)
    good = PAIRS / CLICKS / "before.txt"
    for arguments in (
        ("plan", "--from-topology", file, "--to-topology", good),
        ("plan", "--from-topology", good, "--to-topology", file),
        ("verify", "--expected", good, "--actual", file),
        ("declare", file),
    ):
        found = bad(*arguments)
        assert found.startswith(str(file))
        assert sentence in found


def test_every_cut_of_a_description_is_bad_input_or_a_change(tmp_path: Path) -> None:
    """A text that ends too early is never the topology that it was cut from."""
    whole = (PAIRS / DAILY / "after.txt").read_text(encoding="utf-8").splitlines()
    expected = PAIRS / DAILY / "after.txt"
    for end in range(len(whole) - 1):
        if any(line.strip() for line in whole[end:]):
            cut = tmp_path / "cut.txt"
            cut.write_text("\n".join(whole[:end]), encoding="utf-8")
            assert run("verify", "--expected", expected, "--actual", cut).exit_code != 0


def test_an_unknown_release_is_bad_input() -> None:
    """Of no Kafka release, and of one that was never published."""
    for release, sentence in (("three", "is not a Kafka release"), ("2.9.0", "not a published release")):
        given = ("--from-version", "3.9.1", "--to-version", release)
        assert sentence in bad(
            "plan", "--from-topology", PAIRS / SAFE / "before.txt", "--to-topology", PAIRS / SAFE / "after.txt", *given
        )


def test_the_same_topology_verifies_whatever_its_order(tmp_path: Path) -> None:
    """Nodes in another order, and another class of a lambda, are no change."""
    text = (PAIRS / DAILY / "after.txt").read_text(encoding="utf-8")
    blocks = text.replace("\n    Source", "\n§    Source").replace("\n    Processor", "\n§    Processor")
    head, *nodes = blocks.replace("\n    Sink", "\n§    Sink").split("§")
    first, second = nodes[:4], nodes[4:]
    random.Random(7).shuffle(second)
    shuffled = tmp_path / "shuffled.txt"
    shuffled.write_text(head + "".join(node.rstrip() + "\n" for node in first[:3]) + "".join(nodes[3:]), "utf-8")
    result = run("verify", "--expected", PAIRS / DAILY / "after.txt", "--actual", shuffled)
    assert (result.exit_code, result.stdout) == (0, "the topology is the same\n")


def test_a_change_fails_with_the_difference_and_the_plan() -> None:
    """Also where a roll is enough: somebody has to look at it."""
    for pair in (CLICKS, SAFE):
        result = run(
            "verify", "--expected", PAIRS / pair / "before.txt", "--actual", PAIRS / pair / "after.txt",
            "--from-declaration", DECLARED / pair / "before.yaml", "--to-declaration", DECLARED / pair / "after.yaml",
        )  # fmt: skip
        assert result.exit_code == 1
        assert "\n+  Processor: " in result.stdout
        assert ("NOT KNOWN: declare other_code" in result.stdout) is (pair == SAFE)


def test_what_has_to_be_declared_is_printed_to_be_filled_in(tmp_path: Path) -> None:
    """As it is printed it can be read: nothing in it is taken for a fact."""
    file = tmp_path / "declared.yaml"
    for pair in (DAILY, "named-suppress-added", "unnamed-suppress-disabled"):
        text = run("declare", PAIRS / pair / "after.txt").stdout
        file.write_text(text, encoding="utf-8")
        result = run(
            "plan", "--format", "json",
            "--from-topology", PAIRS / pair / "after.txt", "--to-topology", PAIRS / pair / "after.txt",
            "--from-declaration", file, "--to-declaration", file,
        )  # fmt: skip
        assert result.exit_code == 3, result.output


def test_the_readmes_first_thirty_seconds_are_what_comes_out() -> None:
    """As far as it shows them; the last line before the dots is cut."""
    readme = (PAIRS.parents[3] / "README.md").read_text(encoding="utf-8")
    shown = [line[4:] for line in readme.split("## The first thirty seconds")[1].split("## ")[0].splitlines()]
    first = "RUNBOOK NEEDED: reset_and_cleanup (danger: generated-name-shifted); no way back in place"
    start = shown.index(first)
    end = next(at for at, line in enumerate(shown) if line.strip() == "...")
    printed = plan(CLICKS, declared=False, form="text").stdout.splitlines()
    assert [line.rstrip() for line in shown[start : end - 1]] == printed[: end - 1 - start]
    assert printed[end - 1 - start].startswith(shown[end - 1])


@pytest.mark.parametrize(
    ("code", "outcome", "findings", "worse"),
    [
        (0, Outcome.PROCEED, (), 0),
        (0, Outcome.PROCEED, (FINDING,), 1),
        (3, Outcome.PROCEED, (FINDING,), 3),
        (0, Outcome.REFUSE, (), 1),
        (3, Outcome.REFUSE, (), 1),
        (1, Outcome.INCONCLUSIVE, (), 3),
        (2, Outcome.REFUSE, (), 2),
    ],
)
def test_topics_that_do_not_fit_are_worse_than_a_plan(
    code: int, outcome: Outcome, findings: tuple[Finding, ...], worse: int
) -> None:
    """What is certain goes over what is missing, and bad input over both."""
    assert _worse(code, Verdict(outcome, (), findings)) == worse


def test_a_plan_for_a_cluster_needs_its_text_twice() -> None:
    """Stdin is read once."""
    result = run(
        "plan", "--from-topology", PAIRS / SAFE / "before.txt", "--to-topology", "-", "--application", "orders"
    )
    assert isinstance(result.exception, BadInput)
    assert "give both topologies as files" in str(result.exception)
