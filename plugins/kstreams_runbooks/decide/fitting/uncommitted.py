"""Whether a start would read records of a repartition topic again, or skip them: records without a committed offset.

Kafka Streams reads a partition without a committed offset by its global `auto.offset.reset`. The offsets of a topic
that a release no longer reads expire while the group goes on, by the time of their last commit; the topic and its
records since the last purge stay. A later release that reads it again counts them twice, without an error, and under
`latest` it skips what it never read (tests/integration/test_orphaned_repartition.py). So records without a committed
offset are refused, with these exceptions, in which nothing that was processed is forgotten:

- A member of the stable group is assigned the partition: it is read by a position, which a clean stop commits.
- They came since the plan of this run, which found none of them: the first start of this run wrote them, and ended
  before its first commit. Streams deletes records of a repartition topic once they are committed, so a log that still
  starts where the plan saw its end shows that nothing was committed since. `earliest` then reads them for the first
  time; any other reset would skip them, which is refused.

A log that starts at offset 0 alone proves nothing: Streams purges every 30 s, and only with the right to delete.

A topic that does not exist yet, or that holds no record and has no committed offset, is read by `auto.offset.reset`
too: under `latest` what the release writes to it before its first commit may be skipped. The plan has a finding.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from kstreams_runbooks.decide.fitting.needed import parsed_or_missing, repartitions_read
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.lag import PartitionLag
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.states import is_empty, is_stable
from kstreams_runbooks.model.readings.topics_seen import RepartitionsSeen
from kstreams_runbooks.model.releases.settings import MAIN_CONSUMER
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding, Outcome, Severity, Verdict
from kstreams_runbooks.wording import first_of

SKIPPED_AT_FIRST = "first-records-skipped"
_EARLIEST = "earliest"
_SOURCE = "tests/integration/test_orphaned_repartition.py; docs/topics.md"


def uncommitted_records(
    wanted: tuple[Described | Missing, ...],
    seen: RepartitionsSeen,
    planned: RepartitionsSeen | None,
    resets: frozenset[str] | None,
    application: DeclaredApplication,
) -> Verdict:
    """Refuse a start of the `wanted` releases over such records; inconclusive if a fact about them is unknown.

    `planned` is what the plan of the same run saw, None at the plan itself, which alone has findings. `resets` are the
    values that settings give `auto.offset.reset`, none for the default of Kafka Streams, `earliest`; None if the
    settings of a release are not known.
    """
    read = repartitions_read(parsed_or_missing(wanted), application.application_id)
    group = application.application_id
    unknown = list(seen.unknown)
    left: dict[str, list[PartitionLag]] = {}
    skipped: dict[str, list[PartitionLag]] = {}
    for one in seen.uncommitted:
        if one.topic not in read or not one.records or one.name in seen.held:
            continue
        if _came_since(one, planned):
            if _skips(resets):
                skipped.setdefault(one.topic, []).append(one)
        elif isinstance(seen.group_state, str) and not is_stable(seen.group_state):
            unknown.append(
                f"group {group} is {seen.group_state} (expected Stable or Empty): whether a member reads {one.name} "
                "is not known; wait, then trigger this again"
            )
        else:
            left.setdefault(one.topic, []).append(one)
    refused = [
        *(_left(topic, rows, read[topic], group, seen) for topic, rows in sorted(left.items())),
        *(_skipped(topic, rows, read[topic], group, resets or ()) for topic, rows in sorted(skipped.items())),
    ]
    findings = tuple(_first_skipped(read, seen, resets, application)) if planned is None else ()
    if refused:
        return Verdict(Outcome.REFUSE, tuple(dict.fromkeys((*refused, *unknown))), findings)
    if unknown:
        return Verdict(Outcome.INCONCLUSIVE, tuple(dict.fromkeys(unknown)), findings)
    said = f"no repartition topic has records without a committed offset of {group}"
    return Verdict(Outcome.PROCEED, (said,), findings)


def offset_resets(settings: Iterable[Mapping[str, str]]) -> frozenset[str]:
    """The values that these settings give the main consumer's `auto.offset.reset`."""
    names = [f"{prefix}auto.offset.reset" for prefix in MAIN_CONSUMER]
    return frozenset(
        found for one in settings if (found := next((one[name] for name in names if name in one), "").lower())
    )


def resets_of(
    wanted: Iterable[Described | Missing], settings: Collection[Mapping[str, str]] = ()
) -> frozenset[str] | None:
    """The same of releases, by their declared or read settings with any of these `settings` over them.

    None if the settings of a release are not known, and none of the given ones decides.
    """
    declared = [one.declaration.config for one in wanted if not isinstance(one, Missing)]
    unknown = any(config is None for config in declared)
    found = offset_resets({**(config or {}), **over} for config in declared for over in settings or ({},))
    return None if unknown and not found else found


