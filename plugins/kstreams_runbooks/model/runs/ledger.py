"""Values in the ledger: runs, approvals, evidence, holds and undo cards.

All times are Unix milliseconds (UTC). A `run_key` is `<dag_id>/<run_id>`, with `#2`, `#3` behind it if Airflow's run
was deleted and its id used again. Order is that of journal entries (model/runs/journal.py), never of times.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kstreams_runbooks.model.runs.resources import HeldResource, resource_of

# The kind of the cards about an instance: its release, its settings, its restarts.
INSTANCE = "instance"

EvidenceKind = Literal["reading", "verdict", "write", "plan", "note", "failure"]


def airflow_run(run_key: str) -> tuple[str, str]:
    """DAG and run id of a run key, as Airflow has them."""
    dag_id, _, rest = run_key.partition("/")
    run_id, mark, number = rest.rpartition("#")
    return dag_id, run_id if mark and number.isdecimal() else rest


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of a runbook: its request and its outcome.

    `plan_digest` is None until a plan is stored, `wrote_at_ms` until the first write, the outcome until `conclude`;
    `ended_entry` is the journal entry of that end. `run_after` and `conf_digest` are what Airflow keeps when tasks are
    cleared, `number` counts the runs that had this id. `rows` and `head` are the length and the newest hash of its
    journal.
    """

    run_key: str
    dag_id: str
    run_id: str
    application: str
    cluster: str
    requested_by: str
    dry_run: bool
    reason: str
    params: Mapping[str, Any]
    started_at_ms: int
    plan_digest: str | None = None
    outcome: str | None = None
    outcome_sentence: str | None = None
    ended_at_ms: int | None = None
    wrote_at_ms: int | None = None
    ended_entry: int | None = None
    number: int = 1
    run_after: str = ""
    conf_digest: str = ""
    rows: int = 0
    head: str = ""

    @property
    def name(self) -> str:
        """The run's name in commands: its id, or its key if the id was used before."""
        return self.run_id if self.number == 1 else self.run_key

    def is_same_run(self, other: "RunRecord") -> bool:
        """Whether both are the same Airflow run: compares fields that clearing tasks keeps and a new run changes."""
        return _identity(self) == _identity(other)


def _identity(record: RunRecord) -> tuple[str, ...]:
    return (record.dag_id, record.run_id, record.requested_by, record.run_after, record.conf_digest)


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's approval of one plan digest, requested by `task_id`; valid until `expires_at_ms`.

    `entry` is its place in the order of everything about the application, 0 before it is kept.
    """

    run_key: str
    task_id: str
    digest: str
    by: str
    at_ms: int
    expires_at_ms: int
    emergency_reason: str | None = None
    entry: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reading, decision or write of a step; ids grow in the order of writing, over all runs of an application."""

    id: int
    run_key: str
    task_id: str
    try_number: int
    kind: EvidenceKind
    name: str
    at_ms: int
    payload: Any


@dataclass(frozen=True, slots=True)
class Hold:
    """A resource of one cluster that a run has reserved; `renewed_entry` is the journal entry that renewed it last.

    `changing`: its run changes something; otherwise it waits for a person, or for a day.
    """

    resource: str
    run_key: str
    taken_at_ms: int
    renewed_at_ms: int
    cluster: str
    renewed_entry: int = 0
    changing: bool = field(default=True, compare=False)

    @property
    def held(self) -> HeldResource:
        """The resource as a value."""
        return resource_of(self.resource)


@dataclass(frozen=True, slots=True)
class Card:
    """The way back from one write, written before it: a crash in between never leaves a write without a card.

    `kind` names the type of `facts` (model/runs/cards.py), `object` the changed object (an instance, a topic), `stage`
    the stage of the plan that changed it, `application` and `cluster` the side. `seq`
    counts from 1 within a run; `done`: the card has been undone, or judged not to apply any more. `entry` is its place
    among everything about the run's application.

    `point_of_no_return`: from here on nothing leads back. `misreads`: an older release misreads what is written from
    here on, so the way back has a step more.
    """

    run_key: str
    seq: int
    task_id: str
    step: str
    object: str
    what: str
    undo: str
    cost: str
    data_affected: bool
    point_of_no_return: bool
    facts: Mapping[str, Any]
    at_ms: int
    application: str
    cluster: str
    stage: int
    kind: str = INSTANCE
    misreads: bool = False
    done: bool = False
    entry: int = field(default=0, compare=False)
