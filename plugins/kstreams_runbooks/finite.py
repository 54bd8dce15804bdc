"""Numbers that an option of a command takes: a wait has an end, and a whole number fits where it goes."""

import math
from typing import Any

import click

# Some ten years: further than anybody waits, nearer than what the clocks of a system can count to.
_MOST = 300_000_000.0
# Readings that prove something: each is kept until the answer, and an hour has 720 at the default interval.
MOST_READINGS = 1_000
# What a column of a database, JSON in a browser and a timestamp of Kafka take alike.
MOST_WHOLE = 2**53 - 1


class FiniteRange(click.FloatRange):
    """As click's FloatRange, and never nan or inf, which pass every comparison that looks for a number too small."""

    def __init__(self, min: float, *, min_open: bool = False) -> None:  # noqa: A002 - click's own name
        super().__init__(min=min, max=_MOST, min_open=min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; click's own error for what is none."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a number; give one from {self.min:g} to {self.max:g}.", param, ctx)
        return number
