"""The offsets of a stage whose inputs have targets: resolved right before they are written, as the log is then."""

from kstreams_runbooks.decide.reset.offsets import may_set, moved_offsets
from kstreams_runbooks.decide.reset.targets import parse_target
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.runs.object_stages import SetOffsets
from kstreams_runbooks.model.writes import CommittedOffset
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.cleared import shown_radius
from kstreams_runbooks.watch.reset_targets import read_inputs_now


def target_offsets(run: Run, stage: SetOffsets) -> tuple[CommittedOffset, ...]:
    """The offset of each partition, without metadata: a stream time of before would be one from the future.

    Refused or Inconclusive if a target cannot be resolved, or if more is lost since the plan than the stage allows.
    """
    radius = shown_radius(run)
    if radius is None:
        raise Refused("no offset is set: this run has not kept what its plan showed; clear plan and what follows it")
    targets = {topic: parse_target(topic, text, now_ms()) for topic, text in stage.targets}
    rows = moved_offsets(targets, read_inputs_now(run.application, run.kafka, targets))
    run.demand(run.decide(may_set, rows=rows, planned=radius.offsets, most_lost=stage.most_lost))
    return tuple(CommittedOffset(one.topic, one.partition, one.after) for one in rows if one.after is not None)
