"""Numbers that an option of a command accepts: a wait ends, and a whole number fits its target."""

import math
from typing import Any

import click

# About ten years: longer than any wait, and within what a system's clocks can count.
_MOST = 300_000_000.0
# Readings that prove a result: each is kept until the answer, and an hour has 720 at the default interval.
MOST_READINGS = 1_000
# The range that a database column, JSON in a browser and a Kafka timestamp share.
MOST_WHOLE = 2**53 - 1


class FiniteRange(click.FloatRange):
    """Click's FloatRange without nan and inf, which pass every comparison that looks for a number too small."""

    def __init__(self, min: float, *, min_open: bool = False) -> None:  # noqa: A002 - click's own name
        super().__init__(min=min, max=_MOST, min_open=min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; click's own error for any other text."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a number; give one from {self.min:g} to {self.max:g}.", param, ctx)
        return number
