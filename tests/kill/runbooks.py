"""What the harness has to know of each runbook. A new DAG is a row here, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.application import FROM_RELEASE, TO_RELEASE, Deployed

# Short waits: what is tried is what a kill does, not how long a gate stays good.
_THREADS = {"num.stream.threads": "2"}
_LIMITS = {"gate_interval_s": 0.5, "gate_good_readings": 3, "bake_s": 3}


@dataclass(frozen=True)
class Before:
    """A run of another runbook that has to have gone so far: it is ended by Mark failed after task `until`.

    Its run id is the value of parameter `given_as` of the run that is tried.
    """

    runbook: str
    params: Mapping[str, Any]
    until: str
    given_as: str


@dataclass(frozen=True)
class Scenario:
    """One runbook on the orders application: how it is set up, what is asked for, and what has to run at the end.

    `deployed` is made from nothing before each run; `release` and `settings` are what every instance has declared and
    runs after it, `settings` being those that a runbook set. `fields` are of the fleet entry.
    """

    params: Mapping[str, Any]
    release: str
    settings: Mapping[str, str] = field(default_factory=dict)
    deployed: Deployed = field(default_factory=Deployed)
    fields: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=lambda: dict(_LIMITS))
    before: Before | None = None


RUNBOOKS: Mapping[str, Scenario] = {
    "library_bump": Scenario(
        deployed=Deployed(release=FROM_RELEASE),
        params={"target": TO_RELEASE},
        release=TO_RELEASE,
    ),
    "rolling_bounce": Scenario(
        deployed=Deployed(release=TO_RELEASE),
        params={"settings": _THREADS},
        release=TO_RELEASE,
        settings=_THREADS,
    ),
    "stop_and_restart": Scenario(
        deployed=Deployed(release=TO_RELEASE),
        params={"settings": _THREADS},
        release=TO_RELEASE,
        settings=_THREADS,
    ),
    "undo": Scenario(
        deployed=Deployed(release=FROM_RELEASE),
        params={},
        before=Before("library_bump", {"target": TO_RELEASE}, until="bounce_1_rest", given_as="run"),
        release=FROM_RELEASE,
    ),
}
