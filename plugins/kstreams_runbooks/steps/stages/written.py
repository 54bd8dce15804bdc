"""The writes of a stage to a cluster: shown by a dry run, and kept as evidence, also if they failed in part."""

from collections.abc import Callable, Iterable

from kstreams_runbooks.act.kafka_writer import KafkaWriter, PartlyWritten
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.object_stages import CreateTopics, DeleteOffsets, DeleteTopics, SetOffsets
from kstreams_runbooks.model.writes import ObjectWritten
from kstreams_runbooks.steps.run.run import Run


def written(run: Run, kind: str, write: Callable[[], Iterable[ObjectWritten]]) -> None:
    """Make a write and keep the result for each object; after PartlyWritten too, which is raised again."""
    try:
        results = tuple(write())
    except PartlyWritten as error:
        _keep(run, kind, error.written)
        raise
    _keep(run, kind, results)


def rehearsed(run: Run, writer: KafkaWriter) -> None:
    """Show what a dry run of the writer would have written."""
    for line in writer.would_write:
        run.say(f"would {line}")


def not_created_yet(run: Run, stage: DeleteTopics | SetOffsets | DeleteOffsets) -> bool:
    """Whether this is a dry run of a stage about topics that an earlier stage creates; shows the stage if it is."""
    if not run.dry_run:
        return False
    earlier = (one for one in run.whole_plan().stages if isinstance(one, CreateTopics) and one.number < stage.number)
    created = {topic.name for one in earlier for topic in one.topics}
    if created.isdisjoint(stage.topics):
        return False
    run.say(f"would {stage.sentence}")
    return True


def _keep(run: Run, kind: str, results: tuple[ObjectWritten, ...]) -> None:
    run.keep("write", kind, {"written": encode(results)})
    for one in results:
        run.say(f"{one.object}: {one.result}")
