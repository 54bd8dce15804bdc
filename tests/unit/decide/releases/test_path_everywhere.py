"""Over all pairs of known releases: what a path must never do, held against a model of the formats of its own.

The model below knows nothing of the rows. It says for each release which formats it writes with which `upgrade.from`,
and which it reads: two states of one group that run side by side have to read each other.
Source of the model: KIP-268, KIP-429, KAFKA-13769, KAFKA-14646, KIP-904.

Covers decide/releases/rules
"""

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.decide.releases.rules import accepted_upgrade_from, takes_guarantee
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.releases.path import PathQuestion, UpgradePath
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import upgrade_path_rules

RULES = upgrade_path_rules()
PAIRS = tuple(permutations(RULES.releases, 2))
GUARANTEES = ("at_least_once", "exactly_once", "exactly_once_beta", "exactly_once_v2")
ANSWERS = ("yes", "no", "unknown")
BROKERS = ("0.10.0", "0.10.2", "0.11.0", "2.0", "2.1", "2.4", "2.5", "3.9", "4.0", "4.2", "4.3")


def up_to(release: str, last: str) -> bool:
    return within(Release(release), (f"..{last}",))


def metadata(release: str, upgrade_from: str | None) -> int:
    """Version family of the rebalance metadata that an instance sends."""
    older = [release] if upgrade_from is None else [release, upgrade_from]
    if any(up_to(one, "0.10.0") for one in older):
        return 1
    return 2 if any(up_to(one, "1.1") for one in older) else 3


def joins(release: str, upgrade_from: str | None) -> int:
    """Version of the subscriptions of foreign-key joins that an instance writes."""
    if up_to(release, "3.2"):
        return 0
    last = "3.2" if up_to(release, "3.3") else "3.3"
    return 0 if upgrade_from is not None and up_to(upgrade_from, last) else 1


def reads(reader: str, writer: tuple[str, str | None], uses: frozenset[str]) -> bool:
    """Whether an instance of `reader` understands what `writer` (release, upgrade.from) sends."""
    release, upgrade_from = writer
    sent = metadata(release, upgrade_from)
    if sent > (1 if up_to(reader, "0.10.0") else 2 if up_to(reader, "1.1") else 3):
        return False
    eager = up_to(release, "2.3") or (upgrade_from is not None and up_to(upgrade_from, "2.3"))
    if up_to(reader, "2.3") and not eager:
        return False
    if not up_to(reader, "3.9") and eager:
        return False
    if "foreign_key_joins" in uses and not up_to(release, "2.3"):  # there are none before 2.4
        version = joins(release, upgrade_from)
        if (within(Release(reader), ("2.4..3.2",)) and version == 1) or (
            within(Release(reader), ("3.3",)) and version == 0
        ):
            return False
    new = not up_to(release, "3.4") and not (upgrade_from is not None and up_to(upgrade_from, "3.4"))
    return not ("table_aggregations" in uses and up_to(reader, "3.4") and new)


def check(question: PathQuestion, path: UpgradePath) -> None:
    """Everything that holds for every answer."""
    assert path.reason
    assert all(finding.source and finding.message for finding in path.findings)
    if path.verdict is not Outcome.PROCEED:
        assert path.verdict in {Outcome.REFUSE, Outcome.INCONCLUSIVE}
        assert path.legs == ()
        assert any(one.severity != "info" for one in path.findings)
        return
    check_bounces(question, path)
    state: tuple[str, str | None] = (str(question.running), question.upgrade_from)
    for bounce in path.bounces:
        after = (bounce.target, bounce.upgrade_from)
        assert reads(state[0], after, question.uses), (question, state, after)
        assert reads(after[0], state, question.uses), (question, state, after)
        state = after
    assert state == (str(question.target), None)


def check_bounces(question: PathQuestion, path: UpgradePath) -> None:
    guarantee = question.guarantee
    targets = [Release(bounce.target) for bounce in path.bounces]
    for bounce, target in zip(path.bounces, targets, strict=True):
        assert bounce.upgrade_from is None or bounce.upgrade_from in accepted_upgrade_from(target, RULES)
        guarantee = bounce.processing_guarantee or guarantee
        assert guarantee is None or takes_guarantee(target, guarantee, RULES)
        for row in RULES.defects:
            bound = question.guarantee in row.needs.get("guarantee", (question.guarantee,))
            named = within(target, row.releases) and "refuse" in row.effects
            assert target == question.running or not (named and bound), (question, target)
    if question.running < question.target:
        assert targets == sorted(targets)
        assert targets[0] >= question.running
    assert all(len(leg.bounces) in {1, 2} and {one.target for one in leg.bounces} == {leg.target} for leg in path.legs)
    if path.bridge is not None:
        assert not any(within(Release(path.bridge), row.releases) for row in RULES.defects if row.shuns)
        assert question.running < Release(path.bridge) < question.target
        if None not in {question.broker, question.guarantee, question.group_protocol}:
            legs_are_paths(question, path)


