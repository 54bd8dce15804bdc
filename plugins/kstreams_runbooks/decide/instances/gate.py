"""The gate after each restarted instance: ready, still coming, or never going to be.

A gate reads Streams' own state and committed offsets, never the process: an instance in ERROR keeps its JVM, and an
instance that is RUNNING in a stable group may still process nothing. Of a copier, which reports nothing, it reads the
process, its start and its membership.
"""

from collections.abc import Iterator

from kstreams_runbooks.decide.instances.members import members_of, settings_text, strangers, unclaimed
from kstreams_runbooks.decide.instances.mixed import mixed_topologies
from kstreams_runbooks.decide.lag import standing_still, total_lag
from kstreams_runbooks.model.readings.readings import (
    ApplicationReading,
    Deployment,
    GroupReading,
    InstanceReading,
    Missing,
    Start,
    StreamsReading,
)
from kstreams_runbooks.model.readings.states import CLIENT_DUE_MS, is_dead, is_down
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.runs.gate import Expectation
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of

# Reasons in an outcome's sentence; the rest is in the evidence.
_MOST = 4

# From here on the state updater restores in parallel to the threads, and reports its progress (KIP-869); before it the
# threads restore themselves, and RUNNING means that they are done.
_FIRST_WITH_STATE_UPDATER = Release("3.8")


def gate(samples: tuple[ApplicationReading, ...], expected: Expectation) -> Verdict:
    """Proceed after `expected.good_readings` good readings in a row; refuse at once if waiting cannot help.

    `samples` are consecutive readings, oldest first. A reading is good only together with earlier ones, because
    progress is a difference: n good readings take n intervals, after a first commit interval. Progress is measured
    since the newest reading that is at least a commit interval older.
    """
    if not samples:
        return Verdict(Outcome.WAIT, ("no reading yet",))
    last = samples[-1]
    if not expected.goes_back and (mixed := mixed_topologies(samples)):
        return Verdict(Outcome.REFUSE, (mixed,))
    if fatal := tuple(_never(samples, expected)):
        return Verdict(Outcome.REFUSE, (*fatal, *_seen_as_well(samples, expected)))
    missing = tuple(_unread(last, expected))
    if missing:
        return Verdict(Outcome.INCONCLUSIVE, (*missing, *_seen_as_well(samples, expected, missing)))
    if troubles := _troubles_at(samples, len(samples) - 1, expected):
        return Verdict(Outcome.WAIT, troubles)
    good = 0
    for index in range(len(samples) - 1, 0, -1):
        if tuple(_unread(samples[index], expected)) or _troubles_at(samples, index, expected):
            break
        good += 1
    if good < expected.good_readings:
        return Verdict(Outcome.WAIT, (f"good reading {good} of {expected.good_readings} in a row",))
    if _copies(last, expected):
        why = f"{expected.instance} runs, group stable with its member, {good} good readings in a row"
        return Verdict(Outcome.PROCEED, (f"{why}; the lag of a copier is not judged",))
    lag = total_lag(last.partitions) if not isinstance(last.partitions, Missing) else None
    return Verdict(
        Outcome.PROCEED,
        (
            f"{expected.instance} runs {expected.bounce.release}, RUNNING, group stable, every partition advances, "
            f"lag {lag.records if lag else 0:,} (limit {expected.max_lag:,}), {good} good readings in a row",
        ),
    )


def _never(samples: tuple[ApplicationReading, ...], expected: Expectation) -> Iterator[str]:
    """Conditions that waiting does not fix.

    A client on its way into ERROR takes its metrics with it while the JVM stays: a JVM that had a client and has lost
    it is as dead as one that reports ERROR (tests/airflow/test_library_bump.py).
    """
    name = expected.instance
    instance = samples[-1].instance(name)
    if isinstance(instance, Missing):
        return
    deployment, streams = instance.deployment, instance.streams
    if isinstance(deployment, Deployment) and is_down(deployment.process):
        yield f"{instance.down}: expected running{instance.log_end}; read its log"
    elif isinstance(streams, StreamsReading):
        if streams.start != expected.previous and is_dead(streams.state):
            yield (
                f"{name}: Streams is in {streams.state} on {streams.version} although its process lives "
                f"(expected RUNNING){instance.log_end}; it does not come back by itself: read its log"
            )
    elif streams.start is not None and streams.start != expected.previous:
        if streams.start in [expected.seen, *(_client_start(sample, name) for sample in samples[:-1])]:
            yield (
                f"{name}: its Streams client is gone although its process lives (expected RUNNING), as after an ERROR"
                f"{instance.log_end}; it does not come back by itself: read its log"
            )
        elif (age := samples[-1].taken.at_ms - streams.start.started_at_ms) > CLIENT_DUE_MS:
            yield (
                f"{name}: no Streams client of this application {age / 1000:.0f} s after its process started (limit "
                f"{CLIENT_DUE_MS / 1000:.0f} s); {streams.missing}{instance.log_end}"
            )


