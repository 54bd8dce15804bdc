"""Settings that the new release refuses, lacks or has another default of, in the answer about a change."""

from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.change.reading import ChangeReading, read_change
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.contradictions import check_declaration
from kstreams_runbooks.decide.comparison.settings import own_settings_not_read, settings
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.topology.declaration import LibraryRefusal
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import release_settings, topology_change_rules, upgrade_path_rules
from world.pairs import compared

BASE = {"application.id": "app"}


def change(
    before: dict[str, str] | None,
    after: dict[str, str] | None,
    libraries: tuple[str, str] | None = ("4.3.1", "4.3.1"),
    broker: str | None = "4.3",
    catalogue: SettingCatalogue | None = None,
    pair: str = "threads-added",
) -> ChangeReading:
    given = compared(pair)
    old, new = (
        replace(
            side,
            declared=replace(
                side.declared,
                config=None if config is None else {**BASE, **config},
                library=Release(library) if library else None,
                stores={name: replace(store, logging=True) for name, store in side.declared.stores.items()},
            ),
        )
        for side, config, library in zip(
            (given.before, given.after), (before, after), libraries or ("", ""), strict=True
        )
    )
    return read_change(
        old,
        new,
        topology_change_rules(),
        upgrade_path_rules(),
        None if broker is None else Release(broker),
        release_settings() if catalogue is None else catalogue,
    )


def ids(reading: ChangeReading) -> set[str]:
    """Findings about what the release does with settings."""
    names = {"setting-refused", "setting-removed", "setting-not-yet-known", "setting-default-changed"}
    return {one.id for one in reading.findings} & names


@pytest.mark.parametrize(
    "after",
    [{"processing.guarantee": "exactly_once_beta"}, {"num.stream.threads": "many"}, {"consumer.max.poll.records": "0"}],
)
def test_a_version_that_cannot_start_is_refused(after: dict[str, str]) -> None:
    """With the setting and the values that the release takes; without the catalogue nothing is known of it."""
    found = change({}, after)
    assert found.plan.verdict is Outcome.REFUSE
    assert found.plan.runbooks == ()
    [name] = after
    assert f"4.3.1 refuses {name}={after[name]} (expected: " in found.plan.reasons[0]
    assert change({}, after, catalogue=SettingCatalogue()).plan.verdict is Outcome.PROCEED


def test_a_version_that_starts_is_planned() -> None:
    """The nearest values that it takes."""
    after = {"processing.guarantee": "exactly_once_v2", "num.stream.threads": "2", "consumer.max.poll.records": "1"}
    found = change({}, after)
    assert found.plan.verdict is Outcome.PROCEED
    assert ids(found) == set()


def test_settings_without_effect_and_other_defaults_are_findings_of_a_bump() -> None:
    """They refuse nothing; a person reads them."""
    found = change(
        {"retries": "1", "auto.include.jmx.reporter": "true"}, {"auto.include.jmx.reporter": "true"}, ("3.9.1", "4.3.1")
    )
    assert ids(found) == {"setting-removed", "setting-default-changed"}
    assert found.plan.runbooks == ("library_bump",)
    back = change({}, {"group.protocol": "streams"}, ("4.3.1", "4.0.2"))
    assert "setting-not-yet-known" in ids(back)


def test_a_guarantee_that_stays_is_left_to_the_upgrade_path() -> None:
    """It is switched on the running release first; a version that brings it anew is refused."""
    old = {"processing.guarantee": "exactly_once"}
    stays = change(old, old, ("3.9.1", "4.3.1"))
    assert "setting-refused" not in ids(stays)
    assert "exactly_once_v2" in str([one.message for one in stays.findings if one.id == "library-changed"])
    [written] = [one for one in stays.findings if one.id == "guarantee-to-be-switched"]
    assert (written.severity, written.refuse) == ("warning", False)
    assert "library_bump sets exactly_once_v2 over it; write that into the configuration" in written.message
    kept = change({"processing.guarantee": "exactly_once_v2"}, {"processing.guarantee": "exactly_once_v2"})
    assert "guarantee-to-be-switched" not in {one.id for one in kept.findings}
    assert change({}, old, ("3.9.1", "4.3.1")).plan.verdict is Outcome.REFUSE


