"""Whether a cluster accepts a login, and the exact reason if it does not.

Both clients retry in the background although the login can never succeed (a wrong password, an expired certificate),
and report a timeout. So this module first opens a connection of its own with the same settings (attempt.py).
"""

import random
import threading
import time
from collections.abc import Mapping
from queue import Empty, SimpleQueue
from typing import Any, Final

from kstreams_runbooks.errors import LoginRefused, Unreachable
from kstreams_runbooks.observe.login.attempt import NO_ANSWER, NOTHING_LISTENS, REFUSED, Refusal, Server, attempt
from kstreams_runbooks.observe.login.kafka_python import import_kafka_python

# A restarting broker listens again within this time; if it does not, the sentence comes within 3 s.
_AGAIN_S: Final = 1.5
_PAUSE_S: Final = 0.2
# How long one address has before the next one is tried in parallel.
_HEAD_START_S: Final = 0.5


def find_way_in(settings: Mapping[str, Any], limit_s: float) -> str:
    """The first of the bootstrap servers that accepts the login; Unreachable with the cause if none does.

    LoginRefused if a broker answers and does not accept the login or its settings.
    `settings` are kafka-python's. It gives up an address that does not answer after `limit_s`; every other cause is
    known within 3 s. Of the settings, the sentence shows only user, mechanism, protocol and file names.
    """
    import_kafka_python()
    servers = [Server.of(one) for one in settings["bootstrap_servers"]]
    random.shuffle(servers)
    until = time.monotonic() + limit_s
    results: SimpleQueue[Refusal | Server] = SimpleQueue()
    refusals: list[Refusal] = []
    for number, server in enumerate(servers, 1):
        # Daemons: a name server that does not answer blocks its thread for longer than the limit.
        threading.Thread(target=_try, args=(server, settings, until, results), daemon=True, name="way-in").start()
        last = number == len(servers)
        while len(refusals) < number:
            left = until - time.monotonic() + _PAUSE_S
            try:
                result = results.get(timeout=max(left if last else min(_HEAD_START_S, left), 0.01))
            except Empty:
                break
            if isinstance(result, Server):
                return str(result)
            refusals.append(result)
    silent = Refusal(NO_ANSWER, f"Kafka at {servers[0]}: no answer within {limit_s:.0f} s; is the broker up?")
    found = min(refusals, default=silent)
    raise LoginRefused(found.sentence) if found.rank == REFUSED else Unreachable(found.sentence)


def _try(server: Server, settings: Mapping[str, Any], until: float, results: "SimpleQueue[Refusal | Server]") -> None:
    again_until = time.monotonic() + _AGAIN_S
    while True:
        refusal = attempt(server, settings, until)
        if refusal is None or refusal.rank != NOTHING_LISTENS or time.monotonic() + _PAUSE_S > again_until:
            results.put(refusal or server)
            return
        time.sleep(_PAUSE_S)
