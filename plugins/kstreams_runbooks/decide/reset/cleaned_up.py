"""Whether an application itself has deleted its local state as it started (`KafkaStreams#cleanUp`), by its age.

Nothing shows that before the start: the program deletes it then. So what was there is noted while every instance is
down, before the first topic is deleted. What is there after a start has to be newer: kept state has a file from before
in every task directory, since RocksDB writes some (IDENTITY, LOCK) once. All times are of one file system.
Source: `KafkaStreams#cleanUp` (Javadoc); tests/airflow/test_reset_clean_up.py.
"""

import re
from collections.abc import Iterator, Mapping

from kstreams_runbooks.model.local_state import GLOBAL, FileTimes
from kstreams_runbooks.model.readings.readings import Missing, StreamsReading
from kstreams_runbooks.model.readings.reset import LocalTimes
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of

# `0_1`, in a named topology `name__0_1`: what KafkaStreams#cleanUp deletes, next to the directory of global stores.
_TASK = re.compile(r"(?:.+__)?\d+_\d+")
_CREATED = "CREATED"


def may_clean_up(local: tuple[LocalTimes, ...]) -> Verdict:
    """Whether it will be seen that each instance deletes its state: a deployer reports its age, and all of it may go.

    Refused for a directory that is not a task's: `KafkaStreams#cleanUp` would leave it. Inconclusive without the age.
    """
    refused, unknown = [], []
    for one in local:
        if isinstance(one.directories, Missing):
            unknown.append(
                f"{one.instance}: nothing would show that it has deleted its local state at its start: "
                f"{one.directories.missing}"
            )
        elif strange := sorted(name for name in one.directories if name != GLOBAL and not _TASK.fullmatch(name)):
            refused.append(
                f"{one.instance}: its local state has {first_of(strange)}, which KafkaStreams#cleanUp does not delete "
                "(expected: task directories); delete it, or let the deployer clear the state: trigger a new run with "
                "--param cleared_by=deployer"
            )
    if refused:
        return Verdict(Outcome.REFUSE, (*refused, *unknown))
    if unknown or not local:
        return Verdict(Outcome.INCONCLUSIVE, tuple(unknown) or ("no instance was looked at",))
    names = first_of([one.instance for one in local])
    return Verdict(Outcome.PROCEED, (f"the age of the local state is seen on {names}",))


def state_is_new(now: tuple[LocalTimes, ...], noted: tuple[LocalTimes, ...], *, began: bool = True) -> Verdict:
    """Whether nothing of these instances is as old as what was noted of them; what cannot be read is not new.

    Without `began` no Streams client of theirs has begun yet: the deletion may still come, so this waits.
    """
    before = {one.instance: one.directories for one in noted}
    kept = tuple(reason for one in now for reason in _kept(one, before.get(one.instance)))
    unknown = tuple(reason for one in now for reason in _unknown(one, before.get(one.instance)))
    if not now:
        unknown = ("no instance was looked at",)
    if not kept and not unknown:
        names = first_of([one.instance for one in now])
        return Verdict(Outcome.PROCEED, (f"all local state is newer than the stop on {names}",))
    if not began:
        return Verdict(Outcome.WAIT, (*kept, *unknown))
    return Verdict(Outcome.REFUSE if kept else Outcome.INCONCLUSIVE, (*kept, *unknown))


def has_begun(streams: StreamsReading | Missing) -> bool:
    """Whether a Streams client has been started: from then on it deletes nothing (`KafkaStreams#cleanUp`)."""
    return isinstance(streams, StreamsReading) and streams.state != _CREATED


def is_untouched(now: LocalTimes, noted: tuple[LocalTimes, ...]) -> bool:
    """Whether an instance has not used the local state since: it has what was noted, and nothing has changed."""
    before = next((one.directories for one in noted if one.instance == now.instance), None)
    return isinstance(before, Mapping) and now.directories == before


def _kept(one: LocalTimes, before: Mapping[str, FileTimes] | Missing | None) -> Iterator[str]:
    if isinstance(one.directories, Missing) or not isinstance(before, Mapping) or not before:
        return
    last_ms = max(times.newest_ms for times in before.values())
    if old := sorted(name for name, times in one.directories.items() if times.oldest_ms <= last_ms):
        yield (
            f"{one.instance}: still has {first_of(old)} from before the stop (expected: deleted at its start); "
            "delete it manually, then clear this step"
        )


def _unknown(one: LocalTimes, before: Mapping[str, FileTimes] | Missing | None) -> Iterator[str]:
    if isinstance(one.directories, Missing):
        yield f"{one.instance}: whether it kept local state is not known: {one.directories.missing}"
    elif not isinstance(before, Mapping):
        yield f"{one.instance}: whether it kept local state is not known: what it had before the stop was not noted"
