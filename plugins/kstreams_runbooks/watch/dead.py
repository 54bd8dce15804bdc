"""Instances that do not answer and whose process has failed, as their deployers report it."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from kstreams_runbooks.decide.change.defects import CLEARS, defects_with, entry_facts
from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.model.readings.readings import Deployment, Missing
from kstreams_runbooks.observe.application.topics_read import PolledTopics
from kstreams_runbooks.rules import upgrade_path_rules

_THREADS = 4
_DEAD = "DEAD: its process has failed"


def with_dead(
    polled: Mapping[str, PolledTopics], entries: Iterable[Application], deployer_of: Callable[[Application], Deployer]
) -> dict[str, PolledTopics]:
    """The answers with the dead among the `failed`; only deployers of applications with silent instances are asked.

    A deployer that does not answer proves nothing about a process.
    """
    silent = [entry for entry in entries if entry.name in polled and polled[entry.name].silent]

    def dead(entry: Application) -> tuple[str, ...]:
        try:
            failed = {one.instance: one for one in deployer_of(entry).instances() if one.process == "failed"}
        except RunbookError:
            return ()
        names = (name for name in polled[entry.name].silent if name in failed)
        return tuple(f"{name} ({_DEAD}{_left(entry, failed[name])})" for name in names)

    with ThreadPoolExecutor(_THREADS, thread_name_prefix="deployers") as pool:
        more = dict(zip((entry.name for entry in silent), pool.map(dead, silent), strict=True))
    return {name: replace(one, failed=(*one.failed, *more.get(name, ()))) for name, one in polled.items()}


def _left(entry: Application, deployment: Deployment) -> str:
    """What its next start needs: a known defect of its release may keep writes that were not committed."""
    if deployment.ended_cleanly is True:
        return ""
    declared, release = entry.declared(), deployment.release
    # A release that is not known may have it.
    library = "" if isinstance(release, Missing) else declared.library(release)
    rows = defects_with(CLEARS, library, entry_facts(declared), upgrade_path_rules())
    return f"; delete its task directories before it starts ({', '.join(rows)}), as a run does" if rows else ""