def legs_are_paths(question: PathQuestion, path: UpgradePath) -> None:
    """Each leg is what the planner answers for the leg alone, from what then runs."""
    running, guarantee, rest = question.running, question.guarantee, path.legs
    while rest:
        again = upgrade_path(replace(question, running=running, guarantee=guarantee), RULES)
        assert (again.verdict, again.legs) == (Outcome.PROCEED, rest), (question, running)
        switched = [one.processing_guarantee for one in rest[0].bounces if one.processing_guarantee]
        guarantee = switched[-1] if switched else guarantee
        running, rest = Release(rest[0].target), rest[1:]


def had_by(release: Release, question: PathQuestion) -> bool:
    """Whether a release has the guarantee and the protocol that are given."""
    guarantee = question.guarantee is None or takes_guarantee(release, question.guarantee, RULES)
    return guarantee and (question.group_protocol != "streams" or within(release, ("4.1..",)))


def ask(running: Release, target: Release, **inputs: Any) -> tuple[PathQuestion, UpgradePath]:
    question = PathQuestion(running, target, **inputs)
    return question, upgrade_path(question, RULES)


@pytest.mark.parametrize("used", ["yes", "no"])
def test_over_all_pairs_no_path_is_unsound(used: Any) -> None:
    """78 releases, each to each, upward and back."""
    for running, target in PAIRS:
        known = {"guarantee": "at_least_once", "group_protocol": "classic", "broker": Release("3.9")}
        check(*ask(running, target, foreign_key_joins=used, table_aggregations=used, **known))


def test_every_pair_upward_from_2_4_has_a_path_or_a_known_reason() -> None:
    """Nothing that the upgrade guide allows is refused for want of a row."""
    for running, target in PAIRS:
        if running < target:
            path = ask(running, target, guarantee="at_least_once", group_protocol="classic", broker=Release("3.9"))[1]
            assert "no-rule" not in {finding.id for finding in path.findings}, (running, target)


EVERYTHING = st.fixed_dictionaries(
    {
        "broker": st.none() | st.sampled_from(BROKERS).map(Release),
        "guarantee": st.none() | st.sampled_from(GUARANTEES),
        "group_protocol": st.none() | st.sampled_from(("classic", "streams")),
        "foreign_key_joins": st.sampled_from(ANSWERS),
        "table_aggregations": st.sampled_from(ANSWERS),
    }
)


@settings(max_examples=500, deadline=None)
@given(pair=st.sampled_from(PAIRS), inputs=EVERYTHING)
def test_whatever_is_asked_the_answer_is_sound(pair: tuple[Release, Release], inputs: dict[str, Any]) -> None:
    """Any pair, any inputs, known or not: an answer that holds, or bad input, and nothing else."""
    question = PathQuestion(*pair, **inputs)
    if not had_by(pair[0], question):
        with pytest.raises(BadInput, match="does not have it"):
            upgrade_path(question, RULES)
        return
    check(question, upgrade_path(question, RULES))


@settings(max_examples=100, deadline=None)
@given(pair=st.sampled_from(PAIRS), inputs=EVERYTHING)
def test_unknown_is_yes(pair: tuple[Release, Release], inputs: dict[str, Any]) -> None:
    """Joins and aggregations that nobody told of count as used."""
    inputs = {**inputs, "guarantee": None, "group_protocol": None}
    for name in ("foreign_key_joins", "table_aggregations"):
        assert ask(*pair, **{**inputs, name: "unknown"})[1] == ask(*pair, **{**inputs, name: "yes"})[1]


@settings(max_examples=100, deadline=None)
@given(pair=st.sampled_from(PAIRS), inputs=EVERYTHING)
def test_inconclusive_only_where_a_value_changes_the_answer(
    pair: tuple[Release, Release], inputs: dict[str, Any]
) -> None:
    """With a missing broker given, the answer is one of those that the missing one stood for."""
    inputs = {**inputs, "guarantee": "at_least_once", "group_protocol": "classic", "broker": None}
    open_answer = ask(*pair, **inputs)[1]
    running = pair[0]
    given_answers = {
        (path.verdict, path.legs)
        for broker in BROKERS
        if not (within(running, ("4.0..",)) and Release(broker) < Release("2.1"))
        and not (up_to(running.text, "2.0") and Release(broker) >= Release("4.0"))
        and not (within(running, ("2.2.1..3.9",)) and Release(broker) < Release("0.11"))
        and not (within(running, ("0.10.1..2.2.0",)) and Release(broker) < Release("0.10.1"))
        for path in (ask(*pair, **{**inputs, "broker": Release(broker)})[1],)
    }
    if open_answer.verdict is Outcome.INCONCLUSIVE:
        assert len(given_answers) > 1
    else:
        assert given_answers == {(open_answer.verdict, open_answer.legs)}
