"""Ports of the tests: everything that may be up at the same time has its own, counted from TEST_PORT_BASE."""

import os

_PORT_BASE = 27_000

# The shared stack, a broker with logins, a pair of brokers, a stack whose broker forgets offsets, a broker that deletes
# no topic, a stack whose broker has logins, one with two schedulers. Airflow of docker-compose.yaml. A broker that is
# killed under copiers, and the metrics of a copier.
STACK, SECURED, PAIR, FORGETFUL, UNDELETABLE, SECURED_STACK, SCHEDULERS, COMPOSE = 0, 100, 120, 400, 460, 500, 540, 480
COPIERS, COPIER_METRICS = 600, 630
# Spark's tests: their broker, Connect, and the master and worker of a cluster with their pages.
BROKER, CONNECT, MASTER, MASTER_PAGE, WORKER, WORKER_PAGE = 300, 340, 341, 342, 343, 344


def port(offset: int) -> int:
    """The port with this offset."""
    return int(os.environ.get("TEST_PORT_BASE") or _PORT_BASE) + offset
