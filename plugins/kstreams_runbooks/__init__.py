"""Kafka Streams upgrade runbooks: the permitted changes, their order, and the proof that each one succeeded."""

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parent
CHECKOUT: Final = PACKAGE.parents[1]
