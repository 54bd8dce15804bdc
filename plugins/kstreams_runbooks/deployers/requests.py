"""Requests to a person, if a deployer does not act itself: one complete sentence for each."""

from typing import Literal

from kstreams_runbooks.model.local_state import Directories, in_words
from kstreams_runbooks.model.target import RunbookSettings, Target

Wish = Literal["deploy", "stop", "start", "clear_state"]


def request_sentence(
    wish: Wish,
    instance: str,
    target: Target | None = None,
    artifact: str = "",
    directories: Directories = (),
    once: RunbookSettings = (),
    aside: str = "",
) -> str:
    """The sentence; `artifact` is the word for the release at the place where it is deployed.

    Target and artifact are for `deploy` alone; `deploy` without a target is a ValueError. `directories` are for
    `clear_state` alone, as `aside`, the name of the directory that takes them; `once` for `start` and `deploy`:
    settings for that start.
    """
    alone = f"{for_one_start(once)}, and remove it from its settings afterwards" if once else ""
    if wish == "stop":
        return f"stop {instance} and leave it stopped"
    if wish == "start":
        return f"start {instance}{alone}"
    if wish == "clear_state":
        where = "<state.dir>/<application.id>"
        verb, end = ("move", f" to <state.dir>/{aside}") if aside else ("delete", "")
        if directories:
            what = in_words(directories)
            return f"{verb} the {what} of {instance} while it is stopped (in {where}, nothing else){end}"
        content = f"{where}/*" if aside else where
        return f"{verb} the local state of {instance} while it is stopped ({content}, nothing else){end}"
    if target is None:
        raise ValueError(f"{wish} {instance}: no target")
    called = f" ({artifact})" if artifact and artifact != target.release else ""
    given = _listed(target.settings)
    wanted = f"with {given} and without" if given else "without"
    # A setting that is left behind does harm without any sign: the request always names it.
    unset = "" if "upgrade.from" in dict(target.settings) else " (leave upgrade.from unset)"
    others = f"{'other ' if given else ''}settings of runbooks{unset}"
    return f"set {instance} to release {target.release}{called} {wanted} {others}, then restart {instance}{alone}"


def for_one_start(once: RunbookSettings) -> str:
    """` with a=b for this start alone`, empty without such a setting."""
    return f" with {_listed(once)} for this start alone" if once else ""


def _listed(settings: RunbookSettings) -> str:
    return ", ".join(f"{key}={value}" for key, value in settings)
