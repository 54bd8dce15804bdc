"""The paths that people ask for, one by one: bounces, legs, and what hangs on an input that nobody gave."""

from collections.abc import Callable
from typing import Any

import pytest
from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.releases.path import PathBounce, PathQuestion, UpgradePath
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import upgrade_path_rules

RULES = upgrade_path_rules()
KNOWN: dict[str, Any] = {"guarantee": "at_least_once", "group_protocol": "classic"}


def asked(running: str, target: str, broker: str | None = "3.9", **inputs: Any) -> UpgradePath:
    """The path with everything known unless said otherwise."""
    given = {**KNOWN, **inputs}
    return upgrade_path(
        PathQuestion(Release(running), Release(target), Release(broker) if broker else None, **given), RULES
    )


def bounces(path: UpgradePath) -> list[tuple[Any, ...]]:
    """Bounces as tuples, what is unset left out."""
    return [
        tuple(part for part in (one.target, one.upgrade_from, one.processing_guarantee, *one.before) if part)
        for one in path.bounces
    ]


def fired(path: UpgradePath) -> set[str]:
    return {finding.id for finding in path.findings}


def test_table_aggregations_need_the_double_bounce() -> None:
    """KIP-904: 3.4 cannot read what 3.5 and later write."""
    path = asked("3.4.1", "4.3.1")
    assert (path.verdict, bounces(path)) == (Outcome.PROCEED, [("4.3.1", "3.4"), ("4.3.1",)])
    assert not path.plain


def test_one_plain_bounce() -> None:
    """Nothing but the library changes."""
    path = asked("3.9.1", "4.3.1")
    assert bounces(path) == [("4.3.1",)]
    assert path.plain


def test_without_table_aggregations_one_bounce_suffices() -> None:
    """No record of the changed format is ever written."""
    assert bounces(asked("3.4.1", "4.3.1", table_aggregations="no")) == [("4.3.1",)]


def test_a_bridge_and_a_switch_of_the_guarantee_are_legs_of_their_own() -> None:
    """2.3 cannot go to 4.x online, and exactly_once has to be left before it."""
    path = asked("2.3.1", "4.3.1", guarantee="exactly_once")
    assert path.bridge == "3.9.2"
    assert [(leg.runbook, leg.target, len(leg.bounces)) for leg in path.legs] == [
        ("library_bump", "3.9.2", 2),
        ("rolling_bounce", "3.9.2", 1),
        ("library_bump", "4.3.1", 1),
    ]
    assert bounces(path) == [("3.9.2", "2.3"), ("3.9.2",), ("3.9.2", "exactly_once_v2"), ("4.3.1",)]


def test_each_leg_is_derived_again_from_what_runs() -> None:
    """After a leg the path is the rest of the path."""
    path = asked("2.3.1", "4.3.1", guarantee="exactly_once")
    after_first = asked("3.9.2", "4.3.1", guarantee="exactly_once")
    assert after_first.legs == path.legs[1:]
    assert asked("3.9.2", "4.3.1", guarantee="exactly_once_v2").legs == path.legs[2:]


def test_a_way_back_that_is_half_way_goes_on() -> None:
    """upgrade.from stands already: what is left is the drain and the old release."""
    path = asked("4.3.1", "3.4.1")
    assert bounces(path) == [("4.3.1", "3.4"), ("3.4.1", "drain", "clear_state")]
    half = asked("4.3.1", "3.4.1", upgrade_from="3.4")
    assert half.legs == path.legs[1:]


def test_a_pair_that_no_row_covers_is_refused() -> None:
    """A path that nobody has shown is never guessed."""
    path = asked("2.2.2", "2.1.1", "2.3")
    assert (path.verdict, path.legs) == (Outcome.REFUSE, ())
    assert path.reason == "2.2.2 to 2.1.1: no published rule covers this pair; choose another target"


def test_a_refusal_says_what_to_do_instead() -> None:
    """Object, observed, limit, next action."""
    assert asked("3.9.1", "4.3.0").reason.endswith("go to 4.3.1 instead, where it is fixed")
    assert asked("3.9.1", "4.3.1", "1.1").reason == (
        "3.9.1 to 4.3.1: Kafka Streams 4.0 and later needs brokers of 2.1 or later. The brokers are 1.1; bring the "
        "brokers there first"
    )


@pytest.mark.parametrize("missing", ["broker", "guarantee"])
def test_an_input_that_would_change_the_answer_is_asked_for(missing: str) -> None:
    """3.9.1 to 4.3.1 hangs on the brokers (2.1 or later) and on the guarantee (exactly_once is gone)."""
    path = asked("3.9.1", "4.3.1", None) if missing == "broker" else asked("3.9.1", "4.3.1", guarantee=None)
    assert (path.verdict, path.legs) == (Outcome.INCONCLUSIVE, ())
    assert f"missing-{missing}" in fired(path)