@pytest.mark.parametrize(
    ("value", "release", "words"),
    [
        ("2.3", "4.1.2", "takes upgrade.from=2.3 and then throws when tasks are assigned"),
        ("3.4", "3.5.0", "takes upgrade.from=3.4 and then throws when tasks are assigned"),
        ("2.3", "4.2.1", "refuses upgrade.from=2.3"),
    ],
)
def test_an_upgrade_from_that_kills_the_new_release_is_refused(value: str, release: str, words: str) -> None:
    """Whether at start or when tasks are assigned; once."""
    found = change({}, {"upgrade.from": value}, (release, release))
    assert found.plan.verdict is Outcome.REFUSE
    assert [one.message for one in found.findings if one.id == "setting-refused" and words in one.message]
    assert sum(one.id == "setting-refused" for one in found.findings) == 1


def test_an_upgrade_from_that_the_release_runs_with_is_not_refused() -> None:
    """It is left behind, which a rule of its own reports."""
    found = change({}, {"upgrade.from": "3.4"}, ("3.5.2", "3.5.2"))
    assert ids(found) == set()
    assert "upgrade-from-left-behind" in {one.id for one in found.findings}


STREAMS = {"group.protocol": "streams"}


@pytest.mark.parametrize(
    ("before", "libraries", "broker", "severity"),
    [
        ({}, ("4.3.1", "4.3.1"), "4.1", "danger"),
        ({}, ("4.3.1", "4.3.1"), "4.2", None),
        ({}, ("4.3.1", "4.3.1"), None, "warning"),
        (STREAMS, ("4.0.1", "4.3.1"), None, "warning"),
        ({}, ("4.0.1", "4.3.1"), "4.0", "danger"),
        (STREAMS, ("4.3.1", "4.3.1"), None, None),
        (STREAMS, ("4.3.1", "4.3.1"), "4.1", "danger"),
        ({}, ("4.0.1", "4.0.1"), None, None),
        ({}, ("4.0.1", "4.0.1"), "4.0", None),
    ],
)
def test_a_group_protocol_needs_brokers_that_have_it(
    before: dict[str, str], libraries: tuple[str, str], broker: str | None, severity: str | None
) -> None:
    """Older brokers refuse it, unknown ones may; a group that has it shows that they do. 4.0 does not heed it."""
    found = change(before, STREAMS, libraries, broker=broker)
    judged = [one for one in found.findings if one.id == "broker-streams-protocol"]
    assert [one.severity for one in judged] == ([severity] if severity else [])
    assert (found.plan.verdict is Outcome.REFUSE) is (severity == "danger")
    assert any(one.id == "group-protocol-changed" for one in found.findings) is (
        libraries[1] != "4.0.1" and (before != STREAMS or libraries[0] == "4.0.1")
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("group.protocol", "consumer"),
        ("processing.guarantee", "EXACTLY_ONCE_V2"),
        ("processing.guarantee", "exactly_once"),
        ("topology.optimization", "everything"),
        ("default.dsl.store", "disk"),
    ],
)
def test_a_word_that_is_none_is_refused_as_a_setting(name: str, value: str) -> None:
    """With the release that refuses it, also if both versions have it, and not as a file that cannot be read."""
    for before in ({}, {name: value}):
        given = compared("threads-added")
        sides = [
            replace(side, declared=replace(side.declared, config={**BASE, **config}, library=Release("4.3.1")))
            for side, config in ((given.before, before), (given.after, {name: value}))
        ]
        for side in sides:
            check_declaration(side)
        found = change(before, {name: value})
        assert found.plan.verdict is Outcome.REFUSE
        assert f"4.3.1 refuses {name}={value}" in found.plan.reasons[0]
    assert change({}, {"group.protocol": "STREAMS"}).plan.verdict is Outcome.PROCEED


def test_without_settings_or_with_a_release_that_no_row_knows_nothing_is_judged() -> None:
    """Unknown is not refused."""
    assert ids(change({}, None)) == set()
    assert ids(change({}, {"num.stream.threads": "many"}, ("9.9.9", "9.9.9"))) == set()