def worst(topics: Verdict, records: Verdict) -> Verdict:
    """Two decisions about one start as one: the worse outcome, with the reasons of what does not proceed."""
    against = [one for one in (topics, records) if one.outcome is not Outcome.PROCEED]
    findings = (*topics.findings, *records.findings)
    if not against:
        return Verdict(Outcome.PROCEED, topics.reasons, findings)
    refused = any(one.outcome is Outcome.REFUSE for one in against)
    reasons = dict.fromkeys(reason for one in against for reason in one.reasons)
    return Verdict(Outcome.REFUSE if refused else Outcome.INCONCLUSIVE, tuple(reasons), findings)


def _skips(resets: frozenset[str] | None) -> bool:
    return bool((resets or frozenset()) - {_EARLIEST})


def _first_skipped(
    read: Mapping[str, str], seen: RepartitionsSeen, resets: frozenset[str] | None, application: DeclaredApplication
) -> Iterator[Finding]:
    """A finding for each topic whose first records the start may skip: new, or empty without a committed offset."""
    if resets is None:
        severity: Severity = "warning"
        under, then = "not known", "declare `config` with all settings (docs/declaration.md)"
    elif _skips(resets):
        severity, under = "danger", _listed(resets)
        then = (
            f"start it under {_EARLIEST}, or create the topic (`kstreams-runbooks internal-topics`) and change it with "
            "control_topic_flush, which commits its beginning"
        )
    else:
        return
    empty = {one.topic for one in seen.uncommitted if not one.records and one.name not in seen.held}
    for topic in sorted(read.keys() - (seen.topics.keys() - empty)):
        there = "has no record and no committed offset" if topic in seen.topics else "does not exist"
        message = (
            f"it {there}, and {read[topic]} reads it by auto.offset.reset: {under} (expected {_EARLIEST}); what "
            f"{application.name} writes to it before its first commit may be skipped, without an error; {then}"
        )
        yield Finding(SKIPPED_AT_FIRST, severity, topic, message, _SOURCE)


def _listed(resets: Iterable[str]) -> str:
    return ", ".join(sorted(resets))


def _came_since(now: PartitionLag, planned: RepartitionsSeen | None) -> bool:
    """Whether the records came since the plan of this run, and none of them has been committed."""
    if planned is None or planned.unknown or now.log_start_offset is None:
        return False
    if planned.topics.get(now.topic) != now.topic_id:
        # The topic did not exist then.
        return now.log_start_offset == 0
    was = next((one for one in planned.uncommitted if one.name == now.name), None)
    if was is None or was.log_end_offset is None:
        # It had a committed offset, which is gone.
        return False
    if not was.records:
        return now.log_start_offset <= was.log_end_offset
    return now.name in planned.held and now.log_start_offset == was.log_start_offset == 0


def _left(topic: str, rows: Collection[PartitionLag], release: str, group: str, seen: RepartitionsSeen) -> str:
    stopped = isinstance(seen.group_state, str) and is_empty(seen.group_state)
    why = "the group is empty" if stopped else "no member of the group reads it"
    return (
        f"topic {topic} has {_counted(rows)} on {_partitions(rows)} without a committed offset of group {group} "
        f"(expected none; {why}), and {release} reads it: read again they double, under auto.offset.reset=latest they "
        "are lost; if they are proven read, empty the topic (kafka-delete-records, as control_topic_flush does), "
        "otherwise restore the offsets from the file that a run saved (docs/orphans.md)"
    )


def _skipped(topic: str, rows: Collection[PartitionLag], release: str, group: str, resets: Collection[str]) -> str:
    return (
        f"topic {topic} has {_counted(rows)} on {_partitions(rows)} that this run's first start wrote and never "
        f"committed, and {release} skips them under auto.offset.reset={_listed(resets)} (expected "
        f"{_EARLIEST}); set the offsets of group {group} there to the start of the log, then clear this step"
    )


def _counted(rows: Collection[PartitionLag]) -> str:
    most = "" if all(one.exact for one in rows) else "at most "
    total = sum(one.records or 0 for one in rows)
    return f"{most}{total:,} {'record' if total == 1 else 'records'}"


def _partitions(rows: Collection[PartitionLag]) -> str:
    numbers = [str(one.partition) for one in sorted(rows, key=lambda one: one.partition)]
    return f"{'partition' if len(numbers) == 1 else 'partitions'} {first_of(numbers, 10)}"
