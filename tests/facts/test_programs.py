"""The command that is given a method: programs with shapes of their own, and every kind of bad input."""

import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from lab.topology_facts import COMMAND, compiled, document, facts_of, java, reasons

RELEASES = ["3.4.1", "4.3.1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the compiled programs are."""
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module", params=RELEASES)
def programs(request: pytest.FixtureRequest, folder: Path) -> str:
    """The class path of Programs.java, compiled with a release."""
    return compiled(request.param, folder / request.param, "Programs.java")


def _facts(programs: str, method: str, *options: str) -> dict[str, Any]:
    return facts_of(programs, method if "::" in method else f"Programs::{method}", *options)


def test_windows_retention_and_caches(programs: str) -> None:
    """The cache of a final session or sliding window is off; the retention is that of a supplier, if there is one."""
    facts = _facts(programs, "windows")
    stores = facts["stores"]
    assert [stores[name]["caching"] for name in ("final-sessions", "sessions", "final-sliding", "hopping")] == [
        False,
        True,
        False,
        True,
    ]
    assert stores["hopping"]["retention_ms"] == 7_200_000
    assert stores["hopping"]["window"] == {
        "kind": "hopping",
        "size_ms": 600_000,
        "advance_ms": 120_000,
        "grace_ms": 0,
        "grace_given": True,
        "emit": "on_window_update",
    }
    assert (
        facts["suppressions"]["slowly"].items()
        >= {
            "mode": "until_time_limit",
            "time_limit_ms": 90_000,
            "max_bytes": 4096,
            "max_records": None,
            "when_full": "emit_early",
        }.items()
    )


def test_an_unknown_window_is_not_read(programs: str) -> None:
    """A class that is not in the table of readers is named, and no fact is made of it."""
    facts = _facts(programs, "windows")
    assert facts["stores"]["unlimited"]["window"] == {}
    reason = reasons(facts)["stores", "unlimited", "window", "kind"]
    assert reason.startswith("class org.apache.kafka.streams.kstream.UnlimitedWindows of the window is not known")


def test_topics_and_changelogs(programs: str) -> None:
    """A pattern with its reset, a fixed number of partitions, a dynamic sink, changelogs as the program sets them."""
    facts = _facts(programs, "topics")
    events, chosen = facts["operators"]["events"], facts["operators"]["chosen"]
    assert (events["pattern"], events["offset_reset"]) == ("events-.*", "earliest")
    assert facts["topics"]["spread-repartition"]["partitions"] == 6
    assert (facts["topics"]["events-.*"]["joined_with"], facts["topics"]["countries"]["joined_with"]) == (["late"], [])
    assert (chosen["dynamic"], chosen["topic"], chosen["partitioner"]) == (True, None, "Programs$First")
    counted, lost, countries = (facts["stores"][name] for name in ("counted", "lost", "countries-store"))
    assert (counted["logging_config"], counted["caching"]) == ({"min.insync.replicas": "2"}, False)
    assert facts["stores"]["rates-store"]["supplier"] in {
        "org.apache.kafka.streams.state.internals.InMemoryKeyValueBytesStoreSupplier",
        "org.apache.kafka.streams.kstream.Materialized$StoreType.IN_MEMORY",
    }
    assert (lost["logging"], countries["global"], countries["logging"]) == (False, True, False)


def test_the_state_of_a_serde_is_read_and_its_text_is_not(programs: str) -> None:
    """Two objects of one class may write differently, and a text may be a secret."""
    events = _facts(programs, "topics")["operators"]["events"]
    assert events["value_serde"] == {"name": "Programs$Sealing(type=java.lang.String, version=7)"}


def test_a_join_that_looks_further_ahead_has_no_difference(programs: str) -> None:
    """A declaration has one difference for both sides; the grace is read."""
    facts = _facts(programs, "topics")
    window = facts["stores"]["skewed-this-join-store"]["window"]
    assert (window["kind"], window["grace_ms"]) == ("join", 60_000)
    assert "declare the window manually" in reasons(facts)["stores", "skewed-this-join-store", "window", "size_ms"]


def test_processors_of_ones_own(programs: str) -> None:
    """Their classes are read, a lambda by the class around it; what they do with a store and when they run is not."""
    facts = _facts(programs, "processors")
    assert facts["operators"]["counted"] == {"processor": "Programs$Counting"}
    assert facts["operators"]["seen"] == {"processor": "Programs (lambda)"}
    assert set(reasons(facts)) >= {("operators", "counted", "punctuators"), ("stores", "seen", "aggregate")}


def test_a_key_is_followed_through_a_processor_that_cannot_change_it(programs: str) -> None:
    """Another processor may give a new one: its key is not read."""
    facts = _facts(programs, "keys")
    assert facts["topics"]["kept"]["key_of"] == ["orders"]
    assert "key_of" not in facts["topics"]["passed"]
    assert reasons(facts)["topics", "passed", "key_of"].startswith("operator passing may give each record another key")


def test_settings_without_secrets(programs: str, tmp_path: Path) -> None:
    """The library parses them; a password, a setting that it does not know and a wrong value are not shown."""
    file = tmp_path / "app.properties"
    file.write_text(
        "application.id=app\nbootstrap.servers=none:0\nnum.stream.threads= 3 \nconsumer.session.timeout.ms=12000\n"
        "default.value.serde=org.apache.kafka.common.serialization.Serdes$LongSerde\n"
        'client.id=a "quoted" name \\ud83d\\udcbe\n'
        "sasl.jaas.config=hunter2\nregistry.token=hunter3\ncommit.interval.ms=soon-hunter4\n",
        encoding="latin-1",
    )
    facts = _facts(programs, "topics", "--properties", str(file))
    assert facts["config"].items() >= {"num.stream.threads": "3", "consumer.session.timeout.ms": "12000"}.items()
    assert facts["default_value_serde"]["name"] == "long"
    assert facts["config"]["client.id"] == 'a "quoted" name \U0001f4be'
    hidden = {"sasl.jaas.config", "registry.token", "commit.interval.ms"}
    assert {fact[1] for fact in reasons(facts) if fact[0] == "config"} == hidden
    assert "hunter" not in str(facts)


def test_a_foreign_key_join_has_a_partitioner_for_each_side(programs: str) -> None:
    """The library puts both into lambdas of its own; without them it has one for the answers alone."""
    operators = _facts(programs, "foreignKeys")["operators"]
    found = {name: entry["partitioner"] for name, entry in operators.items() if name.endswith("-sink")}
    assert found == {
        "plain-subscription-registration-sink": None,
        "plain-subscription-response-sink": None,
        "chosen-subscription-registration-sink": "Programs$ToPart(part=1)",
        "chosen-subscription-response-sink": "Programs$ToPart(part=0)",
    }


def test_a_tag_of_a_client_is_shown(programs: str, tmp_path: Path) -> None:
    """Kafka has such settings in no table: assignors read any name, and a name of a secret is not shown."""
    file = tmp_path / "app.properties"
    file.write_text("client.tag.zone=a\nclient.tag.token=hunter2\n", encoding="latin-1")
    facts = _facts(programs, "topics", "--properties", str(file))
    assert facts["config"]["client.tag.zone"] == "a"
    assert ("config", "client.tag.token") in reasons(facts)
    assert "hunter2" not in str(facts)


def test_a_setting_of_the_program_itself_is_a_digest(programs: str, tmp_path: Path) -> None:
    """Equal values have equal ones; a value is not shown, for it may be a secret, and 16 bits do not tell which one."""

    def config(scale: str) -> Mapping[str, str]:
        file = tmp_path / "app.properties"
        file.write_text(f"application.id=app\nbootstrap.servers=none:0\namount.scale={scale}\n", encoding="latin-1")
        read: Mapping[str, str] = _facts(programs, "topics", "--properties", str(file))["config"]
        return read

    assert config("hunter2")["amount.scale"] == config("hunter2")["amount.scale"] != config("hunter3")["amount.scale"]
    assert re.fullmatch(r"\(digest [0-9a-f]{4}\)", config("hunter2")["amount.scale"])


def test_the_setting_gives_stores_headers(folder: Path, tmp_path: Path) -> None:
    """Those without a supplier of the program; without settings the fact is not read."""
    file = tmp_path / "app.properties"
    file.write_text("application.id=app\nbootstrap.servers=none:0\ndsl.store.format=headers\n", encoding="latin-1")
    classes = compiled("4.3.1", folder / "everywhere", "Everywhere.java")
    stores = _facts(classes, "Everywhere::stores", "--properties", str(file))["stores"]
    assert {name for name, entry in stores.items() if entry["headers"]} == {"customers-store", "countries-store"}
    without = _facts(classes, "Everywhere::stores")
    assert "headers" not in without["stores"]["customers-store"]
    assert reasons(without)["stores", "customers-store", "headers"].startswith("dsl.store.format decides it")


def test_operators_behind_a_wrapper_are_not_read(folder: Path, tmp_path: Path) -> None:
    """A ProcessorWrapper (KIP-1112) hides the classes of Kafka: nothing is made of what depends on them."""
    file = tmp_path / "app.properties"
    file.write_text("application.id=app\nbootstrap.servers=none:0\ntopic.retention.ms=5\n", encoding="latin-1")
    classes = compiled("4.3.1", folder / "hidden", "Hidden.java")
    facts = _facts(classes, "Hidden::topology", "--properties", str(file))
    counts, unread = facts["stores"]["counts"], reasons(facts)
    assert (counts["kind"], counts["value_serde"]["name"], facts["suppressions"]) == ("window", "long", {})
    hidden = {("stores", "counts", fact) for fact in ("source_table", "aggregate", "join", "window")}
    assert hidden | {("stores", "closed-store")} <= set(unread)
    assert not {"source_table", "aggregate", "join", "window"} & set(counts)
    assert facts["config"]["topic.retention.ms"] == "5"


def test_a_topic_with_two_formats(folder: Path, tmp_path: Path) -> None:
    """It is read as text and written as numbers: neither is the format of the topic."""
    file = tmp_path / "app.properties"
    file.write_text("application.id=app\nbootstrap.servers=none:0\n", encoding="latin-1")
    classes = compiled("4.3.1", folder / "hidden", "Hidden.java")
    facts = _facts(classes, "Hidden::topology", "--properties", str(file))
    assert facts["topics"]["in"]["key_serde"]["name"] == "string"
    assert "several formats (long, string)" in reasons(facts)["topics", "in", "value_serde"]


def test_a_relocated_library_is_read(folder: Path) -> None:
    """A build may put Kafka's classes in another package: the same facts, except the names of classes.

    Digests have these names in them.
    """
    classes = compiled("4.3.1", folder / "4.3.1", "Programs.java")
    relocated = folder / "relocated"
    for entry in classes.split(":"):
        path = Path(entry.removesuffix("/*"))
        for jar in path.glob("kafka-*.jar"):
            with ZipFile(jar) as archive:
                for name in archive.namelist():
                    _relocate(relocated, name, archive.read(name))
        if path == folder / "4.3.1":
            for file in path.glob("*.class"):
                _relocate(relocated, file.name, file.read_bytes())
    others = ":".join(entry for entry in classes.split(":") if entry.endswith((".jar", "/*")))
    found, wanted = _facts(f"{relocated}:{others}", "windows"), _facts(classes, "windows")
    del found["code"], wanted["code"]
    assert found["stores"]["hopping"]["supplier"].startswith("com.acmeco.kafka.streams.")
    assert str(found).replace("com.acmeco", "org.apache") == str(wanted)


def _relocate(folder: Path, name: str, content: bytes) -> None:
    """Both names have the same length, which the format of class files needs."""
    if name.endswith("/"):
        return
    file = folder / name.replace("org/apache/kafka", "com/acmeco/kafka")
    file.parent.mkdir(parents=True, exist_ok=True)
    for old, new in ((b"org/apache/kafka", b"com/acmeco/kafka"), (b"org.apache.kafka", b"com.acmeco.kafka")):
        content = content.replace(old, new)
    file.write_bytes(content)


def test_properties_that_can_be_read_once(programs: str) -> None:
    """What a shell gives with `<(…)` is open in the first JVM alone; of its content, no copy is left."""
    script = 'exec java -cp "$0" "$1" --factory Programs::topics --properties <(echo application.id=once; echo "$2")'
    ran = subprocess.run(
        ["bash", "-c", script, programs, COMMAND, "bootstrap.servers=nowhere:1"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert document(ran.stdout)["config"]["application.id"] == "once"
    assert not list(Path(tempfile.gettempdir()).glob("topology-facts-*.properties"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "--factory has value '' (expected CLASS::METHOD)"),
        (["--factory"], "option --factory has no value"),
        (["--fabric", "x"], "option --fabric is not known"),
        (["--factory", "Programs"], "--factory has value 'Programs' (expected CLASS::METHOD)"),
        (["--factory", "com.acme.App::topology"], "class com.acme.App is not on the class path"),
        (["--factory", "Programs::absent"], "class Programs has no static method absent"),
        (["--factory", "Programs::perObject"], "class Programs has no static method perObject"),
        (["--factory", "Programs::fails"], "failed with java.lang.IllegalStateException: no schema registry at http"),
        (["--factory", "Programs::connects", "--timeout-s", "1"], "Programs::connects has not returned after 1 s"),
        (["--factory", "Programs::isRefused"], "failed with java.net.ConnectException: Connection refused"),
        (["--factory", "Programs::exits"], "the JVM was ended before Programs::exits returned"),
        (["--factory", "Programs::text"], "class java.lang.String is not a Topology of Kafka Streams"),
        (["--factory", "Programs::windows", "--timeout-s", "0"], "--timeout-s has value '0'"),
        (["--factory", "Programs::windows", "--properties", "absent"], "--properties absent is not readable"),
    ],
)
def test_bad_input_is_one_sentence(folder: Path, arguments: list[str], sentence: str) -> None:
    """On stderr, with exit code 2 and nothing on stdout."""
    ran = java(compiled("4.3.1", folder / "4.3.1", "Programs.java"), COMMAND, *arguments)
    lines = [line for line in ran.stderr.splitlines() if line != "a line of the program"]
    assert (ran.returncode, ran.stdout, len(lines)) == (2, "", 1)
    assert lines[0].startswith("topology-facts: ")
    assert sentence in lines[0]
