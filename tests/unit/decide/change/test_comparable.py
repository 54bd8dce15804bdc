"""Settings that were read of one version alone, and those that runbooks set."""

from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.change.comparable import comparable, set_by_runbooks, with_settings
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import (
    DEFAULT,
    DeclaredOperator,
    DeclaredStore,
    DeclaredTopic,
    Described,
    Serde,
)
from world.samples import NEW, OLD, instance
from world.sides import COUNTS, declaration, described

SETTINGS = {"application.id": "orders", "num.stream.threads": "1"}
DECLARED = described(declares=declaration(config=SETTINGS))
BARE = described(COUNTS, NEW)


def read(release: str, config: dict[str, str] | None) -> Described:
    """A version whose facts were read, without a declaration."""
    found = described(COUNTS, release, declaration(config=config))
    return replace(found, read=True)


def config_of(one: Described) -> object:
    return one.declaration.config


def test_settings_that_one_version_alone_shows_are_not_compared() -> None:
    """An instance with the jar next to a command that prints a description is not a change."""
    (before,), after = comparable((read(OLD, SETTINGS),), BARE)
    assert (config_of(before), after) == (None, BARE)
    assert before.declaration.stores == DECLARED.declaration.stores
    (before,), after = comparable((described(),), read(NEW, SETTINGS))
    assert (before, config_of(after)) == (described(), None)


def test_settings_that_both_show_or_a_person_declares_stay() -> None:
    """A plan asks for those of the other version."""
    assert comparable((described(),), BARE) == ((described(),), BARE)
    both = (read(OLD, SETTINGS),), read(NEW, {})
    assert comparable(*both) == both
    assert comparable((DECLARED,), BARE) == ((DECLARED,), BARE)
    declared = described(COUNTS, NEW, declaration(config={}))
    assert comparable((read(OLD, SETTINGS),), declared) == ((read(OLD, SETTINGS),), declared)


def test_what_a_runbook_has_set_stays_in_the_next_release() -> None:
    """Its topology command does not get it; upgrade.from belongs to no release."""
    found = with_settings(read(NEW, SETTINGS), (("num.stream.threads", "4"), ("upgrade.from", "3.4")))
    assert config_of(found) == {"application.id": "orders", "num.stream.threads": "4"}
    for one in (BARE, DECLARED, read(NEW, None)):
        assert with_settings(one, (("num.stream.threads", "4"),)) == one


def test_only_what_all_instances_have_is_set_by_runbooks() -> None:
    """In the middle of a change they differ; a deployment that is not known shows nothing."""
    both = (("num.stream.threads", "2"), ("upgrade.from", "3.4"))
    first = instance("orders-1", settings=both)
    assert set_by_runbooks((first, instance("orders-2", settings=both))) == both
    assert set_by_runbooks((first, instance("orders-2", settings=both[:1]))) == both[:1]
    hidden = replace(instance("orders-2"), deployment=Missing("no such program"))
    assert set_by_runbooks((first, hidden)) == ()
    assert set_by_runbooks(()) == ()


def serde(name: str) -> Described:
    """A version whose store is declared with values of this format."""
    return described(COUNTS, NEW, declaration(stores={"counts": DeclaredStore(value_serde=Serde(name))}, config=None))


def test_words_of_the_code_are_not_compared_with_those_of_a_person() -> None:
    """Equal ones prove that a format stays; the file of the same version has the words of the other one."""
    (same,), _ = comparable((read(OLD, None),), serde("long"))
    assert same.declaration.stores["counts"].value_serde == Serde("long")
    (other,), _ = comparable((read(OLD, None),), serde("count of clicks"))
    assert other.declaration.stores["counts"].value_serde is None
    assert other.declaration.stores["counts"].key_serde == Serde("string"), "the plan asks for that of the other"
    assert other.declaration.stores["counts"].kind == "key_value"
    with_file = replace(read(OLD, None), file=serde("number of clicks").declared)
    (worded,), _ = comparable((with_file,), serde("count of clicks"))
    assert worded.declaration.stores["counts"].value_serde == Serde("number of clicks")
    _, after = comparable((replace(serde("clicks"), release=OLD),), read(NEW, None))
    assert after.declaration.stores["counts"].value_serde is None


def test_words_of_the_code_are_compared_with_each_other() -> None:
    """Whatever the files say: both were read."""
    (before,), after = comparable((replace(read(OLD, None), file=serde("x").declared),), read(NEW, None))
    assert before.declaration.stores["counts"].value_serde == Serde("long")
    assert after.declaration.stores["counts"].value_serde == Serde("long")


def test_settings_that_two_files_leave_out_are_not_compared() -> None:
    """One of them has what was read; the guarantee always counts, and without a file every setting does."""
    more = {**SETTINGS, "processing.guarantee": "at_least_once", "commit.interval.ms": "100", "max.task.idle.ms": "0"}
    file = declaration(config={"application.id": "orders", "max.task.idle.ms": "0"})
    other = described(COUNTS, NEW, declaration(config={"application.id": "orders", "num.stream.threads": "2"}))
    (listed,), _ = comparable((replace(read(OLD, more), file=file),), other)
    assert config_of(listed) == {name: value for name, value in more.items() if name != "commit.interval.ms"}
    (every,), _ = comparable((read(OLD, more),), other)
    assert config_of(every) == more


