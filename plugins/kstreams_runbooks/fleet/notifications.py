"""Notifiers and the messages they get: `config/notifications.yaml`, next to the fleet's folders; optional."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from kstreams_runbooks.fleet import fleet_dir
from kstreams_runbooks.fleet.reading import read_settings
from kstreams_runbooks.fleet.values import Amount, FleetModel
from kstreams_runbooks.model.runs.message import Kind

_FILE = "notifications.yaml"
# As Airflow itself checks it.
_ID = re.compile(r"[\w.:!@$#-]{1,250}", re.ASCII)
_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# The Airflow connection with the login that writes the notes of runs.
NOTE_CONNECTION = "kstreams_runbooks_api"
# Half a working day: people who wait for the application learn who holds it while that person is at work.
HELD_TOO_LONG_H = 4.0


def _importable(path: str) -> str:
    if not _PATH.fullmatch(path):
        raise ValueError("is not the import path of a class, such as airflow.providers.slack.notifications.slack.X")
    return path


def _short(names: dict[str, Any]) -> dict[str, Any]:
    if bad := [name for name in names if not _NAME.fullmatch(name)]:
        raise ValueError(f"has the name {bad[0]!r}; use up to 64 letters, digits, dots, _ and -")
    return names


def _connection(name: str | None) -> str | None:
    if name is not None and not _ID.fullmatch(name):
        raise ValueError("is not the id of an Airflow connection; use up to 250 letters, digits and _ . : ! @ - $ #")
    return name


class Channel(FleetModel):
    """One of Airflow's notifiers (a class that extends BaseNotifier), its arguments, and the kinds it gets."""

    notifier: Annotated[str, AfterValidator(_importable)] = Field(description="import path of the notifier's class")
    arguments: dict[str, Any] = Field(
        default_factory=dict,
        description="its arguments; those that it templates may use {{ notification.subject }} and the like",
    )
    kinds: tuple[Kind, ...] = Field(
        default=tuple(Kind), min_length=1, description="kinds of messages that it gets; all by default"
    )


class NotificationSettings(FleetModel):
    """The file. Logins and tokens are in Airflow's connections, which the notifiers name, never here."""

    name: str = "notifications"
    held_too_long_h: Amount = Field(
        default=HELD_TOO_LONG_H,
        gt=0,
        le=87_600,
        description="hours after which a run that still holds its application is reported",
    )
    note_connection: Annotated[str | None, AfterValidator(_connection)] = Field(
        default=NOTE_CONNECTION,
        description="Airflow connection with the login that writes the notes of runs; null: no note is written",
    )
    notifiers: Annotated[dict[str, Channel], AfterValidator(_short)] = Field(
        default_factory=dict, description="notifiers, each by a name of your choice"
    )

    def notifiers_for(self, kind: Kind) -> list[str]:
        """Names of the notifiers that get this kind."""
        return [name for name, channel in self.notifiers.items() if kind in channel.kinds]


def notification_settings(config_dir: Path | None = None) -> NotificationSettings:
    """The settings in the file, without channels if it is absent; BadInput names its fault."""
    return read_settings(fleet_dir(config_dir) / _FILE, NotificationSettings, "messages are kept and not sent")
