"""What the harness has to know of each runbook. A new DAG, or another way through one, is a row here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lab import adopted, started_over
from lab.application import FROM_RELEASE, NEWEST, TO_RELEASE, WITH_REPARTITION, WITHOUT_REPARTITION, Deployed
from lab.second import INSTANCE, NAME
from lab.settings import Lab
from world import grown
from world.flushing import ACCEPTED, SWAP

from kill.moments import Moment

# Short waits: what is tried is what a kill does, not how long a gate stays good.
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

    `dag` is its DAG, empty if that has the name of the scenario; `idle` are its tasks that have nothing to do here.
    `deployed` is made from nothing before each run; `release` and `settings` are what every instance has declared and
    runs after it, `settings` being those that a runbook set; `library` is the one inside the release, if that is not
    named after it. `fields` are of the fleet entry. `moments` are of tasks whose kind (kill.moments) does not say when
    to kill them. If the runbook has results written again, `settings` name new outputs that begin with `new_outputs`:
    they are created, and judged in place of the old ones, without windows that may have had late records. From task
    `quiet_from` on nothing is sent, and the run has to prove that nothing is left.

    With `adopts` a copier is deployed, and does not run (lab/adopted.py); another team answers for it.

    With `grows` it runs behind the shipped copier of another team, its owners accept every loss, and its counts are
    compared with the forecast (world/grown.py): moved keys begin anew, which the judge of the traffic does not know.

    With `second` another team's application is there too, and the runbook for tests about both (world/pretended.py). If
    the run that is tried is not an undo itself, an undo takes it back in the end: then everything is as it was before.
    """

    params: Mapping[str, Any]
    release: str
    library: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    deployed: Deployed = field(default_factory=Deployed)
    fields: Callable[[Lab], Mapping[str, Any]] = lambda _: {}
    limits: Mapping[str, float] = field(default_factory=lambda: dict(_LIMITS))
    moments: Mapping[str, tuple[Moment, ...]] = field(default_factory=dict)
    before: Before | None = None
    dag: str = ""
    idle: frozenset[str] = frozenset()
    second: bool = False
    new_outputs: str = ""
    quiet_from: str = ""
    adopts: bool = False
    grows: bool = False

    @property
    def touched(self) -> tuple[str, ...]:
        """The instances that the runbook stops and starts."""
        return (INSTANCE,) if self.second else self.deployed.names


_AT_ONCE = {"stop_application": (Moment.STOPPING,), "start_application": (Moment.STARTING,)}
_PRETENDED = {"second": NAME}
_TWO_THREADS = {"num.stream.threads": "2"}
_AGAIN = "again-"

