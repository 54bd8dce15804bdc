"""Notifications: one message, and its delivery to one notifier."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The messages about a run: `drifted`, `stopped` and `concluded` end it, the scheduled check sends `inputs_held`.

    `status_changed` is about an application by itself.
    """

    NEEDS_YOU = "needs_you"
    HELD = "held_too_long"
    DRIFTED = "drifted_while_waiting"
    STOPPED = "stopped_with_undo"
    CONCLUDED = "concluded"
    STATUS = "status_changed"
    INPUTS_HELD = "inputs_held"

    @property
    def words(self) -> str:
        """The kind as it appears in a subject."""
        return self.value.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Notification:
    """One message, sent once for each `about`, `kind` and `occasion` together.

    `about` is the key of a run, or of an object with a status of its own: `application:CLUSTER:NAME`,
    `owner:CLUSTER:NAME`. `lines` is the whole text, including deadline, command and link; times are Unix milliseconds.
    """

    about: str
    kind: Kind
    occasion: str
    application: str
    cluster: str
    owner: str
    dry_run: bool
    subject: str
    lines: tuple[str, ...]
    link: str
    command: str
    deadline_ms: int | None
    at_ms: int

    @property
    def body(self) -> str:
        """The text, one line each."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Delivery:
    """The delivery of a message to one notifier: pending while `sent_at_ms` is None, `error` has the last failure."""

    notification: Notification
    channel: str
    attempts: int
    sent_at_ms: int | None
    error: str | None
