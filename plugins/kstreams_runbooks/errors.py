"""Errors that a person reads: one sentence each, with object, observed, limit and next action.

RunbookError                 exit code
├── BadInput                 2   an input is wrong: nothing was changed
├── Refused                  1   a decision refuses, or a person is needed
│   ├── WriteRefused         1   a write client or a mutating step refused before it wrote
│   ├── StillUp              1   a deployer reported an end, and the process lives
│   ├── NotStarted           1   an instance was stopped, and is down: its start failed, and so did another one
│   └── Drifted              1   the observed state no longer matches the plan
├── Inconclusive             3   a reading is missing: no verdict is possible
├── Unreachable              4   a system does not answer
│   └── LoginRefused         4   a system answers, and does not accept the login: no repetition helps
└── Interrupted              1   SIGTERM arrived during a write, which was then completed
"""

from kstreams_runbooks.wording import sentence


class RunbookError(Exception):
    """Root of all errors that are shown without a traceback; `exit_code` is the command's exit code.

    Each sentence is one line, also if it quotes several; several sentences are one line each.
    """

    exit_code = 1

    def __init__(self, *sentences: object) -> None:
        super().__init__(*map(sentence, sentences))

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


class BadInput(RunbookError):
    """An argument, a declaration or a form value is wrong."""

    exit_code = 2


class Refused(RunbookError):
    """A decision refuses: the sentence names the observed value and the limit."""

    exit_code = 1


class WriteRefused(Refused):
    """A write was refused before it happened: no approval, a dry run, a hold of another run."""


class StillUp(Refused):
    """A deployer reported that an instance is stopped, and its process lives: a second one must not be started."""


class NotStarted(Refused):
    """An instance that was stopped is down: its start failed twice; the error behind it (`from`) is the first cause."""

    @property
    def cause(self) -> str:
        """Why the first start failed."""
        behind = self.__cause__
        return behind.cause if isinstance(behind, NotStarted) else str(behind or self)


class Drifted(Refused):
    """The plan's facts, or those shown to a person, no longer hold: the plan is void; a new run makes another."""


class Inconclusive(RunbookError):
    """A reading failed: it is never taken for OK."""

    exit_code = 3


class Unreachable(RunbookError):
    """A broker, an agent, a supervisor or the ledger does not answer."""

    exit_code = 4


class LoginRefused(Unreachable):
    """A broker, a supervisor or a token endpoint answers and does not accept the login, or its settings."""


class Interrupted(RunbookError):
    """SIGTERM arrived during a write; everything that was stopped has been started again."""


EXIT_CODES = {
    0: "ok",
    1: "a decision or a person is needed",
    2: "bad input",
    3: "inconclusive",
    4: "a system is unreachable",
}
