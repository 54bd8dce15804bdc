"""The offsets of a stage whose inputs have targets: resolved right before they are written, as the log is then."""

from collections.abc import Mapping
from dataclasses import replace

from kstreams_runbooks.decide.reset.offsets import may_move_now, may_set, moved_offsets
from kstreams_runbooks.decide.reset.targets import parse_target
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.readings.input_offsets import MovedOffset
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.cleared import shown_radius
from kstreams_runbooks.watch.reset_targets import read_inputs_now


def target_offsets(run: Run, stage: SetOffsets) -> tuple[CommittedOffset, ...]:
    """The offset of each partition, without metadata: a stream time of before would be one from the future.

    Refused or Inconclusive if a target cannot be resolved, or if more is lost since the plan than the stage allows.
    """
    return tuple(
        CommittedOffset(one.topic, one.partition, one.after) for one in _rows(run, stage) if one.after is not None
    )


def require_targets(run: Run) -> None:
    """The same of every stage of the plan that has targets, before something is stopped or deleted for it."""
    for stage in run.plan().stages:
        if isinstance(stage, SetOffsets) and stage.targets:
            _rows(run, stage)


def still_in_the_log(
    run: Run, stage: SetOffsets, announced: tuple[CommittedOffset, ...], starts: Mapping[Place, int]
) -> tuple[CommittedOffset, ...]:
    """Offsets that a first try resolved, for a rerun: one that retention has passed since begins at the log's start.

    They are not resolved again: `latest` is further on by now, and the records between would be skipped.
    """
    if all(starts.get(one.place, 0) <= one.offset for one in announced):
        return announced
    run.demand(may_move_now(_planned(run), starts, stage.most_lost))
    return tuple(replace(one, offset=max(one.offset, starts.get(one.place, 0))) for one in announced)


def _rows(run: Run, stage: SetOffsets) -> tuple[MovedOffset, ...]:
    planned = _planned(run)
    targets = {topic: parse_target(topic, text, now_ms()) for topic, text in stage.targets}
    now = run.patiently(lambda: read_inputs_now(run.application, run.kafka, targets))
    rows = moved_offsets(targets, now)
    run.demand(run.decide(may_set, rows=rows, planned=planned, most_lost=stage.most_lost))
    return rows


def _planned(run: Run) -> tuple[MovedOffset, ...]:
    """The offsets that the plan of this run has shown."""
    radius = shown_radius(run)
    if radius is None:
        raise Refused("no offset is set: this run has not kept what its plan showed; clear plan and what follows it")
    return radius.offsets
