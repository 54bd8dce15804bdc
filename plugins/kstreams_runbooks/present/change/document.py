"""A plan as one JSON document: what `plan --format json` prints, and the source of every other format."""

from dataclasses import asdict
from typing import Any, Final

from kstreams_runbooks.decide.change.answer import MILD, open_questions
from kstreams_runbooks.decide.change.buffers import held_back
from kstreams_runbooks.decide.change.reading import ChangeReading
from kstreams_runbooks.decide.change.rules import Fired
from kstreams_runbooks.decide.comparison.prediction import InternalTopic
from kstreams_runbooks.model.releases.path import PathFinding
from kstreams_runbooks.model.topology.change import ChangeFigures, ChangeFinding, Undecided
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import procedures

SCHEMA_VERSION: Final = 1
# Runbooks that start the new version and keep what there is.
_ANSWERED_BY = {*MILD, "store_migration", "suppress_removal", "partition_increase"}
_NOTHING_READ = ChangeFigures()


def document(reading: ChangeReading, figures: ChangeFigures = _NOTHING_READ) -> dict[str, Any]:
    """Everything about a change; figures that only a cluster has (`figures`) are null if they were not read.

    Sizes are bytes of one replica, times ms since 1970; `records_to_reprocess` is the present number of records in
    the inputs, which is the most that a reset can process again.
    """
    prediction = reading.prediction
    open_ = frozenset(open_questions(Fired(reading.findings, reading.undecided)))
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": reading.plan.verdict.value,
        "reasons": list(reading.plan.reasons),
        "runbooks": list(reading.plan.runbooks),
        "first": _first(reading),
        "way_back": {**asdict(reading.back), "sentences": list(reading.back.sentences)},
        "not_compared": list(reading.not_compared),
        "unchanged_is_enough": list(reading.enough),
        "same_program_is_enough": reading.same_enough,
        "at_least": list(reading.at_least),
        "asserted": [asdict(one) for one in reading.asserted],
        "cures": [asdict(one) for one in reading.cures],
        "alternatives": [asdict(one) for one in reading.plan.alternatives],
        "findings": [_finding(one) for one in reading.findings],
        "defects": [_of_release(one) for one in reading.defects],
        "undecided": [_undecided(one, matters=one in open_) for one in reading.undecided],
        "internal_topics": {
            "created": [_topic(one, figures) for one in prediction.created],
            "orphaned": [_topic(one, figures) for one in prediction.orphaned],
            "kept": [_topic(one, figures) for one in prediction.kept],
        },
        "restores": [{**asdict(one), "bytes": figures.bytes_on_disk.get(one.changelog)} for one in prediction.restores],
        "emptied": [{"store": one.store, "why": one.why} for one in prediction.emptied if not one.asks],
        "stale_task_directories": list(prediction.stale_directories),
        "changes": [asdict(one) for one in reading.effects],
        "costs": {
            "bytes_to_restore": _sum([figures.bytes_on_disk.get(one.changelog) for one in prediction.restores]),
            "records_to_reprocess": figures.records_held,
            "inputs_reach_back_to_ms": figures.reach_back_to_ms,
        },
        "buffers": [asdict(one) for one in held_back(reading.limits, figures.buffers)],
        "procedures": [asdict(one) for one in procedures() if one.runbook in reading.plan.runbooks],
    }


def exit_code(reading: ChangeReading, figures: ChangeFigures = _NOTHING_READ) -> int:
    """0 a rolling bounce is enough and no decision is needed, 1 more than that or a refusal, 3 inconclusive.

    1 also if the new version shuts down with the records that a suppress buffer holds now. 2 for two applications that
    were mixed up: that is not a change of one application.
    """
    if reading.mixed_up:
        return 2
    if reading.plan.verdict is Outcome.INCONCLUSIVE:
        return 3
    if any(one.ends_it for one in held_back(reading.limits, figures.buffers)):
        return 1
    return 0 if reading.plan.verdict is Outcome.PROCEED and reading.rolls else 1


def _first(reading: ChangeReading) -> list[str]:
    """Runbooks that prove something before those of the plan begin; none before one that starts over."""
    if not set(reading.plan.runbooks) & _ANSWERED_BY:
        return []
    return list(dict.fromkeys(one.first for one in reading.uncovered if one.first))


def _finding(one: ChangeFinding) -> dict[str, Any]:
    return {
        "id": one.id,
        "severity": one.severity,
        "object": one.object,
        "message": one.message,
        "data": one.data or None,
        "source": one.source,
        "runbook": one.runbooks[0] if one.runbooks else None,
        "covered_by": one.covered_by,
    }


def _of_release(one: PathFinding) -> dict[str, Any]:
    return {
        "id": one.id,
        "severity": one.severity,
        "object": one.object,
        "message": one.message,
        "source": one.source,
    }


def _undecided(one: Undecided, *, matters: bool) -> dict[str, Any]:
    return {
        "id": one.id,
        "severity": one.severity,
        "object": one.object,
        "declare": [str(missing) for missing in one.asked],
        "missing": [
            {
                "where": missing.where,
                "field": missing.field,
                "sides": missing.sides,
                "reason": missing.reason or None,
                "value": missing.value,
            }
            for missing in one.asked
        ],
        "matters": matters,
        "candidates": one.candidates or None,
    }


def _topic(one: InternalTopic, figures: ChangeFigures) -> dict[str, Any]:
    return {
        "name": one.name,
        "partitions": figures.partitions.get(one.name, one.partitions),
        "bytes": figures.bytes_on_disk.get(one.name),
    }


def _sum(sizes: list[int | None]) -> int | None:
    """The sum, None if one of them is not known."""
    return None if any(size is None for size in sizes) else sum(size or 0 for size in sizes)
