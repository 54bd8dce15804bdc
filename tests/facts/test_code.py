"""Digests of code against changes whose truth is known by construction: each is one edit of one program's source.

`tests/facts/java/coded` has an operator of each kind. Each build of it is compiled and read in one JVM.
"""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from kstreams_runbooks.decide.comparison.code import CodeChange, code_changes
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.fleet.topology_facts import read_facts
from lab.settings import CHECKOUT
from lab.topology_facts import SOURCES, jar

PROGRAM = SOURCES / "coded"
# With Kafka, Jackson and a logger.
LIBRARIES = CHECKOUT / "tests" / "apps" / "orders" / "target" / "releases" / "4.3.1"
OPENS = [
    f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.lang", "jdk.internal.reflect")
]
_BUILD_S = 600


@dataclass(frozen=True)
class Edit:
    """One edit: text of a file that becomes another one; `wherever` it has to be seen, and a fact that stays `as_is`."""

    name: str
    file: str
    old: str
    new: str
    wherever: tuple[str, ...]
    as_is: str = ""


# One body of each kind of operator.
OPERATORS = (
    Edit("timestamps", "EventTime", ").amount : partitionTime", ").amount + 1 : partitionTime",
         ("operators.all.timestamp_extractor",), "operators.sum.code"),
    Edit("filter", "App", "order.amount > minimum", "order.amount >= minimum", ("operators.valid.code",), "operators.sum.code"),
    Edit("captured-number", "App", "int minimum = 2;", "int minimum = Math.max(1, 3);", ("operators.valid.code",), "operators.sum.code"),
    Edit("mapper", "App", "order.with(Text.cleaned(order.customer))", "order.with(order.customer)",
         ("operators.cleaned.code", "stores.totals.key"), "operators.sum.code"),
    Edit("group-by", "App", "valid.groupBy((id, order) -> order.customer", "valid.groupBy((id, order) -> order.customer + id",
         ("operators.by-customer.code", "stores.totals.key", "topics.by-customer-repartition.key"), "operators.sum.code"),
    Edit("initializer", "Total", "this(0);", "this(1);", ("operators.sum.code", "stores.totals.aggregate"), "operators.by-customer.code"),
    Edit("aggregator", "App", "return total.plus(order.discounted());", "return total.plus(order.discounted() * 2);",
         ("operators.sum.code", "stores.totals.aggregate"), "operators.largest.code"),
    Edit("reducer", "App", "one.amount >= other.amount ? one : other", "one.amount > other.amount ? one : other",
         ("operators.largest.code", "stores.largest-store.aggregate"), "operators.sum.code"),
    Edit("merger", "App", "one.merged(other), Named", "other.merged(one), Named",
         ("operators.visits.code", "stores.visits-store.aggregate"), "operators.sum.code"),
    Edit("adder", "App", "total) -> total.plus(order.amount)", "total) -> total.plus(order.amount + 1)",
         ("operators.per-status.code", "stores.per-status-store.aggregate"), "operators.sum.code"),
    Edit("subtractor", "App", "total.plus(-order.amount)", "total.plus(-order.amount - 1)",
         ("operators.per-status.code", "stores.per-status-store.aggregate"), "operators.sum.code"),
    Edit("group-table", "App", "KeyValue.pair(order.status.name(), order)", "KeyValue.pair(order.customer, order)",
         ("operators.by-status.code", "stores.per-status-store.key"), "operators.per-status.code"),
    Edit("foreign-key", "App", "names, order -> order.customer", "names, order -> order.line.article",
         ("operators.named-subscription-registration-processor.code", "stores.named-subscription-store.key"), "operators.sum.code"),
    Edit("joiner-of-tables", "App", "(order, name) -> name + order.amount", "(order, name) -> name + order.customer",
         ("operators.named-subscription-response-resolver.code",), "operators.joined.code"),
    Edit("joiner-of-stream", "App", "(order, name) -> name + bonus", "(order, name) -> bonus + name", ("operators.joined.code",), "operators.sum.code"),
    Edit("captured-this", "App", "new App(5)", "new App(6)", ("operators.joined.code",), "operators.rated.code"),
    Edit("static-object", "App", "new Rate(3, ", "new Rate(4, ", ("operators.rated.code",), "operators.joined.code"),
    Edit("static-text", "App", '"tax"', '"vat"', ("operators.rated.code",), "operators.joined.code"),
    Edit("method-of-static", "Rate", "text + factor + name", "text + name + factor", ("operators.rated.code",), "operators.joined.code"),
    Edit("topic-extractor", "App", 'text.length() > LIMIT ? "long" : "short"', 'text.length() > LIMIT ? "short" : "long"',
         ("operators.by-length.topic_extractor",), "operators.rated.code"),
    Edit("static-number", "App", 'parseInt("7")', 'parseInt("8")', ("operators.by-length.topic_extractor",), "operators.sum.code"),
    Edit("partitioner", "ByFirst", "key.charAt(0) / width", "key.charAt(1) / width", ("operators.named-out.partitioner",), "operators.sum.code"),
    Edit("partitioner-state", "App", "new ByFirst(4)", "new ByFirst(5)", ("operators.named-out.partitioner",), "operators.sum.code"),
    Edit("processor", "Dedup", "next < limit", "next <= limit", ("operators.dedup.code", "stores.seen.aggregate", "topics.unique.key"), "operators.sum.code"),
    Edit("punctuator", "Dedup", '"tick"', '"tock"', ("operators.dedup.code", "stores.seen.aggregate"), "operators.sum.code"),
    Edit("supplier-of-processor", "App", "new Dedup(discount, 3)", "new Dedup(discount, 4)", ("operators.dedup.code",), "operators.sum.code"),
    Edit("supplier-of-store", "Shelf", "inMemoryKeyValueStore(name)", "persistentKeyValueStore(name)", ("stores.largest-store.supplier",), "operators.largest.code"),
    Edit("flat-map", "App", "KeyValue.pair(id, 2L)", "KeyValue.pair(id, 3L)", ("operators.spread.code", "topics.spread.key"), "operators.sum.code"),
    Edit("anonymous-class", "App", 'order.status + "-" + id', 'id + "-" + order.status', ("operators.rekeyed.code", "topics.open.key"), "operators.sum.code"),
    Edit("branch", "Order", "status == Status.OPEN", "status != Status.SENT", ("operators.split-.code",), "operators.sum.code"),
    Edit("writer", "TotalWriter", "putLong(total.sum)", "putLong(-total.sum)", ("stores.totals.value_serde",), "operators.sum.code"),
    Edit("reader", "TotalReader", "getLong()", "getInt()", ("stores.totals.value_serde",), "operators.sum.code"),
)  # fmt: skip
# What an operator reaches: a method two classes away, data, overrides, values.
REACHED = (
    Edit("two-classes-away", "Deep", "amount % 1", "amount % 2", ("operators.sum.code", "stores.totals.aggregate"), "operators.by-customer.code"),
    Edit("one-class-away", "Cents", "Deep.exact(amount)", "Deep.exact(amount) + 1", ("operators.sum.code",), "operators.by-customer.code"),
    Edit("override", "Flat", "Cents.round(1)", "Cents.round(2)", ("operators.sum.code", "stores.totals.aggregate"), "operators.by-customer.code"),
    Edit("other-override", "Percent", "(100 - percent)", "(99 - percent)", ("operators.dedup.code", "operators.sum.code"), "operators.by-customer.code"),
    Edit("captured-object", "App", "new Percent(10)", "new Percent(20)", ("operators.dedup.code",), "operators.sum.code"),
    Edit("field-of-data", "Order", "public long amount;", "public long amount;\n    public String note;",
         ("topics.orders.value_serde", "stores.current-store.value_serde", "topics.open.value_serde"), "stores.totals.value_serde"),
    Edit("order-of-fields", "Order", "    public String customer;\n    public long amount;", "    public long amount;\n    public String customer;",
         ("topics.orders.value_serde",), "stores.totals.value_serde"),
    Edit("nested-data", "Line", "public int pieces;", "public long pieces;", ("topics.orders.value_serde",), "stores.totals.value_serde"),
    Edit("annotation-of-data", "Line", "public String article;", '@com.fasterxml.jackson.annotation.JsonProperty("no") public String article;',
         ("topics.orders.value_serde",), "stores.totals.value_serde"),
    Edit("constant-of-enum", "Status", "PAID, SENT", "SENT, PAID", ("topics.orders.value_serde",), "stores.totals.value_serde"),
    Edit("getter-of-data", "Line", "    public int pieces;", "    public int pieces;\n\n    public boolean getFree() {\n        return pieces == 0;\n    }",
         ("topics.orders.value_serde",), "stores.totals.value_serde"),
    Edit("superclass-of-data", "Line", "public class Line {", "public class Line extends Versioned {", ("topics.orders.value_serde",), "stores.totals.value_serde"),
    Edit("setting-of-configure", "JsonSerde", '"pretty", "no")', '"pretty", "yes")', ("topics.open.value_serde",), "stores.totals.value_serde"),
    Edit("setting-of-mapper", "JsonSerde", "FAIL_ON_UNKNOWN_PROPERTIES)", "FAIL_ON_UNKNOWN_PROPERTIES).enable(com.fasterxml.jackson.databind.SerializationFeature.INDENT_OUTPUT)",
         ("topics.orders.value_serde",), "stores.totals.value_serde"),
    Edit("static-helper", "Text", "name.trim()", "name.toLowerCase()", ("operators.cleaned.code",), "operators.sum.code"),
    Edit("switch", "Text", 'case "none"', 'case "null"', ("operators.cleaned.code",), "operators.sum.code"),
    Edit("default-of-field", "Order", "new Flat();", "new Percent(5);", ("topics.orders.value_serde", "operators.cleaned.code"), "stores.totals.value_serde"),
)  # fmt: skip
# Edits that change no code of an operator.
REBUILDS = (
    Edit("comment", "App", "int minimum = 2;", "// at least\n\n        int minimum = 2;", ()),
    Edit("variable", "App", "minimum", "least", ()),
    Edit("parameter", "App", "(id, order) -> order.isOpen()", "(key, open1) -> open1.isOpen()", ()),
    Edit("method-before", "App", "    private static Total added", "    static long unused(String id) {\n        return id.length();\n    }\n\n    private static Total added", ()),
    Edit("lambda-before", "App", "StreamsBuilder builder =", "Runnable first = () -> { throw new IllegalStateException(); };\n        StreamsBuilder builder =", ()),
    Edit("anonymous-before", "App", "StreamsBuilder builder =", "Object first = new Object() { };\n        StreamsBuilder builder =", ()),
    Edit("order-of-methods", "Cents", "    private Cents() {}\n\n    static long round(long amount) {\n        return Deep.exact(amount);\n    }",
         "    static long round(long amount) {\n        return Deep.exact(amount);\n    }\n\n    private Cents() {}", ()),
    Edit("unused-method-of-data", "Order", "    boolean isOpen()", "    private static long unused() {\n        return 1;\n    }\n\n    boolean isOpen()", ()),
    Edit("log-name", "Text", "getLogger(Text.class)", "getLogger(App.class)", ()),
    Edit("import", "Order", "package shop;", "package shop;\n\nimport java.util.List;", ()),
)  # fmt: skip
VERSIONED = "package shop;\n\npublic class Versioned {\n    public int version = 1;\n}\n"
BESIDE = "package shop;\n\npublic class Beside {\n    @Override\n    public String toString() {\n        return \"beside\";\n    }\n}\n"


