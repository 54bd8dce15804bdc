"""Errors that a person reads: one sentence each, with object, observed, limit and next action.

RunbookError                 exit code
├── BadInput                 2   something given is wrong: nothing was changed
├── Refused                  1   a decision says no, or a person is needed
│   ├── WriteRefused         1   a write client or a mutating step said no before it wrote
│   └── Drifted              1   the world is no longer the one that the plan was made for
├── Inconclusive             3   a reading is missing: nobody can say
├── Unreachable              4   a system does not answer
└── Interrupted              1   the process was told to stop in the middle of a write that was then completed
"""

from kstreams_runbooks.wording import sentence


class RunbookError(Exception):
    """Root of everything that is shown without a traceback; `exit_code` is the command's exit code.

    Each sentence is one line, whatever it quotes; where there are several, each is a line of its own.
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
    """A decision says no: the sentence names what was observed and the limit."""

    exit_code = 1


class WriteRefused(Refused):
    """A write was refused before it happened: no approval, a dry run, a hold of another run."""


class Drifted(Refused):
    """What was planned for, or shown to a person, is no longer so: the plan is void, a new run makes another."""


class Inconclusive(RunbookError):
    """Something could not be read: never taken for OK."""

    exit_code = 3


class Unreachable(RunbookError):
    """A broker, an agent, a supervisor or the ledger does not answer."""

    exit_code = 4


class Interrupted(RunbookError):
    """A SIGTERM arrived in the middle; what was stopped has been started again."""


EXIT_CODES = {
    0: "ok",
    1: "a decision or a person is needed",
    2: "bad input",
    3: "inconclusive",
    4: "a system is unreachable",
}
