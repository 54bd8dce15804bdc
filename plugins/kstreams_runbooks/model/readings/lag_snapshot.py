"""The lag of the applications of one cluster, at one time."""

from dataclasses import dataclass, replace

from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.model.readings.readings import Taken


@dataclass(frozen=True, slots=True)
class LagSnapshot:
    """A cluster's applications at one time."""

    taken: Taken
    cluster: str
    applications: tuple[ApplicationLag, ...]


def with_others(snapshot: LagSnapshot, other: LagSnapshot) -> LagSnapshot:
    """The snapshot with `other`'s readings in place of its own, for the applications that `other` has."""
    again = {one.application: one for one in other.applications}
    return replace(snapshot, applications=tuple(again.get(one.application, one) for one in snapshot.applications))
