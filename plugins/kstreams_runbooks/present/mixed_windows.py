"""How long old and new windows mix, as JSON, as text and as an exit code."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final, Protocol

from kstreams_runbooks.decide.change.mixed_windows import MixedPartition, MixedStore, every
from kstreams_runbooks.decide.comparison.facts import duration
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.model.topology.declaration import Window
from kstreams_runbooks.wording import sentence

SCHEMA_VERSION: Final = 1
_WORDS = {True: "over", False: "mixed", None: "not known"}
_EXIT_CODES = {True: 0, False: 1, None: 3}


class _Answer(Protocol):
    """The answer for one application (watch/mixed_windows.py)."""

    @property
    def application(self) -> str: ...
    @property
    def cluster(self) -> str: ...
    @property
    def at_ms(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def stores(self) -> tuple[MixedStore, ...]: ...


def document(answer: _Answer) -> dict[str, Any]:
    """Every changed store with its partitions; times are Unix ms, of event time apart from `taken_at_ms`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "application": answer.application,
        "cluster": answer.cluster,
        "taken_at_ms": answer.at_ms,
        "status": _WORDS[_over(answer)],
        "change": answer.source,
        "stores": [
            {
                "store": one.change.store,
                "status": _WORDS[one.over],
                "before": asdict(one.change.before),
                "after": asdict(one.change.after),
                "mixed_for_ms": one.change.mixed_ms,
                "why": one.why or None,
                "partitions": [{**asdict(each), "why": each.why or None} for each in one.partitions],
            }
            for one in answer.stores
        ],
    }


def exit_code(answer: _Answer) -> int:
    """0 it is over, or no window changed; 1 old and new windows still mix; 3 that is not known."""
    return _EXIT_CODES[_over(answer)]


def as_text(answer: _Answer) -> str:
    """The whole answer as text; of the partitions those for which it is not over."""
    return "\n".join(map(sentence, _lines(answer)))


def _over(answer: _Answer) -> bool | None:
    return every([one.over for one in answer.stores])


def _lines(answer: _Answer) -> Iterator[str]:
    head = f"{answer.application} @ {answer.cluster}"
    if not answer.stores:
        yield f"{head}: no window of an aggregation changes ({answer.source})"
        return
    yield f"{head}: {_WORDS[_over(answer)].upper()}; change {answer.source}"
    for one in answer.stores:
        change = one.change
        yield f"  {change.store}: {_shown(change.before)} → {_shown(change.after)}: {_WORDS[one.over]}"
        if change.mixed_ms is not None:
            yield f"    results mix both until stream time is {duration(change.mixed_ms)} past the change"
        if change.has_sessions:
            yield (
                "    ! a session from before the change that goes on stays mixed until it ends: no stream time shows "
                "its end; read the results of keys that never pause"
            )
        if one.why:
            yield f"    ! {one.why}"
        yield from (f"    {_partition(each)}" for each in one.partitions if not each.over)


def _partition(one: MixedPartition) -> str:
    if one.over is None or one.until_ms is None or one.stream_time_ms is None:
        return f"! {one.name}: {one.why}"
    left = duration(one.until_ms - one.stream_time_ms)
    return (
        f"{one.name}: until stream time passes {utc_second(one.until_ms)}; it is {utc_second(one.stream_time_ms)} "
        f"({left} to go)"
    )


def _shown(window: Window) -> str:
    """`tumbling 10 s, grace 2 min`."""
    advance = "" if window.advance_ms is None else f" every {duration(window.advance_ms)}"
    return f"{window.kind} {duration(window.size_ms)}{advance}, grace {duration(window.grace_ms)}"
