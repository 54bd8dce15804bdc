"""Release and settings of an instance: `deployment.properties` over `base.properties`, as its launcher merges them.

`deployment.properties` belongs to runbooks: the release and the settings that they set, nothing else. `base.properties`
belongs to the user; a setting in it is in effect if `deployment.properties` does not set it. To unset a setting is to
restore the user's value. Release and `upgrade.from` may not be in it: a runbook has to be able to remove them. Only
values of a runbook's own keys leave this module: any other may be a secret.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kstreams_runbooks.deployers.settable import shown
from kstreams_runbooks.documents.text import Absent, read_text
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.properties import parse

FILE = "deployment.properties"
BASE = "base.properties"
RELEASE = "release"

# Must not be in effect without a runbook: an `upgrade.from` that is left behind keeps an old record format forever.
_NEVER_BENEATH = frozenset({RELEASE, "upgrade.from"})


@dataclass(frozen=True, slots=True)
class DeploymentFile:
    """What the launcher reads at the next start, and why nothing can be set (`obstacles`, one sentence each)."""

    release: str | Missing
    settings: tuple[tuple[str, str], ...]
    obstacles: tuple[str, ...]


def read_declared(directory: Path, settable: frozenset[str]) -> DeploymentFile:
    """One look at both files of an instance; a file that does not exist sets nothing.

    Values of keys outside of `settable` are hidden. Of `base.properties` only release and `upgrade.from` are read.
    """
    try:
        base, file = _load(directory / BASE), _load(directory / FILE)
    except BadInput as error:
        return DeploymentFile(Missing(str(error)), (), (str(error),))
    beneath = {key: value for key, value in base.items() if key in _NEVER_BENEATH}
    merged = beneath | file
    release = merged.pop(RELEASE, None) or Missing(f"{directory / FILE} sets no release")
    return DeploymentFile(release, shown(merged, settable), tuple(_obstacles(directory, beneath, file, settable)))


def _obstacles(
    directory: Path, beneath: Mapping[str, str], file: Mapping[str, str], settable: frozenset[str]
) -> Iterator[str]:
    if beneath:
        held = ", ".join(f"{key}={value}" for key, value in sorted(beneath.items()))
        yield (
            f"{directory / BASE} holds {held}, and no runbook can unset it there (allowed: in {FILE} alone); move it "
            "there and restart the instance"
        )
    own = settable | {RELEASE}
    if strange := sorted(set(file) - own):
        yield (
            f"{directory / FILE} holds {', '.join(strange)}, which no runbook sets and a write would drop (allowed: "
            f"{', '.join(sorted(own))}); move it to {BASE}, or declare it under `settable`"
        )
    if not os.access(directory, os.W_OK | os.X_OK):
        why = "cannot be written from here" if directory.is_dir() else "is not a directory here"
        yield f"{directory} {why}; correct the instance's `directory`, or its permissions"


def _load(path: Path) -> dict[str, str]:
    try:
        return parse(read_text(path, encoding="latin-1"))
    except Absent:
        return {}
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
