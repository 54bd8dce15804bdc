"""The facts of the orders application next to its declaration files, and what a plan between its releases asks for."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.properties import dump
from lab.settings import CHECKOUT
from lab.topology_facts import COMMAND, jar, java

RELEASES = ("3.4.1", "3.9.1", "4.3.1")
# On the library of the last one, with another topology each.
COUNTING = ("4.3.1.1", "4.3.1.2")
DECLARED = CHECKOUT / "config" / "applications" / "orders"
BUILT = CHECKOUT / "tests" / "apps" / "orders" / "target" / "releases"
# What each instance of the demo has, and its declaration files declare without the address of the broker.
SETTINGS = {
    "bootstrap.servers": "127.0.0.1:9092",
    "application.id": "orders",
    "processing.guarantee": "exactly_once_v2",
    "statestore.cache.max.bytes": "0",
    "cache.max.bytes.buffering": "0",
}
# Serdes that are lambdas of the application, keys that its code chooses, and a function of its own.
OF_ITS_CODE = {
    "value_serde": "the format is a lambda of orders.",
    "key": "operator orders-",
    "aggregate": "the code of the aggregate of operator orders-running",
}


@cache
def facts(release: str, folder: Path) -> Path:
    """The document of a release, with the settings of an instance."""
    settings, file = folder / "app.properties", folder / f"{release}.facts.yaml"
    settings.write_text(dump(SETTINGS), encoding="latin-1")
    classes = f"{jar()}:{BUILT / release}/*"
    ran = java(classes, COMMAND, "--factory", "orders.OrdersApplication::topology", "--properties", str(settings))
    assert ran.returncode == 0, ran.stderr
    file.write_text(ran.stdout, "utf-8")
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the documents are."""
    return tmp_path_factory.mktemp("orders")


def without_code(file: Path) -> Path:
    """The document as an agent prints it: without digests of code."""
    kept, in_code = [], False
    for line in file.read_text("utf-8").splitlines(keepends=True):
        in_code = line.startswith("code:") or (in_code and line.startswith(" "))
        kept += [] if in_code else [line]
    bare = file.with_suffix(".bare.yaml")
    bare.write_text("".join(kept), "utf-8")
    return bare


def plan(
    folder: Path, *options: str, old: str = RELEASES[0], new: str = RELEASES[-1], code: bool = False
) -> dict[str, Any]:
    """The plan between two releases, by their facts."""
    files = [facts(release, folder) if code else without_code(facts(release, folder)) for release in (old, new)]
    both = ["--from-topology", str(files[0]), "--to-topology", str(files[1])]
    ran = CliRunner().invoke(cli, ["plan", *both, *options, "--format", "json"])
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("release", RELEASES + COUNTING)
def test_no_declaration_of_orders_contradicts_its_program(folder: Path, release: str) -> None:
    """Windows, kinds, joins, logging, formats and settings of every release, as the library built them."""
    declared = str(DECLARED / f"{release}.yaml")
    found = plan(folder, "--from-declaration", declared, "--to-declaration", declared, old=release, new=release)
    assert [one["message"] for one in found["findings"] if one["id"] == "declaration-contradicted"] == []
    assert (found["verdict"], found["runbooks"]) == ("proceed", ["rolling_bounce"])


def test_the_flush_is_decided_by_facts_and_declarations(folder: Path) -> None:
    """A repartition topic goes, and the store keeps its changelog in another subtopology."""
    before, after = (str(DECLARED / f"{release}.yaml") for release in COUNTING)
    found = plan(folder, "--from-declaration", before, "--to-declaration", after, old=COUNTING[0], new=COUNTING[1])
    assert (found["verdict"], found["runbooks"]) == ("proceed", ["control_topic_flush"])
    assert {one["id"] for one in found["findings"]} >= {"repartition-removed", "store-moved-subtopology"}


def test_only_what_its_code_chooses_is_asked_for(folder: Path) -> None:
    """22 fields between two releases of the library: each hangs on code of the application, none on Kafka's."""
    found = plan(folder)
    asked = [one for rule in found["undecided"] if rule["matters"] for one in rule["missing"]]
    fields = {(one["where"], one["field"]): one["reason"] for one in asked}
    assert found["verdict"] == "inconclusive"
    assert len(fields) == 22
    for (where, field), reason in fields.items():
        assert reason.startswith(OF_ITS_CODE[field]), (where, field, reason)
    assert found["unchanged_is_enough"] == ["key", "value_serde", "aggregate"]


def test_with_digests_of_code_nothing_is_asked_for(folder: Path) -> None:
    """Each of the 22 fields has the same code in both releases: no person has to believe anything."""
    found = plan(folder, code=True)
    assert (found["verdict"], found["runbooks"], found["unchanged_is_enough"]) == ("proceed", ["library_bump"], [])
    assert [one for one in found["undecided"] if one["matters"]] == []
    assert "same-code" in {one["id"] for one in found["findings"]}


def test_the_fields_that_are_named_decide_it(folder: Path) -> None:
    """No side has a declaration file; a part of them is not enough."""
    found = plan(folder, "--unchanged", "key,value_serde,aggregate")
    assert (found["verdict"], found["runbooks"]) == ("proceed", ["library_bump"])
    [named] = [one for one in found["findings"] if one["id"] == "named-unchanged"]
    assert named["message"] == "declared with --unchanged: key, value_serde, aggregate unchanged"
    found = plan(folder, "--unchanged", "value_serde")
    assert (found["verdict"], found["unchanged_is_enough"]) == ("inconclusive", ["key", "aggregate"])