def _write(folder: Path, edit: Edit | None, options: str = "", beside: str = "") -> None:
    shutil.copytree(PROGRAM, folder)
    if edit is not None:
        file = folder / f"{edit.file}.java"
        text = file.read_text("utf-8")
        assert edit.old in text, edit.name
        file.write_text(text.replace(edit.old, edit.new), "utf-8")
    (folder / "Versioned.java").write_text(VERSIONED, "utf-8")
    if beside:
        (folder / "Beside.java").write_text(beside, "utf-8")
    if options:
        (folder / "options").write_text(options.replace(" ", "\n"), "utf-8")


@cache
def sides() -> Mapping[str, Side]:
    """Each build by its name; `base` is the one that the others are compared with."""
    with TemporaryDirectory() as place:
        folder, classes = Path(place) / "builds", Path(place) / "driver"
        _write(folder / "base", None)
        for edit in (*OPERATORS, *REACHED, *REBUILDS):
            _write(folder / edit.name, edit)
        _write(folder / "again", None)
        _write(folder / "class-beside", None, beside=BESIDE)
        _write(folder / "without-debug", None, options="-g:none")
        for release in (8, 11):
            _write(folder / f"release-{release}", None, options=f"--release {release}")
        libraries = f"{jar()}:{LIBRARIES}/*"
        classes.mkdir()
        source = str(SOURCES / "CodeFacts.java")
        subprocess.run(["javac", "-nowarn", "-d", str(classes), "-cp", libraries, source], check=True, timeout=_BUILD_S)
        command = ["java", *OPENS, "-cp", f"{libraries}:{classes}", "kstreams.runbooks.facts.CodeFacts", str(folder)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_BUILD_S, check=False)
        assert ran.returncode == 0, ran.stderr[-2000:]
        return dict(_read(folder))


