"""What the ledger keeps: runs, approvals, evidence, holds and undo cards, as values.

All times are Unix milliseconds (UTC). A `run_key` is `<dag_id>/<run_id>`, which Airflow keeps unique.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

EvidenceKind = Literal["reading", "verdict", "write", "plan", "note", "failure"]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of a runbook: what was asked for, and how it ended.

    `plan_digest` is None until a plan is stored, `wrote_at_ms` until the first write, the outcome until `conclude`.
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


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's yes to one plan digest, asked for by `task_id`; good until `expires_at_ms`."""

    run_key: str
    task_id: str
    digest: str
    by: str
    at_ms: int
    expires_at_ms: int
    emergency_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that a step read, decided or wrote; ids grow in the order of writing."""

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
    """A resource of one cluster that a run has reserved."""

    resource: str
    run_key: str
    taken_at_ms: int
    renewed_at_ms: int
    cluster: str


@dataclass(frozen=True, slots=True)
class Card:
    """What undo does for one write: written before the write, so a crash in between leaves a card and never none.

    `object` is what was changed (an instance, a topic); `seq` counts from 1 within a run; `done` says that the card has
    been dealt with: undone, or judged to apply no more.
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
    done: bool = False
