"""Kafka Streams upgrade runbooks: what may change, in which order, and the proof that it went well."""

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parent
CHECKOUT: Final = PACKAGE.parents[1]
