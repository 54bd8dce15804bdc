"""A notifier for tests and the demo: one line of JSON per notification, appended to a file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from airflow.sdk import BaseNotifier, Context

from kstreams_runbooks.files import append_line


class FileNotifier(BaseNotifier):
    """Appends each notification to the file at `path`, whose folder has to exist."""

    template_fields: Sequence[str] = ("path",)

    def __init__(self, path: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.path = path

    def notify(self, context: Context) -> None:
        """Append one line in one write: it never splits a line of another writer."""
        line = json.dumps(context["notification"]) + "\n"  # type: ignore[typeddict-item]  # ours
        append_line(Path(self.path), line.encode())
