"""Everything that a group has committed, with metadata and leader epochs, before a write replaces it."""

from collections.abc import Callable, Sequence

from kstreams_runbooks.decide.topology.java_pattern import KAFKAS_OWN
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.writes import CommittedOffset, SavedOffsets
from kstreams_runbooks.observe.kafka.cluster import ClusterReader
from kstreams_runbooks.observe.kafka.offsets import GroupOffsets, read_stable
from kstreams_runbooks.wording import first_of

# A producer of Kafka Streams gives its transactions 10 s; one that was killed has them ended by the broker then.
_UNSTABLE_S = 30
_LOOK_AGAIN_S = 0.2
_LINE_EVERY_S = 10.0


def read_saved(
    reader: ClusterReader, group_id: str, *, stable: bool = True, say: Callable[[str], None] = lambda _: None
) -> SavedOffsets:
    """The offsets of a group, none if no broker knows it; Inconclusive if they cannot be read.

    A broker leaves out the offsets on topics that this login may not Describe. If `stable`, waits for a transaction
    that commits offsets of the group: what it replaces is not saved. A group whose members commit all the time is
    never stable as a whole. `say` gets a line when that wait begins, and one each ten seconds.
    """
    at_ms = reader.taken().at_ms
    found = _stable(reader, group_id, say) if stable else reader.committed([group_id])[group_id]
    if isinstance(found, Missing):
        raise Inconclusive(f"offsets of group {group_id}: {found.missing}")
    return SavedOffsets(
        group_id,
        at_ms,
        tuple(
            CommittedOffset(topic, partition, one.offset, one.metadata, one.leader_epoch)
            for (topic, partition), one in sorted(found.items())
        ),
    )


def _stable(reader: ClusterReader, group_id: str, say: Callable[[str], None]) -> GroupOffsets | Missing:
    """What a group has committed, once no transaction that has not ended may replace any of it (KIP-447)."""
    from kafka.errors import IncompatibleBrokerVersion, UnstableOffsetCommitError
    from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

    said_s = -_LINE_EVERY_S

    def report(state: RetryCallState) -> None:
        nonlocal said_s
        waited_s = state.seconds_since_start or 0.0
        if waited_s - said_s >= _LINE_EVERY_S:
            said_s = waited_s
            waits = f"({waited_s:.0f} of {_UNSTABLE_S} s)"
            say(f"offsets of group {group_id}: waits for the end of a transaction that commits them {waits}")

    retrying = Retrying(
        retry=retry_if_exception_type(UnstableOffsetCommitError),
        stop=stop_after_delay(_UNSTABLE_S),
        wait=wait_fixed(_LOOK_AGAIN_S),
        before_sleep=report,
        reraise=True,
    )

    def ask() -> GroupOffsets | Missing:
        try:
            return retrying(read_stable, reader.admin, group_id)
        except UnstableOffsetCommitError:
            return Missing(
                f"a transaction that commits its offsets has not ended in {_UNSTABLE_S} s; wait until it has "
                "(transaction.timeout.ms at most), then clear this task and what follows it"
            )
        except IncompatibleBrokerVersion:
            return Missing(
                "its broker cannot hold back what a transaction is about to replace (OffsetFetch before version 7, "
                "expected Kafka 2.5 or later; KIP-447); upgrade the brokers first, then trigger this again"
            )

    return reader.of_group(group_id, ask)


def require_all_topics(reader: ClusterReader, group_ids: Sequence[str]) -> None:
    """Inconclusive if these groups may have offsets on topics that this login may not see."""
    hidden = read_hidden(reader)
    what = f"group {first_of(group_ids)}: offsets on topics that are not visible to this login would not be saved"
    if isinstance(hidden, Missing):
        raise Inconclusive(f"{what}, and whether there are such topics is not known: {hidden.missing}")
    if hidden:
        raise Inconclusive(f"{what}: {first_of(hidden)}; grant it Describe on them, or delete its offsets by topic")


def read_hidden(reader: ClusterReader) -> tuple[str, ...] | Missing:
    """Topics that this login may not see, apart from the brokers' own; sends a request to each broker."""
    hidden = reader.names().hidden
    return hidden if isinstance(hidden, Missing) else tuple(sorted(hidden - KAFKAS_OWN))
