"""Instances that do not answer and whose process has failed, as their deployers report it."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.fleet import Application
from kstreams_runbooks.observe.application.topics_read import PolledTopics

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
            found = [one.instance for one in deployer_of(entry).instances() if one.process == "failed"]
        except RunbookError:
            return ()
        return tuple(f"{name} ({_DEAD})" for name in polled[entry.name].silent if name in found)

    with ThreadPoolExecutor(_THREADS, thread_name_prefix="deployers") as pool:
        more = dict(zip((entry.name for entry in silent), pool.map(dead, silent), strict=True))
    return {name: replace(one, failed=(*one.failed, *more.get(name, ()))) for name, one in polled.items()}
