"""A document of topology facts as values; bad documents in one sentence."""

import re

import pytest
from kstreams_runbooks.decide.topology.code_facts import is_facts
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import (
    DEFAULT,
    DeclaredOperator,
    LibraryRefusal,
    Serde,
    TopologyFacts,
    UnlinkedClass,
    Window,
)
from world.facts import COUNTED


def _facts(*changes: tuple[str, str]) -> TopologyFacts:
    text = COUNTED
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return read_facts(text, "old.yaml")


def test_facts_are_those_of_a_declaration() -> None:
    """Stores, suppressions, topics, settings and release, in the words of declarations."""
    read = _facts().read
    store = read.stores["readings-store"]
    assert (store.kind, store.aggregate, store.aggregation, store.logging) == ("window", "count", "count", True)
    assert store.window == Window("tumbling", 3_600_000, 300_000)
    assert (store.value_serde, store.key_of) == (Serde("long"), frozenset({"readings"}))
    assert read.topics["reading-counts"].key_of == frozenset({"readings (windowed)"})
    closed = read.suppressions["closed"]
    assert (closed.mode, closed.max_records, closed.max_bytes, closed.when_full) == (
        "until_window_closes",
        1000,
        None,
        "shut_down",
    )
    assert read.topics["readings"].joined_with == frozenset()
    assert (read.config, read.library) == ({"application.id": "app"}, Release("4.3.1"))


def test_the_description_is_in_the_document() -> None:
    """One file for each release is enough."""
    text = _facts().text
    assert text is not None
    assert parse_topology(text).stores == {"readings-store", "closed-store"}


def test_a_class_of_the_program_is_not_a_proof_of_its_format() -> None:
    """It has no fact about a version of its schema; a format of Kafka has the fact that there is none."""
    topics = _facts().read.topics
    assert topics["readings"].value_serde == Serde("com.acme.Reading", is_class=True)
    assert topics["reading-counts"].value_serde == Serde("long")


@pytest.mark.parametrize(
    ("library", "by_serializer"), [("4.3.1", False), ("3.9.1", False), ("3.8.1", True), ("3.4.1-vendor", None)]
)
def test_a_store_before_3_9_names_the_serializer_of_its_values(library: str, by_serializer: bool | None) -> None:
    """Later ones name the serde; of a release that is not known it may be either. Keys are named by their serde."""
    store = _facts(('library: "4.3.1"', f'library: "{library}"')).read.stores["readings-store"]
    assert store.value_serde is not None
    assert store.key_serde is not None
    assert store.value_serde.by_serializer is by_serializer
    assert store.key_serde.by_serializer is False


@pytest.mark.parametrize(
    ("supplier", "in_memory"),
    [
        ("org.apache.kafka.streams.state.internals.RocksDbWindowBytesStoreSupplier", False),
        ("org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers", True),
        ("org.apache.kafka.streams.kstream.Materialized$StoreType.IN_MEMORY", True),
        ("com.acme.InMemoryWithLimit", None),
        ("lru_map(max_entries=100)", None),
    ],
)
def test_a_supplier_of_the_library_is_in_memory_or_on_the_disk(supplier: str, in_memory: bool | None) -> None:
    """A class of the program may be either, whatever it is called."""
    store = _facts(("    supplier: null", f'    supplier: "{supplier}"')).read.stores["readings-store"]
    assert (store.supplier, store.in_memory) == (supplier, in_memory)


def test_no_supplier_is_the_choice_of_the_library() -> None:
    """Null is a fact; a document without it has none."""
    assert _facts().read.stores["readings-store"].supplier == DEFAULT
    assert _facts(("    supplier: null\n", "")).read.stores["readings-store"].supplier is None


def test_null_is_a_value_of_an_operator() -> None:
    """The program leaves the choice to the library; a fact that is absent is unknown."""
    joins = '  "looked-up": {join: "left"}\n  "by-foreign-key": {join: "left", foreign_key: true}\nnot_read:\n'
    operators = _facts(("not_read:\n", joins)).read.operators
    assert operators["out"] == DeclaredOperator(partitioner=DEFAULT)
    assert operators["readings-source"] == DeclaredOperator("latest")
    assert operators["looked-up"].join == "left"
    assert operators["by-foreign-key"].join is None


def test_a_partitioner_inside_a_lambda_of_the_library_is_one_of_the_program() -> None:
    """As a jar writes it that does not look into a foreign-key join. The lambda of the answers is the library's."""
    own = "org.apache.kafka.streams.kstream.internals.KTableImpl (lambda)"
    given = f"{own}(arg$2=org.apache.kafka.streams.kstream.internals.TableJoinedInternal)"
    sinks = f'  "asks": {{partitioner: "{given}"}}\n  "answers": {{partitioner: "{own}"}}\nnot_read:\n'
    operators = _facts(("not_read:\n", sinks)).read.operators
    assert (operators["asks"].partitioner, operators["answers"].partitioner) == (given, DEFAULT)


