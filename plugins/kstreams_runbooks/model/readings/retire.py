"""Internal topics that nothing uses any more, before they are deleted for good. Times are Unix ms, sizes bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kstreams_runbooks.model.readings.orphans import Orphan
from kstreams_runbooks.model.readings.readings import GroupReading, InstanceReading, Missing, TopicReading
from kstreams_runbooks.model.readings.reset import RunningUse, TopicUser
from kstreams_runbooks.model.readings.rest import TopicEnds

# orphans: what runs left behind. application: every internal topic of an application that is out of use, and its group.
RetireWhat = Literal["orphans", "application"]


@dataclass(frozen=True, slots=True)
class RetireFacts:
    """What was read of an application before topics of it are retired.

    `internal` are the topics that are named as its internal ones, `sizes` their bytes. `made` are the full names of
    those that a topology may make which may have run last; Missing if one is not known. `orphans` are as the command of
    that name lists them. `group` is None if no broker knows it. `problems` are readings that could not be taken.
    `ends` are those of `internal`.
    """

    at_ms: int
    internal: tuple[TopicReading, ...]
    sizes: Mapping[str, int] | Missing
    orphans: tuple[Orphan, ...]
    made: frozenset[str] | Missing
    users: tuple[TopicUser, ...]
    others: tuple[RunningUse, ...]
    group: GroupReading | Missing | None
    instances: tuple[InstanceReading, ...]
    ends: TopicEnds
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RetiredTopic:
    """A topic that is named as an internal one of the application.

    `goes`: it is deleted; otherwise `why` is the reason why it stays, of one that goes the reason why it may.
    """

    topic: TopicReading
    goes: bool
    why: str
