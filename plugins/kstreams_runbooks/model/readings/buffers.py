"""Suppress buffers: the measurements of an instance's client, and the fullest buffer of an operator with its limits."""

from dataclasses import dataclass

from kstreams_runbooks.wording import first_of

NOT_MEASURED = (
    "Streams has not measured it within the last 60 s: it does so only with metrics.recording.level=DEBUG, and only "
    "while records come; set that level in every instance"
)


@dataclass(frozen=True, slots=True)
class SuppressBuffer:
    """The buffer `store` of one `task`: its largest number of records and bytes in the metrics' window (60 s).

    Both are None if Streams has no measurement: it measures only with metrics.recording.level DEBUG or TRACE, and only
    when a record enters or leaves the buffer.
    """

    store: str
    task: str
    records: int | None
    bytes: int | None


@dataclass(frozen=True, slots=True)
class PolledBuffers:
    """The suppress buffers of one instance and its Kafka Streams release; `why` is the reason if they are unknown."""

    instance: str
    library: str
    buffers: tuple[SuppressBuffer, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class BufferFill:
    """The fullest buffer of one operator at `at_ms`, with its limits (None: not set).

    `place` is the task and its instance. `why` is the reason why it is unknown how full it is, empty if it is known.
    """

    operator: str
    at_ms: int
    place: str = ""
    records: int | None = None
    bytes: int | None = None
    max_records: int | None = None
    max_bytes: int | None = None
    why: str = ""

    @property
    def percent(self) -> int | None:
        """Share of the limit that it is closest to, rounded down; None if it is unknown, or without a limit."""
        pairs = ((self.records, self.max_records), (self.bytes, self.max_bytes))
        shares = [100 * now // limit for now, limit in pairs if now is not None and limit]
        limits = sum(1 for _, limit in pairs if limit)
        return max(shares) if shares and len(shares) == limits else None

    @property
    def sizes(self) -> str:
        """`1,200 of 2,000 records and 30,013 of 40,000 bytes`, of the limits that are set."""
        pairs = ((self.records, self.max_records, "records"), (self.bytes, self.max_bytes, "bytes"))
        return first_of([f"{now or 0:,} of {limit:,} {what}" for now, limit, what in pairs if limit], 2, " and ")