def _read(folder: Path) -> Iterator[tuple[str, Side]]:
    for file in sorted(folder.glob("*/facts.yaml")):
        facts = read_facts(file.read_text("utf-8"), file.parent.name)
        assert facts.text is not None
        yield file.parent.name, Side(parse_topology(facts.text), facts.read)


def changes(name: str) -> dict[str, CodeChange]:
    """What became of each part of the code between the first build and another one."""
    compared = Compared(sides()["base"], sides()[name])
    return {f"{one.where}.{one.field}": one for one in code_changes(compared)}


def test_every_part_of_the_program_has_a_digest() -> None:
    """Nothing of it is not provable: the cases below compare digests."""
    found = sides()["base"].declared.code
    assert [where for where, one in found.items() if one.not_provable] == []
    assert len(found) > 45


@pytest.mark.parametrize("edit", (*OPERATORS, *REACHED), ids=lambda edit: edit.name)
def test_changed_code_is_never_called_the_same(edit: Edit) -> None:
    """Each place that the edit reaches has other code, by the names of methods; one that it does not reach stays."""
    found = changes(edit.name)
    states = {where: found[where].state for where in edit.wherever}
    assert states == dict.fromkeys(edit.wherever, "other")
    assert not edit.as_is or found[edit.as_is].state == "same"


@pytest.mark.parametrize("name", ["again", "class-beside", "without-debug", *(one.name for one in REBUILDS)])
def test_a_rebuild_without_a_change_is_the_same(name: str) -> None:
    """In every part of the program."""
    found = changes(name)
    assert {where: one.state for where, one in found.items() if one.state != "same"} == {}


@pytest.mark.parametrize("release", [8, 11])
def test_a_build_for_another_release_of_java_is_never_other_code(release: int) -> None:
    """The compiler writes other instructions of some methods: those are not known, and the rest is the same."""
    states = [one.state for one in changes(f"release-{release}").values()]
    assert "other" not in states
    assert states.count("same") > 5
