"""The orders application in plain Python: the reference that the judge is judged against. Not the application itself.

Topics are lists in memory: `Log` has, per role, a list of partitions, each a list of (key, value); the index is the
offset. `run_application` reads the inputs in one merge of their partitions that keeps each one's own order, and
writes the four outputs as the Kafka Streams application does: late records dropped, windows emitted once closed. A log
with a topic for it gets the fifth output too.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random

from kstreams_runbooks.demo.judge.collected import Collected
from kstreams_runbooks.demo.judge.windowed import JudgedWindow
from kstreams_runbooks.demo.traffic.partitioner import partition_of
from kstreams_runbooks.demo.traffic.records import (
    Customer,
    CustomerUpdates,
    Enriched,
    Order,
    PerCustomer,
    Record,
    Running,
    Windowed,
)
from kstreams_runbooks.demo.traffic.schedule import Schedule
from kstreams_runbooks.demo.traffic.topics import DEFAULT_NAMES, TopicRole

PARTITIONS = 4

Entry = tuple[bytes, bytes | None]
Log = dict[TopicRole, list[list[Entry]]]
Merge = Callable[[Sequence[int]], int]


def empty_log(partitions: int = PARTITIONS, roles: Iterable[TopicRole] = DEFAULT_NAMES) -> Log:
    """Return the empty topics of every release, or of one with these roles."""
    return {role: [[] for _ in range(partitions)] for role in roles}


def append(log: Log, role: TopicRole, record: Record) -> None:
    """Write a record to the partition that its key belongs to."""
    key = record.key.encode()
    partitions = log[role]
    partitions[partition_of(key, len(partitions))].append((key, record.encode()))


def write_inputs(log: Log, records: Sequence[Record]) -> None:
    """Write orders and customers in the given order."""
    for record in records:
        append(log, TopicRole.ORDERS if isinstance(record, Order) else TopicRole.CUSTOMERS, record)


def scheduled(schedule: Schedule, events: int) -> list[Record]:
    """Return the generator's records: customers first, then so many events."""
    records: list[Record] = [schedule.preload(index) for index in range(schedule.customers)]
    for n in range(events):
        records.append(schedule.order(n))
        customer = schedule.customer_after(n)
        if customer is not None:
            records.append(customer)
    return records


def seeded_merge(seed: int) -> Merge:
    """Choose the next input partition at random, weighted by its remaining records."""
    random = Random(seed)

    def choose(left: Sequence[int]) -> int:
        return random.choices(range(len(left)), weights=left)[0]

    return choose


def one_after_the_other(left: Sequence[int]) -> int:
    """Read the first partition to its end, then the next: the largest disorder there is."""
    return next(index for index, count in enumerate(left) if count)


def run_application(log: Log, window: JudgedWindow, merge: Merge) -> list[Order]:
    """Fill the outputs from the inputs; return the orders in the order in which they were processed."""
    processed = _merged(log[TopicRole.ORDERS], merge)
    _running_and_windowed(log, processed, window)
    _tables(log, processed)
    if TopicRole.CUSTOMERS_COUNTED in log:
        _updates(log)
    return processed


def _merged(partitions: list[list[Entry]], merge: Merge) -> list[Order]:
    position = [0] * len(partitions)
    merged = []
    while any(left := [len(entries) - at for entries, at in zip(partitions, position, strict=True)]):
        chosen = merge(left)
        value = partitions[chosen][position[chosen]][1]
        assert value is not None
        merged.append(Order.decode(value))
        position[chosen] += 1
    return merged


def _running_and_windowed(log: Log, processed: list[Order], window: JudgedWindow) -> None:
    """Both read the same repartition topic, partitioned by customer; each partition has its own stream time."""
    partitions = len(log[TopicRole.RUNNING])
    counts: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    stream_time: dict[int, int] = {}
    open_windows: defaultdict[int, dict[tuple[str, int], int]] = defaultdict(dict)
    for order in processed:
        counts[order.customer] += 1
        sums[order.customer] += order.amount
        append(
            log,
            TopicRole.RUNNING,
            Running(order.customer, counts[order.customer], sums[order.customer], order.event, order.amount),
        )
        home = partition_of(order.customer.encode(), partitions)
        now = stream_time[home] = max(stream_time.get(home, -1), order.ts)
        start = order.ts - order.ts % window.size_ms
        buffer = open_windows[home]
        if start + window.size_ms > now - window.grace_ms:
            buffer[order.customer, start] = buffer.get((order.customer, start), 0) + 1
        closed = [place for place in buffer if place[1] + window.size_ms + window.grace_ms <= now]
        for customer, begin in sorted(closed, key=lambda place: place[1]):
            count = buffer.pop((customer, begin))
            append(log, TopicRole.WINDOWED, Windowed(customer, begin, begin + window.size_ms, count))


def _tables(log: Log, processed: list[Order]) -> None:
    """Write every update of both tables; customers are read before the orders."""
    customers = {}
    for entries in log[TopicRole.CUSTOMERS]:
        for _, value in entries:
            assert value is not None
            customer = Customer.decode(value)
            customers[customer.customer] = customer
    orders: dict[str, Order] = {}
    counts: Counter[str] = Counter()
    for order in processed:
        if order.order not in orders:
            counts[order.customer] += 1
        orders[order.order] = order
        append(log, TopicRole.PER_CUSTOMER, PerCustomer(order.customer, counts[order.customer]))
        owner = customers.get(order.customer)
        if owner is not None:
            append(
                log,
                TopicRole.ENRICHED,
                Enriched(order.order, order.event, order.customer, order.amount, owner.region, owner.seq),
            )


def _updates(log: Log) -> None:
    """Count every record of a customer."""
    counts: Counter[str] = Counter()
    for entries in log[TopicRole.CUSTOMERS]:
        for _, value in entries:
            assert value is not None
            customer = Customer.decode(value)
            counts[customer.customer] += 1
            counted = CustomerUpdates(customer.customer, counts[customer.customer], customer.seq)
            append(log, TopicRole.CUSTOMERS_COUNTED, counted)


def collect(log: Log, order_of_roles: Sequence[TopicRole] | None = None) -> Collected:
    """Collect a log as the reader would, topic by topic."""
    partitions: Mapping[TopicRole, int] = {role: len(entries) for role, entries in log.items()}
    collected = Collected(partitions)
    for role in order_of_roles or tuple(log):
        for partition, entries in enumerate(log[role]):
            for offset, (key, value) in enumerate(entries):
                collected.add(role, partition, offset, key, value)
    return collected
