"""kafka-python is imported whole, by one thread at a time."""

import threading
from importlib import import_module

_IMPORTING = threading.Lock()


def import_kafka_python() -> None:
    """Import what any connection needs of it; whoever is about to import a part of it in a thread calls this first.

    Its modules import each other: two threads that begin with different ones deadlock, and Python gives one of them a
    module that is half there.
    """
    with _IMPORTING:
        import_module("kstreams_runbooks.observe.kafka.admin_client")
        import_module("kafka.net.sasl")
        import_module("kafka.protocol.sasl")
