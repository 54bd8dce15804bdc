"""Patterns that an application subscribes by: read as Java reads them, or refused with what to do."""

import pytest
from kstreams_runbooks.decide.topology.java_pattern import matched
from kstreams_runbooks.errors import BadInput


@pytest.mark.parametrize(
    ("pattern", "topics", "others"),
    [
        (r"audit\..*", ("audit.eu",), ("auditors", "my.audit.eu")),
        ("a|b", ("a", "b"), ("ab",)),
        (r"in-(?<day>\d+)", ("in-12",), ("in-x",)),
        (r"(?<a>x|y)-\k<a>", ("x-x",), ("x-y",)),
        (r"\Qa.b\E-.*", ("a.b-1",), ("axb-1",)),
        (r"\Qa.b", ("a.b",), ("axb",)),
        (r"tenant-\w++", ("tenant-1",), ("tenant-",)),
        (r"[^\[a-c]+-in", ("d-in",), ("a-in",)),
        (r"(?!internal-).*-in", ("a-in",), ("internal-in",)),
        (r"\x{61}\x62", ("ab",), ("x{61}b",)),
        (r"\p{Lu}\pL+", ("Orders",), ("orders",)),
        (r"a(?i)b|c", ("ab", "aB", "C"), ("AB",)),
        (r"(?i)(?=a)A-\z", ("a-", "A-"), ("b-",)),
        (r"[]a]+", ("a",), ("[]a]",)),
    ],
)
def test_a_pattern_that_both_can_read(pattern: str, topics: tuple[str, ...], others: tuple[str, ...]) -> None:
    """Against the whole name; what Python only spells otherwise is translated."""
    assert [name for name in (*topics, *others) if matched(pattern, name)] == list(topics)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\p{Lower}+-in",
        "[a-z&&[^x]]+",
        "[a[bc]]+",
        "[a--c]",
        r"[\Qab\E]",
        "(?d)a",
        "(?x)a b",
        r"\0101",
        r"(a)\11",
        "[a",
        "a\\",
        "a)",
    ],
)
def test_a_pattern_that_python_reads_otherwise_is_refused(pattern: str) -> None:
    """Never half, never by another meaning: the sentence has the pattern and what to do."""
    with pytest.raises(BadInput) as refused:
        matched(pattern, "a")
    assert str(refused.value).startswith(f"source pattern {pattern}: cannot be read here as Java reads it")
    assert "or subscribe to the topics by name" in str(refused.value)


def test_no_pattern_takes_kafkas_own_topics() -> None:
    """A consumer leaves out those that the broker marks as internal, and no others."""
    names = ("__consumer_offsets", "__transaction_state", "__share_group_state", "__ours", "orders")
    assert [name for name in names if matched(".*", name)] == ["__ours", "orders"]