def test_a_setting_that_was_not_read_is_unknown_on_that_side() -> None:
    """It is not taken as one that is not set: what depends on its value is asked for."""
    given = compared("threads-added")
    old, new = (
        replace(side, declared=replace(side.declared, config=BASE, not_read={f"config.{name}": "not readable"}))
        for side, name in ((given.before, "sasl.jaas.config"), (given.after, "timestamp.extractor"))
    )
    found = read_change(old, new, topology_change_rules(), upgrade_path_rules(), catalogue=release_settings())
    asked = {(one.id, str(missing)) for one in found.undecided for missing in one.asked}
    assert ("timestamp-extractor-changed", "config.default.timestamp.extractor (new)") in asked
    assert ("setting-changed", "config.sasl.jaas.config (old)") in asked
    assert not any(one.object == "default.timestamp.extractor" for one in found.findings)


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        ({"commit.interval.ms": "500"}, {"commit.interval.ms": "30000"}, True),
        ({"commit.interval.ms": "500"}, {"commit.interval.ms": "30000", "transaction.timeout.ms": "60000"}, True),
        ({"commit.interval.ms": "500"}, {"commit.interval.ms": "10000"}, False),
        ({}, {"commit.interval.ms": "30000", "producer.transaction.timeout.ms": "30000"}, False),
        ({}, {"producer.transaction.timeout.ms": "99"}, True),
        ({}, {"producer.acks": "1"}, True),
        ({}, {"consumer.heartbeat.interval.ms": "45000"}, True),
        ({}, {"consumer.heartbeat.interval.ms": "44999"}, False),
    ],
)
def test_settings_that_are_refused_together(before: dict[str, str], after: dict[str, str], refused: bool) -> None:
    """Each alone is valid; the nearest that the library takes is planned."""
    once = {"processing.guarantee": "exactly_once_v2"}
    found = change({**once, **before}, {**once, **after})
    assert (found.plan.verdict is Outcome.REFUSE) is refused
    assert ("setting-refused" in ids(found)) is refused
    assert change(before, after).plan.verdict is Outcome.PROCEED or "heartbeat" in str(after)


@pytest.mark.parametrize("value", ["exactly_once", "exactly_once_beta"])
def test_a_guarantee_that_4_x_lost_is_refused_whatever_ran_before(value: str) -> None:
    """Of a side whose release or settings are not known too; 3.9 takes it."""
    lost = {"processing.guarantee": value}
    for before in ({}, lost, None):
        assert change(before, lost).plan.verdict is Outcome.REFUSE
    assert change({}, lost, ("3.9.1", "3.9.1")).plan.verdict is Outcome.PROCEED


@pytest.mark.parametrize(
    ("after", "asked"),
    [
        ({"processing.guarantee": "exactly_once"}, ["4.0.0 to 4.4.0 refuse processing.guarantee=exactly_once"]),
        ({"num.stream.threads": "many"}, ["every release refuses num.stream.threads=many"]),
        (
            {"processing.guarantee": "exactly_once_v2", "commit.interval.ms": "30000"},
            [
                "3.0.0 to 4.4.0 refuse commit.interval.ms=30000",
                "0.11.0.0 to 2.8.2 refuse processing.guarantee=exactly_once_v2",
            ],
        ),
        ({"num.stream.threads": "2"}, []),
        ({"commit.interval.ms": "30000"}, []),
        ({"consumer.max.poll.records": "1"}, []),
    ],
)
def test_new_settings_without_a_release_ask_for_it_if_any_release_refuses_them(
    after: dict[str, str], asked: list[str]
) -> None:
    """Silence would be SAFE for settings with which no instance starts; what runs already is not asked about."""
    found = change({}, after, None)
    words = [str(one) for undecided in found.undecided if undecided.id == "setting-refused" for one in undecided.asked]
    assert words == [f"library of the new version: {one}" for one in asked]
    assert (found.plan.verdict is Outcome.INCONCLUSIVE) is bool(asked)
    assert not [one for one in change(after, after, None).undecided if one.id == "setting-refused"]


@pytest.mark.parametrize(
    ("value", "libraries", "refused"),
    [
        ("3.5", ("3.4.1", "4.3.1"), True),
        ("3.9", ("3.4.1", "4.3.1"), True),
        ("3.5", ("3.3.2", "3.9.1"), True),
        ("3.4", ("3.4.1", "4.3.1"), False),
        ("3.9", ("3.9.1", "4.3.1"), False),
    ],
)
def test_a_value_of_upgrade_from_that_running_instances_misread(
    value: str, libraries: tuple[str, str], refused: bool
) -> None:
    """The row about one that is left in is covered then: it does not say that nothing is lost."""
    found = change({}, {"upgrade.from": value}, libraries, pair="table-count-reads-new-topic")
    misread = [one for one in found.findings if one.id == "upgrade-from-misread"]
    left = [one for one in found.findings if one.id == "upgrade-from-left-behind"]
    assert bool(misread) is refused
    assert [one.covered_by for one in left] == ["upgrade-from-misread" if refused else None]


