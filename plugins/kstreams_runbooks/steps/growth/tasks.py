"""The tasks of a growth that change something of their own; the others are those of a flush."""

from kstreams_runbooks.act.topic_checks import certain
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.runs.object_stages import GrowTopics, SetOffsets
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.steps.inputs.tasks import pause, require_held, resume, switching
from kstreams_runbooks.steps.instances.flushed import require_flushed
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import write
from kstreams_runbooks.steps.stages.order import is_complete, require_earlier
from kstreams_runbooks.steps.stages.task import make

_ENDS = "ends before the growth"


@write("holds the inputs back")
def pause_inputs(run: Run) -> None:
    """The copier is down: no new record reaches the application, which reads what it has."""
    pause(run, switching(run))


@write("adds the partitions in one call")
def grow_topics(run: Run) -> None:
    """Every topic has its new number, read back; only while nothing writes them and nothing is left to read."""
    for stage in _stages(run):
        if not run.dry_run and not is_complete(run, stage):
            require_held(run)
            if not _has_begun(run, stage):
                require_flushed(run.first, inputs=True)
                _note_ends(run)
        make(run.first, stage)


@write("lets the inputs flow again")
def resume_inputs(run: Run) -> None:
    """The copier starts by key; only once the topics have grown, by the task that proves nothing is left to read."""
    hold = switching(run)
    if not run.dry_run:
        require_earlier(run, hold.resuming[-1])
    resume(run, hold)


def noted_ends(run: Run) -> dict[tuple[str, int], int]:
    """The ends of the grown topics right before the growth; Refused without them."""
    noted = run.ledger.recall(run.key, _ENDS)
    if noted is None:
        raise Refused("the ends before the growth are not noted: clear grow_topics and what follows it")
    return {(topic, part): int(end) for topic, part, end in noted}


def grown_and_read(run: Run) -> tuple[tuple[str, int], ...]:
    """The grown topics that the application reads, with their new numbers."""
    plan = run.whole_plan()
    after = {name: number for one in plan.stages if isinstance(one, GrowTopics) for name, number in one.topics}
    return tuple((name, after[name]) for one in plan.stages if isinstance(one, SetOffsets) for name in one.topics)


def _note_ends(run: Run) -> None:
    with run.reader() as reader:
        ends = certain(ends_of(reader, reader.topics([name for name, _ in grown_and_read(run)])))
    run.ledger.remember(run.key, _ENDS, [[*place, end] for place, (_, end) in sorted(ends.items())])


def _stages(run: Run) -> list[GrowTopics]:
    return [one for one in run.whole_plan().stages if isinstance(one, GrowTopics)]


def _has_begun(run: Run, stage: GrowTopics) -> bool:
    return any(card.stage == stage.number for card in run.ledger.cards(run.key))
