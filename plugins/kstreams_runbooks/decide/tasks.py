"""Which tasks an application has, and which of them a member of its group holds."""

from collections.abc import Collection, Mapping

from kstreams_runbooks.model.readings import MemberReading


def all_tasks(read_by: Mapping[str, str], partitions: Mapping[str, int]) -> frozenset[str] | None:
    """`SUBTOPOLOGY_PARTITION` of every task; None while the partitions of a source topic are not known.

    `read_by` is the subtopology of each source topic. A subtopology has as many tasks as the largest of its topics has
    partitions (Kafka Streams architecture, "Stream partitions and tasks").
    """
    if not read_by or not read_by.keys() <= partitions.keys():
        return None
    return frozenset(f"{sub}_{number}" for topic, sub in read_by.items() for number in range(partitions[topic]))


def tasks_of(
    members: Collection[MemberReading], read_by: Mapping[str, str], partitions: Mapping[str, int]
) -> frozenset[str]:
    """Active tasks of these members: as a streams group tells them, else those all of whose partitions they hold.

    A task lacks a partition where its member kept an assignment from before its subtopology got another topic.
    """
    held = {name for member in members for name in member.partitions}
    needed: dict[str, set[str]] = {}
    for topic, sub in read_by.items():
        for number in range(partitions.get(topic, 0)):
            needed.setdefault(f"{sub}_{number}", set()).add(f"{topic}-{number}")
    whole = frozenset(task for task, names in needed.items() if names <= held)
    return whole | frozenset(task for member in members for task in member.tasks)