def _seen_as_well(
    samples: tuple[ApplicationReading, ...], expected: Expectation, said: tuple[str, ...] = ()
) -> Iterator[str]:
    """Other faults in the newest reading that shows any, apart from those in `said`.

    An instance that died leaves no cause of its own: it is in the readings of topics, group and offsets, perhaps one
    reading earlier. That the dead instance itself cannot be read explains nothing.
    """
    own = f"{expected.instance}: "
    for index in range(len(samples) - 1, -1, -1):
        found = [
            *(reason for reason in _unread(samples[index], expected) if not reason.startswith(own)),
            *(_troubles(samples[: index + 1], expected) if index else ()),
        ]
        # Missing progress follows from the rest; a first reading shows no progress.
        if also := [reason for reason in dict.fromkeys(found) if reason not in said]:
            age_s = (samples[-1].taken.at_ms - samples[index].taken.at_ms) / 1000
            when = f" {age_s:.0f} s before" if index < len(samples) - 1 else ""
            yield f"the gate saw{when}: {first_of(also, _MOST, '; ')}"
            return


def _client_start(sample: ApplicationReading, name: str) -> Start | None:
    """The start whose Streams client a sample saw."""
    instance = sample.instance(name)
    if isinstance(instance, Missing) or isinstance(instance.streams, Missing):
        return None
    return instance.streams.start


def _unread(reading: ApplicationReading, expected: Expectation) -> Iterator[str]:
    """Missing readings without which there is no verdict."""
    instance = reading.instance(expected.instance)
    if isinstance(instance, Missing):
        yield instance.missing
        return
    if isinstance(instance.streams, Missing):
        yield f"{expected.instance}: {instance.streams.missing}"
    if isinstance(instance.deployment, Missing):
        yield f"{expected.instance}: {instance.deployment.missing}"
    if _copies(reading, expected):
        yield from reading.lacking("group")
        return
    yield from reading.lacking("group", "offsets")
    if not isinstance(reading.partitions, Missing):
        yield from total_lag(reading.partitions).unknown


def _copies(reading: ApplicationReading, expected: Expectation) -> bool:
    """Whether the instance is one of a copier, which begins with all that its producers have sent meanwhile."""
    instance = reading.instance(expected.instance)
    return isinstance(instance, InstanceReading) and (
        isinstance(instance.streams, StreamsReading) and instance.streams.as_deployed
    )


def _troubles_at(samples: tuple[ApplicationReading, ...], index: int, expected: Expectation) -> tuple[str, ...]:
    """Why the reading at `index` is not a good one; empty for a good one."""
    if index == 0:
        return ("first reading: progress shows from the second on",)
    return tuple(_troubles(samples[: index + 1], expected))


def _troubles(samples: tuple[ApplicationReading, ...], expected: Expectation) -> Iterator[str]:
    *earlier, now = samples
    instance = now.instance(expected.instance)
    if isinstance(instance, Missing) or isinstance(instance.streams, Missing):
        return
    streams, bounce = instance.streams, expected.bounce
    age = now.taken.at_ms - earlier[-1].taken.at_ms
    if age > expected.max_age_ms:
        yield f"the reading before is {age / 1000:.0f} s older (limit {expected.max_age_ms / 1000:.0f} s)"
    if age < 0:
        yield f"the reading before is {-age / 1000:.0f} s newer: the clock was set back between them"
    if streams.start == expected.previous:
        yield f"{expected.instance}: still the start from before the restart"
    if streams.version != bounce.version:
        yield f"{expected.instance}: reports {streams.version} (expected {bounce.version})"
    yield from _settings(instance.deployment, expected)
    if streams.state != "RUNNING":
        yield f"{expected.instance}: {streams.state} (expected RUNNING)"
    yield from thread_troubles(streams, expected.instance)
    yield from restore_troubles(streams, expected.instance)
    yield from _group(now, instance)
    if not streams.as_deployed:
        yield from _progress(earlier, now, expected)


