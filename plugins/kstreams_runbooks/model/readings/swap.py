"""What is known before the inputs of an application are swapped for empty topics."""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import Missing


@dataclass(frozen=True, slots=True)
class EmptyTopic:
    """The topic `name` that is read in place of an input which `setting` names.

    `needed` is the input's number of partitions, `replication` its number of replicas. `partitions` is None if the
    topic does not exist; `records` are those between start and end of its log, `readers` the groups that have members
    or offsets on it. `given`: the form names it, so the run does not delete it.
    """

    input: str
    setting: str
    name: str
    needed: int
    replication: int
    partitions: int | None = None
    records: int | Missing = 0
    readers: tuple[str, ...] | Missing = ()
    given: bool = False


@dataclass(frozen=True, slots=True)
class SwapReading:
    """An application whose inputs are to be swapped.

    `sources` are the topics that it reads through its group and others write; `kept` are the rest of those that it
    reads, internal ones too. `tables` are the changelog of their own table, `global_sources` those of global stores.
    `swapped` are all topics that the running release reads with the swapped settings, `written` those that it then
    writes and does not write now. `uncommitted` are partitions with records and without a committed offset; `reset` is
    where the group begins there, empty if it is not known.
    """

    group_id: str
    sources: tuple[str, ...]
    kept: tuple[str, ...]
    tables: tuple[str, ...]
    global_sources: tuple[str, ...]
    empties: tuple[EmptyTopic, ...]
    swapped: tuple[str, ...] | Missing
    uncommitted: tuple[str, ...]
    reset: str
    written: tuple[str, ...] = ()
