"""Whether the library takes the settings of a start: what it refused itself, and what rows of its release say."""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.releases.tried import PlannedStart, stores_on_disk, takes_settings
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, LibraryRefusal
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.rules import release_settings, upgrade_path_rules

REFUSAL = LibraryRefusal("producer", ("acks", "processing.guarantee"), "ConfigException", "Must set acks to all.")
ONCE = ("processing.guarantee", "exactly_once_v2")
WHOLE = PlannedStart(
    "18", "4.3.1", (("application.id", "app"), ("commit.interval.ms", "100"), ONCE), whole=True, refused=()
)


def judged(*starts: PlannedStart, broker: str = "4.3") -> Verdict:
    """The decision with all rows."""
    return takes_settings("orders", starts, upgrade_path_rules(), release_settings(), broker)


def with_settings(*settings: tuple[str, str], start: PlannedStart = WHOLE, by_runbook: bool = True) -> PlannedStart:
    """The start with more settings, of a runbook or of the program."""
    names = tuple(name for name, _ in settings)
    config = tuple(sorted({**dict(start.config), **dict(settings)}.items()))
    return replace(start, config=config, set_by_runbook=names if by_runbook else ())


def test_a_start_that_was_tried_and_taken() -> None:
    """Nothing is left to say."""
    assert judged(WHOLE).outcome is Outcome.PROCEED
    assert judged(WHOLE).findings == ()


def test_what_the_library_refused_is_refused() -> None:
    """With its exception and its sentence, also of a release that no rule knows."""
    for library in ("4.3.1", "9.9.9", "a fork"):
        found = judged(WHOLE, replace(WHOLE, release="19", library=library, refused=(REFUSAL,)))
        assert found.outcome is Outcome.REFUSE
        assert found.reasons[0].startswith("release 19 cannot start: ")
        assert (
            "refuses acks, processing.guarantee (producer): ConfigException, Must set acks to all." in found.reasons[0]
        )
        assert [one.id for one in found.findings] == ["setting-refused"]


@pytest.mark.parametrize(
    "settings",
    [
        (("commit.interval.ms", "30000"),),
        (("processing.guarantee", "exactly_once"),),
        (("num.stream.threads", "two"),),
        (("group.protocol", "streams"), ("group.instance.id", "a")),
        (("producer.acks", "1"),),
        (("upgrade.from", "2.3"),),
    ],
)
def test_settings_of_a_runbook_that_rows_refuse(settings: tuple[tuple[str, str], ...]) -> None:
    """Also if the topology command took none of them, and its library refused nothing."""
    found = judged(with_settings(*settings))
    assert found.outcome is Outcome.REFUSE
    assert found.reasons[0].startswith("release 18 cannot start: 4.3.1 refuses ")


@pytest.mark.parametrize(
    "settings",
    [
        (("commit.interval.ms", "10000"),),
        (("commit.interval.ms", "30000"), ("producer.transaction.timeout.ms", "30000")),
        (("num.stream.threads", "2"),),
        (("group.protocol", "classic"), ("group.instance.id", "a")),
        (("upgrade.from", "3.4"),),
    ],
)
def test_settings_that_are_nearly_so(settings: tuple[tuple[str, str], ...]) -> None:
    """They start."""
    assert judged(with_settings(*settings)).outcome is Outcome.PROCEED


def test_of_a_program_whose_settings_are_not_known_only_values_are_refused() -> None:
    """The approver reads that the others were not tried."""
    part = PlannedStart("18", "4.3.1", (ONCE,), untried="no topology command is declared")
    found = judged(with_settings(("num.stream.threads", "2"), start=part))
    assert found.outcome is Outcome.PROCEED
    [shown] = found.findings
    assert (shown.id, shown.severity, shown.object) == ("settings-not-tried", "info", "orders")
    assert "was not tried: no topology command is declared; " in shown.message
    assert judged(with_settings(("num.stream.threads", "two"), start=part)).outcome is Outcome.REFUSE


