"""Reads all sides of an application behind a stopped copier at once, and a downstream group once it is down."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kstreams_runbooks.decide.drain.marks import up_to_marks
from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.fleet import Application, Consumer
from kstreams_runbooks.model.readings.cutover import SeamReading, SideDrain
from kstreams_runbooks.model.readings.drain import DrainReading, OpenTransaction
from kstreams_runbooks.model.readings.lag import LagRole, PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.sides import NotedEnd, NotedEnds
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.lag.partition_rows import read_partitions
from kstreams_runbooks.watch.drain.drain import drain_reader
from kstreams_runbooks.watch.drain.unread import UnreadRecords
from kstreams_runbooks.watch.sides import note_ends


class SidesAtRest:
    """Reads the sides together, notes the ends of some topics, and reads the sides again; for one thread.

    Every look goes on from the last reading of the look before. `kafka` is a librdkafka configuration.
    """

    def __init__(
        self, sides: Sequence[tuple[Application, Deployer]], kafka: Mapping[str, Any], topics: Sequence[str]
    ) -> None:
        self._kafka, self._topics = kafka, tuple(topics)
        self._readers = {entry.name: drain_reader(entry, deployer, kafka) for entry, deployer in sides}
        self._before: dict[str, DrainReading] = {}

    def look(self) -> tuple[tuple[SideDrain, ...], NotedEnds]:
        """Two readings of every side, with the noted ends between them.

        Unreachable if no broker answers, Inconclusive if a broker refuses a part of all of it.
        """
        earlier = self._before or self._read()
        with ClusterReader(self._kafka) as reader:
            noted = note_ends(reader, self._topics)
        now = self._before = self._read()
        return tuple(SideDrain(name, earlier[name], now[name]) for name in self._readers), noted

    def _read(self) -> dict[str, DrainReading]:
        """One reading of each side, all at the same time."""

        def read(name: str) -> DrainReading:
            with ClusterReader(self._kafka) as reader:
                return self._readers[name].read(reader)

        with ThreadPoolExecutor(max_workers=len(self._readers)) as pool:
            return dict(zip(self._readers, pool.map(read, self._readers), strict=True))


class GroupAtSeam:
    """Reads what a downstream group has left of the old outputs below the noted ends; for one thread."""

    def __init__(self, entry: Application, kafka: Mapping[str, Any], noted: Sequence[NotedEnd]) -> None:
        self._entry, self._kafka = entry, kafka
        self.noted = tuple(noted)
        self._unread = UnreadRecords(entry, kafka)

    @property
    def marks(self) -> tuple[tuple[str, int], ...]:
        """Each partition with its noted end (exclusive)."""
        return tuple((f"{one.topic}-{one.partition}", one.end) for one in self.noted)

    def rows(self) -> tuple[PartitionLag, ...] | Missing:
        """The partitions of the old outputs as if they ended at their noted ends, with records for offsets."""
        with ClusterReader(self._kafka) as reader:
            return self._rows(reader)

    def reading(self) -> SeamReading:
        """The group, its open transactions, and what it has left; the offsets come last: an end may commit some."""
        entry = self._entry
        with ClusterReader(self._kafka) as reader:
            group, still_open = reader.group(entry.application_id), self._open(reader)
            return SeamReading(entry.name, entry.application_id, group, self._rows(reader), still_open)

    def _rows(self, reader: ClusterReader) -> tuple[PartitionLag, ...] | Missing:
        roles: dict[str, LagRole] = {one.topic: "source" for one in self.noted}
        rows = read_partitions(reader, self._entry.application_id, roles, reader.topics(roles))
        return rows if isinstance(rows, Missing) else self._unread.of(up_to_marks(rows, self.marks))

    def _open(self, reader: ClusterReader) -> tuple[OpenTransaction, ...] | Missing:
        """Transactions that have not ended, of its producers, on any topic."""
        ids = self._entry.transactional_ids if isinstance(self._entry, Consumer) else ()
        if not ids:
            return ()
        ongoing = reader.ongoing_transactions()
        if isinstance(ongoing, Missing):
            return ongoing
        return tuple(OpenTransaction("its outputs", name, None, None, None) for name in ids if name in ongoing)
