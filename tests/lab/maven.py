"""Maven, with what it prints in a log and its seconds counted."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from kstreams_runbooks.errors import BadInput

from lab.supervise import exit_of, log_tail

_LIMIT_S = 900


def package(pom: Path, log: Path, say: Callable[[str], None], *options: str, does: str, do: str) -> None:
    """Build what a pom describes; BadInput with the last lines of the log if it fails.

    `does` and `do` name the work, as in "Maven builds the application" and "Maven could not build the application".
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    command = ["mvn", "-q", "-B", "-f", str(pom), "package", *options]
    with log.open("wb") as out:
        maven = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        code = exit_of(maven, _LIMIT_S, say, f"Maven {does}: {log}")
    if code:
        raise BadInput(f"Maven could not {do} (exit {code}); its last lines ({log}):", *log_tail(log).splitlines())
