"""Readings of topics whose producers are stopped: their ends, which have to rest, and their open transactions."""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.drain import LogEnds, OpenTransaction
from kstreams_runbooks.model.readings.readings import Taken


@dataclass(frozen=True, slots=True)
class InputsReading:
    """Ends of every partition of some topics by `topic-number`, all from one pass.

    `stable` are the last stable offsets: below an end a transaction is open. `topic_ids` are the ids by topic: another
    id is another log. `problems` are what could not be read, one sentence each; such a reading proves nothing.
    """

    taken: Taken
    topic_ids: dict[str, str]
    ends: LogEnds
    stable: LogEnds
    open_transactions: tuple[OpenTransaction, ...] = ()
    problems: tuple[str, ...] = ()
