"""Paths into values that are JSON: $.event, $.customer.email, $.lines[*].card, $.lines[0]."""

import re
from typing import Final

PATH: Final = re.compile(r"\$(?:\.[^.,\[\]\s]+|\[(?:\*|\d+)\])+")
# One step of a path: the name of a field, or the place in an array.
STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\*|\d+)\]")
# What examples of records may leave out as a whole.
PARTS: Final = frozenset({"key", "value", "headers", "fields"})
