"""The declaration that `discover` writes from topology facts loads, says what was read, and asks for the rest."""

from pathlib import Path

import yaml
from kstreams_runbooks.decide.topology.code_facts import merged
from kstreams_runbooks.fleet.topology_declaration import read_topology_declaration
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredOperator, DeclaredStore, Serde
from kstreams_runbooks.present.read_declaration import read_declaration
from world.facts import COUNTED

READ = read_facts(COUNTED, "test").read


def test_what_was_read_is_declared_and_no_code_contradicts_it(tmp_path: Path) -> None:
    """The file loads as it stands; with the facts it is what they are alone."""
    text = read_declaration("counts", "4.3.1", READ)
    (file := tmp_path / "4.3.1.yaml").write_text(text)
    declared = read_topology_declaration(file)
    assert declared.stores["readings-store"].window == READ.stores["readings-store"].window
    assert declared.suppressions["closed"].max_records == 1000
    both = merged(READ, declared)
    assert both.contradictions == ()
    assert (both.stores, both.suppressions, both.config) == (READ.stores, READ.suppressions, READ.config)


def test_only_what_no_code_shows_is_asked() -> None:
    """A format with the schema of a class, a lambda, an input's key; partitions are those of the cluster."""
    text = read_declaration("counts", "4.3.1", READ)
    asked = [line.strip() for line in text.splitlines() if ": null" in line]
    assert asked == [
        "key_serde: null   # {name: string}",
        'value_serde: null   # {name: "com.acme.Reading", schema_version: 1}',
        "key: null   # the key of its records, in words",
    ]


def test_an_entry_of_which_nothing_is_known_is_left_out() -> None:
    """And a section that has no other."""
    read = Declaration(operators={"a": DeclaredOperator()})
    assert "operators" not in read_declaration("x", "4.3.1", read)
    read = Declaration(operators={"a": DeclaredOperator(), "b": DeclaredOperator(offset_reset="latest")})
    assert read_declaration("x", "4.3.1", read).endswith("operators:\n  b:\n    offset_reset: latest\n")


def test_a_key_that_code_does_not_follow_is_asked() -> None:
    """Behind a selectKey, say."""
    read = Declaration(stores={"a: b": DeclaredStore(kind="key_value", value_serde=Serde("long"))})
    text = read_declaration("x", "4.3.1", read)
    assert '  "a: b":\n    kind: key_value\n    value_serde: {name: long}\n    key: null   # the key of its' in text


def test_text_of_an_agent_stays_on_its_line() -> None:
    """A name with a line break is no second line of YAML."""
    evil = 'x\n  evil: "1"'
    read = Declaration(
        stores={evil: DeclaredStore(value_serde=Serde(evil, is_class=True), key_serde=Serde(evil))},
        config={evil: evil},
    )
    found = yaml.safe_load(read_declaration(evil, "4.3.1", read))
    assert list(found["stores"]) == list(found["config"]) == [evil]
    assert set(found["stores"][evil]) == {"key_serde", "value_serde", "key"}