def test_what_each_value_would_give_is_told() -> None:
    """A person sees what there is to find out."""
    path = asked("3.9.1", "4.3.1", guarantee=None)
    told = next(finding for finding in path.findings if finding.id == "missing-guarantee")
    assert told.message == (
        "Not known. at_least_once, exactly_once_v2: one rolling bounce; "
        "exactly_once: 2 rolling bounces, first switching to exactly_once_v2; "
        "exactly_once_beta: one rolling bounce, switching to exactly_once_v2."
    )
    assert "KIP-732" in told.source
    brokers = next(finding for finding in asked("3.9.1", "4.3.1", None).findings if finding.id == "missing-broker")
    assert brokers.message == "Not known. 0.11.0 to 2.0: refuse (broker-2.1); 2.1 to 4.4: one rolling bounce."


def test_an_input_that_changes_nothing_is_not_asked_for() -> None:
    """What 4.2 runs on, 4.3 runs on."""
    path = asked("4.2.1", "4.3.1", None, guarantee=None, group_protocol=None)
    assert (path.verdict, bounces(path)) == (Outcome.PROCEED, [("4.3.1",)])


def test_unknown_joins_and_aggregations_count_as_used() -> None:
    """Unknown is never no."""
    assert asked("3.2.3", "4.3.1") == asked("3.2.3", "4.3.1", foreign_key_joins="yes", table_aggregations="yes")


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (
            lambda: asked("4.3.1", "4.3.1"),
            "target 4.3.1: every instance already runs 4.3.1; give another release. About another topology or other "
            "settings on 4.3.1, such as group.protocol, ask `plan`",
        ),
        (lambda: asked("3.4", "4.3.1"), "release 3.4: not a published release of Kafka Streams; 3.4 has 3.4.0, 3.4.1"),
        (
            lambda: asked("2.9.0", "4.3.1"),
            "release 2.9.0: not a published release of Kafka Streams; known are 0.10.0.0",
        ),
        (lambda: asked("3.4.1", "4.3.1", guarantee="at_most_once"), "give one of at_least_once, exactly_once,"),
        (
            lambda: asked("2.8.2", "4.3.1", guarantee="exactly_once_v2"),
            "processing guarantee exactly_once_v2: 2.8.2 does not have it; give the present one (2.8.2 has "
            "at_least_once, exactly_once, exactly_once_beta). To switch to it, follow the path and then ask `plan`",
        ),
        (lambda: asked("3.4.1", "4.3.1", group_protocol="consumer"), "give one of classic, streams"),
        (
            lambda: asked("3.4.1", "4.3.1", "4.3", group_protocol="streams"),
            "group protocol streams: 3.4.1 does not have it; give the present one (3.4.1 has classic). To switch to "
            "it, follow the path and then ask `plan`",
        ),
        (
            lambda: asked("3.4.1", "3.9.2", "4.3", group_protocol="streams"),
            "give the present one (3.4.1 has classic). 3.9.2 does not have it either. The first release with it is "
            "4.1.0",
        ),
        (
            lambda: asked("3.4.1", "3.4.1", group_protocol="streams"),
            "group protocol streams: 3.4.1 does not have it; give the present one (3.4.1 has classic). The first "
            "release with it is 4.1.0",
        ),
        (
            lambda: asked("3.4.1", "4.3.1", "4.0", group_protocol="streams"),
            "follow the path and then ask `plan`; before that, group.protocol=streams needs brokers of 4.2 or later "
            "(streams.version=1). The brokers are 4.0",
        ),
    ],
)
def test_bad_input_is_one_sentence(ask: Callable[[], UpgradePath], sentence: str) -> None:
    """Before anything is decided."""
    with pytest.raises(BadInput) as raised:
        ask()
    assert sentence in str(raised.value)


def test_no_release_is_bad_input() -> None:
    """A word is not a release."""
    with pytest.raises(BadInput, match="release 'four' is not a Kafka release"):
        Release.parse("four")


def test_what_lies_between_is_told_oldest_first() -> None:
    """Each release's notable and API changes, and none outside of the path."""
    told = [one.object for one in asked("3.6.2", "3.9.2").findings if one.id.startswith("api-changes")]
    assert told == ["3.7.0", "3.8.0", "3.9.0"]


def test_leaving_a_release_to_avoid_is_right() -> None:
    """No rule keeps an application on a broken release."""
    path = asked("4.3.0", "4.3.1")
    assert path.plain
    assert "rocksdb-leak-4.3.0" in fired(path)


