"""What a person is told without asking: one message, and how far it has got on its way to one notifier."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The messages about a run, of which the last three end it, and the one about an application by itself."""

    NEEDS_YOU = "needs_you"
    HELD = "held_too_long"
    DRIFTED = "drifted_while_waiting"
    STOPPED = "stopped_with_undo"
    CONCLUDED = "concluded"
    STATUS = "status_changed"

    @property
    def words(self) -> str:
        """As it stands in a subject."""
        return self.value.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Notification:
    """One message. `about`, `kind` and `occasion` together are what is sent once.

    `about` is the key of a run, or of what has a status of its own: `application:CLUSTER:NAME`, `owner:CLUSTER:NAME`.
    `lines` is the whole text, with deadline, command and link among them; times are Unix milliseconds.
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
    """A message on its way to one notifier: not sent while `sent_at_ms` is None, and `error` says why not."""

    notification: Notification
    channel: str
    attempts: int
    sent_at_ms: int | None
    error: str | None
