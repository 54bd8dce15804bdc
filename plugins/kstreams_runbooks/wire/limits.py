"""Limits of one exchange with another system."""

from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True, slots=True)
class ExchangeLimits:
    """Limits of one exchange.

    A healthy agent connects in milliseconds and answers in some 10 ms; its answer has about 1 KB per task and 100 KB of
    topology. 10 s and 16 MiB leave room for a machine under load and for 10,000 tasks.
    """

    connect_s: float = 3.0
    silence_s: float = 3.0
    answer_s: float = 10.0
    body_bytes: int = 16 * MIB
