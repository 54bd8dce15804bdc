"""The draft of a new release: pure parts. tests/long/test_new_release.py reads the jars."""

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.rules import upgrade_path_rules
from lab.new_release import before, changed_facts, covering, gone, settings, upgrade_from
from lab.release_settings import Said

NEWEST = upgrade_path_rules().releases[-1].text
VALUES = {"type": "string", "values": ["2.4", "3.9", "4.0"]}


def test_a_release_is_compared_with_the_one_before_it() -> None:
    assert before("3.9.2", None) == ("3.9.1", "3.9.2")
    assert before("99.0.0", None) == (NEWEST, "99.0.0")
    assert before(NEWEST, "3.4.1") == ("3.4.1", NEWEST)


@pytest.mark.parametrize(
    ("release", "after", "sentence"),
    [
        ("4.4", None, "RELEASE=4.4: expected a release such as"),
        ("newest", None, "RELEASE=newest: expected a release such as"),
        (NEWEST, "4.9.9", "AFTER=4.9.9: expected one of"),
        ("0.10.0.0", None, "RELEASE=0.10.0.0: no release is older"),
    ],
)
def test_a_release_that_cannot_be_is_bad_input(release: str, after: str | None, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        before(release, after)


def test_settings_are_new_gone_or_otherwise() -> None:
    said: Said = {
        "a.new": {("streams", "2"): {"type": "int"}},
        "b.gone": {("admin", "1"): {"type": "int"}},
        "c.same": {("streams", "1"): {"type": "int"}, ("streams", "2"): {"type": "int"}},
        "upgrade.from": {("streams", "1"): {"values": ["2.4"]}, ("streams", "2"): {"values": ["2.4", "4.3"]}},
    }
    assert list(settings(said, "1", "2")) == [
        {"name": "a.new", "of": "streams", "is": "new", "type": "int"},
        {"name": "b.gone", "of": "admin", "is": "gone", "type": "int"},
        {"name": "upgrade.from", "of": "streams", "differs": {"values": {"added": ["4.3"]}}},
    ]


def test_values_of_upgrade_from_are_a_row_of_the_release() -> None:
    row = upgrade_from({"upgrade.from": {("streams", "4.1.0"): VALUES}}, "4.1.0")
    assert (row["releases"], row["lowest"], row["highest"]) == (["4.1"], "2.4", "4.0")
    assert upgrade_from({"upgrade.from": {("streams", "4.1.1"): VALUES}}, "4.1.1")["releases"] == ["4.1.1"]
    assert "highest" not in upgrade_from({}, "4.1.0")


def test_a_class_that_moved_is_not_gone() -> None:
    """Public members count in documented packages alone."""
    was = {
        "org.apache.kafka.common.utils.Exit": frozenset({"exit"}),
        "org.apache.kafka.common.Lost": frozenset({"a"}),
        "org.apache.kafka.streams.Topology": frozenset({"build", "describe"}),
        "org.apache.kafka.common.network.Selector": frozenset({"poll"}),
    }
    now = {
        "org.apache.kafka.common.utils.internals.Exit": frozenset({"exit"}),
        "org.apache.kafka.streams.Topology": frozenset({"describe"}),
        "org.apache.kafka.common.network.Selector": frozenset[str](),
    }
    assert gone(was, now) == {
        "moved": {"org.apache.kafka.common.utils.Exit": "org.apache.kafka.common.utils.internals.Exit"},
        "gone": ["org.apache.kafka.common.Lost"],
        "members_gone": {"org.apache.kafka.streams.Topology": ["build"]},
    }


def test_facts_that_differ_are_one_line_a_change() -> None:
    was = {"p/after": {"stores": {"a": {"kind": "window"}, "b": {"kind": "window"}}}, "old/after": {}}
    now = {"p/after": {"stores": {"a": {"kind": "session"}, "b": {"kind": "session"}}}}
    assert changed_facts(was, now) == {
        "programs": 1,
        "built by one release alone": ["old/after"],
        "differs": [
            {"fact": "stores", "was": "window", "is": "session", "programs": 1, "such as": "p/after: stores.a.kind"}
        ],
    }


def test_rows_with_an_open_end_speak_for_a_release_that_nobody_has_read() -> None:
    found = list(covering("99.0.0"))
    assert {"no-format-change-from-3.5", "store-offsets-4.3", "KAFKA-20731"} <= {*found}
    assert "version-probing" not in found
