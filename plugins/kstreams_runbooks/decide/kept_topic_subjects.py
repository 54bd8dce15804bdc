"""Internal topics that stay, and that the new version would need with another number of partitions."""

from collections.abc import Iterator

from kstreams_runbooks.decide.compared import Compared
from kstreams_runbooks.decide.name_prediction import predicted
from kstreams_runbooks.model.topology_change import Subject


def kept_topics(compared: Compared) -> Iterator[Subject]:
    """Each of them; none where the inputs get another number, which is a change of its own."""
    before, after = compared.before.declared.topics, compared.after.declared.topics
    if any(before[name].partitions != after[name].partitions for name in before.keys() & after.keys()):
        return
    prediction = predicted(compared)
    there = {topic.name: topic.partitions for topic in prediction.kept}
    for topic in prediction.refused:
        said = {"name": topic.name, "before": str(there[topic.name]), "after": str(topic.partitions)}
        yield Subject("kept_topic", topic.name, {"refused": True}, said)
