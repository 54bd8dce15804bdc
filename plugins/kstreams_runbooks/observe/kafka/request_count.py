"""Number of requests that the two clients have sent to the brokers, from their own metrics.

kafka-python counts from its connection on: the answers behind its request latency. librdkafka reports `tx` in its
statistics (https://github.com/confluentinc/librdkafka/blob/master/STATISTICS.md):
connections and metadata included.
"""

import json
import time
from collections.abc import Callable
from typing import Any

_EVERY_MS = 100
_PATIENCE_S = 2.0


class Statistics:
    """The statistics of librdkafka's clients; each `poll` of a client delivers them."""

    def __init__(self) -> None:
        self._sent: dict[str, int] = {}
        self._told = 0

    def settings(self) -> dict[str, Any]:
        """Settings with which one client reports its statistics."""
        return {"statistics.interval.ms": _EVERY_MS, "stats_cb": self._take}

    def sent(self, poll: Callable[[float], int]) -> int:
        """Requests so far; `poll` of a client delivers the statistics since its previous call."""
        until = time.monotonic() + _PATIENCE_S
        # Statistics from before this call are out of date.
        while poll(0):
            pass
        before = self._told
        while self._told == before and time.monotonic() < until:
            poll(_EVERY_MS / 1000)
        return sum(self._sent.values())

    def _take(self, text: str) -> None:
        said = json.loads(text)
        self._told += 1
        self._sent[str(said["name"])] = sum(int(broker["tx"]) for broker in said["brokers"].values())