def test_a_path_can_be_decided_again_from_the_evidence() -> None:
    """Question and rules go through the ledger and come back as what they were."""
    question = PathQuestion(Release("2.3.1"), Release("4.3.1"), Release("3.9"), **KNOWN)
    made = upgrade_path(question, RULES)
    kept = encode_call(upgrade_path, {"question": question, "rules": RULES}, made)
    assert call_again(upgrade_path, kept) == encode(made)
    assert made.bounces[0] == PathBounce("3.9.2", upgrade_from="2.3")


@pytest.mark.parametrize(
    ("running", "target", "uses", "named", "not_named"),
    [
        ("3.4.1", "4.3.1", {"foreign_key_joins": "yes", "table_aggregations": "no"}, "aggregation", "foreign-key"),
        ("3.2.3", "3.4.1", {"foreign_key_joins": "no", "table_aggregations": "yes"}, "foreign-key", "aggregation"),
    ],
)
def test_a_reason_never_contradicts_a_feature_that_is_used(
    running: str, target: str, uses: dict[str, str], named: str, not_named: str
) -> None:
    """Only the unused feature is a reason for the single bounce."""
    path = asked(running, target, **uses)
    reason = next(one.message for one in path.findings if one.object == f"{running} to {target}")
    assert path.plain
    assert named in reason
    assert not_named not in reason


@pytest.mark.parametrize(
    ("running", "target", "given", "row", "shown"),
    [
        ("3.3.2", "4.3.1", {"foreign_key_joins": "no"}, "foreign-key-joins-of-3.3", False),
        ("3.3.2", "4.3.1", {"foreign_key_joins": "unknown"}, "foreign-key-joins-of-3.3", True),
        ("2.7.0", "2.8.2", {"guarantee": "exactly_once"}, "lost-updates-kip-557", False),
        ("2.7.0", "2.8.2", {"guarantee": "at_least_once"}, "lost-updates-kip-557", True),
        ("2.7.0", "2.8.2", {"guarantee": None}, "lost-updates-kip-557", True),
    ],
)
def test_a_fault_of_the_running_release_is_shown_to_applications_that_have_it(
    running: str, target: str, given: dict[str, Any], row: str, shown: bool
) -> None:
    """A fault in a feature that the application does not use is no reason to leave; an unknown use counts."""
    assert (row in fired(asked(running, target, **given))) is shown


def test_a_refusal_lists_every_objection_to_the_target() -> None:
    """A person who solves the first one does not meet the second one later."""
    path = asked("3.4.1", "4.3.0", "2.0")
    assert path.reason.endswith("go to 4.3.1 instead, where it is fixed")
    dangers = {one.id: one.message for one in path.findings if one.severity == "danger"}
    assert set(dangers) == {"rocksdb-leak-4.3.0", "broker-2.1"}
    assert dangers["broker-2.1"].endswith("The brokers are 2.0; bring the brokers there first")
    streams = asked("4.1.1", "4.3.0", "4.1", group_protocol="streams")
    actions = [one.message.rsplit("; ", 1)[1] for one in streams.findings if one.severity == "danger"]
    assert actions == [
        "go to 4.3.1 instead, where it is fixed",
        "stop every instance and begin again with a new group",
        "bring the brokers there first",
    ]


@pytest.mark.parametrize(
    ("running", "target", "broker", "inputs", "row", "severity"),
    [
        ("3.9.1", "4.0.0", "2.0", {}, "process-values-not-fixed", "warning"),
        ("2.8.2", "4.3.0", "2.3", {}, "broker-replication-factor", "warning"),
        ("4.2.1", "4.3.0", "4.3", {"group_protocol": "streams"}, "streams-protocol", "info"),
        ("3.9.1", "4.3.0", "3.9", {"guarantee": "exactly_once"}, "exactly-once-v1-switch-first", "warning"),
        ("1.1.1", "0.10.0.1", "1.1", {"guarantee": "exactly_once"}, "no-exactly-once-before-0.11", "danger"),
        ("3.9.1", "4.0.0", None, {}, "process-values-not-fixed", "warning"),
    ],
)
def test_an_answer_without_a_path_keeps_the_rows_about_the_target(
    running: str, target: str, broker: str | None, inputs: dict[str, Any], row: str, severity: str
) -> None:
    """Refused or inconclusive: the facts about the target are the same."""
    path = asked(running, target, broker, **inputs)
    assert path.verdict is not Outcome.PROCEED
    assert [one.severity for one in path.findings if one.id == row] == [severity]


def test_a_refusal_names_no_broker_that_was_not_given() -> None:
    """Rows about an unknown fact are not objections."""
    path = asked("3.9.1", "4.3.0", None)
    assert {one.id for one in path.findings if one.severity == "danger"} == {"rocksdb-leak-4.3.0"}
