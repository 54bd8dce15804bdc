"""Compares two topics in Spark, within a time: each mode in one read if they are equal, examples in a few more."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.frames.compare_examples import Masks, shown_examples
from kstreams_runbooks.frames.compare_fields import require_paths
from kstreams_runbooks.frames.compare_keys import compare_by_key
from kstreams_runbooks.frames.compare_latest import compare_latest
from kstreams_runbooks.frames.compare_records import compare_records
from kstreams_runbooks.frames.compare_rows import ComparedSource, CompareQuestion
from kstreams_runbooks.model.readings.outputs import OutputComparison

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_AGAIN_S: Final = 0.5
_MODES: Final = {
    "record": compare_records,
    "by-key": compare_by_key,
    "latest": compare_latest,
    "windows": compare_latest,
}


def compare_outputs(
    session: "SparkSession", kafka: Mapping[str, str], question: CompareQuestion, limit_s: float
) -> OutputComparison:
    """What differs between the ranges of both topics; `kafka` are the settings of a Java client.

    A range that is not empty is required. Inconclusive after `limit_s`, and if a record expires while it is read.
    BadInput for a mask or a path that cannot be used.
    """
    Masks.parse(question.masked)
    require_paths(question)
    source = ComparedSource(session, kafka, question)
    with _within(session, limit_s):
        comparison, found = _MODES[question.mode](source)
        # The names of fields may be data: those of a map are its keys.
        fields = () if "fields" in question.masked else comparison.fields
        return replace(comparison, examples=shown_examples(source, found), fields=fields)


@contextmanager
def _within(session: "SparkSession", limit_s: float) -> Iterator[None]:
    """Interrupt the work of the session after `limit_s`, and any that begins after it: Inconclusive then."""
    is_over, is_done = Event(), Event()

    def interrupt() -> None:
        if is_done.wait(limit_s):
            return
        is_over.set()
        # Between two queries there is nothing to interrupt.
        while not is_done.wait(_AGAIN_S):
            with suppress(Exception):
                session.interruptAll()

    Thread(target=interrupt, daemon=True).start()
    why: Exception | None = None
    try:
        yield
    except Exception as error:
        if not is_over.is_set():
            raise
        why = error
    finally:
        is_done.set()
    if is_over.is_set():
        raise Inconclusive(
            f"Spark has not compared the topics within {limit_s:,.0f} s (the limit): nothing is proven; raise the "
            "limit of seconds, or compare smaller ranges"
        ) from why
