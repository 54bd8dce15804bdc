"""A busy machine may not fail a test: times are measured in tests/benchmarks, and a test asserts the cause of one."""

import re
from pathlib import Path

import pytest

_TESTS = Path(__file__).parents[1]
_CLOCK = r"(?:monotonic|process_time|thread_time|perf_counter|time)(?:_ns)?\(\)"
# A wait that is not too short is no limit of time: `>=` is allowed.
_TIMED = re.compile(rf"assert .*{_CLOCK} - \w+(?: - \w+)? <=? ?[\d\w(]")
_BELOW = re.compile(r"assert (?:[\d.]+ <=? )?(?:took|elapsed|seconds|duration)(?:_s|_ms)? <")


@pytest.mark.parametrize(
    "line", ["assert time.monotonic() - began < 10", "assert took < 1.0", "    assert 9 < took_s < 11"]
)
def test_a_timed_assertion_is_seen(line: str) -> None:
    """The forms that tests here had."""
    assert _TIMED.search(line) or _BELOW.search(line)


def test_no_test_has_a_limit_of_time() -> None:
    """In no file but this one; the benches assert nothing."""
    timed = [
        f"{file.relative_to(_TESTS)}:{number}"
        for file in sorted(_TESTS.rglob("test_*.py"))
        if file != Path(__file__)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if _TIMED.search(line) or _BELOW.search(line)
    ]
    assert timed == []