def test_what_was_not_read_is_unknown_with_its_reason() -> None:
    """By the path of the fact."""
    read = _facts().read
    assert read.topics["readings"].partitions is None
    assert read.not_read["topics.reading-counts.key_serde"].startswith("the format is a lambda of App")
    assert "sasl.jaas.config" not in (read.config or {})


def test_a_lambda_is_the_class_that_has_it() -> None:
    """Enough to differ from another format; a fact of another reason, place or subject is no lambda."""
    lambda_of = "the format is a lambda of com.acme.Json (lambda), which has another name in each run; declare it"
    more = "\n".join(
        f'  - {{fact: [{", ".join(fact)}], reason: "{reason}"}}'
        for fact, reason in (
            (("stores", "readings-store", "value_serde"), lambda_of),
            (("stores", "readings-store", "key_serde"), "class com.acme.Json is inside more than 4 others"),
            (("stores", "gone", "value_serde"), lambda_of),
            (("topics", "readings", "partitions"), lambda_of),
            (("default_value_serde",), lambda_of),
        )
    )
    both = '    key_serde: {name: "string", schema_version: null}\n    kind: "window"\n'
    long = '    value_serde: {name: "long", schema_version: null}\n    window'
    read = _facts(("not_read:\n", f"not_read:\n{more}\n"), (both, '    kind: "window"\n'), (long, "    window")).read
    assert read.stores["readings-store"].value_serde == Serde("com.acme.Json (lambda)", is_class=True)
    assert read.topics["reading-counts"].key_serde == Serde("App (lambda)", is_class=True)
    assert (set(read.stores), read.topics["readings"].partitions) == ({"readings-store"}, None)
    assert read.not_read["stores.readings-store.value_serde"] == lambda_of


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("size_ms: 3600000", "later: 1"),
        ("not_read:\n", 'not_read:\n  - {fact: ["stores", "readings-store", "window", "emit"], reason: "x"}\n'),
    ],
)
def test_a_window_with_a_part_that_was_not_read_is_unknown(old: str, new: str) -> None:
    """A default in place of it would be a guess."""
    assert _facts((old, new)).read.stores["readings-store"].window is None


_JOIN = """facts: 1
library: "4.3.1"
stores:
  joined:
    kind: "join"
    retention_ms: 1260000
    window: {kind: "join", before_ms: 300000, after_ms: 900000, grace_ms: 60000}
not_read:
  - {fact: ["stores", "joined", "window", "size_ms"], reason: "a declaration has one difference"}
"""


def test_a_join_with_two_differences_has_no_size_that_is_missing() -> None:
    """Without one of the differences its window is unknown."""
    read = read_facts(_JOIN, "new.yaml").read
    assert read.stores["joined"].window == Window("join", 300_000, 60_000, after_ms=900_000)
    assert read.not_read == {}
    half = read_facts(_JOIN.replace("after_ms: 900000, ", ""), "new.yaml").read
    assert (half.stores["joined"].window, list(half.not_read)) == (None, ["stores.joined.window.size_ms"])


UNREAD_LIMIT = ("not_read:\n", 'not_read:\n  - {fact: ["suppressions", "closed", "max_bytes"], reason: "a field"}\n')


def test_a_suppression_with_a_limit_that_was_not_read_is_unknown() -> None:
    """A limit that is absent is not the same as no limit."""
    assert _facts(("    max_bytes: null\n", ""), UNREAD_LIMIT).read.suppressions == {}


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("    max_bytes: null\n", "", '"suppressions.closed" has no max_bytes, and `not_read` has no reason for it'),
        (
            "not_read:\n",
            'not_read:\n  - {fact: ["stores", "readings-store", "logging"], reason: "x"}\n',
            '"stores.readings-store.logging" has a value and is under `not_read` (expected: one of them)',
        ),
        (
            "not_read:\n",
            'not_read:\n  - {fact: ["topics", "readings", "joined_with"], reason: "x"}\n',
            '"topics.readings.joined_with" has a value and is under `not_read` (expected: one of them)',
        ),
        (
            "not_read:\n",
            'refused:\n  - {by: "streams", settings: [], exception: "a.B", sentence: "No."}\nnot_read:\n',
            "refused[0].settings is empty; at least one is needed",
        ),
    ],
)
def test_a_document_that_contradicts_itself_is_named(old: str, new: str, sentence: str) -> None:
    """It was edited: no version of the jar prints a fact twice, or leaves one out without a reason."""
    with pytest.raises(BadInput, match=re.escape(sentence)):
        _facts((old, new))


