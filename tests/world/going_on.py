"""A person follows the command that GO ON of a refused run has."""

import shlex
from collections.abc import Mapping

from lab.stack import Stack

from world.runs import command, evidence, finished, log_of

# What a person writes in place of a placeholder.
WORDS = {"REASON": "OPS-9, accepted for this test", "RELEASE": "3.4.1", "TARGET": "4.3.1", "RUN": "none-of-these"}


def followed(stack: Stack, run_id: str, answers: Mapping[str, str] = WORDS, *, which: int = 0) -> tuple[int, str]:
    """What the command of GO ON in the log of `conclude` ends with: its exit code, and what it or its run reports.

    Of several ways that it shows, `which` is one.
    """
    lines = log_of(stack, run_id, "conclude").splitlines()
    at = next(number for number, line in enumerate(lines) if "GO ON: " in line)
    line = [line for line in lines[at:] if "kstreams-runbooks " in line][which]
    words = shlex.split(line[line.index("kstreams-runbooks ") :])[1:]
    given = [word.partition("=") for word in words]
    answered = [name + equals + answers.get(value, value) for name, equals, value in given]
    assert "--execute" not in answered
    if answered[0] == "trigger":
        return command(stack, *answered, "--wait")
    assert command(stack, *answered)[0] == 0
    state = finished(stack, run_id)
    return int(state != "success"), str(evidence(stack, run_id)["run"]["outcome_sentence"])
