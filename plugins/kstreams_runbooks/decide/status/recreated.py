"""Which topics of an application are not those that were first read, and what that means for its state.

A changelog that was deleted under a running application comes back empty. Outputs stay right, also after a restart,
as long as an instance has the store on its disk: a restore from the changelog loses that state (KIP-698;
tests/integration/test_lag_faults.py).
"""

from collections.abc import Iterable
from typing import Final

from kstreams_runbooks.decide.status.expected_topics import expected_id
from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.model.readings.recreated import RecreatedKind, RecreatedTopic
from kstreams_runbooks.model.readings.status import KeptReading
from kstreams_runbooks.model.runs.own_changes import TopicChange

# What each way of changing the application does to a store whose changelog was recreated.
WAYS: Final = (
    "a restart that keeps state and tasks keeps it (stop_and_restart with local_state=keep; rolling_bounce and "
    "library_bump under static membership); cleared state, a way back from 4.3, a moved task or a new standby loses "
    "it; a reset of the store builds it again"
)


def recreated_topics(
    last: KeptReading, topics: Iterable[TopicReading], own: Iterable[TopicChange]
) -> tuple[RecreatedTopic, ...]:
    """The topics that are not the expected ones, by name: `topics` as they are now, `last` as the check kept them.

    What runs deleted and created themselves is expected (`own`). A topic that is not listed now is gone only if the
    last reading did not find it either: a broker that restarts leaves a topic out of one answer.
    """
    kept, now = dict(last.lag.kept), {one.name: one.topic_id for one in topics}
    roles, changes = {one.topic: one.role for one in last.lag.partitions}, tuple(own)
    found = []
    for name, before in sorted(last.expected.items()):
        topic_id = now.get(name)
        expected = expected_id(before, topic_id, name, changes)
        if expected in {None, topic_id} or (topic_id is None and kept.get(name, "") is not None):
            continue
        kind = _kind(name in kept, roles.get(name, ""))
        found.append(RecreatedTopic(name, kind, expected or before, topic_id))
    return tuple(found)


def _kind(is_kept: bool, role: str) -> RecreatedKind:
    if is_kept:
        return "changelog"
    return "repartition" if role == "repartition" else "input"
