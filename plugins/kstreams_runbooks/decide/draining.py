"""Whether a group has read past where its topics ended at some moment."""

from kstreams_runbooks.decide.lag import named
from kstreams_runbooks.model.readings import Missing, PartitionReading
from kstreams_runbooks.model.verdicts import Outcome, Verdict


def read_up_to(
    partitions: tuple[PartitionReading, ...] | Missing, marks: tuple[tuple[str, int], ...], application: str
) -> Verdict:
    """Proceed where the committed offset of every partition in `marks` has reached its mark (an end, exclusive).

    A partition that nobody can read, or that was never committed although something lies in it, is never read.
    """
    if isinstance(partitions, Missing):
        return Verdict(Outcome.INCONCLUSIVE, (f"offsets of {application}: {partitions.missing}",))
    now = {partition.name: partition for partition in partitions}
    behind, unknown = [], []
    for name, mark in marks:
        partition = now.get(name)
        if partition is None:
            unknown.append(f"{name} was not read")
        elif isinstance(partition.committed, Missing):
            if partition.log_start != mark:
                unknown.append(f"{name}: {partition.committed.missing}")
        elif partition.committed < mark:
            behind.append(f"{name} at {partition.committed:,} of {mark:,}")
    if unknown:
        return Verdict(Outcome.INCONCLUSIVE, tuple(unknown))
    if behind:
        return Verdict(Outcome.WAIT, (f"{len(behind)} partitions not read to their mark: {named(tuple(behind))}",))
    return Verdict(Outcome.PROCEED, (f"{len(marks)} partitions of {application} read to their mark",))