def test_what_is_nearly_a_contradiction_is_read() -> None:
    """A fact without a value has a reason, and an entry about a store that is not there is about none."""
    gone = 'not_read:\n  - {fact: ["stores", "gone", "logging"], reason: "x"}\n'
    assert _facts(("not_read:\n", gone)).read.stores["readings-store"].logging is True
    part = 'not_read:\n  - {fact: ["stores", "readings-store", "value_serde", "schema_version"], reason: "x"}\n'
    assert _facts(("not_read:\n", part)).read.stores["readings-store"].value_serde == Serde("long")


def test_an_extractor_that_was_not_read_is_that_of_its_topics() -> None:
    """The reason is that of the source."""
    unread = 'not_read:\n  - {fact: ["operators", "source", "timestamp_extractor"], reason: "a list"}\n'
    source = 'operators:\n  "source": {topics: ["readings"], pattern: null}\n'
    text = f"facts: 1\ntopology: null\n{source}{unread}"
    read = read_facts(text, "old.yaml").read
    assert read.not_read["topics.readings.timestamp_extractor"] == "a list"
    assert "readings" not in read.topics


def test_a_release_of_a_vendor_is_not_read() -> None:
    """Its rules are those of the release of Apache Kafka that it is made of, which a person knows."""
    read = _facts(('library: "4.3.1"', 'library: "7.6.0-ccs"')).read
    assert read.library is None
    assert read.not_read["library"].startswith("7.6.0-ccs is not a release of Apache Kafka")


def test_a_document_without_its_topology_has_the_reason() -> None:
    """The agent writes it for an application that it cannot read."""
    found = read_facts('facts: 1\nnot_read:\n  - {fact: ["topology"], reason: "two named topologies"}\n', "orders-1")
    assert (found.text, found.read.not_read) == (None, {"topology": "two named topologies"})


def test_facts_that_decide_nothing_have_a_line_too() -> None:
    """For a comparison of two documents; the description has lines of its own."""
    lines = _facts().lines
    assert "stores.readings-store.caching: true" in lines
    assert not any(line.startswith(("topology", "not_read", "facts")) for line in lines)


def test_a_later_jar_may_read_more() -> None:
    """A fact that is not known here is left out."""
    assert _facts(("    caching: true\n", "    caching: true\n    tiered: yes\n")).read == _facts().read


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (COUNTED.replace("facts: 1", "facts: 2"), "old.yaml: facts: 2 is a format that is not known (expected 1)"),
        (COUNTED.replace("facts: 1", "facts: true"), "old.yaml: facts: true is a format that is not known"),
        ("facts:\n", "old.yaml: facts: null is a format that is not known"),
        (COUNTED[:300] + "\n}", "old.yaml: "),
        ("stores: {}\n", "old.yaml: is not a document of topology facts"),
        ("- facts: 1\n", "old.yaml: is not a document of topology facts"),
        ("facts: 1\n", "old.yaml: not_read is missing"),
        (COUNTED.replace('kind: "window"', "kind: [1]"), "old.yaml: stores.readings-store.kind must be "),
        (COUNTED.replace('library: "4.3.1"', 'library: "banana"'), 'old.yaml: library: "banana" is not a version'),
        (COUNTED.replace("caching: true", 'caching: "maybe"'), "old.yaml: stores.readings-store.caching: "),
        (COUNTED.replace("global: false", "global: [1]"), "old.yaml: stores.readings-store.global must be "),
        (COUNTED.replace("max_records: 1000", 'max_records: "x"'), "old.yaml: suppressions.closed.max_records: "),
        (
            'logging_config: "yes"'.join(COUNTED.rsplit("logging_config: {}", 1)),
            'old.yaml: suppressions.closed.logging_config: "yes" must be a mapping',
        ),
    ],
)
def test_bad_documents_are_one_sentence(text: str, sentence: str) -> None:
    """With the file, the place and what is expected."""
    with pytest.raises(BadInput) as refused:
        read_facts(text, "old.yaml")
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


def test_a_document_is_told_from_a_description_and_from_a_declaration() -> None:
    """By its first key, which has the format, so that a later format is named."""
    assert is_facts(COUNTED)
    assert is_facts("# printed by topology-facts.jar\n\n---\nfacts: 9\n")
    assert not is_facts("Topologies:\n   Sub-topology: 0\n")
    assert not is_facts("library: 4.3.1\nfacts: 1\n")


@pytest.mark.parametrize(
    ("supplier", "in_memory"),
    [
        ("null", None),
        ('"org.apache.kafka.streams.state.internals.InMemoryWindowBytesStoreSupplier"', True),
        ('"org.apache.kafka.streams.state.internals.RocksDbWindowBytesStoreSupplier"', False),
        ('"com.acme.CachedSupplier"', None),
    ],
)
def test_the_class_that_makes_a_store_shows_its_place(supplier: str, in_memory: bool | None) -> None:
    """That of the library; the default is that of a setting."""
    read = read_facts(COUNTED.replace("supplier: null", f"supplier: {supplier}"), "facts.yaml").read
    assert read.stores["readings-store"].in_memory is in_memory


