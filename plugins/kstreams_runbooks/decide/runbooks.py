"""Every runbook, one row each: code that lists, plans, offers or closes runbooks reads this table."""

from collections.abc import Iterator
from dataclasses import dataclass

from kstreams_runbooks.wording import pasted


@dataclass(frozen=True, slots=True)
class Runbook:
    """One runbook, a DAG or (not `is_dag`) a procedure for a person (rules/procedures.yaml).

    Its `needs` are facts of an application (decide/discovery/readiness.py): without one of them it refuses or is
    inconclusive. Without one of `wants` it works, at a cost. If `only_where` does not hold, it has nothing to do.
    `field` is the field of its form that names a release, empty if the form has none; `asks` are others that only a
    person knows, with a placeholder. `plan` is the decision that makes
    its plan, `closing` the one that proves its end (decide/registry.py); its modes
    may have others (`of_modes`), and so may its sides (`of_sides`). With `keeps_library` it refuses a release that
    brings another Kafka Streams release.
    `longest_h` are the hours after which Airflow ends a run of it, with the reason in `because`: its waits give up
    before that, and `conclude` still runs.
    """

    name: str
    needs: tuple[str, ...]
    wants: tuple[str, ...] = ()
    only_where: str | None = None
    is_dag: bool = False
    field: str = ""
    asks: tuple[tuple[str, str], ...] = ()
    plan: str = ""
    closing: str = ""
    keeps_library: bool = False
    longest_h: float = 0
    because: str = ""
    of_modes: tuple[tuple[str, str], ...] = ()
    of_sides: tuple[str, ...] = ()


_READ = ("group_known", "offsets_read")
ADOPT = "adopt_control_topic"
GREEN = "blue_green_start"
INCREASE = "partition_increase"
# The fact that an application is not a copier, and what a run refuses otherwise.
NOT_A_COPIER = "not_a_copier"
OF_A_COPIER = "a copier has neither state nor control topics of its own, and its offsets decide what it copies"
_ROLLED = (*_READ, "members_run", "classic_group", "instances_answer", "deployment_seen")

RUNBOOKS: tuple[Runbook, ...] = (
    Runbook(
        "library_bump",
        needs=(*_ROLLED, "guarantee_known", "target_declared", "approver"),
        wants=("static_membership", "release_described"),
        is_dag=True,
        field="target",
        plan="bump_plan",
        closing="change_verified",
        longest_h=72,
        because="two approvals of a working day, each asked again, and two rolls; a person may deploy",
    ),
    Runbook(
        "rolling_bounce",
        needs=(*_ROLLED, "approver"),
        wants=("static_membership", "release_described"),
        is_dag=True,
        field="release",
        plan="restart_plan",
        closing="change_verified",
        keeps_library=True,
        longest_h=48,
        because="an approval of a working day, asked again, and one roll; a person may deploy",
    ),
    Runbook(
        "stop_and_restart",
        needs=(*_READ, "classic_group", "deployment_seen", "approver"),
        wants=("release_described", "names_chosen", "directories_clearable"),
        is_dag=True,
        field="release",
        plan="restart_plan",
        closing="change_verified",
        keeps_library=True,
        longest_h=36,
        because="an approval of a working day, asked again, and the restore of the local state",
    ),
    Runbook(
        "undo",
        needs=(*_READ, "classic_group", "deployment_seen", "state_clearable", "approver"),
        wants=("directories_clearable",),
        is_dag=True,
        plan="undo_plan",
        closing="undo_verified",
        longest_h=48,
        because="an approval of a working day, asked again, and up to two rolls; a person may deploy",
    ),
    Runbook(
        "plan_change",
        needs=("topology_read", "offsets_read", "release_described", "approver"),
        wants=("release_declared", "names_chosen"),
        is_dag=True,
        closing="change_answered",
        longest_h=24,
        because="a choice that waits for a working day, asked again",
    ),
    Runbook(
        "certify_drain",
        needs=(*_READ, "instances_answer", "topology_read"),
        wants=("inputs_pausable",),
        is_dag=True,
        closing="certified",
        longest_h=48,
        because="inputs that stay paused over a weekend day while a backlog is read",
    ),
    Runbook(
        "suppress_removal",
        needs=("topology_read", "offsets_read", "deployment_seen"),
        wants=("names_chosen",),
        only_where="suppression",
    ),
    Runbook(
        "control_topic_flush",
        needs=(
            *(*_READ, NOT_A_COPIER, "classic_group", "topology_read", "inputs_pausable", "deployment_seen"),
            "approver",
        ),
        wants=("release_described", "names_chosen", "directories_clearable"),
        is_dag=True,
        field="release",
        plan="flush_plan",
        closing="change_verified",
        keeps_library=True,
        longest_h=36,
        because="an approval of a working day, asked again, and what is left to read and restore",
    ),
    Runbook(
        ADOPT,
        needs=(*_READ, "classic_group", "topology_read", "deployment_seen", "approver"),
        wants=("names_chosen", "directories_clearable"),
        is_dag=True,
        plan="adopt_plan",
        closing="change_verified",
        longest_h=72,
        because="an approval of a working day, asked again, and a copy of all that the inputs have",
        of_modes=(("abandon_plan", "left_down"),),
    ),
    Runbook(
        GREEN,
        needs=("auto_create_off", "deployment_seen", NOT_A_COPIER, "release_described", "state_clearable", "approver"),
        wants=("guarantee_known",),
        is_dag=True,
        plan="green_plan",
        closing="change_verified",
        longest_h=336,
        because="an approval of a working day, asked again, and a history that may take days to read",
        of_modes=(("cancel_plan", "retirement_verified"),),
    ),
    Runbook(
        "store_migration",
        needs=(*_READ, "topology_read", "state_clearable", "deployment_seen"),
        only_where="state",
    ),
    Runbook(
        INCREASE,
        needs=(
            *(*_READ, NOT_A_COPIER, "classic_group", "topology_read", "inputs_pausable", "deployment_seen"),
            "approver",
        ),
        # A run is refused unless each of its stores accepts the loss, which only the release's declaration shows.
        wants=("release_described", "no_state"),
        is_dag=True,
        asks=(("partitions", "N"), ("copier", "COPIER")),
        plan="growth_plan",
        closing="change_verified",
        longest_h=36,
        because="an approval of a working day, asked again, and what is left to read",
    ),
    Runbook(
        "reset_and_cleanup",
        needs=(
            *(*_READ, NOT_A_COPIER, "classic_group", "topology_read", "state_clearable", "deployment_seen"),
            *("auto_create_off", "approver"),
        ),
        wants=("release_described", "directories_clearable"),
        is_dag=True,
        field="release",
        plan="reset_plan",
        closing="change_verified",
        keeps_library=True,
        longest_h=72,
        because="an approval of a working day, asked again, and the inputs read again from their targets",
        of_modes=(("retire_plan", "retirement_verified"),),
    ),
    Runbook(
        "blue_green_cutover",
        needs=(
            *(*_READ, NOT_A_COPIER, "classic_group", "topology_read", "inputs_pausable", "deployment_seen"),
            "approver",
        ),
        wants=("names_chosen",),
        is_dag=True,
        asks=(("green", "GREEN"), ("copier", "COPIER")),
        plan="cutover_plan",
        closing="change_verified",
        longest_h=36,
        because="two approvals of a working day, each asked again, and what is left to read and to compare",
        of_sides=("group_has_moved",),
    ),
)
# A DAG of a team's own that is built from the steps of this package: as most runbooks.
_OTHER_LONGEST_H = 48
# The field of an undo that accepts the loss of records which a flush back would keep.
WITHOUT_FLUSH = "without_flush"
# A dry run of any runbook ends with it.
REHEARSED = "rehearsed"


