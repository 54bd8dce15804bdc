"""`lint` and `diagram` on texts of the real library.

Covers decide/topology/lines, decide/topology/lint
"""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.errors import BadInput
from world.pairs import PAIRS

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
