"""Source patterns that take for ever: they end within the limit, and what they match is not known, never nothing."""

from contextlib import suppress

import pytest
from kstreams_runbooks.decide.topology.java_pattern import matched, matcher
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.matching import (
    MANY_NAMES_S,
    LimitedPattern,
    PatternTooSlow,
    in_linear_time,
    under_a_timeout,
)
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.application.application import topics_of
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.lag.topology_topics import readable_topics

_LONG = "a" * 249


@pytest.mark.parametrize("pattern", ["(a+)+x", "(a*)*x", "(a|aa)+x", "(.*a){20}x", "(a?){200}a{200}x", "(a|b|ab)*c"])
def test_what_hangs_elsewhere_is_matched_in_linear_time(pattern: str) -> None:
    """By RE2, and with an answer: the name does not match."""
    assert in_linear_time(pattern, pattern) is not None
    assert matched(pattern, _LONG) is False


@pytest.mark.parametrize(
    "pattern",
    [
        "((a{1000}){1000}){1000}(?=b)",
        "(((a{99}){99}){99}){99}",
        "(?=a)(?:" + "[a-z]" * 300 + "){9999}",
        "(?=a)(?:" + "(a)" * 25 + "){9999}",
        "(?=a)(?:" + "a?" * 40 + "){9999}b",
        "(" * 5_000 + ")" * 5_000,
        "(?=" * 900 + ")" * 900,
        "a|" * 100_000,
        "[" * 10_000,
        "(?<a>" * 500,
        "\ud800(?=a)",
    ],
)
def test_what_cannot_be_compiled_within_limits_is_refused(pattern: str) -> None:
    """In one printable sentence of bounded length."""
    with pytest.raises(BadInput) as refused:
        matcher(pattern)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 1_000


def slow() -> LimitedPattern:
    """Backtracking that does not end while anybody waits."""
    found = under_a_timeout(r"(a|b|ab)*\1\1[cd]", "slow")
    assert found is not None
    return found


def test_a_name_that_takes_too_long_has_no_answer() -> None:
    """And no other name of that pattern has one any more: it is not tried."""
    pattern, name = slow(), "ab" * 120
    with pytest.raises(PatternTooSlow, match=r"source pattern slow: takes longer than 0\.5 s for one name"):
        pattern.matches(name)
    tried: list[str] = []

    def times_out(name: str) -> bool:
        tried.append(name)
        raise TimeoutError

    once = LimitedPattern("once", times_out)
    for at in ("a", "b"):
        with pytest.raises(PatternTooSlow):
            once.matches(at)
    assert tried == ["a"]


def test_many_names_that_each_take_long_are_limited_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor time of all of them counts: here each name takes an eighth of a second."""
    tried: list[str] = []
    monkeypatch.setattr("kstreams_runbooks.matching.time.thread_time", lambda: len(tried) / 8)

    def matches(name: str) -> bool:
        tried.append(name)
        return True

    pattern = LimitedPattern("steady", matches)
    with pytest.raises(PatternTooSlow):
        all(pattern.matches("a") for _ in range(100_000))
    assert len(tried) == MANY_NAMES_S * 8 + 1


def test_an_ordinary_pattern_on_a_hundred_thousand_names() -> None:
    """All of them have an answer."""
    assert in_linear_time("orders-[0-9]*7", "") is not None
    assert sum(matched("orders-[0-9]*7", f"orders-{number}") for number in range(100_000)) == 10_000


def test_a_pattern_too_slow_is_not_known_and_never_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a reading of one application and for the lag of many: the sentence names the pattern."""
    text = "Topologies:\n Sub-topology: 0\n  Source: s (topics: slow.*)\n   --> none\n"
    names, pattern = TopicNames.of({"ab" * 120}), slow()
    monkeypatch.setattr("kstreams_runbooks.observe.lag.topology_topics.matcher", lambda _: pattern)
    monkeypatch.setattr("kstreams_runbooks.observe.lag.topology_topics.matched", lambda _, name: pattern.matches(name))
    found = topics_of((parse_topology(text),), "app", names)
    assert isinstance(found, Missing)
    assert "source pattern slow: takes longer than" in found.missing
    topics, why = readable_topics(parse_topology(text), "app", names)
    assert topics.patterns == frozenset()
    assert why.startswith("source pattern slow: takes longer than")


@pytest.mark.parametrize("pattern", [r"(?=(a+)+x).*y", r"(a|b|ab)*(?!d)c", r"((a*)*)*\1x"])
def test_what_re2_does_not_take_ends_too(pattern: str) -> None:
    """With an answer or without one; a hang would end the run of all tests."""
    assert in_linear_time(pattern, pattern) is None
    with suppress(PatternTooSlow):
        assert matched(pattern, _LONG) is False
