"""The records of the orders application as values: what the generator writes and what the judge reads.

Every serialized value is one compact JSON object in UTF-8 that carries `"v":1`. Times are event times in ms since
the epoch, amounts whole numbers. A field beyond the known ones is ignored, a missing one or one of another type is
an error.
"""

import json
from dataclasses import dataclass, fields
from typing import Any, Final, Self

VERSION: Final = 1
# twice as fast as json.loads, which looks for other encodings and for white space first
_parse: Final = json.JSONDecoder().raw_decode


class MalformedRecord(ValueError):
    """A value that is not a record of the expected kind; the text names the fault."""


@dataclass(frozen=True, slots=True)
class Record:
    """Base of all records: the fields of a subclass, in order, are the fields of the JSON object."""

    @property
    def key(self) -> str:
        """The key that the record is written under."""
        raise NotImplementedError

    @classmethod
    def read(cls, key: str, value: bytes | None) -> Self:
        """Decode a record as its topic contains it.

        Raises MalformedRecord as `decode` does, for a tombstone, and if the value names another key.
        """
        if value is None:
            raise MalformedRecord("a tombstone")
        record = cls.decode(value)
        if record.key != key:
            raise MalformedRecord(f"the value is for the key {record.key}, not {key}")
        return record

    def encode(self) -> bytes:
        """Serialize to compact JSON, the version first."""
        document: dict[str, Any] = {"v": VERSION}
        for name in _kinds(type(self))[0]:
            document[name] = getattr(self, name)
        return json.dumps(document, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, value: bytes) -> Self:
        """Read a serialized value.

        Raises MalformedRecord if it is not a JSON object of version 1 with every field in its type.
        """
        try:
            document, end = _parse(text := value.decode())
        except ValueError as error:
            raise MalformedRecord(f"not JSON: {error}") from error
        if type(document) is not dict or document.get("v") != VERSION or end != len(text):
            raise MalformedRecord(f"not one JSON object of version {VERSION}")
        names, types = _kinds(cls)
        values = list(map(document.get, names))
        # compares the types themselves: with isinstance JSON's true would pass for an int
        if tuple(map(type, values)) != types:
            raise MalformedRecord(_complaint(names, types, values))
        return cls(*values)


_KINDS: dict[type, tuple[tuple[str, ...], tuple[type, ...]]] = {}
"""Names and types of the fields of each kind of record, in order; filled at the first use."""


def _kinds(record: type) -> tuple[tuple[str, ...], tuple[type, ...]]:
    found = _KINDS.get(record)
    if found is None:
        names = tuple(field.name for field in fields(record))
        types = tuple(field.type for field in fields(record) if isinstance(field.type, type))
        found = _KINDS[record] = (names, types)
    return found


def _complaint(names: tuple[str, ...], types: tuple[type, ...], values: list[Any]) -> str:
    """Name the first field of another type."""
    for name, kind, value in zip(names, types, values, strict=True):
        if type(value) is not kind:
            return f"field {name} is {value!r}, not {kind.__name__}"
    return "a field is wrong"


@dataclass(frozen=True, slots=True)
class Order(Record):
    """Input `orders`, keyed by order id; an order is sent several times, each time as a new event."""

    event: str
    order: str
    customer: str
    amount: int
    ts: int

    @property
    def key(self) -> str:
        """The record's key."""
        return self.order


@dataclass(frozen=True, slots=True)
class Customer(Record):
    """Input `customers`, keyed by customer id; `seq` grows with each update."""

    customer: str
    region: str
    seq: int
    ts: int

    @property
    def key(self) -> str:
        """The record's key."""
        return self.customer

    @property
    def event(self) -> str:
        """The name of this update among all updates of all customers."""
        return update_of(self.customer, self.seq)


@dataclass(frozen=True, slots=True)
class Running(Record):
    """Output `orders-running`, keyed by customer: one per input event, `count` 1..n, `sum` of the amounts so far."""

    customer: str
    count: int
    sum: int
    event: str
    amount: int

    @property
    def key(self) -> str:
        """The record's key."""
        return self.customer


@dataclass(frozen=True, slots=True)
class Windowed(Record):
    """Output `orders-windowed`: events of one customer in one closed window [start, end)."""

    customer: str
    start: int
    end: int
    count: int

    @property
    def key(self) -> str:
        """The record's key."""
        return windowed_key(self.customer, self.start)


@dataclass(frozen=True, slots=True)
class Enriched(Record):
    """Output `orders-enriched`, keyed by order id: the latest event of an order with the latest of its customer."""

    order: str
    event: str
    customer: str
    amount: int
    region: str
    seq: int

    @property
    def key(self) -> str:
        """The record's key."""
        return self.order


@dataclass(frozen=True, slots=True)
class PerCustomer(Record):
    """Output `orders-per-customer`, keyed by customer: number of distinct orders."""

    customer: str
    count: int

    @property
    def key(self) -> str:
        """The record's key."""
        return self.customer


@dataclass(frozen=True, slots=True)
class CustomerUpdates(Record):
    """Output `customers-counted`, keyed by customer: one per input record, `count` 1..n, `seq` of the one counted."""

    customer: str
    count: int
    seq: int

    @property
    def key(self) -> str:
        """The record's key."""
        return self.customer

    def running(self) -> Running:
        """The same as a running count of updates, without amounts."""
        return Running(self.customer, self.count, 0, update_of(self.customer, self.seq), 0)


def update_of(customer: str, seq: int) -> str:
    """Return the name of one update of a customer."""
    return f"{customer}#{seq}"


def windowed_key(customer: str, start: int) -> str:
    """Return the key of a windowed count; `start` in ms, inclusive."""
    return f"{customer}@{start}"
