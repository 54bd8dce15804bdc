"""Serdes that a program leaves to its settings, as the jar reads them of the same code on three releases; no broker."""

from pathlib import Path
from typing import Any

import pytest
from lab.topology_facts import compiled, facts_of, java, reasons

# Before 3.0 the library has a default; from 3.9 on it makes stores with factories.
RELEASES = ["2.8.2", "3.4.1", "4.3.1"]
_ENDING = "_of_settings"
_KEY, _VALUE = ["default.key.serde"], ["default.value.serde"]


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    """Each of three generations."""
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def programs(release: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The class path of LeftToSettings.java, compiled with a release."""
    return compiled(release, tmp_path_factory.mktemp(release), "LeftToSettings.java")


def _left(programs: str, method: str, tmp_path: Path, **settings: str) -> dict[str, dict[str, list[str]]]:
    """The settings that give a serde, by field, of each part of a program that leaves one to them."""
    file = tmp_path / "app.properties"
    given = {"application.id": "app", "bootstrap.servers": "none:0", **settings}
    file.write_text("".join(f"{name}={value}\n" for name, value in given.items()), encoding="latin-1")
    facts = facts_of(programs, f"LeftToSettings::{method}", "--properties", str(file))
    parts: dict[str, Any] = {**facts["stores"], **facts["operators"], **facts["suppressions"]}
    found = {
        name: {field.removesuffix(_ENDING): one for field, one in part.items() if field.endswith(_ENDING)}
        for name, part in parts.items()
    }
    return {name: fields for name, fields in found.items() if fields}


def test_sources_and_sinks(programs: str, tmp_path: Path) -> None:
    """One without a serde of its own; a mapping drops that of the values, and a sink inherits the others."""
    expected = {"values-out": {"value_serde": _VALUE}, "keys-in": {"key_serde": _KEY}}
    assert _left(programs, "ends", tmp_path) == expected
    # Whether the setting is given is another question.
    string = "org.apache.kafka.common.serialization.Serdes$StringSerde"
    assert _left(programs, "ends", tmp_path, **{_KEY[0]: string, _VALUE[0]: string}) == expected


def test_stores_and_their_repartition_topics(programs: str, tmp_path: Path) -> None:
    """A new key has no serde; the grouping gives those of the other count."""
    left = _left(programs, "counts", tmp_path)
    assert {name: set(fields) for name, fields in left.items()} == {
        next(name for name in left if "STATE-STORE" in name): {"key_serde"},
        "other-repartition-sink": {"key_serde"},
        "other-repartition-source": {"key_serde"},
    }


def test_the_values_that_a_foreign_key_join_hashes(programs: str, tmp_path: Path) -> None:
    """Its operator has no serde among its facts, and takes one all the same."""
    assert list(_left(programs, "foreignKeys", tmp_path).values()) == [{"value_serde": _VALUE}]


def test_a_windowed_serde_has_settings_of_its_own(programs: str, tmp_path: Path) -> None:
    """The default of keys is not asked for."""
    assert _left(programs, "windowed", tmp_path) == {}


def test_the_library_has_a_default_until_2_8(programs: str, release: str) -> None:
    """From 3.0 on the first task dies of this exception."""
    said = java(programs, "LeftToSettings").stdout
    asks = "Please specify a value serde or set one through StreamsConfig#DEFAULT_VALUE_SERDE_CLASS_CONFIG\n"
    assert said == ("ByteArraySerde\n" if release == "2.8.2" else asks)


def test_a_builder_of_the_program(programs: str) -> None:
    """Its class makes the store, and that logging is on is not proof that the store writes its changelog."""
    facts = facts_of(programs, "LeftToSettings::ownBuilder")
    assert facts["stores"] == {"fast": {"global": False, "supplier": "LeftToSettings$Fast"}}
    assert "only its code shows whether the store writes each change" in reasons(facts)["stores", "fast", "logging"]
    assert ("stores", "fast") in reasons(facts)
