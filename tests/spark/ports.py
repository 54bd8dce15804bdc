"""Ports of these tests, beside those of the stack that the other tests share."""

import os

_PORT_BASE = 27_000
BROKER, CONNECT = 100, 140
MASTER, MASTER_PAGE, WORKER, WORKER_PAGE = 141, 142, 143, 144


def port(offset: int) -> int:
    """One of them, counted from TEST_PORT_BASE."""
    return int(os.environ.get("TEST_PORT_BASE") or _PORT_BASE) + offset