def _group(now: ApplicationReading, instance: InstanceReading) -> Iterator[str]:
    if isinstance(now.group, GroupReading):
        if now.group.state.upper() != "STABLE":
            yield f"group {now.group.group_id}: {now.group.state} (expected Stable)"
        if not members_of(now.group, instance):
            yield f"group {now.group.group_id}: no member of {instance.instance} yet"
        for member in strangers(now):
            yield f"group {now.group.group_id}: member {member.client_id} on {member.host} is of no declared instance"
        for member in unclaimed(now):
            yield (
                f"group {now.group.group_id}: whose member {member.client_id} on {member.host} is cannot be read: an "
                "instance gives no answer"
            )


def _progress(earlier: list[ApplicationReading], now: ApplicationReading, expected: Expectation) -> Iterator[str]:
    if isinstance(now.partitions, Missing):
        return
    lag = total_lag(now.partitions).records
    if lag > expected.max_lag:
        yield f"lag {lag:,} records (limit {expected.max_lag:,})"
    read = [sample for sample in earlier if isinstance(sample.partitions, tuple)]
    if not read:
        yield "no reading before has offsets: progress shows from the next one on"
        return
    due_ms = now.taken.at_ms - expected.commit_interval_ms
    base = next((sample for sample in reversed(read) if sample.taken.at_ms <= due_ms), None)
    if base is None:
        waited_s = (now.taken.at_ms - read[0].taken.at_ms) / 1000
        yield (
            f"progress shows after a commit interval of {expected.commit_interval_ms / 1000:g} s (watched for "
            f"{waited_s:.0f} s)"
        )
    elif isinstance(base.partitions, tuple) and (stuck := standing_still(base.partitions, now.partitions)):
        yield f"no progress in {(now.taken.at_ms - base.taken.at_ms) / 1000:.1f} s on {first_of(stuck)}"


def _settings(deployment: Deployment | Missing, expected: Expectation) -> Iterator[str]:
    if isinstance(deployment, Missing):
        return
    if deployment.applied is not True:
        why = (
            deployment.applied.missing
            if isinstance(deployment.applied, Missing)
            else "started before they were written"
        )
        yield f"{expected.instance}: its settings are not in effect: {why}"
    if deployment.release != expected.bounce.release:
        observed = deployment.release.missing if isinstance(deployment.release, Missing) else deployment.release
        yield f"{expected.instance}: is deployed as {observed} (expected {expected.bounce.release})"
    if dict(deployment.settings) != dict(expected.bounce.settings):
        observed, wanted = settings_text(dict(deployment.settings)), settings_text(dict(expected.bounce.settings))
        yield f"{expected.instance}: has {observed} (expected {wanted})"


def thread_troubles(streams: StreamsReading, instance: str) -> Iterator[str]:
    """Failed threads, no living thread, or unknown."""
    if isinstance(streams.failed_threads, Missing) or isinstance(streams.alive_threads, Missing):
        yield f"{instance}: its threads cannot be read"
        return
    if streams.failed_threads:
        yield f"{instance}: {streams.failed_threads} failed threads (limit 0)"
    if not streams.alive_threads:
        yield f"{instance}: no stream thread alive"


def restore_troubles(streams: StreamsReading, instance: str) -> Iterator[str]:
    """Tasks that still restore, or unknown although the release has the metric."""
    if isinstance(streams.restoring, Missing):
        if Release.parse(streams.version) >= _FIRST_WITH_STATE_UPDATER:
            yield f"{instance}: restore progress cannot be read: {streams.restoring.missing}"
        return
    if streams.restoring:
        left = streams.restore_remaining
        yield f"{instance}: {streams.restoring} tasks restore" + (
            "" if isinstance(left, Missing) else f", {left} records left"
        )
