"""Another application on the same inputs whose application.id begins with that of the orders application."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lab import application, kafka
from lab.afresh import TELL_APART_S, forget_group
from lab.application import TO_RELEASE, Deployed
from lab.stack import Stack
from lab.started_over import LONGER, internal, outputs
from lab.supervise import Waiting, unheard, until

INSTANCE = f"{LONGER}-1"
# The third port of metrics; the first two are those of the orders application.
_NUMBER = 3
_RUNNING_S = 120
_OUTPUTS = outputs("v2-")


@contextmanager
def neighbour(stack: Stack) -> Iterator[None]:
    """It runs, from nothing, for as long as the body runs; no fleet entry declares it."""
    start_neighbour(stack)
    try:
        yield
    finally:
        stack.supervisor.stop(INSTANCE)
        forget_group(stack.lab.bootstrap, LONGER)


def start_neighbour(stack: Stack, say: Callable[[str], None] = unheard) -> None:
    """Start it from nothing; return once it is RUNNING and has its internal topics."""
    lab = stack.lab
    shutil.rmtree(lab.instances / INSTANCE, ignore_errors=True)
    kafka.create_topics(lab.bootstrap, _OUTPUTS.values())
    deployed = Deployed(1, TO_RELEASE, application_id=LONGER, settings=_OUTPUTS)
    application.write_instance(lab, deployed, _NUMBER, INSTANCE)
    stack.supervisor.add(application.program(lab, INSTANCE))
    time.sleep(TELL_APART_S)
    stack.supervisor.start(INSTANCE)
    waiting = Waiting(_RUNNING_S, say)

    def running() -> bool:
        waiting.count(lambda: f"{INSTANCE} is not RUNNING yet: {lab.metrics_url(_NUMBER)}")
        return is_running(stack) and bool(internal(lab.bootstrap, LONGER))

    until(running, _RUNNING_S, f"{INSTANCE} is RUNNING")


def is_running(stack: Stack) -> bool:
    """Whether its instance reports RUNNING."""
    return getattr(application.streams(stack.lab, _NUMBER), "state", "") == "RUNNING"
