"""What a copier in front of an application costs and what it meets: disk, traffic, latency, proof, subjects, quotas."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.wording import first_of

_SOURCE = "docs/copiers.md, costs"
_MB = 1_000_000
# The shipped copier's default of commit.interval.ms.
_COMMIT_MS = 100
# docs/measured.md, the shipped copier.
_LATENCY = "half within 0.1 s, 99 % within 0.2 s on one broker, measured"
# Records of both topics a second that Spark has compared on two cores: by record, and by the last value of each key.
_COMPARED = (541_000, 380_000)
_MEASURED = "docs/measured.md, comparing topics"


@dataclass(frozen=True, slots=True)
class CopierLoad:
    """What one route has to carry.

    `held_bytes` are those of one copy of the source on the brokers' disks, `replicas` of the target. `bytes_per_s` is
    the rate at which producers write the source, by its records as they are stored. `offsets` are those that the source
    has.
    """

    source: str
    target: str
    held_bytes: int | Missing
    replicas: int | Missing
    bytes_per_s: float | Missing
    offsets: int


def copier_findings(group: str, login: str, loads: Sequence[CopierLoad], *, whole: bool) -> tuple[Finding, ...]:
    """What a person weighs before a copier of this group is put in front; `login` is empty if it is not known.

    `whole`: the copy begins at the beginning of its sources; otherwise the disk fills as producers go on.
    """
    return (*_costs(group, loads, whole=whole), _subjects(loads), _quotas(group, login, loads))


def _costs(group: str, loads: Sequence[CopierLoad], *, whole: bool) -> Iterator[Finding]:
    disk, disk_unknown = _disk(loads) if whole else (0, ())
    rate, rate_unknown = _rate(loads)
    unknown = (*disk_unknown, *rate_unknown)
    copy = f"the copy takes {_size(disk)} on the brokers at once, and then grows" if whole else "the copy grows"
    yield Finding(
        "copier-costs",
        "warning" if unknown else "info",
        group,
        f"disk: {copy} with its sources, within its own retention; traffic: {_size(rate)} a second are read once more "
        f"and written once more to every replica; latency: a record waits for its transaction, up to "
        f"commit.interval.ms ({_COMMIT_MS} ms by default), and for its commit on every broker ({_LATENCY})"
        + (f"; not known, and on top of it: {first_of(unknown)}" if unknown else ""),
        _SOURCE,
    )


def proof_findings(group: str, loads: Sequence[CopierLoad], *, whole: bool) -> tuple[Finding, ...]:
    """What the proof of a copy reads: after the change, while the application runs on its control topics.

    It has no limit: the person who approves the plan accepts the cost, or gives without_copy_proof a reason.
    """
    if not whole:
        cost = "each record from the committed offsets on and its copy, up to the change"
    else:
        offsets = 2 * sum(load.offsets for load in loads)
        sizes = [load.held_bytes for load in loads]
        unread = next((one.missing for one in sizes if isinstance(one, Missing)), "")
        size = (
            f"bytes are not known ({unread})"
            if unread
            else _size(2 * sum(one for one in sizes if isinstance(one, int)))
        )
        low, high = (max(1, round(offsets / rate)) for rate in _COMPARED)
        cost = (
            f"{offsets:,} offsets of the inputs and their copies, {size}, and what is written until the change; about "
            f"{low:,} to {high:,} s on two cores, and that once more if retention deletes records meanwhile"
        )
    about = f"after the start on the control topics, prove_copy reads {cost}; without_copy_proof leaves it out"
    return (Finding("copy-proof-costs", "info", group, about, _MEASURED),)


def _disk(loads: Sequence[CopierLoad]) -> tuple[float, tuple[str, ...]]:
    known, unknown = 0.0, []
    for load in loads:
        parts = load.held_bytes, load.replicas
        if isinstance(parts[0], Missing) or isinstance(parts[1], Missing):
            why = next(one.missing for one in parts if isinstance(one, Missing))
            unknown.append(f"disk of {load.target}: {why}")
        else:
            known += parts[0] * parts[1]
    return known, tuple(unknown)


def _rate(loads: Sequence[CopierLoad]) -> tuple[float, tuple[str, ...]]:
    known, unknown = 0.0, []
    for load in loads:
        if isinstance(load.bytes_per_s, Missing):
            unknown.append(f"traffic of {load.source}: {load.bytes_per_s.missing}")
        else:
            known += load.bytes_per_s
    return known, tuple(unknown)


def _subjects(loads: Sequence[CopierLoad]) -> Finding:
    """Records keep the id of their schema; what looks a subject up by the topic's name finds none."""
    return Finding(
        "copier-subjects",
        "warning",
        first_of([load.target for load in loads]),
        "whether a schema registry has subjects of these topics is not read: with TopicNameStrategy they are "
        f"{first_of([f'{load.target}-key and {load.target}-value' for load in loads])}; records are read by the id of "
        "their schema, but use.latest.version, rules of a subject and a validation by the broker look it up: register "
        "the schemas of the sources there first",
        "https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html",
    )


def _quotas(group: str, login: str, loads: Sequence[CopierLoad]) -> Finding:
    rate, unknown = _rate(loads)
    needed = f"at least {_size(rate)} a second" if unknown else f"{_size(rate)} a second"
    who = f"user {login.removeprefix('User:')}" if login else "the user of its login"
    return Finding(
        "copier-quotas",
        "warning",
        group,
        f"quotas are not read: producer_byte_rate, consumer_byte_rate, request_percentage of {who} and of client ids "
        f"that begin with {group}- hold the copier back, and with it every application behind it (it needs {needed} of "
        "both rates, and more to catch up); compare them with kafka-configs --describe --entity-type users",
        "https://kafka.apache.org/43/configuration/quotas/",
    )


def _size(bytes_: float) -> str:
    return f"{bytes_ / _MB:,.1f} MB"
