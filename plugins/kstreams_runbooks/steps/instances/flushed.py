"""Whether a drain certificate still holds, right before the step that relies on it: with every instance down."""

from kstreams_runbooks.decide.drain.flushed import flushed
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.object_stages import DeleteRecords
from kstreams_runbooks.model.runs.stages import Stage
from kstreams_runbooks.observe.application.application import read_dropped
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.certified import certified_reading
from kstreams_runbooks.watch.drain.unread import count_once


def is_after_certificate(run: Run, stage: Stage) -> bool:
    """Whether a stage of the run's side relies on the certificate of its plan."""
    return any(one.certify.number < stage.number for one in run.plan().input_holds)


def require_flushed(run: Run, *, inputs: bool = False, orphans: bool = False) -> None:
    """Refused or Inconclusive if a record can be read in the internal topics of the certificate.

    With `inputs` in those too: they are held until the application is down, and flow again after that. With `orphans`
    only in the repartition topics that nothing reads after the change.
    """
    if (reading := certified_reading(run)) is None:
        raise Refused("this run has no drain certificate: clear `certify` and what follows it")
    roles = {"repartition", "source"} if inputs else {"repartition"}
    topics = {one.topic for one in reading.partitions if one.role in roles}
    if orphans:
        topics &= {name for one in run.plan().stages if isinstance(one, DeleteRecords) for name in one.topics}
    with run.reader() as reader:
        left = read_dropped(reader, run.application.application_id, topics)
    if not isinstance(left, Missing):
        left = count_once(run.application, run.kafka, left, say=run.say)
    run.demand(run.decide(flushed, left=left))
