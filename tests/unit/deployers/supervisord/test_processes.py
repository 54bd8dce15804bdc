"""Whether a process is gone: only what was looked at is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psutil
import pytest
from kstreams_runbooks.deployers.supervisord.processes import alive


def _raise(error: psutil.Error) -> str:
    raise error


@dataclass
class Process:
    """A process whose state is what the test says."""

    status: Callable[[], str]
    pid: int = 4_000_000

    def is_running(self) -> bool:
        """Its process id is still its own."""
        return True


@pytest.mark.parametrize(
    ("status", "runs"),
    [
        (lambda: psutil.STATUS_SLEEPING, True),
        (lambda: psutil.STATUS_ZOMBIE, False),
        (lambda: _raise(psutil.NoSuchProcess(4_000_000)), False),
        (lambda: _raise(psutil.ZombieProcess(4_000_000)), False),
        (lambda: _raise(psutil.AccessDenied(4_000_000)), True),
    ],
)
def test_a_process_that_may_not_be_looked_at_is_not_gone(status: Callable[[], str], runs: bool) -> None:
    """Its state is deleted after it."""
    process: Any = Process(status)
    assert alive((process,)) == ([4_000_000] if runs else [])