def runbook(name: str) -> Runbook:
    """The row of a runbook; KeyError for an unknown one."""
    for row in RUNBOOKS:
        if row.name == name:
            return row
    raise KeyError(name)


def why_not_of_copiers(name: str) -> str:
    """Why a DAG is not for a copier, empty if it is; one that is not in the table is for any."""
    refused = any(row.name == name and NOT_A_COPIER in row.needs for row in RUNBOOKS)
    return f"{name} is not for a copier: {OF_A_COPIER}" if refused else ""


def longest_h(name: str) -> float:
    """Hours after which Airflow ends a run of a DAG, also of one that is not in the table."""
    return next((row.longest_h for row in RUNBOOKS if row.name == name), _OTHER_LONGEST_H)


def may_change(name: str) -> bool:
    """Whether a run of a DAG may change its application, as any may that is not in the table; the others only read."""
    return next((bool(row.plan) for row in RUNBOOKS if row.name == name), True)


def closing_decisions() -> tuple[str, ...]:
    """The decisions that prove the end of a run, by name."""
    own = (row.closing for row in RUNBOOKS if row.closing)
    modes = (closing for row in RUNBOOKS for _, closing in row.of_modes)
    sides = (closing for row in RUNBOOKS for closing in row.of_sides)
    return (*dict.fromkeys((*own, *modes, *sides)), REHEARSED)


def start_command(name: str, application: str, release: str) -> Iterator[str]:
    """The words of the command that starts a runbook for a release."""
    yield from ("kstreams-runbooks", "trigger", name, "--application", application)
    if field := runbook(name).field:
        yield from ("--param", f"{field}={release}")
    for asked, placeholder in runbook(name).asks:
        yield from ("--param", f"{asked}={placeholder}")


# The command that checks the fleet now.
CHECK_COMMAND = "kstreams-runbooks trigger fleet_check"


def acknowledge_command(application: str) -> str:
    """The command with which a person accepts the present topics of an application; REASON is theirs to write."""
    words = (*CHECK_COMMAND.split(), "--param", f"acknowledge={application}", "--reason", "REASON")
    return pasted(words, links=False)
