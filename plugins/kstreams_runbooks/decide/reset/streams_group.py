"""Whether a streams group may start over: brokers keep its topology, and take no other one (KIP-1071, KAFKA-20170)."""

from collections.abc import Collection

from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.model.verdicts import Outcome, Verdict

STREAMS = "streams"


def keeps_topology(group_id: str, last: Collection[Topology], wanted: Collection[Topology]) -> Verdict:
    """Refuse a start of a streams group on another topology than its `last`; inconclusive if `wanted` is not known.

    An instance that starts with another one ends in ERROR ("Topology updates are not supported yet"), with the internal
    topics deleted by then.
    """
    if not wanted or not last:
        which = "it ran last" if wanted else "starts afterwards"
        return Verdict(
            Outcome.INCONCLUSIVE,
            (
                f"group {group_id} is a streams group, and the topology that {which} is not known: brokers would "
                "refuse another one; let the deployer print it",
            ),
        )
    if len({*last, *wanted}) > 1:
        return Verdict(
            Outcome.REFUSE,
            (
                f"group {group_id} is a streams group, and the version that starts afterwards has another topology "
                "(expected: the same): brokers refuse that for a group that exists (KIP-1071); reset it on its present "
                "release, or start the new one under another application.id",
            ),
        )
    return Verdict(Outcome.PROCEED, (f"group {group_id} is a streams group, and its topology stays",))
