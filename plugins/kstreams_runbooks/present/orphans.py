"""Topics that nothing reads any more, as JSON, as text and as an exit code."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from kstreams_runbooks.model.readings.orphans import ApplicationOrphans, Orphan
from kstreams_runbooks.model.times import utc_second
from kstreams_runbooks.wording import fitted, sentence

SCHEMA_VERSION: Final = 1
_CHANGELOG = "keep it while an undo may need its store; then retire it (reset_and_cleanup, mode retire)"
_EMPTY = "no record is left: it may stay, or be deleted with kafka-topics"
_READ = "its records are read and committed, until the offsets expire: empty it with kafka-delete-records before that"
_REFUSED = (
    "a start of a release that reads it is refused: empty it if its records are proven read (kafka-delete-records), "
    "or restore the offsets from the file that a run saved"
)


def document(answers: Sequence[ApplicationOrphans]) -> dict[str, Any]:
    """Every application; a value that is not known is null, times are Unix ms."""
    return {
        "schema_version": SCHEMA_VERSION,
        "applications": [
            {
                "application": one.application,
                "cluster": one.cluster,
                "taken_at_ms": one.at_ms,
                "problems": list(one.problems),
                "orphans": [_row(orphan) for orphan in one.orphans],
            }
            for one in answers
        ],
    }


def _row(one: Orphan) -> dict[str, Any]:
    found = {"bytes": None, "records": None, "uncommitted": None} if one.found is None else asdict(one.found)
    return {
        "topic": one.topic,
        "topic_id": one.topic_id,
        "kind": one.kind,
        "exists": one.exists,
        "bytes": found["bytes"],
        "records_at_most": found["records"],
        "partitions_without_offsets": found["uncommitted"] if one.kind == "repartition" else None,
        "since_ms": one.since_ms,
        "run": one.run,
        "may": _may(one),
    }


def exit_code(answers: Sequence[ApplicationOrphans]) -> int:
    """0 no orphan, 1 orphans, 3 something is unknown."""
    if any(one.problems for one in answers):
        return 3
    return 1 if any(one.orphans for one in answers) else 0


def as_text(answers: Sequence[ApplicationOrphans], columns: int | None = None) -> str:
    """The whole answer as text, in lines of at most `columns` characters (None: whole)."""
    return "\n\n".join("\n".join(fitted(sentence(line), columns) for line in _application(one)) for one in answers)


def _application(one: ApplicationOrphans) -> Iterator[str]:
    count = f"{len(one.orphans):,} {'topic' if len(one.orphans) == 1 else 'topics'} that nothing reads"
    none = "not known" if one.problems else "every internal topic is read"
    yield f"{one.application} @ {one.cluster}: {count if one.orphans else none}"
    for orphan in one.orphans:
        yield f"  {orphan.topic} (id {orphan.topic_id}): {', '.join(_facts(orphan))}"
        yield f"    {_may(orphan)}"
    for problem in one.problems:
        yield f"  ! {problem}"


def _facts(one: Orphan) -> Iterator[str]:
    yield one.kind
    if one.found is None:
        yield "whether it still exists is not known"
    else:
        yield "size not known" if one.found.bytes is None else f"{one.found.bytes:,} bytes"
        yield "records not known" if one.found.records is None else f"at most {one.found.records:,} records"
        if one.kind == "repartition" and one.found.uncommitted:
            partitions = "partition" if one.found.uncommitted == 1 else "partitions"
            yield f"no committed offset on {one.found.uncommitted:,} {partitions} with records"
    if one.run is None or one.since_ms is None:
        yield "which run left it behind is not in the ledger"
    else:
        yield f"not read since {utc_second(one.since_ms)}, left behind by run {one.run}"


def _may(one: Orphan) -> str:
    if one.kind == "changelog":
        return _CHANGELOG
    if one.found is None or one.found.records is None or one.found.uncommitted:
        return _REFUSED
    return _READ if one.found.records else _EMPTY
