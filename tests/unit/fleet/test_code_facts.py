"""The part `code` of a document of topology facts."""

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.topology_facts import read_facts
from world.facts import COUNTED, with_code

ENTRY = "a" * 16
CODE = f"""\
code:
  digests:
    "{ENTRY}": {{methods: "0-1 3", libraries: "0"}}
  facts:
    "stores.readings-store.key": "{ENTRY}"
  java: [61]
  libraries: ["jackson-databind 2.15.2 {"b" * 16}"]
  methods:
    "com.acme.App": "count (lambda) 00000001, count (lambda) 00000002"
    "com.acme.Reading": "(shape) 00000003, at 00000004"
  not_provable:
    "operators.out.partitioner": "method com.acme.By.of uses java.lang.System.getenv, which reads more than code"
"""


def test_methods_and_libraries_are_found_by_their_places() -> None:
    """Two lambdas of one method have one name and two digests."""
    found = read_facts(with_code(COUNTED, CODE), "app.facts.yaml").read.code
    one = found["stores.readings-store.key"]
    assert one.methods == {
        "com.acme.App.count (lambda) 00000001",
        "com.acme.App.count (lambda) 00000002",
        "com.acme.Reading.at 00000004",
    }
    assert (one.digest, sorted(one.java)) == (ENTRY, [61])
    assert sorted(one.libraries) == [("jackson-databind", "2.15.2", "b" * 16)]
    assert found["operators.out.partitioner"].digest == ""
    assert "System.getenv" in found["operators.out.partitioner"].not_provable


def test_a_document_without_the_part_has_no_code() -> None:
    """The agent and the library print none."""
    assert read_facts(COUNTED, "app.facts.yaml").read.code == {}


def test_the_part_is_no_line_of_the_facts() -> None:
    """Lines are compared as text, and digests by their own rules."""
    assert not [line for line in read_facts(with_code(COUNTED, CODE), "a").lines if line.startswith("code")]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("0-1 3", "0-4", ".0-4. of digest .* is no place in its list"),
        ("0-1 3", "3-1", ".3-1. of digest .* is no place in its list"),
        ("0-1 3", "x", ".x. of digest .* is no place in its list"),
        (f'key": "{ENTRY}', f'key": "{"c" * 16}', "digest c+ is not among `digests`"),
        ("at 00000004", "at", "method .at. of .com.acme.Reading. has no digest"),
        ("jackson-databind 2.15.2", "jackson-databind", "is not a name, a version and a digest"),
        ("operators.out.partitioner", "stores.readings-store.key", "has a digest and is not provable"),
    ],
)
def test_a_part_that_contradicts_itself_is_bad_input(old: str, new: str, sentence: str) -> None:
    """In one sentence, with the source."""
    with pytest.raises(BadInput, match=f"app.facts.yaml: code: .*{sentence}"):
        read_facts(with_code(COUNTED, CODE.replace(old, new)), "app.facts.yaml")
