"""Reads the logs that restore stores: what they lost, and for how long brokers keep their records."""

from collections.abc import Collection, Mapping

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.state.changelogs import windowed_changelogs, with_logs
from kstreams_runbooks.decide.reset.radius import all_gone
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import RestoringLog
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of

_POLICY, _RETENTION, _LAG = "cleanup.policy", "retention.ms", "min.compaction.lag.ms"
_BYTES = "retention.bytes"
_HIDDEN = Missing("this login may not see the settings of the topic")


def read_restoring_logs(reader: ClusterReader, topics: Collection[str]) -> tuple[RestoringLog, ...]:
    """The logs of those of `topics` that exist. Unreachable if no broker answers."""
    there = reader.topics(topics)
    settings = reader.settings([one.name for one in there], (_POLICY, _RETENTION, _LAG, _BYTES))
    starts: dict[str, list[int | Missing]] = {}
    for (topic, _), each in ends_of(reader, there).items():
        starts.setdefault(topic, []).append(each.start)
    return tuple(_log(topic, all_gone(its), settings.get(topic, {})) for topic, its in starts.items())


def with_kept(reader: ClusterReader, running: Side, application_id: str) -> Side:
    """The version that runs, with the time in ms that each changelog of its windows keeps records on the cluster.

    Unreachable if no broker answers.
    """
    changelogs = windowed_changelogs(running, application_id)
    return with_logs(running, changelogs, read_restoring_logs(reader, changelogs.values())) if changelogs else running


def _log(topic: str, gone: int | Missing, settings: Mapping[str, str]) -> RestoringLog:
    retention, lag = settings.get(_RETENTION), settings.get(_LAG)
    kept = _HIDDEN if retention is None else int(retention)
    return RestoringLog(
        topic,
        settings.get(_POLICY, ""),
        gone,
        None if isinstance(kept, int) and kept < 0 else kept,
        _HIDDEN if lag is None else int(lag),
        limited_bytes=int(settings.get(_BYTES, -1)) >= 0,
    )
