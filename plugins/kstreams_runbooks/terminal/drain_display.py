"""Shows the progress of a drain: a live display on a terminal, elsewhere a line for each change of state."""

import sys
import time
from collections.abc import Iterator
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from kstreams_runbooks.decide.drain.pace import eta_ms
from kstreams_runbooks.model.readings.drain import DrainAnswer, DrainReading
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.present.drain import grouped, shape
from kstreams_runbooks.wording import outside, sentence

_STYLES = {Outcome.PROCEED: "bold green", Outcome.WAIT: "yellow", Outcome.INCONCLUSIVE: "bold red"}
_BAR = 20
_LINE_EVERY_S = 10


class Display:
    """Progress on stderr; a context manager that leaves the last display visible."""

    def __init__(self, subject: str, ceiling_s: float | None) -> None:
        self._subject = subject
        self._ceiling_s = ceiling_s
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False)
        self._began = time.monotonic()
        self._most: dict[str, int] = {}
        self._said: tuple[str, ...] | None = None
        self._said_at = 0.0
        self._skipped = 0

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, answer: DrainAnswer) -> None:
        """Show one more reading."""
        if self._console.is_terminal:
            self._live.update(Group(*self._picture(answer)), refresh=True)
            return
        # Under traffic the numbers of each reading differ: a line for another state, and one each ten seconds.
        now, seen = time.monotonic(), (str(answer.verdict.outcome), *shape(answer.verdict.reasons))
        if seen == self._said and now - self._said_at < _LINE_EVERY_S:
            self._skipped += 1
            return
        more = f", {self._skipped} alike before" if self._skipped else ""
        self._said, self._said_at, self._skipped = seen, now, 0
        line = f"{self._waited()}, reading {answer.taken}{more}: {'; '.join(grouped(answer.verdict.reasons))}"
        print(sentence(line), file=sys.stderr, flush=True)

    def _waited(self) -> str:
        """`12 of 300 s`."""
        limit = "" if self._ceiling_s is None else f" of {self._ceiling_s:.0f}"
        return f"{self._elapsed():.0f}{limit} s"

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _picture(self, answer: DrainAnswer) -> Iterator[Text | Table]:
        last = answer.readings[-1]
        left = eta_ms(answer.readings)
        rest = "" if left is None else f", about {left / 1000:.0f} s more"
        yield Text(f"{self._subject}: reading {answer.taken}, {self._waited()}{rest}", "bold")
        yield self._topics(last)
        for reason in grouped(answer.verdict.reasons):
            yield Text(reason, _STYLES.get(answer.verdict.outcome, ""))

    def _topics(self, last: DrainReading) -> Table:
        table = Table(box=None, pad_edge=False)
        for title in ("topic", "role", "", "left"):
            table.add_column(title, justify="right" if title == "left" else "left", overflow="fold")
        for topic in dict.fromkeys(one.topic for one in last.partitions):
            rows = [one for one in last.partitions if one.topic == topic]
            # Text, not a string: rich reads [red] and [link=…] in a string as markup.
            name, counts = outside(topic), [one.records for one in rows]
            if None in counts:
                table.add_row(Text(name), rows[0].role, Text("not known", "red"), "?")
                continue
            left = sum(count or 0 for count in counts)
            most = self._most[topic] = max(self._most.get(topic, 0), left)
            bar = ProgressBar(total=max(most, 1), completed=most - left if most else 1, width=_BAR)
            table.add_row(Text(name), rows[0].role, bar, f"{left:,}")
        return table
