"""The words of a copier: a pass-through application in front of control topics."""

from typing import Final, Literal

from kstreams_runbooks.model.target import RunbookSettings

# The shipped copier (docs/topic_copier.md): an application of Kafka Streams like any other.
TOPIC_COPIER: Final = "topic-copier"
# Of the shipped copier: the offsets of its inputs at which it ends by itself.
UNTIL: Final = "until"
# Of the shipped copier: whether a copy keeps the partition of its record, or gets that of its key.
MODE: Final = "mode"
SAME_PARTITION: Final = "same-partition"
BY_KEY: Final = "by-key"
# Of the shipped copier: the targets that were given partitions on purpose, with their numbers.
PARTITIONS: Final = "partitions"
# Of the shipped copier: a backlog is merged by the time of its records, so many times as fast at most.
ORDER: Final = "order"
BY_TIME: Final = "by-time"
PACE: Final = "pace"
# In the place of a release: another copier runs what its team has deployed, and no runbook changes that.
AS_DEPLOYED: Final = "as-deployed"

# Under `exactly_once` a record is copied exactly once, also after a kill; under `at_least_once` a kill may repeat some.
CopierDelivery = Literal["exactly_once", "at_least_once"]

# In a plan, in place of offsets that are known once the application is down.
NOT_YET_KNOWN: Final = "the offsets of the application once it is down"


def with_until(settings: RunbookSettings, until: str) -> RunbookSettings:
    """The settings with the offsets at which a copier ends, if they have a place for them."""
    return tuple((key, until if (key, value) == (UNTIL, NOT_YET_KNOWN) else value) for key, value in settings)
