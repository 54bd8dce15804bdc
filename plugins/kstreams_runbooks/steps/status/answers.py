"""The answers that the tasks of the scheduled check pass on, and how they decide its end."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from airflow.sdk import get_current_context
from airflow.sdk.exceptions import AirflowSkipException

from kstreams_runbooks.errors import Inconclusive, RunbookError
from kstreams_runbooks.fleet import Fleet
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.steps.run.ending import ended_by, leave
from kstreams_runbooks.steps.run.run import log
from kstreams_runbooks.wording import outside, why_no_reason

# Each task leaves it for the last one, which reports how the check ended.
ANSWER = "answer"
# The field of the form that ends "recreated".
ACKNOWLEDGE = "acknowledge"
# Why a person ends it: each later plan that depends on it shows the reason.
REASON = "reason"


def acknowledged(params: Mapping[str, Any]) -> dict[str, str]:
    """The applications of the form with its reason; none without one: they stay as they are."""
    reason = params[REASON]
    return {} if why_no_reason(reason) else dict.fromkeys(params[ACKNOWLEDGE] or (), reason.strip())


def demand_whole(context: Mapping[str, Any], fleet: Fleet) -> None:
    """Inconclusive if something was not read, or a task gave no answer: such a check is never green.

    A cluster that was away at its first check does not count: Airflow may have started before it.
    """
    answers = answers_of(context)
    problems = {name: why for name, why in problems_of(answers).items() if name not in _first_of(answers)}
    unread = [name for name in fleet.used_clusters if name not in {one["cluster"] for one in answers}]
    said = [
        *fleet.not_looked_at,
        *problems.values(),
        *(f"cluster {name} was not read in this check" for name in unread),
        *(
            f"{ACKNOWLEDGE}: no application of the fleet is called {outside(name, 80)}; trigger it again with "
            "a name from config/applications"
            for name in context["params"][ACKNOWLEDGE] or ()
            if name not in fleet.entries
        ),
        *(
            f"conf: field {outside(name, 80)!r} is unknown (expected {ACKNOWLEDGE} and {REASON}), so it was ignored"
            for name in context["dag_run"].conf or {}
            if name not in {ACKNOWLEDGE, REASON}
        ),
        *_without_reason(context["params"]),
        *(["judge gave no answer"] if context["ti"].xcom_pull(task_ids="judge", key=ANSWER) is None else []),
    ]
    if said:
        raise Inconclusive(f"this check is incomplete: {'; '.join(said)}")


def _without_reason(params: Mapping[str, Any]) -> Iterator[str]:
    if params[ACKNOWLEDGE] and (wrong := why_no_reason(params[REASON])):
        yield f"{REASON}: {wrong}; nothing was acknowledged, trigger it again with {ACKNOWLEDGE} and {REASON}"


def answers_of(context: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The answers of the mapped tasks, in any order."""
    found = context["ti"].xcom_pull(task_ids=["read_cluster"], key=ANSWER) or []
    return [one for one in found if one is not None]


def problems_of(answers: list[dict[str, Any]]) -> dict[str, str]:
    """Why a cluster was not read, by its name."""
    return {one["cluster"]: one["problem"] for one in answers if "problem" in one}


def _first_of(answers: list[dict[str, Any]]) -> set[str]:
    """The clusters whose first check found no broker."""
    return {one["cluster"] for one in answers if one.get("first")}


def never_checked(ledger: Ledger, cluster: str) -> bool:
    """Whether no check has judged an application of this cluster yet."""
    return all(one.cluster != cluster for one in ledger.lag_statuses())


def skip_first(context: Mapping[str, Any], cluster: str, error: RunbookError) -> NoReturn:
    """Skip the task of a cluster that was away at its first check; its applications are unknown until the next one."""
    why = f"cluster {cluster} was not read: {error}"
    leave(context, ANSWER, {"cluster": cluster, "problem": why, "first": True})
    raise AirflowSkipException(
        f"{why}; this was its first check: if the next one cannot read it either, that one fails"
    )


@contextmanager
def reported(what: str, about: Mapping[str, str] | None = None) -> Iterator[Mapping[str, Any]]:
    """The context of a task; logs first what it does, and turns our own errors into one last line.

    With `about` the line is also left for later tasks.
    """
    context = get_current_context()
    log.info("%s: %s", context["ti"].task_id, what)
    try:
        yield context
    except RunbookError as error:
        log.error("%s", error)
        if about:
            leave(context, ANSWER, {**about, "problem": f"cluster {about['cluster']} was not read: {error}"})
        raise ended_by(context, error) from None
