"""Whether a source pattern lets through all that another did: proven by names, by its beginning, or not at all."""

import re
from itertools import product

import pytest
from kstreams_runbooks.decide.topology.pattern_names import matches, reads_all_of


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"ride\.events", r"ride\.(events|more)"),
        (r"ride\.(events|more)", r"ride\..*"),
        ("payments-(eu|us)", "payments-.*"),
        ("payments-(eu|us)", "payments-(eu|us|cn)"),
        ("ride.events", "ride.(events|more)"),
        ("orders|payments", "payments|orders|refunds"),
        ("orders-[0-9]", r"orders-\d"),
        ("orders-[ab]?", "orders-.*"),
        (r"\Qa.b\E", r"a\.(b|c)"),
        ("(?:a|b)-in", "[abc]-in"),
        ("events-.*", "(events-.*|other)"),
        ("(events-.*)", "events-.*|other"),
        ("events-[a-z]+", "events-.*"),
        ("events-[a-z]+", ".*"),
        ("a{2}|b", "b|a{2}|c"),
        ("......", ".*"),
    ],
)
def test_a_pattern_that_only_gets_wider(old: str, new: str) -> None:
    """Each name that the old one matches is read by the new one."""
    assert reads_all_of(old, set(), {new})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"ride\.(events|more)", r"ride\.events"),
        ("ride.events", r"ride\.events"),
        ("payments-.*", "payments-(eu|us)"),
        ("payments-.*", "payment-.*"),
        ("payments-.*", "(refunds|payments)-.+"),
        ("orders-[a-c]", "orders-[ab]"),
        ("orders-?", "orders-"),
        ("events-?[a-z]+", "events-.*"),
        ("events-[a-z]+", r"events-\.*"),
        ("a|events-[a-z]+", "a|events-.*x"),
        ("(?i)orders", "orders"),
        ("(a)\\1", "aa|b"),
        ("[^a]", "[^b]"),
        ("x[[a-c]&&[b]]", "xb"),
        ("orders", "x[[a-c]&&[b]]"),
    ],
)
def test_what_is_not_proven(old: str, new: str) -> None:
    """Names that go, and patterns that cannot be compared here: both are told as topics that are no longer read."""
    assert not reads_all_of(old, set(), {new})


def test_several_sources_take_its_place() -> None:
    """By name and by pattern, together; one name less is a topic that goes."""
    assert reads_all_of("payments-(eu|us)", {"payments-eu"}, {"payments-u."})
    assert reads_all_of("payments-(eu|us)", {"payments-eu", "payments-us", "orders"}, set())
    assert not reads_all_of("payments-(eu|us)", {"payments-eu"}, {"payments-c."})
    assert not reads_all_of("payments-(eu|us)", {"payments-eu"}, set())


@pytest.mark.parametrize("old", ["a|b.", "a(b|c)?d", "[a-c]x?", r"a\.b|\d", "(a|b)(c|d)", "a.?", "", "a||b"])
def test_names_are_all_that_a_matcher_accepts(old: str) -> None:
    """Proven against Python's own matcher, with each name of up to three characters: none is forgotten."""
    names = ["".join(one) for length in range(4) for one in product("abcdx.7-", repeat=length)]
    matched = {name for name in names if re.fullmatch(old, name)}
    assert reads_all_of(old, matched, {"[A-Ze-wyz0-689_]|.[A-Ze-wyz0-689_]"})
    for name in matched:
        assert not reads_all_of(old, matched - {name}, set())


def test_kafkas_own_topics_are_never_read_by_a_pattern() -> None:
    """A subscription leaves them out."""
    assert not matches("__.*", "__consumer_offsets")
    assert matches("__.*", "__mine")
