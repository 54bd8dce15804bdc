"""How long a task with several inputs waits for an empty one: it counts while one side of a join is held."""

from collections.abc import Mapping

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.topology import Source, Subtopology, Topology

TASK_IDLE = "max.task.idle.ms"
# Its default since 2.1 (Kafka documentation, Streams settings).
_DEFAULT = "0"


def task_idle_ms(topology: Topology, settings: Mapping[str, str], known: Declaration | None) -> int | Missing:
    """max.task.idle.ms of what runs, 0 without a task that has several inputs.

    `settings` are those that a runbook set, `known` the declaration or the topology facts of the release. Missing if
    neither has the application's settings.
    """
    if not any(_has_several_inputs(one) for one in topology.subtopologies):
        return 0
    if TASK_IDLE in settings:
        value = settings[TASK_IDLE]
    elif known is not None and known.config is not None:
        value = known.config.get(TASK_IDLE, _DEFAULT)
    else:
        return Missing(
            f"{TASK_IDLE} is not known (expected in `config` of the release's declaration, or in its topology facts); "
            "declare `config`"
        )
    try:
        return int(value)
    except ValueError:
        return Missing(f"{TASK_IDLE} is {value!r} (expected milliseconds); correct it")


def _has_several_inputs(subtopology: Subtopology) -> bool:
    sources = [node for node in subtopology.nodes if isinstance(node, Source)]
    topics = {topic for source in sources for topic in source.topics}
    return not subtopology.is_global and (len(topics) > 1 or any(source.pattern for source in sources))
