"""The journal: events about an application, one entry after another, each bound to the one before it.

Entries of one application are numbered in the order in which they were committed (`seq`), those of one run also by
`place`, from 1 without a hole. An entry's hash covers all of it and the hash of the entry before it in its run.
"""

import hashlib
import json
import zlib
from dataclasses import asdict, dataclass
from typing import Any

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.times import MINUTE_MS

# Clocks of workers synchronised by NTP differ by less; a person takes longer to answer.
CLOCK_TOLERANCE_MS = MINUTE_MS
# The hash before the first entry of a run.
GENESIS = ""

# Kinds other than those of evidence, and the names of entries about a run itself.
RUN, FACT, APPROVAL, HOLD, GAP = "run", "fact", "approval", "hold", "gap"
# A card is written before its change; what only the change could show (the id of a topic) follows as its facts.
CARD, CARD_FACTS, CARD_DONE = "card", "card_facts", "card_done"
# The only kind that may be pruned.
READING = "reading"
STARTED, PLANNED, WRITTEN, CONCLUDED = "started", "planned", "written", "concluded"

_FORM = 1
# Of one entry, unpacked: a reading of a large application has some hundred kilobytes.
MOST_BYTES = 64 * 1024 * 1024
# The columns of a run's record that never change; the others change as it goes on.
_FIXED = (
    "dag_id",
    "run_id",
    "number",
    "application",
    "cluster",
    "requested_by",
    "dry_run",
    "reason",
    "params",
    "started_at_ms",
    "run_after",
    "conf_digest",
)


def pack(value: Any) -> bytes:
    """JSON as zlib-compressed UTF-8: a reading of a large application is full of repetition.

    BadInput if it is longer than `MOST_BYTES`.
    """
    # Input may hold half of a surrogate pair: it is kept as JSON escapes it.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace")
    if len(text) > MOST_BYTES:
        raise BadInput(f"a value of {len(text):,} bytes cannot be kept in the ledger (limit {MOST_BYTES:,})")
    return zlib.compress(text)


def unpack(packed: bytes) -> Any:
    """Reverse `pack`; ValueError for other bytes, and for more than `MOST_BYTES` or too deep a value."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(packed, MOST_BYTES)
    except (zlib.error, TypeError) as error:
        raise ValueError(f"a value cannot be unpacked: {error}") from None
    if not unpacking.eof:
        raise ValueError(f"a value is cut off, or longer than {MOST_BYTES:,} bytes")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("a value has too many levels") from None


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as it is stored; `payload` is compressed JSON, `hash` is the stored hash, not yet verified."""

    cluster: str
    application: str
    seq: int
    run_key: str
    place: int
    task_id: str
    try_number: int
    kind: str
    name: str
    at_ms: int
    payload: bytes
    previous: str
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Clock:
    """A time in the journal of an application, and the entry that has it."""

    at_ms: int
    seq: int
    run_key: str
    task_id: str


def entry_hash(entry: Entry, payload_sha256: str | None = None) -> str:
    """SHA-256 over everything of an entry but its own hash, as 64 hex digits.

    `payload_sha256` replaces the payload if only that is left of it (a pruned reading).
    """
    content = [
        _FORM,
        entry.cluster,
        entry.application,
        entry.seq,
        entry.run_key,
        entry.place,
        entry.task_id,
        entry.try_number,
        entry.kind,
        entry.name,
        entry.at_ms,
        payload_sha256 or hashlib.sha256(entry.payload).hexdigest(),
        entry.previous,
    ]
    return hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()


def started_with(record: RunRecord) -> dict[str, Any]:
    """The fields of a run that its first entry keeps: those that never change afterwards."""
    content = asdict(record)
    return {name: content[name] for name in _FIXED}


def value_digest(value: Any) -> str:
    """SHA-256 over a JSON value, independent of the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
