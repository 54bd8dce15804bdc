"""The keys that have to be compared before a repartition is removed: those of the input with those of the state."""

from collections.abc import Iterator

from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.content import contents
from kstreams_runbooks.decide.topology.described import ParsedDescription
from kstreams_runbooks.decide.topology.graph import internal_topics
from kstreams_runbooks.decide.topology.upstream import topics_before
from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.model.readings.partitioning import KeyPair
from kstreams_runbooks.model.verdicts import Finding


def key_pairs(before: ParsedDescription, after: ParsedDescription, application_id: str) -> tuple[KeyPair, ...]:
    """Each input that fills a store directly which a repartition topic filled before, with the store's changelog.

    The store keeps the partitions of that topic: a key whose records are in another partition of the input finds no
    state there. Inconclusive if the store is filled by a source pattern now.
    """
    return tuple(dict.fromkeys(_pairs(before, after, application_id)))


def _pairs(before: ParsedDescription, after: ParsedDescription, application_id: str) -> Iterator[KeyPair]:
    internal = internal_topics(before.topology) | internal_topics(after.topology)
    held = contents(Side(before.topology, before.described.declaration))
    for store in sorted(before.topology.stores & after.topology.stores):
        was, now = topics_before(before.topology, store), topics_before(after.topology, store)
        if was is None or not was & internal:
            continue
        if now is None:
            raise Inconclusive(
                f"store {store}: a repartition topic filled it, and a source pattern does now (expected topics): which "
                "keys to compare is not known; use blue_green_cutover"
            )
        if not (changelog := held[store].changelog):
            raise Inconclusive(
                f"store {store}: a repartition topic filled it, and no changelog has its keys (expected: one to "
                "compare with): which keys would be elsewhere is not known; use blue_green_cutover"
            )
        yield from (KeyPair(topic, f"{application_id}-{changelog}") for topic in sorted(now - was - internal))


def not_compared(pair: KeyPair) -> Finding:
    """The finding for an approver who is asked to accept that keys are not compared."""
    message = (
        f"a repartition topic filled {pair.state} and {pair.input} does directly: whether each key is in the partition "
        "of its state was not compared (without_key_check); a key that is elsewhere begins without state"
    )
    return Finding("keys-not-compared", "danger", pair.input, message, "docs/partitioning.md")
