"""The content of the topics in compact columns: a few million records fit into about a gigabyte.

Texts become dense integers (`Names`), input events and running counts become rows of typed arrays, and of outputs
that are judged by their latest value per key only that value is kept. Records of one partition must be added in
offset order; partitions and topics may come in any mix.
"""

from array import array
from collections import Counter
from collections.abc import Mapping

from kstreams_runbooks.demo.judge.compact import NONE, Latest, Names, Problems, bounded, grow
from kstreams_runbooks.demo.judge.figures import Tally
from kstreams_runbooks.demo.traffic.records import Customer, MalformedRecord, Order, Running
from kstreams_runbooks.demo.traffic.topics import INPUTS, TopicRole


class Collected:
    """Everything that the judge needs from the six topics; `partitions` is the partition count of each role."""

    def __init__(self, partitions: Mapping[TopicRole, int]) -> None:
        self.partitions = partitions
        self.customers = Names()
        self.orders = Names()
        self.events = Names()
        # input events, one row each; rows of one partition are in offset order
        self.event = array("i")
        self.order = array("i")
        self.customer = array("i")
        self.amount = array("q")
        self.ts = array("q")
        self.partition = array("i")
        self.offset = array("q")
        # event number -> its first row; order number -> its last row
        self.row_of_event = array("i")
        self.last_row_of_order = array("i")
        self.repeats: Counter[int] = Counter()
        # customer number -> (region, seq) of the latest record
        self.latest_customer: dict[int, tuple[str, int]] = {}
        self.customer_records = 0
        self.unreadable = Problems("cannot be read")
        self.misplaced = Problems("are not where partitioner=murmur2_random puts their key")
        # running counts, one row each, in offset order within a partition
        self.running_key = array("i")
        self.running_event = array("i")
        self.running_count = array("q")
        self.running_sum = array("q")
        self.running_amount = array("q")
        self.running_partition = array("i")
        self.running_offset = array("q")
        self.running_strays = Tally()
        self.stray_partitions: set[int] = set()
        self.windowed: list[tuple[str, int, int, bytes | None]] = []
        self.enriched = Latest(self.orders, partitions[TopicRole.ENRICHED])
        self.per_customer = Latest(self.customers, partitions[TopicRole.PER_CUSTOMER])

    def add(self, role: TopicRole, partition: int, offset: int, key: bytes | None, value: bytes | None) -> None:
        """Add one record; records of one partition in offset order."""
        text = "" if key is None else key.decode(errors="backslashreplace")
        if role in INPUTS:
            self._add_input(role, partition, offset, text, value)
        elif role is TopicRole.RUNNING:
            self._add_running(partition, offset, text, value)
        elif role is TopicRole.WINDOWED:
            self.windowed.append((text, partition, offset, value))
        else:
            latest = self.enriched if role is TopicRole.ENRICHED else self.per_customer
            latest.add(partition, offset, text, value)

    def place(self, role: TopicRole, partition: int, offset: int) -> str:
        """The name of a record in a message."""
        return f"{role}-{partition}@{offset}"

    def _add_input(self, role: TopicRole, partition: int, offset: int, key: str, value: bytes | None) -> None:
        try:
            if role is TopicRole.ORDERS:
                names, number = self.orders, self._add_order(Order.read(key, value), partition, offset)
            else:
                names, number = self.customers, self._add_customer(Customer.read(key, value))
        except (MalformedRecord, OverflowError) as error:
            self.unreadable.add(role, f"{self.place(role, partition, offset)} {error}")
            return
        home = names.home(number, self.partitions[role])
        if home != partition:
            self.misplaced.add(role, f"{self.place(role, partition, offset)} key {key} belongs to partition {home}")

    def _add_order(self, order: Order, partition: int, offset: int) -> int:
        bounded(order.amount, order.ts)
        row = len(self.event)
        event = self.events.id(order.event)
        number = self.orders.id(order.order)
        customer = self.customers.id(order.customer)
        if event >= len(self.row_of_event):
            grow(self.row_of_event, event)
        first = self.row_of_event[event]
        if first == NONE:
            self.row_of_event[event] = row
        else:
            self.repeats[event] += 1
            if self.customer[first] != customer or self.amount[first] != order.amount:
                place = self.place(TopicRole.ORDERS, partition, offset)
                self.unreadable.add(
                    TopicRole.ORDERS, f"{place} event {order.event} was there before with other content"
                )
        if number >= len(self.last_row_of_order):
            grow(self.last_row_of_order, number)
        self.last_row_of_order[number] = row
        self.event.append(event)
        self.order.append(number)
        self.customer.append(customer)
        self.amount.append(order.amount)
        self.ts.append(order.ts)
        self.partition.append(partition)
        self.offset.append(offset)
        return number

    def _add_customer(self, customer: Customer) -> int:
        number = self.customers.id(customer.customer)
        self.latest_customer[number] = (customer.region, customer.seq)
        self.customer_records += 1
        return number

    def _add_running(self, partition: int, offset: int, key: str, value: bytes | None) -> None:
        try:
            record = Running.read(key, value)
            bounded(record.count, record.sum, record.amount)
        except (MalformedRecord, OverflowError) as error:
            self._stray(key, partition, offset, str(error))
            return
        number = self.customers.id(key)
        home = self.customers.home(number, self.partitions[TopicRole.RUNNING])
        if home != partition:
            self.stray_partitions.add(home)
            self._stray(key, partition, offset, f"the key belongs to partition {home}")
            return
        self.running_key.append(number)
        self.running_event.append(self.events.id(record.event))
        self.running_count.append(record.count)
        self.running_sum.append(record.sum)
        self.running_amount.append(record.amount)
        self.running_partition.append(partition)
        self.running_offset.append(offset)

    def _stray(self, key: str, partition: int, offset: int, detail: str) -> None:
        """Note a running count that is wrong with any inputs."""
        self.stray_partitions.add(partition)
        self.running_strays.add("extra", key, partition, offset, detail)