def test_a_refusal_that_hangs_on_a_default_is_not_known() -> None:
    """The program may set the other setting; with it in the form, or with all settings known, it is decided."""
    part = PlannedStart("18", "4.3.1", (ONCE,), untried="no topology command is declared")
    interval = ("commit.interval.ms", "30000")
    found = judged(with_settings(interval, start=part))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.reasons[0].startswith(
        "whether release 18 can start is not known, because not all of its settings are: "
    )
    assert "declare its `config`, or print its facts" in found.reasons[0]
    timeout = "producer.transaction.timeout.ms"
    assert judged(with_settings(interval, (timeout, "30000"), start=part)).outcome is Outcome.PROCEED
    assert judged(with_settings(interval, (timeout, "29999"), start=part)).outcome is Outcome.REFUSE
    assert judged(with_settings(interval, start=replace(part, whole=True))).outcome is Outcome.REFUSE


def test_rows_of_a_known_release_are_enough_if_all_settings_are_known() -> None:
    """A library that was asked for some of them alone is named all the same."""
    declared = replace(WHOLE, refused=None, untried="its topology command prints no refusals of the library")
    assert judged(declared).findings == ()
    assert [one.id for one in judged(replace(declared, library="9.9.9")).findings] == ["settings-not-tried"]
    [found] = judged(replace(WHOLE, untried="its topology command takes no settings of a runbook")).findings
    assert found.id == "settings-not-tried"


def test_a_setting_from_a_config_provider_is_named() -> None:
    """It was not tried."""
    [found] = judged(replace(WHOLE, unread=("state.dir",))).findings
    assert (found.id, found.object) == ("settings-not-tried", "state.dir")


def test_an_upgrade_from_of_the_program_itself_is_named() -> None:
    """That of a runbook goes with its second bounce."""
    [found] = judged(with_settings(("upgrade.from", "3.4"), by_runbook=False)).findings
    assert (found.id, found.severity) == ("upgrade-from-left-behind", "warning")
    assert judged(with_settings(("upgrade.from", "3.4"))).findings == ()


def test_static_members_of_a_streams_group_by_brokers() -> None:
    """A client of 4.4 takes them, brokers before it refuse them; unknown brokers are a warning."""
    member = with_settings(("group.protocol", "streams"), ("group.instance.id", "a"))
    newer = replace(member, library="4.4.0")
    assert judged(newer, broker="4.4").outcome is Outcome.PROCEED
    assert judged(newer, broker="4.4").findings == ()
    old = judged(newer, broker="4.3")
    assert old.outcome is Outcome.REFUSE
    assert "they refuse each member (InvalidRequestException)" in old.reasons[0]
    assert [one.severity for one in judged(newer, broker="").findings] == ["warning"]
    classic = with_settings(("group.protocol", "classic"), ("group.instance.id", "a"))
    assert judged(replace(classic, library="4.4.0"), broker="4.3").findings == ()
    dynamic = with_settings(("group.protocol", "streams"))
    assert judged(replace(dynamic, library="4.4.0"), broker="4.3").findings == ()


def test_a_static_member_without_a_store_on_disk_is_named() -> None:
    """By the facts that the topology command prints; with a store, or without facts, nothing is said."""
    member = with_settings(("group.protocol", "streams"), ("group.instance.id", "a"))
    newer = replace(member, library="4.4.0")
    [warned] = judged(replace(newer, has_stores=False), broker="4.4").findings
    assert (warned.id, warned.severity) == ("static-member-without-store", "warning")
    assert judged(replace(newer, has_stores=True), broker="4.4").findings == ()
    assert judged(newer, broker="4.4").findings == ()


def test_stores_on_disk_by_printed_facts() -> None:
    """One in memory has no directory; facts of a topology that was not read show no stores at all."""
    disk, memory = DeclaredStore(), DeclaredStore(in_memory=True)
    inputs = {"topics.orders.partitions": "they are those of the cluster"}
    assert stores_on_disk(Declaration(stores={"a": memory, "b": disk}, not_read=inputs)) is True
    assert stores_on_disk(Declaration(stores={"a": memory}, not_read=inputs)) is False
    assert stores_on_disk(Declaration(not_read=inputs)) is False
    assert stores_on_disk(Declaration(not_read={"topology": "the reader failed"})) is None
    assert stores_on_disk(Declaration()) is None


def test_the_decision_is_made_again_from_its_evidence() -> None:
    """Its inputs survive the ledger."""
    start = replace(WHOLE, refused=(REFUSAL,), unread=("state.dir",))
    assert decode(PlannedStart, encode(start)) == start
