"""`lint` and `diagram` on texts of the real library.

Covers decide/topology/lines, decide/topology/lint
"""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput
from world.pairs import DECLARED, PAIRS

COUNT = "KSTREAM-AGGREGATE-STATE-STORE-0000000001"


def run(*arguments: str | Path, text: str | None = None) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], input=text)


def test_a_generated_store_is_named_and_ends_with_one() -> None:
    """With what gives it a name, and from which release on Kafka Streams refuses it itself."""
    result = run("lint", PAIRS / "filter-before-unnamed-count" / "before.txt", "--format", "json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["ok"]) == (1, False)
    assert [(one["id"], one["object"]) for one in document["findings"]] == [
        ("generated-internal-name", COUNT),
        ("naming-can-be-enforced", "ensure.explicit.internal.resource.naming"),
        ("optimization-not-set", "topology.optimization"),
    ]
    assert "name it with Materialized.as" in document["findings"][0]["message"]
    assert document["findings"][1]["message"] == (
        "ensure.explicit.internal.resource.naming=true makes Kafka Streams 4.1.0 and later reject a topology with "
        "generated names"
    )


def test_a_generated_repartition_topic_counts_as_well() -> None:
    """It is called after the store that it is there for."""
    result = run("lint", PAIRS / "filter-before-unnamed-group-by" / "before.txt", "--format", "json")
    objects = [one["object"] for one in json.loads(result.stdout)["findings"]]
    assert "KSTREAM-AGGREGATE-STATE-STORE-0000000002-repartition" in objects


def test_where_everything_is_named_all_is_well() -> None:
    """Operators without state may keep their numbers; a setting that is given is not asked for."""
    text = (PAIRS / "daily-orders-grouped-by-cleaned-key" / "after.txt").read_text(encoding="utf-8")
    result = run("lint", "-", "--optimization", "all", text=text)
    assert (result.exit_code, result.stdout) == (0, "ok       everything persistent has a chosen name\n")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"hello", "line 1: 'hello' (expected `Topologies:`)"),
        (b"\xff\xfe\x00", "line 1 has bytes that are not UTF-8"),
        (None, "does not exist; give the path of a file"),
    ],
)
def test_bad_input_names_the_file_and_the_place(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    """One sentence, for both commands."""
    file = tmp_path / "topology.txt"
    if content is not None:
        file.write_bytes(content)
    for command in ("lint", "diagram"):
        result = run(command, file)
        assert isinstance(result.exception, BadInput)
        assert str(result.exception).startswith(f"{file}: ")
        assert sentence in str(result.exception)


def test_a_diagram_groups_subtopologies_and_tells_stores_and_internal_topics() -> None:
    """Every node once, every store beside its operator, and internal topics apart from those of others."""
    lines = run("diagram", PAIRS / "daily-orders-grouped-by-cleaned-key" / "after.txt").stdout.splitlines()
    assert lines[0] == "flowchart TD"
    assert [line.strip() for line in lines if "subgraph" in line] == [
        'subgraph group0["sub-topology 0"]',
        'subgraph group1["sub-topology 1"]',
    ]
    ids = {
        line.partition('"')[2].partition('"')[0]: line.strip().rstrip('"]>)').split('"')[0].rstrip("[(>")
        for line in lines
    }
    classes = {line.split()[-1]: line.split()[1].split(",") for line in lines if line.strip().startswith("class ")}
    assert classes == {"store": [ids["orders"]], "internal": [ids["GroupOrders-repartition"]]}
    assert f"    {ids['AggregateDailyOrders']} -.- {ids['orders']}" in lines


def test_a_comparison_marks_what_comes_goes_and_is_renamed() -> None:
    """The guide's first example: a filter comes, and everything behind it gets another name."""
    pair = PAIRS / "filter-before-unnamed-count"
    text = run("diagram", pair / "before.txt", "--compare", pair / "after.txt").stdout
    assert f'("{COUNT} → KSTREAM-AGGREGATE-STATE-STORE-0000000002")' in text
    assert '["KSTREAM-FILTER-0000000001"]' in text
    assert "-. gone .->" in text
    assert "==>" in text
    same = run("diagram", pair / "before.txt", "--compare", pair / "before.txt").stdout
    drawn_as = {line.split()[-1] for line in same.splitlines() if line.strip().startswith("class ")}
    assert drawn_as == {"store"}


@pytest.mark.parametrize(
    ("side", "unversioned"),
    [
        ("before", [("store", "latest-store", "string"), ("topic", "readings", "json")]),
        ("after", []),
    ],
)
def test_a_declared_format_without_a_version_is_a_warning(
    side: str, unversioned: list[tuple[str, str, str]], tmp_path: Path
) -> None:
    """From the first deployment on a value has a version; the default of the declaration counts as well."""
    text = (DECLARED / "default-format-written-out" / "before.yaml").read_text("utf-8")
    if side == "before":
        text = text.replace("  name: json\n  schema_version: 1\n", "  name: json\n")
    else:
        text = text.replace("      name: string\n", "      name: string\n      schema_version: 1\n")
    file = tmp_path / "declared.yaml"
    file.write_text(text, "utf-8")
    topology = PAIRS / "default-format-written-out" / "before.txt"
    result = run("lint", topology, "--optimization", "all", "--declaration", file, "--format", "json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["ok"]) == (1 if unversioned else 0, not unversioned)
    assert [(one["id"], one["severity"], one["object"]) for one in document["findings"]] == [
        ("format-version-missing", "warning", name) for _, name, _ in unversioned
    ]
    for (what, name, serde), one in zip(unversioned, document["findings"], strict=True):
        assert f"the values of {what} {name} have no format version (value serde {serde} without" in one["message"]


def test_the_formats_of_a_foreign_key_join_belong_to_the_library() -> None:
    """Its store and its topics cannot get a version; the counts of the demo can."""
    topology = PAIRS.parents[1] / "orders" / "src" / "test" / "resources" / "topology.txt"
    declared = Path(__file__).resolve().parents[4] / "config" / "applications" / "orders" / "4.3.1.yaml"
    result = run("lint", topology, "--declaration", declared, "--format", "json")
    objects = {one["object"] for one in json.loads(result.stdout)["findings"]}
    assert {"orders-per-customer-store", "orders-windowed-store"} <= objects
    assert not any("subscription" in name for name in objects)


def test_a_declaration_of_another_topology_is_bad_input(tmp_path: Path) -> None:
    """Exit code 2 and the name of the file, as in `plan`."""
    file = tmp_path / "declared.yaml"
    file.write_text("stores:\n  no-such-store:\n    kind: key_value\n", "utf-8")
    result = run("lint", PAIRS / "default-format-written-out" / "before.txt", "--declaration", file)
    assert isinstance(result.exception, BadInput)
    assert str(result.exception).startswith(str(file))
