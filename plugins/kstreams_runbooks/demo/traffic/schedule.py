"""The n-th event of the generator as a pure function of its settings and n: no state, no clock, no memory.

An event is either a new order or an update of an earlier one. An update points back to one of the `REACH` events
before it; following the pointers ends at the event that created the order, so order and customer of any event are
found without remembering a single order. Randomness is splitmix64 over (seed, n, purpose).

Event time is `start + n * 1000 / rate` minus a jitter of 0 .. `disorder_ms`, which bounds the disorder that a consumer
sees, except after producers that stop and continue.
"""

from dataclasses import dataclass
from typing import Final

from kstreams_runbooks.demo.traffic.records import Customer, Order
from kstreams_runbooks.errors import BadInput

UPDATE_PERCENT: Final = 40
"""Share of events that update an existing order: enough that the latest per order differs from the first."""
REACH: Final = 5_000
"""How many events an update may point back: about 12 s at 400 events/s, because updates should cross a restart."""
CUSTOMER_EVERY: Final = 40
"""Events between two customer updates: at 400 events/s ten updates a second, which all fan out in the join. A run may
have another number: more updates make larger counts per customer."""
REGIONS: Final = 8
AMOUNTS: Final = 1_000

_MASK: Final = (1 << 64) - 1
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Schedule:
    """Settings of one run of the generator, and its records by number.

    `rate` in events per second, `start_ms` the event time of event 0 in ms, `disorder_ms` the largest jitter; one
    customer update after `customer_every` events.
    """

    seed: int
    rate: float
    customers: int
    start_ms: int
    disorder_ms: int = 2_000
    customer_every: int = CUSTOMER_EVERY

    def __post_init__(self) -> None:
        if not self.rate > 0:
            raise BadInput(f"rate {self.rate} events/s: give a number above 0")
        if self.customers < 1:
            raise BadInput(f"{self.customers} customers: give at least 1")
        if self.customer_every < 1:
            raise BadInput(f"one customer update after {self.customer_every} events: give at least 1")
        if self.disorder_ms < 0:
            raise BadInput(f"disorder {self.disorder_ms} ms: give 0 or more")
        # event times below zero have no window in Kafka Streams
        if self.start_ms < self.disorder_ms:
            raise BadInput(f"start {self.start_ms} ms is before the disorder of {self.disorder_ms} ms")

    @property
    def run(self) -> str:
        """Name of the run in order and event ids: the start in base 36, which gives a restart new ids."""
        return base36(self.start_ms)

    def due(self, n: int) -> float:
        """Seconds after the start at which event n is to be sent."""
        return n / self.rate

    def order(self, n: int) -> Order:
        """Return the n-th event, n from 0."""
        root = self._root(n)
        jitter = self._random(n, 2) % (self.disorder_ms + 1)
        return Order(
            event=f"{self.run}-{n}",
            order=f"o-{self.run}-{root}",
            customer=self._customer(self._random(root, 3)),
            amount=1 + self._random(n, 4) % AMOUNTS,
            ts=self.start_ms + int(n * 1000 / self.rate) - jitter,
        )

    def preload(self, index: int) -> Customer:
        """Return the first record of the customer with this index (0-based), sent before any event."""
        return Customer(f"c-{index}", self._region(index, 5), seq=self.start_ms, ts=self.start_ms)

    def customer_after(self, n: int) -> Customer | None:
        """Return the customer update that follows event n, or None if none does.

        `seq` counts up from the start in ms: it grows within a run, and from one run to the next as long as a run
        sends fewer than 1,000 customer updates per second.
        """
        if n % self.customer_every != self.customer_every - 1:
            return None
        update = n // self.customer_every + 1
        return Customer(
            customer=self._customer(self._random(update, 6)),
            region=self._region(update, 7),
            seq=self.start_ms + update,
            ts=self.start_ms + int(n * 1000 / self.rate),
        )

    def _root(self, n: int) -> int:
        """Follow an update to the event that created its order; about 1.7 steps on average."""
        while n > 0 and self._random(n, 0) % 100 < UPDATE_PERCENT:
            n -= 1 + self._random(n, 1) % min(n, REACH)
        return n

    def _customer(self, number: int) -> str:
        return f"c-{number % self.customers}"

    def _region(self, number: int, purpose: int) -> str:
        return f"r-{self._random(number, purpose) % REGIONS}"

    def _random(self, number: int, purpose: int) -> int:
        """64 random bits for a number and a purpose (splitmix64: Steele, Lea, Flood, OOPSLA 2014)."""
        bits = _mix(_mix(self.seed & _MASK) + number * 16 + purpose)
        return bits >> 16


def base36(number: int) -> str:
    """Write a whole number from 0 up in base 36."""
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
        if not number:
            return digits


def _mix(state: int) -> int:
    state = (state + 0x9E3779B97F4A7C15) & _MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
    return state ^ (state >> 31)
