"""The step that never began, because its ledger was away or its worker died: only Airflow knows of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.steps.run.ending import ERROR
from kstreams_runbooks.steps.run.run import log
from kstreams_runbooks.wording import outside


@dataclass(frozen=True, slots=True)
class NeverBegan:
    """A task that left no beginning in the ledger: why, as a sentence, and the exit code of its error (0: unknown)."""

    task_id: str
    sentence: str
    exit_code: int = 0


def never_began(context: Mapping[str, Any], reached: str, *, answered: bool) -> NeverBegan | None:
    """The first task after `reached`, the last one that began (empty: none did), that Airflow shows as failed.

    If none has failed, and `reached` ended well in Airflow without a sentence of its own (`answered`): the next one,
    which was marked manually. None without such a task, and if Airflow does not answer: the ledger alone decides then.
    """
    try:
        ti = context["ti"]
        order = list(context["dag"].task_ids)
        states = ti.get_task_states(dag_id=ti.dag_id, run_ids=[ti.run_id])[ti.run_id]
        later = order[order.index(reached) + 1 if reached else 0 : order.index(ti.task_id)]
        if failed := [one for one in later if states.get(one) == "failed"]:
            return _failed(ti, failed[0])
    except Exception as error:  # noqa: BLE001 - the end of a run does not fail without it
        log.warning("whether a step failed before it began cannot be read from Airflow: %s", outside(error))
        return None
    if later and not answered and states.get(reached) == "success":
        state = states.get(later[0]) or "not started"
        why = f"{later[0]} did not begin, and Airflow shows it as {state} (expected: begun after {reached})"
        return NeverBegan(later[0], f"{why}; marked by hand does not count")
    return None


def _failed(ti: Any, task_id: str) -> NeverBegan:
    left = ti.xcom_pull(task_ids=task_id, key=ERROR)
    if isinstance(left, Mapping) and "sentence" in left:
        return NeverBegan(task_id, f"{task_id} did not begin: {left['sentence']}", int(left.get("exit_code", 0)))
    return NeverBegan(
        task_id,
        f"{task_id} failed before it began and left no reason (its worker or the import of its DAG died); look at its "
        "log",
    )