def test_classes_of_operators_are_words_of_the_code_too() -> None:
    """An offset reset has the same words in both."""
    shown = DeclaredOperator(partitioner="com.acme.ByRegion", offset_reset="earliest")
    declares = DeclaredOperator(partitioner="by region", offset_reset="latest")
    one = read(OLD, None)
    assert one.declared is not None
    one = replace(one, declared=replace(one.declared, operators={"in": shown, "out": shown}))
    (found,), _ = comparable((one,), described(COUNTS, NEW, declaration(config=None, operators={"in": declares})))
    assert found.declaration.operators == {name: DeclaredOperator(offset_reset="earliest") for name in ("in", "out")}


def test_an_extractor_that_is_read_of_one_version_alone_is_not_compared() -> None:
    """A person who declares none of the other version is not asked for it because the agent was added."""
    one = read(OLD, None)
    assert one.declared is not None
    topics = {"orders": DeclaredTopic(timestamp_extractor="com.acme.EventTime")}
    one = replace(one, declared=replace(one.declared, topics=topics))
    (found,), _ = comparable((one,), described(COUNTS, NEW, declaration(config=None, topics={})))
    assert found.declaration.topics["orders"].timestamp_extractor is None
    (found,), _ = comparable((one,), described(COUNTS, NEW, declaration(config=None, topics=topics)))
    assert found.declaration.topics["orders"].timestamp_extractor == "com.acme.EventTime"


SHOWN = {
    "stores": {"counts": DeclaredStore(kind="key_value", supplier="com.acme.Own", timestamped=True)},
    "topics": {"orders": DeclaredTopic(timestamp_extractor="com.acme.EventTime")},
    "operators": {"count": DeclaredOperator(partitioner="com.acme.ByRegion", join="inner")},
}
LEFT_OUT = {
    "stores": {"counts": DeclaredStore(kind="key_value")},
    "topics": {"orders": DeclaredTopic()},
    "operators": {"count": DeclaredOperator()},
}


def _declares(**sections: Any) -> Described:
    return described(COUNTS, NEW, declaration(config=None, **sections))


def _shows(**sections: Any) -> Described:
    return replace(_declares(**sections), release=OLD, read=True)


def _sections(one: Described) -> dict[str, object]:
    return {section: getattr(one.declaration, section) for section in SHOWN}


def test_choices_that_one_version_alone_shows_are_not_compared() -> None:
    """The agent alone makes no plan undecided: what few declarations have is left out, read or not."""
    for other in (_declares(**LEFT_OUT), _declares(stores={}, topics={}, operators={})):
        (found,), _ = comparable((_shows(**SHOWN),), other)
        assert _sections(found) == LEFT_OUT
    unread = {
        "operators.count.join": "a class that is not known",
        "operators.out.partitioner": "a lambda",
        "stores.counts.supplier": "a lambda",
        "stores.counts.value_serde": "a lambda",
    }
    (found,), _ = comparable((_shows(**LEFT_OUT, not_read=unread),), _declares(**LEFT_OUT))
    assert set(found.declaration.not_read) == {"stores.counts.value_serde"}
    (found,), _ = comparable((_shows(**LEFT_OUT, not_read=unread),), _declares(**SHOWN))
    assert "operators.count.join" in found.declaration.not_read, "the other version declares it"


def test_what_fills_a_store_is_compared_only_if_both_show_it() -> None:
    """The agent of one version next to a declaration of the other is no change; what it shows of its own side stays."""
    store = DeclaredStore(
        kind="window", made_by="count", filled_by=frozenset({"count"}), supplier_window_ms=60_000, caching=True
    )
    one = _shows(stores={"counts": store})
    (found,), _ = comparable((one,), _declares(**LEFT_OUT))
    left = DeclaredStore(kind="window", filled_by=frozenset({"count"}))
    assert found.declaration.stores == {"counts": left}
    assert comparable((one,), one) == ((one,), one)


def test_choices_that_contradict_the_other_version_are_compared() -> None:
    """A kind of join has the same words in both, and the choice of the library is none of the classes."""
    other = _declares(
        stores={"counts": DeclaredStore(kind="key_value", supplier=DEFAULT, timestamped=False)},
        topics={"orders": DeclaredTopic(timestamp_extractor=DEFAULT)},
        operators={"count": DeclaredOperator(partitioner=DEFAULT, join="left")},
    )
    (found,), _ = comparable((_shows(**SHOWN),), other)
    assert _sections(found) == SHOWN
    (found,), _ = comparable((_shows(**_sections(other)),), _declares(**SHOWN))
    assert _sections(found) == _sections(other)
    words = _declares(operators={"count": DeclaredOperator(partitioner="by region", join="inner")})
    (found,), _ = comparable((_shows(**SHOWN),), words)
    assert found.declaration.operators == {"count": DeclaredOperator(join="inner")}


def test_a_join_is_what_was_read_and_not_what_the_file_says() -> None:
    """The file has words that compare, and a kind of join needs none."""
    one = replace(
        _shows(**SHOWN), file=declaration(operators={"count": DeclaredOperator("latest", "by region", "left")})
    )
    other = _declares(operators={"count": DeclaredOperator(partitioner="by region", join="left")})
    (found,), _ = comparable((one,), other)
    assert found.declaration.operators == {"count": DeclaredOperator(partitioner="by region", join="inner")}