def test_a_topic_has_the_timestamp_extractor_of_its_source() -> None:
    """Null is that of the settings; a source whose class was not read has none."""
    sources = """
operators:
  one: {topics: [readings], pattern: null, timestamp_extractor: "com.acme.MeasuredAt"}
  other: {topics: ["reading-counts"], pattern: null, timestamp_extractor: null}
"""
    text = COUNTED.partition("operators:\n")[0] + sources.lstrip() + "not_read: []\n"
    topics = read_facts(text, "facts.yaml").read.topics
    assert topics["readings"].timestamp_extractor == "com.acme.MeasuredAt"
    assert topics["reading-counts"].timestamp_extractor == "default"
    unread = read_facts(text.replace(", timestamp_extractor: null", ""), "facts.yaml").read.topics
    assert unread["reading-counts"].timestamp_extractor is None


NEEDED_BY = '"acme.Serde"'
WHOLE_NEEDED_BY = f"needed_by: {NEEDED_BY}, "
LINK = (
    '{class: "acme.Avro", jar: "avro.jar", needed_by: "acme.Serde", handled: false, references: 2, sentence: "Avro…"}'
)


def _link(old: str, new: str) -> str:
    assert old in LINK
    return LINK.replace(old, new)


def test_the_classes_that_do_not_link_are_read() -> None:
    """An empty list is a fact; without one nothing was scanned. No line of them is compared."""
    assert _facts().read.unlinked is None
    assert _facts(("not_read:", "links: []\nnot_read:")).read.unlinked == ()
    found = _facts(("not_read:", f"links:\n  - {LINK}\nnot_read:"))
    [unlinked] = found.read.unlinked or ()
    assert unlinked == UnlinkedClass("acme.Avro", "avro.jar", "Avro…", 2, is_handled=False, needed_by="acme.Serde")
    assert unlinked.stops_the_build
    assert not any("Avro" in line for line in found.lines)
    free = _facts(("not_read:", f"links:\n  - {_link(NEEDED_BY, 'null')}\nnot_read:"))
    assert [(one.needed_by, one.stops_the_build) for one in free.read.unlinked or ()] == [("", False)]


@pytest.mark.parametrize(
    ("links", "sentence"),
    [
        (f"links:\n  - {LINK}\n  - {LINK}\n", 'links: "acme.Avro" has two entries (expected: one a class)'),
        (f"links:\n  - {_link('references: 2', 'references: 0')}\n", "links"),
        (f"links:\n  - {_link('handled: false, ', '')}\n", "links"),
        (f"links:\n  - {_link(WHOLE_NEEDED_BY, '')}\n", "links"),
        ("links: 1\n", "links"),
    ],
)
def test_links_that_the_jar_does_not_write_are_refused(links: str, sentence: str) -> None:
    """A document that contradicts itself is not of the jar."""
    with pytest.raises(BadInput) as refused:
        _facts(("not_read:", f"{links}not_read:"))
    assert sentence in str(refused.value)
    assert "print the facts again" in str(refused.value)


def test_links_are_read_or_not_read() -> None:
    """Not both: one of the two would be taken for the truth."""
    entry = '- {fact: ["links"], reason: "class path: x"}'
    with pytest.raises(BadInput, match="links are in the document and under `not_read`"):
        _facts(("not_read:", f"links: []\nnot_read:\n  {entry}"))
    assert _facts(("not_read:", f"not_read:\n  {entry}")).read.not_read["links"] == "class path: x"


def test_what_the_library_refused_is_read() -> None:
    """An absent list was not tried, an empty one was taken."""
    assert _facts().read.refused is None
    assert _facts(("not_read:", "refused: []\nnot_read:")).read.refused == ()
    entry = '{by: "producer", settings: ["acks"], exception: "org.acme.ConfigException", sentence: "Must set\\u2026"}'
    read = _facts(("not_read:", f"refused:\n  - {entry}\nnot_read:"))
    assert read.read.refused == (LibraryRefusal("producer", ("acks",), "ConfigException", "Must set…"),)
    assert not any("refused" in line for line in read.lines)


@pytest.mark.parametrize("entry", ["x", '{by: "producer"}', '{by: "a", settings: "b", exception: "c", sentence: "d"}'])
def test_a_broken_refusal_is_bad_input(entry: str) -> None:
    """It is never left out."""
    with pytest.raises(BadInput, match="refused"):
        _facts(("not_read:", f"refused:\n  - {entry}\nnot_read:"))
