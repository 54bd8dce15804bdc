"""The events of one input and the running counts made of them, per customer, in compact columns.

`orders` counted in `orders-running` and `customers` counted in `customers-counted` have the same form: one output
record per input record, with the number of records of its key so far and the event that was counted last.
"""

from array import array
from collections import Counter
from collections.abc import Mapping

from kstreams_runbooks.demo.judge.compact import NONE, Names, Problems, bounded, grow
from kstreams_runbooks.demo.judge.figures import Tally
from kstreams_runbooks.demo.traffic.records import Running
from kstreams_runbooks.demo.traffic.topics import TopicRole


class Counts:
    """Rows of input events, and rows of running counts; rows of one partition are in offset order.

    `source` is the input and `output` the topic of the counts, `partitions` the partition count of each role. Only
    counts of `orders` carry sums of amounts; amounts and sums of the others are 0.
    """

    def __init__(
        self, source: TopicRole, output: TopicRole, customers: Names, partitions: Mapping[TopicRole, int]
    ) -> None:
        self.source = source
        self.output = output
        self.customers = customers
        self.partitions = partitions
        self.unreadable = Problems("cannot be read")
        # input events, one row each
        self.events = Names()
        self.event = array("i")
        self.customer = array("i")
        self.amount = array("q")
        self.partition = array("i")
        self.offset = array("q")
        # event number -> its first row
        self.row_of_event = array("i")
        self.repeats: Counter[int] = Counter()
        # running counts, one row each
        self.running_key = array("i")
        self.running_event = array("i")
        self.running_count = array("q")
        self.running_sum = array("q")
        self.running_amount = array("q")
        self.running_partition = array("i")
        self.running_offset = array("q")
        self.running_strays = Tally()
        self.stray_partitions: set[int] = set()

    @property
    def has_amounts(self) -> bool:
        """Whether its counts carry sums of amounts."""
        return self.source is TopicRole.ORDERS

    def place(self, role: TopicRole, partition: int, offset: int) -> str:
        """The name of a record in a message."""
        return f"{role}-{partition}@{offset}"

    def add_event(self, name: str, customer: int, amount: int, partition: int, offset: int) -> int:
        """Add one input event of the customer with this number; return its row."""
        row = len(self.event)
        event = self.events.id(name)
        if event >= len(self.row_of_event):
            grow(self.row_of_event, event)
        first = self.row_of_event[event]
        if first == NONE:
            self.row_of_event[event] = row
        else:
            self.repeats[event] += 1
            if self.customer[first] != customer or self.amount[first] != amount:
                place = self.place(self.source, partition, offset)
                self.unreadable.add(self.source, f"{place} event {name} was there before with other content")
        self.event.append(event)
        self.customer.append(customer)
        self.amount.append(amount)
        self.partition.append(partition)
        self.offset.append(offset)
        return row

    def add_count(self, partition: int, offset: int, key: str, record: Running) -> None:
        """Add one record of the output; OverflowError for numbers above 64 bits."""
        bounded(record.count, record.sum, record.amount)
        number = self.customers.id(key)
        home = self.customers.home(number, self.partitions[self.output])
        if home != partition:
            self.stray_partitions.add(home)
            self.add_stray(key, partition, offset, f"the key belongs to partition {home}")
            return
        self.running_key.append(number)
        self.running_event.append(self.events.id(record.event))
        self.running_count.append(record.count)
        self.running_sum.append(record.sum)
        self.running_amount.append(record.amount)
        self.running_partition.append(partition)
        self.running_offset.append(offset)

    def add_stray(self, key: str, partition: int, offset: int, detail: str) -> None:
        """Note a running count that is wrong with any inputs."""
        self.stray_partitions.add(partition)
        self.running_strays.add("extra", key, partition, offset, detail)
