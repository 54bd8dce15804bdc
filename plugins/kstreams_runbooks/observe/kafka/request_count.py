"""How many requests the two clients have sent to the brokers, by their own metrics.

kafka-python is counted from when it is connected, by the answers that its request latency is measured from; librdkafka
by the `tx` of its statistics (https://github.com/confluentinc/librdkafka/blob/master/STATISTICS.md), connections and
metadata included.
"""

import json
import time
from collections.abc import Callable
from typing import Any

_EVERY_MS = 100
_PATIENCE_S = 2.0


class Statistics:
    """What librdkafka's clients say of themselves, as long as they are asked for callbacks."""

    def __init__(self) -> None:
        self._sent: dict[str, int] = {}
        self._told = 0

    def settings(self) -> dict[str, Any]:
        """What makes one client say it."""
        return {"statistics.interval.ms": _EVERY_MS, "stats_cb": self._take}

    def sent(self, poll: Callable[[float], int]) -> int:
        """Requests so far; `poll` of a client brings what it has said after its last call."""
        until = time.monotonic() + _PATIENCE_S
        # What was said while nobody asked is old.
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
