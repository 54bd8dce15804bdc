"""What a run may hold: the applications, topics and routes of a cluster, written `kind:cluster:name`."""

from collections.abc import Iterable
from dataclasses import dataclass

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.wording import outside

APPLICATION, TOPIC, ROUTE = "application", "topic", "route"
KINDS = (APPLICATION, TOPIC, ROUTE)


@dataclass(frozen=True, slots=True, order=True)
class HeldResource:
    """One resource of a cluster. A kind that this release does not know may be held by a run of a newer one."""

    kind: str
    cluster: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.cluster}:{self.name}"

    @property
    def words(self) -> str:
        """Kind and name, for a person."""
        return f"{self.kind} {self.name}"


def resource_of(text: str) -> HeldResource:
    """The resource that a hold in the ledger names."""
    kind, _, rest = text.partition(":")
    cluster, _, name = rest.partition(":")
    return HeldResource(kind, cluster, name)


def to_hold(texts: Iterable[str], cluster: str) -> tuple[HeldResource, ...]:
    """The resources that a run is about to hold, sorted, each once; BadInput if one is none of `cluster`."""
    found = sorted({resource_of(text) for text in texts})
    if not found:
        raise BadInput(f"a hold in cluster {cluster} names no resource (expected kind:cluster:name); name one")
    for one in found:
        if one.kind not in KINDS or not one.name:
            raise BadInput(
                f"a hold of {outside(str(one))} is not possible (expected kind:cluster:name with a kind of "
                f"{', '.join(KINDS)}); correct it"
            )
        if one.cluster != cluster:
            raise BadInput(
                f"a hold of {one.words} is in cluster {one.cluster} (expected {cluster}): a run holds resources of one "
                "cluster; run it there"
            )
    return tuple(found)
