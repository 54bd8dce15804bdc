"""What is known before the inputs of an application get control topics, or lose them again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AdoptedInput:
    """One route of the copier: the topic that it reads, and its control topic.

    `settings` are the application's own settings that name the input. `partitions` is 0 if the input does not exist,
    `control_partitions` is None if the control topic does not. `compacted` is None if its `cleanup.policy` is not
    known; `delete_retention_ms` counts for a compacted one. `retention_bytes` is -1 without a limit, None if not known.
    """

    input: str
    control: str
    settings: tuple[str, ...]
    partitions: int
    control_partitions: int | None = None
    compacted: bool | None = False
    delete_retention_ms: int | None = None
    retention_bytes: int | None = -1


@dataclass(frozen=True, slots=True)
class AdoptReading:
    """An application, and the copier that comes in front of it or leaves again.

    `sources` are the topics that the application reads from others, those of global stores (`globals`) too. `patterns`
    are its sources by pattern, `tables` inputs that are the changelog of their own table, `stateful` inputs from which
    tables are built. `copier_up` are instances of the copier that run, `copier_offsets` topics on which its group has
    offsets. `uncommitted` are partitions of the inputs with records and without a committed offset, `reset` is where
    the group begins there, empty if it is not known. `chooses` are sinks whose topics code chooses. `guarantee` is the
    `processing.guarantee` of the fleet entry. `unproven` is the reason of the form why nothing compares the copies,
    empty if they are compared.
    """

    application: str
    group_id: str
    group_type: str
    copier: str
    copier_group: str
    copier_type: str
    sources: tuple[str, ...]
    patterns: tuple[str, ...]
    tables: tuple[str, ...]
    globals: tuple[str, ...]
    stateful: tuple[str, ...]
    inputs: tuple[AdoptedInput, ...]
    copier_up: tuple[str, ...]
    copier_offsets: tuple[str, ...]
    uncommitted: tuple[str, ...]
    reset: str
    guarantee: str
    chooses: tuple[str, ...] = ()
    history: bool = True
    unproven: str = ""