def test_what_the_library_refused_when_the_facts_were_printed_is_refused() -> None:
    """Also without a row, and of a release that no rule knows; a sentence of a row comes before the library's."""
    given = compared("threads-added")

    def planned(library: str, refusal: LibraryRefusal, **config: str) -> ChangeReading:
        named = {name.replace("__", "."): value for name, value in config.items()}
        side = replace(given.after.declared, config={**BASE, **named}, library=Release(library), refused=(refusal,))
        old = replace(given.before, declared=replace(given.before.declared, config=BASE, library=Release(library)))
        new = replace(given.after, declared=side)
        return read_change(old, new, topology_change_rules(), upgrade_path_rules(), None, release_settings())

    own = planned("9.9.9", LibraryRefusal("producer", ("my.own",), "ConfigException", "Must not be."), my__own="x")
    assert own.plan.verdict is Outcome.REFUSE
    assert "9.9.9 refuses my.own (producer): ConfigException, Must not be. No instance starts" in own.plan.reasons[0]
    both = planned(
        "4.3.1", LibraryRefusal("streams", ("num.stream.threads",), "X", "Not a number"), num__stream__threads="two"
    )
    assert len(both.plan.reasons) == 1
    assert "4.3.1 refuses num.stream.threads=two (expected: " in both.plan.reasons[0]


def test_static_members_of_a_streams_group() -> None:
    """Before 4.4 the client refuses them, or the brokers do."""
    member = {"group.protocol": "streams", "group.instance.id": "a"}
    assert change(member, member, ("4.3.1", "4.3.1")).plan.verdict is Outcome.REFUSE
    old = change(member, member, ("4.4.0", "4.4.0"), broker="4.3")
    assert "static-members-of-streams-group" in {one.id for one in old.findings if one.refuse}
    new = change(member, member, ("4.4.0", "4.4.0"), broker="4.4")
    assert "static-members-of-streams-group" not in {one.id for one in new.findings}
    classic = {"group.protocol": "classic", "group.instance.id": "a"}
    assert change(classic, classic, ("4.3.1", "4.3.1")).plan.verdict is Outcome.PROCEED


OWN = "amount.scale"


@pytest.mark.parametrize(
    ("before", "after", "fires"),
    [
        ({"digests": {OWN: "(digest d473)"}}, {"digests": {OWN: "(digest 4b22)"}}, True),
        ({"digests": {OWN: "(digest d473)"}}, {"digests": {OWN: "(digest d473)"}}, False),
        # The digest of 2 is known to be that of the value which the other side gives.
        ({"digests": {OWN: "(digest d473)"}}, {"value": "2"}, False),
        ({"digests": {OWN: "(digest d473)"}}, {"value": "4"}, True),
        ({"digests": {OWN: "(digest d473)"}}, {}, True),
        ({"digests": {}}, {"digests": {}}, False),
        ({"digests": {}}, {}, True),
        ({"digests": {}}, {"value": "2"}, False),
    ],
)
def test_a_setting_of_the_program_is_compared_by_digests(
    before: dict[str, Any], after: dict[str, Any], *, fires: bool
) -> None:
    """Facts never have its value; what has neither digest is listed as not compared, and a value is never shown."""
    given = compared("threads-added")

    def side(of: Side, known: dict[str, Any]) -> Side:
        unread = {f"config.{OWN}": "not shown"} if "digests" in known else {}
        config = {**BASE, **({OWN: known["value"]} if "value" in known else {})}
        digests = known.get("digests", {})
        return replace(of, declared=replace(of.declared, config=config, not_read=unread, digests=digests))

    catalogue = release_settings()
    one = Compared(side(given.before, before), side(given.after, after))
    [subject] = [part for part in settings(one, catalogue) if part.name == OWN]
    assert subject.facts["changed"] is fires
    assert own_settings_not_read(one, catalogue) == ([OWN] if before == {"digests": {}} != {} and after else [])
    assert "not set" not in subject.said["before"]
