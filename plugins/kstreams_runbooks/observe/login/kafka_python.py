"""Imports kafka-python as a whole, by one thread at a time."""

import threading
from importlib import import_module

_IMPORTING = threading.Lock()


def import_kafka_python() -> None:
    """Import the parts that any connection needs; call it before a thread imports a part of kafka-python.

    Its modules import each other: two threads that start with different ones deadlock, and Python gives one of them a
    half-loaded module.
    """
    with _IMPORTING:
        import_module("kstreams_runbooks.observe.kafka.admin_client")
        import_module("kafka.net.sasl")
        import_module("kafka.protocol.sasl")
