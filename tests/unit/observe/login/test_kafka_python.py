"""Several clusters are connected to at once in a process that has not imported kafka-python yet."""

import subprocess
import sys

AT_ONCE = """
import threading
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.observe.kafka import clients

clients.CONNECT_TIMEOUT_MS = 500
nobody, found, start = {"bootstrap.servers": "127.0.0.1:1"}, [], threading.Barrier(4)

def ask(call):
    start.wait()
    try:
        call(nobody)
    except BaseException as error:
        found.append(type(error).__name__)

threads = [threading.Thread(target=ask, args=(call,)) for call in (clients.let_in, clients.connect_python) * 2]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*found)
"""


def test_threads_that_connect_at_once_do_not_deadlock_in_its_imports() -> None:
    """Its modules import each other: each thread says that nothing listens, and stderr has no traceback."""
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout.split(), done.stderr) == (["Unreachable"] * 4, "")
