"""Runs one of a team's own commands: no shell, a declared environment, limits, and its exit code as our error.

The output is read while the command runs. A process that it leaves in the background may keep the output open: the
command has still ended once its own process has.
"""

import re
from collections.abc import Mapping

from kstreams_runbooks.deployers.bounded_process import MOST_OUTPUT, NotDone, TooMuch, run_bounded
from kstreams_runbooks.deployers.script_environment import script_environment
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, RunbookError, Unreachable
from kstreams_runbooks.fleet.deployers.command import Command
from kstreams_runbooks.fleet.deployers.environment import CommandEnvironment
from kstreams_runbooks.model.address import HIDDEN, printable, without_logins
from kstreams_runbooks.wording import outside

_LONGEST_TAIL = 300
# A line of a log that is an error: its level, or a thrown class with its message or at the end of the line.
_ERROR = re.compile(r"\b(?:ERROR|FATAL|SEVERE)\b|\b\w*(?:Exception|Error)(?=: |:?$)")
_LONGEST_LINE = 8 * _LONGEST_TAIL
# The verbs of every reading: a call that hangs is ended with all processes that it started.
_LOOKING = frozenset({"instances", "log", "state_sizes", "topology"})

# A name that is a secret's: KAFKA_KEY, but not a record's `key` or `message_key`; `pass`, but not `passed` or `bypass`.
_NAME = (
    r"(?<![\w.-])[\w.-]*(?:password|passwd|passphrase|secret|credential|token|jaas|authorization"
    r"|(?:api|private|access|account|encryption|shared|signing)[._-]?key"
    r"|(?-i:_KEY)(?![a-z])|(?<!by)(?<!com)pass(?![a-z])|pwd(?![a-z]))[\w.-]*[\"']?"
)
# `password is hunter2`, but not `password is wrong`.
_IS = (
    r"\s+is\s+(?!(?:correct|denied|empty|expired|incorrect|invalid|missing|needed|no|not|null|old|rejected|refused"
    r"|required|revoked|too|undefined|unknown|unset|wrong)\b)"
)
# `token eyJhb…`, but not `token endpoint` or `token expired`: what follows looks like no word.
_VALUE = r"(?=\S{6})(?=\S*\d)"
_SECRET = re.compile(
    rf"(?i)({_NAME}(?:\s*[=:]\s*|{_IS})|\bbearer\s+|\bbasic\s+"
    r"|--(?:[\w-]*-)?(?:password|passwd|pass|pwd|token|secret|api-key|access-key|private-key)\s+"
    rf"|\b(?:password|passwd|passphrase|secret|token)\s+{_VALUE}).*"
)


def filled(command: Command, values: Mapping[str, str]) -> list[str]:
    """The command's words with the values of their placeholders."""
    return [word.format(**values) for word in command.run]


def run_script(
    about: str, verb: str, command: Command, values: Mapping[str, str], environment: CommandEnvironment
) -> str:
    """The command's stdout, if it ended with 0.

    Its other exit codes: 1 is Refused, 2 BadInput, 3 Inconclusive, 4 Unreachable, each with the last line of stderr;
    any other is Inconclusive, and so is output above MOST_OUTPUT or that is not UTF-8. Unreachable if it has not ended
    within its limit, BadInput if it cannot be run. `about` (an instance or an application) begins the sentence.
    """
    words = filled(command, values)
    who = f"{about}: {verb} ({outside(printable(words[0]), 200)})"
    try:
        done = run_bounded(words, script_environment(environment), command.timeout_s, only_looks=verb in _LOOKING)
    except (OSError, ValueError) as error:
        raise BadInput(f"{who} cannot be run ({why_not_run(error)}); correct the command in the fleet entry") from None
    except NotDone as late:
        raise Unreachable(
            f"{who}: not done after {command.timeout_s:g} s (limit timeout_s{_said(late.err)}); it was ended, and its "
            "effect is unknown"
        ) from None
    except TooMuch:
        raise Inconclusive(
            f"{who}: more than {MOST_OUTPUT:,} bytes on stdout; it was ended there, and its effect is unknown; "
            "print one JSON document alone"
        ) from None
    if done.code:
        raise _error(who, done.code, _said(done.err))
    try:
        return done.out.decode("utf-8")
    except UnicodeDecodeError:
        raise Inconclusive(f"{who}: its output is not UTF-8; print one JSON document in UTF-8") from None


def why_not_run(error: OSError | ValueError) -> str:
    """Why a program could not be started."""
    return getattr(error, "strerror", None) or outside(error, 200)


def tail_of(text: str) -> str:
    """The last line that is not blank, without what looks like a credential."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # The search for credentials takes the square of the length.
    last = without_logins(lines[-1][:_LONGEST_LINE]) if lines else ""
    return outside(_SECRET.sub(lambda found: found[1] + HIDDEN, last), _LONGEST_TAIL)


def end_of_log(text: str) -> str:
    """The last error in the end of a log, else its last line, as a clause and without what looks like a credential.

    Empty for a log without lines.
    """
    lines = [line.strip()[:_LONGEST_LINE] for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.search(line)]
    if not lines:
        return ""
    return f"last error in its log: {tail_of(errors[-1])}" if errors else f"last line of its log: {tail_of(lines[-1])}"


def _error(who: str, code: int, said: str) -> RunbookError:
    match code:
        case 1:
            return Refused(f"{who}: it refused (exit 1{said})")
        case 2:
            return BadInput(f"{who}: its input was wrong (exit 2{said}); correct the fleet entry")
        case 3:
            return Inconclusive(f"{who}: the answer is unknown (exit 3{said})")
        case 4:
            return Unreachable(f"{who}: a system that it needs is unreachable (exit 4{said})")
    how = f"was killed by signal {-code}" if code < 0 else f"exit {code}"
    return Inconclusive(f"{who}: {how} (expected 0 to 4{said}); its effect is unknown")


def _said(err: bytes) -> str:
    """The end of what a command wrote to stderr, as the end of a clause; a remark if it wrote nothing."""
    tail = tail_of(err.decode("utf-8", "replace"))
    return f": {tail}" if tail else ", nothing on stderr"
