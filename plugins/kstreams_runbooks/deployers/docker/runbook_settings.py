"""The settings of a runbook in a container: environment variables of a prefix, or a properties file in a mount."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from kstreams_runbooks.deployers.settable import shown
from kstreams_runbooks.documents.text import Absent, read_text
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.deployers.docker import NEXT, variable_of
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.target import RunbookSettings
from kstreams_runbooks.properties import dump, parse, write_atomically


class Variables:
    """One variable for each setting that a runbook may set."""

    def __init__(self, prefix: str, settable: frozenset[str]) -> None:
        self._names = {key: variable_of(prefix, key) for key in sorted(settable)}

    @property
    def names(self) -> frozenset[str]:
        """Names of all of them."""
        return frozenset(self._names.values())

    def of(self, settings: RunbookSettings) -> dict[str, str]:
        """Variables by name."""
        return {self._names[key]: value for key, value in settings}

    def read(self, container: Mapping[str, str], image: Mapping[str, str]) -> RunbookSettings:
        """What the container has and its image has not: the image's own values are no runbook's."""
        found = {key: container[name] for key, name in self._names.items() if name in container}
        return tuple(sorted((key, value) for key, value in found.items() if image.get(self._names[key]) != value))


class SettingsFile:
    """A properties file and, next to it, the one that takes its place at the next start."""

    def __init__(self, path: Path, settable: frozenset[str]) -> None:
        self.path, self._settable = path, settable
        self.next = path.with_name(f"{path.name}{NEXT}")

    def read(self, *, next_: bool) -> RunbookSettings | Missing:
        """What it sets now, or for the next start; values that no runbook sets are hidden."""
        try:
            return shown(self._load(next_=next_), self._settable)
        except BadInput as error:
            return Missing(str(error))

    def obstacles(self) -> Iterator[str]:
        """What keeps a runbook from writing it."""
        try:
            strange = sorted(set(self._load(next_=False)) - self._settable)
        except BadInput as error:
            yield str(error)
            return
        if strange:
            yield (
                f"{self.path} holds {', '.join(strange)}, which no runbook sets and a write would drop (allowed: "
                f"{', '.join(sorted(self._settable))}); move it to a file of your own, or declare it under `settable`"
            )

    def write_next(self, settings: RunbookSettings) -> None:
        """Write what takes its place at the next start; OSError if that fails."""
        write_atomically(
            self.next, dump(dict(settings), "written by kstreams-runbooks; takes effect at the next start")
        )

    def drop_next(self) -> None:
        """It stays as it is at the next start."""
        self.next.unlink(missing_ok=True)

    def take_next(self) -> None:
        """Put what was written for the next start in its place, if that has not been done."""
        if self.next.exists():
            self.next.replace(self.path)

    def _load(self, *, next_: bool) -> dict[str, str]:
        path = self.next if next_ and self.next.exists() else self.path
        try:
            return parse(read_text(path, encoding="latin-1"))
        except Absent:
            return {}
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None
