"""Ports of these tests, beside those of the stack and of the secured brokers."""

import os

_PORT_BASE = 27_000
BROKER, CONNECT = 300, 340
MASTER, MASTER_PAGE, WORKER, WORKER_PAGE = 341, 342, 343, 344


def port(offset: int) -> int:
    """One of them, counted from TEST_PORT_BASE."""
    return int(os.environ.get("TEST_PORT_BASE") or _PORT_BASE) + offset
