"""Running one of a team's own commands: no shell, a time limit, and its exit code as an error of our tree.

What it prints goes to files, not to pipes: a process that a script leaves running in the background keeps a pipe open
for as long as it lives. At its limit the command is told to end, and killed; what it started stays, it may be the
instance.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from typing import IO

from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, RunbookError, Unreachable
from kstreams_runbooks.fleet.commands import Command
from kstreams_runbooks.model.address import printable
from kstreams_runbooks.wording import outside

_LONGEST_TAIL = 300
_LONGEST_LINE = 8 * _LONGEST_TAIL
_LONGEST_OUTPUT = 4_000_000
_TO_END_S = 5.0
_HIDDEN = "(hidden)"

_LOGIN = re.compile(r"(?<=//)[^/\s@]+@")
_SECRET = re.compile(
    r"(?i)([\w.-]*(?:password|passwd|passphrase|secret|credential|token|jaas|api[._-]?key|authorization)[\w.-]*"
    r"[\"']?\s*[=:]\s*|\bbearer\s+|\bbasic\s+|--(?:password|token|secret)\s+).*"
)

# Airflow's connections and keys, and our ledger's address, are none of a script's business.
_NOT_INHERITED = ("AIRFLOW", "_AIRFLOW", "KSTREAMS_RUNBOOKS_LEDGER")


def filled(command: Command, values: Mapping[str, str]) -> list[str]:
    """The command's words with their placeholders filled in."""
    return [word.format(**values) for word in command.run]


def run_script(about: str, verb: str, command: Command, values: Mapping[str, str]) -> str:
    """What the command printed on stdout, where it ended with 0.

    Its other exit codes: 1 is Refused, 2 BadInput, 3 Inconclusive, 4 Unreachable, each with the last line of stderr;
    anything else is Inconclusive. Unreachable where it has not ended after its limit, BadInput where it cannot be run.
    `about` (an instance or an application) begins the sentence.
    """
    words = filled(command, values)
    who = f"{about}: {verb} ({printable(words[0])})"
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={name: value for name, value in os.environ.items() if not name.startswith(_NOT_INHERITED)},
                # A signal that tells the task to go must not end a script in the middle of its work.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise BadInput(f"{who} cannot be run ({why}); correct the command in the fleet entry") from None
        try:
            code = process.wait(command.timeout_s)
        except subprocess.TimeoutExpired:
            _end(process)
            raise Unreachable(
                f"{who}: not done after {command.timeout_s:g} s (limit timeout_s{_said(err)}); it was ended, and what "
                "it did is not known"
            ) from None
        if code:
            raise _error(who, code, _said(err))
        return _text(out, who)


def tail_of(text: str) -> str:
    """The last line that says something, without what looks like a credential."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # Looking for credentials takes the square of the length.
    last = _LOGIN.sub(f"{_HIDDEN}@", lines[-1][:_LONGEST_LINE]) if lines else ""
    return outside(_SECRET.sub(lambda found: found[1] + _HIDDEN, last), _LONGEST_TAIL)


def _error(who: str, code: int, said: str) -> RunbookError:
    match code:
        case 1:
            return Refused(f"{who}: it refused (exit 1{said})")
        case 2:
            return BadInput(f"{who}: it was given something wrong (exit 2{said}); correct the fleet entry")
        case 3:
            return Inconclusive(f"{who}: it cannot say (exit 3{said})")
        case 4:
            return Unreachable(f"{who}: it reached nobody (exit 4{said})")
    how = f"was killed by signal {-code}" if code < 0 else f"exit {code}"
    return Inconclusive(f"{who}: {how} (expected 0 to 4{said}); what it did is not known")


def _said(err: IO[bytes]) -> str:
    """`: ` and the tail of what a command wrote to stderr, empty where that is nothing."""
    size = err.seek(0, os.SEEK_END)
    err.seek(max(0, size - _LONGEST_LINE))
    tail = tail_of(err.read().decode("utf-8", "replace"))
    return f": {tail}" if tail else ", nothing on stderr"


def _text(out: IO[bytes], who: str) -> str:
    if out.seek(0, os.SEEK_END) > _LONGEST_OUTPUT:
        raise Inconclusive(f"{who}: more than {_LONGEST_OUTPUT:,} bytes on stdout; print one JSON document alone")
    out.seek(0)
    return out.read().decode("utf-8", "replace")


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(_TO_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
