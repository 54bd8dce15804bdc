"""`orders-enriched` and `orders-per-customer` judged: tables, so only the latest value of each key counts.

What the latest must be follows from the inputs alone: the latest of an order is the last record of its key in its
partition of `orders`, the latest of a customer likewise, and the partition is the one that murmur2 gives. An absent
key is missing, a wrong latest is missing and extra, a key that no input explains is extra, and so is a key in
another partition than its own.

An inner foreign-key join has a result for every order whose customer exists (KIP-213), and a count of a grouped table
has one for every customer that has or had an order (0 where all of them moved to others).
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from kstreams_runbooks.demo.judge.collected import Collected
from kstreams_runbooks.demo.judge.compact import NONE, Latest
from kstreams_runbooks.demo.judge.figures import OutputVerdict, Tally, conclude
from kstreams_runbooks.demo.traffic.records import Enriched, MalformedRecord, PerCustomer, Record
from kstreams_runbooks.demo.traffic.topics import TopicRole


def judge_enriched(collected: Collected, doubts: Iterable[str] = ()) -> OutputVerdict:
    """Judge the foreign-key join of orders with customers; it derives from both inputs."""
    return _judge(
        TopicRole.ENRICHED,
        collected.enriched,
        _enriched(collected),
        inputs_seen=len(collected.event) + collected.customer_records,
        doubts=doubts,
    )


def judge_per_customer(collected: Collected, doubts: Iterable[str] = ()) -> OutputVerdict:
    """Judge the number of distinct orders per customer."""
    return _judge(
        TopicRole.PER_CUSTOMER,
        collected.per_customer,
        _per_customer(collected),
        inputs_seen=len(collected.event),
        doubts=doubts,
    )


def _enriched(collected: Collected) -> Iterator[tuple[int, Record]]:
    """Yield each expected key's number with its expected latest."""
    for number, row in enumerate(collected.last_row_of_order):
        customer = collected.latest_customer.get(collected.customer[row]) if row != NONE else None
        if customer is not None:
            yield (
                number,
                Enriched(
                    order=collected.orders.texts[number],
                    event=collected.events.texts[collected.event[row]],
                    customer=collected.customers.texts[collected.customer[row]],
                    amount=collected.amount[row],
                    region=customer[0],
                    seq=customer[1],
                ),
            )


def _per_customer(collected: Collected) -> Iterator[tuple[int, Record]]:
    """Yield each expected key's number with its expected latest."""
    orders = Counter(collected.customer[row] for row in collected.last_row_of_order if row != NONE)
    for number in sorted(set(collected.customer)):
        yield number, PerCustomer(collected.customers.texts[number], orders[number])


def _judge(
    role: TopicRole,
    latest: Latest,
    expected: Iterator[tuple[int, Record]],
    *,
    inputs_seen: int,
    doubts: Iterable[str],
) -> OutputVerdict:
    """Compare expected and latest, key by key."""
    tally = Tally()
    wanted = bytearray(len(latest.names))
    keys = 0
    for number, record in expected:
        wanted[number] = 1
        keys += 1
        value = latest.values[number] if number < len(latest.values) else None
        key, home = latest.names.texts[number], latest.names.home(number, latest.partitions)
        if value is None:
            tally.add("missing", key, home, None, f"absent; expected {_text(record)}")
            continue
        try:
            seen: Record | None = type(record).decode(value)
        except MalformedRecord:
            seen = None
        if seen != record:
            tally.add("missing", key, home, None, f"expected {_text(record)}")
            tally.add(
                "extra", key, home, latest.offsets[number], f"latest is {value.decode(errors='backslashreplace')}"
            )
    live = 0
    for number, _ in latest.live():
        live += 1
        if not wanted[number]:
            home = latest.names.home(number, latest.partitions)
            tally.add("extra", latest.names.texts[number], home, latest.offsets[number], "no input explains this key")
    for (key, partition), offset in latest.strays.items():
        home = latest.names.home(latest.names.id(key), latest.partitions)
        tally.add("extra", key, partition, offset, f"the key belongs to partition {home}")
    seen_keys = live + len(latest.strays)
    return conclude(role, tally, inputs_seen=inputs_seen, expected=keys, seen=seen_keys, doubts=doubts)


def _text(record: Record) -> str:
    """Return a record as its topic would contain it."""
    return record.encode().decode()
