"""Which readings of a long wait are kept: what is new at once, what repeats at growing intervals.

A decision keeps the readings that it was reached from as its inputs, and `evidence --recheck` needs no other. Those in
between show a person how the wait went: five thousand of eight hours would show no more than a hundred.
"""

import re
import time

# Between two kept readings of one kind: 30 s at first, then a twentieth of the wait, at most five minutes.
_LEAST_S = 30.0
_MOST_S = 300.0
_SHARE = 20
_NUMBER = re.compile(r"\d[\d,.]*")


class Thinned:
    """One wait: takes the verdict of each reading, and answers whether to keep it.

    A verdict is new if it differs from all before in more than its numbers: a lag that falls is not new each time.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._kept: dict[str, float] = {}

    def keeps(self, sentence: str) -> bool:
        """Whether the reading with this verdict is kept."""
        now, kind = time.monotonic(), _NUMBER.sub("#", sentence)
        due = min(_MOST_S, max(_LEAST_S, (now - self._began) / _SHARE))
        if kind in self._kept and now - self._kept[kind] < due:
            return False
        self._kept[kind] = now
        return True