RUNBOOKS: Mapping[str, Scenario] = {
    "library_bump": Scenario(
        deployed=Deployed(release=FROM_RELEASE),
        params={"target": NEWEST},
        release=NEWEST,
        idle=frozenset({"drain_repartition_topics", *_AT_ONCE, "wait_caught_up"}),
    ),
    "planned_downgrade": Scenario(
        dag="library_bump",
        deployed=Deployed(release=NEWEST),
        params={"target": FROM_RELEASE},
        release=FROM_RELEASE,
        moments=_AT_ONCE,
        idle=frozenset({"approve_bounce_2", "bounce_2_first", "bounce_2_rest"}),
    ),
    "rolling_bounce": Scenario(
        deployed=Deployed(release=TO_RELEASE),
        params={"settings": _TWO_THREADS},
        release=TO_RELEASE,
        settings=_TWO_THREADS,
    ),
    "stop_and_restart": Scenario(
        deployed=Deployed(release=TO_RELEASE),
        params={"settings": _TWO_THREADS},
        release=TO_RELEASE,
        settings=_TWO_THREADS,
        moments=_AT_ONCE,
    ),
    "certify_drain": Scenario(
        deployed=Deployed(release=TO_RELEASE),
        params={"inputs_paused": "the generator is stopped when certify begins", **ACCEPTED},
        release=TO_RELEASE,
        quiet_from="certify",
    ),
    "control_topic_flush": Scenario(
        deployed=Deployed(release=WITH_REPARTITION),
        params={"release": WITHOUT_REPARTITION, **SWAP},
        release=WITHOUT_REPARTITION,
        library=TO_RELEASE,
        moments={
            **_AT_ONCE,
            "pause_inputs": (Moment.WORKING, Moment.STOPPING, Moment.WRITING, Moment.STARTING),
            "resume_inputs": (Moment.WORKING, Moment.WRITING),
            "clear_state": (Moment.WRITING,),
            "delete_records": (Moment.WRITING,),
            "delete_topics": (Moment.WRITING,),
        },
    ),
    "adopt_control_topic": Scenario(
        deployed=Deployed(release=TO_RELEASE),
        params={"copier": adopted.COPIER, "without_copy_proof": "no Spark in the kill tests", **ACCEPTED},
        release=TO_RELEASE,
        settings=adopted.SETTINGS,
        limits={**_LIMITS, "max_reading_age_s": 120},
        moments={
            **_AT_ONCE,
            "create_topics": (Moment.WORKING, Moment.WRITING),
            "copy_inputs": (Moment.WRITING, Moment.DEFERRED),
            "set_offsets": (Moment.WORKING, Moment.WRITING),
            "copy_rest": (Moment.WORKING, Moment.WRITING),
            "delete_offsets": (Moment.WORKING, Moment.WRITING),
        },
        idle=frozenset({"clear_state"}),
        adopts=True,
    ),
    "partition_increase": Scenario(
        deployed=grown.DEPLOYED,
        params=grown.FORM,
        release=TO_RELEASE,
        limits={**_LIMITS, "max_reading_age_s": 120},
        moments={
            **_AT_ONCE,
            "pause_inputs": (Moment.WORKING, Moment.WRITING),
            "grow_topics": (Moment.WORKING, Moment.WRITING),
            "set_offsets": (Moment.WORKING, Moment.WRITING),
            "resume_inputs": (Moment.WORKING, Moment.WRITING),
        },
        grows=True,
    ),
    "reset_and_cleanup": Scenario(
        deployed=Deployed(release=TO_RELEASE),
        params={"settings": started_over.outputs(_AGAIN)},
        release=TO_RELEASE,
        settings=started_over.outputs(_AGAIN),
        fields=started_over.fields,
        moments={
            **_AT_ONCE,
            "clear_state": (Moment.WORKING, Moment.WRITING),
            "delete_topics": (Moment.WORKING, Moment.WRITING),
            "create_topics": (Moment.WORKING, Moment.WRITING),
            "set_offsets": (Moment.WORKING, Moment.WRITING),
        },
        idle=frozenset({"delete_groups", "delete_records"}),
        new_outputs=_AGAIN,
    ),
    "reset_by_clean_up": Scenario(
        dag="reset_and_cleanup",
        deployed=Deployed(release=TO_RELEASE),
        params={"settings": started_over.outputs(_AGAIN), "cleared_by": "application"},
        release=TO_RELEASE,
        settings=started_over.outputs(_AGAIN),
        fields=started_over.fields,
        moments={**_AT_ONCE, "clear_state": (Moment.WORKING,)},
        idle=frozenset({"delete_groups", "delete_records"}),
        new_outputs=_AGAIN,
    ),
    "reset_state": Scenario(
        dag="reset_and_cleanup",
        deployed=Deployed(release=TO_RELEASE),
        params={"mode": "state"},
        release=TO_RELEASE,
        fields=started_over.fields,
        moments={**_AT_ONCE, "clear_state": (Moment.WORKING, Moment.WRITING)},
        idle=frozenset(
            {"save_offsets", "delete_groups", "delete_topics", "create_topics", "set_offsets", "delete_records"}
        ),
    ),
    "undo": Scenario(
        deployed=Deployed(release=FROM_RELEASE),
        params={},
        release=FROM_RELEASE,
        before=Before("library_bump", {"target": TO_RELEASE}, until="bounce_1_rest", given_as="run"),
    ),
    "pretended": Scenario(
        deployed=Deployed(release=TO_RELEASE),
        params=_PRETENDED,
        release=TO_RELEASE,
        second=True,
        moments={
            "create_topics": (Moment.WORKING, Moment.WRITING),
            "stop_application_second": (Moment.WORKING, Moment.STOPPING),
            "set_offsets_second": (Moment.WORKING, Moment.WRITING),
            "clear_state_second": (Moment.WORKING, Moment.WRITING),
            "start_application_second": (Moment.STARTING,),
        },
    ),
    "pretended_undo": Scenario(
        dag="undo",
        deployed=Deployed(release=TO_RELEASE),
        params={},
        release=TO_RELEASE,
        second=True,
        # The second application is down, its offsets are set: the undo begins there.
        moments={"undo": (Moment.WORKING, Moment.WRITING, Moment.STARTING, Moment.DEFERRED)},
        before=Before("pretended", _PRETENDED, until="set_offsets_second", given_as="run"),
    ),
}
