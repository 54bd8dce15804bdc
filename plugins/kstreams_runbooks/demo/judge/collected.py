"""The content of the topics in compact columns: a few million records fit into about a gigabyte.

Texts become dense integers (`Names`), input events and running counts become rows of typed arrays (`Counts`), and of
outputs that are judged by their latest value per key only that value is kept. Records of one partition must be added in
offset order; partitions and topics may come in any mix.
"""

from array import array
from collections.abc import Mapping

from kstreams_runbooks.demo.judge.compact import Latest, Names, Problems, bounded, grow
from kstreams_runbooks.demo.judge.counts import Counts
from kstreams_runbooks.demo.traffic.records import Customer, CustomerUpdates, MalformedRecord, Order, Running
from kstreams_runbooks.demo.traffic.topics import INPUTS, TopicRole


class Collected(Counts):
    """Everything that the judge needs; `partitions` is the partition count of each role that is judged.

    The rows of `Counts` are those of `orders` and `orders-running`; `counted` has those of `customers` and
    `customers-counted`, or is None where the application does not have that output.
    """

    def __init__(self, partitions: Mapping[TopicRole, int]) -> None:
        super().__init__(TopicRole.ORDERS, TopicRole.RUNNING, Names(), partitions)
        self.orders = Names()
        # more of each order event, in the rows of Counts
        self.order = array("i")
        self.ts = array("q")
        # order number -> its last row
        self.last_row_of_order = array("i")
        # customer number -> (region, seq) of the latest record
        self.latest_customer: dict[int, tuple[str, int]] = {}
        self.customer_records = 0
        self.misplaced = Problems("are not where partitioner=murmur2_random puts their key")
        self.windowed: list[tuple[str, int, int, bytes | None]] = []
        self.enriched = Latest(self.orders, partitions[TopicRole.ENRICHED])
        self.per_customer = Latest(self.customers, partitions[TopicRole.PER_CUSTOMER])
        self.counted = (
            Counts(TopicRole.CUSTOMERS, TopicRole.CUSTOMERS_COUNTED, self.customers, partitions)
            if TopicRole.CUSTOMERS_COUNTED in partitions
            else None
        )

    def add(self, role: TopicRole, partition: int, offset: int, key: bytes | None, value: bytes | None) -> None:
        """Add one record; records of one partition in offset order."""
        text = "" if key is None else key.decode(errors="backslashreplace")
        if role in INPUTS:
            self._add_input(role, partition, offset, text, value)
        elif role is TopicRole.RUNNING:
            _add_running(self, Running, partition, offset, text, value)
        elif role is TopicRole.WINDOWED:
            self.windowed.append((text, partition, offset, value))
        elif role is not TopicRole.CUSTOMERS_COUNTED:
            latest = self.enriched if role is TopicRole.ENRICHED else self.per_customer
            latest.add(partition, offset, text, value)
        elif self.counted is not None:
            _add_running(self.counted, CustomerUpdates, partition, offset, text, value)

    def _add_input(self, role: TopicRole, partition: int, offset: int, key: str, value: bytes | None) -> None:
        try:
            if role is TopicRole.ORDERS:
                names, number = self.orders, self._add_order(Order.read(key, value), partition, offset)
            else:
                names, number = self.customers, self._add_customer(Customer.read(key, value), partition, offset)
        except (MalformedRecord, OverflowError) as error:
            self.unreadable.add(role, f"{self.place(role, partition, offset)} {error}")
            return
        home = names.home(number, self.partitions[role])
        if home != partition:
            self.misplaced.add(role, f"{self.place(role, partition, offset)} key {key} belongs to partition {home}")

    def _add_order(self, order: Order, partition: int, offset: int) -> int:
        bounded(order.amount, order.ts)
        number = self.orders.id(order.order)
        row = self.add_event(order.event, self.customers.id(order.customer), order.amount, partition, offset)
        if number >= len(self.last_row_of_order):
            grow(self.last_row_of_order, number)
        self.last_row_of_order[number] = row
        self.order.append(number)
        self.ts.append(order.ts)
        return number

    def _add_customer(self, customer: Customer, partition: int, offset: int) -> int:
        number = self.customers.id(customer.customer)
        self.latest_customer[number] = (customer.region, customer.seq)
        self.customer_records += 1
        if self.counted is not None:
            self.counted.add_event(customer.event, number, 0, partition, offset)
        return number


def _add_running(
    counts: Counts, kind: type[Running | CustomerUpdates], partition: int, offset: int, key: str, value: bytes | None
) -> None:
    """Add one record of an output of running counts, as a stray if it cannot be read."""
    try:
        record = kind.read(key, value)
        counts.add_count(partition, offset, key, record if isinstance(record, Running) else record.running())
    except (MalformedRecord, OverflowError) as error:
        counts.add_stray(key, partition, offset, str(error))
