"""The form, the defaults and the page of every runbook DAG."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from airflow.sdk import DAG, Param

from kstreams_runbooks.decide import runbooks as rows
from kstreams_runbooks.decide.change.unchanged import unchanged_fields
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import application_names
from kstreams_runbooks.model.local_state import LOSE_STATE
from kstreams_runbooks.model.topology.declaration import Unchanged
from kstreams_runbooks.wording import outside, why_no_reason

# Title, unit, meaning and maximum, equal to those of the fleet's own limits (fleet/limits.py).
_LIMITS = {
    "max_lag": ("Lag limit", "records", "a gate stays shut above it", 2**53 - 1),
    "gate_good_readings": ("Good readings", "readings", "how many in a row open a gate", 1_000),
    "gate_interval_s": ("Gate interval", "seconds", "between two readings", 300_000_000),
    "gate_ceiling_s": ("Gate ceiling", "seconds", "a gate gives up after it", 300_000_000),
    "bake_s": ("Bake time", "seconds", "how long the first instance has to stay good", 300_000_000),
    "drain_ceiling_s": ("Drain ceiling", "seconds", "the wait for a drain gives up after it", 300_000_000),
}
# Fields that only a plan or a refusal asks for: folded away behind those of every run, or Dry run and the button that
# triggers the run are below the fold.
_RARE = (
    *("unchanged", "acknowledge_recreated", "lose_state", "accept_late_loss", "accept_unlinked"),
    "without_topology",
    *("without_key_check", "most_lost"),
    *("leave_unknown", "without_flush"),
)
# Reasons that a runbook which another one starts needs too.
_CARRIED = ("acknowledge_recreated", "accept_late_loss", "accept_unlinked")
RARE = "Only if a plan or a refusal asks for it"
# In the list of DAGs; the team of an application is in its fleet entry.
OWNER = "kafka-streams-runbooks"
ROLLING = ("max_lag", "gate_good_readings", "gate_interval_s", "gate_ceiling_s", "bake_s")
DRAIN = ("gate_good_readings", "gate_interval_s", "drain_ceiling_s")


def runbook(
    dag_id: str, *, doc: str, params: dict[str, Param], tags: tuple[str, ...], limits: Sequence[str] = ROLLING
) -> DAG:
    """A DAG for a person to trigger, with its form and its page: the first sentence of `doc` is in the list of DAGs.

    The form begins with what the run is about, then whether it is a dry run; what `params` has counts before the fields
    of every runbook.
    """
    rare = {name: param for name, param in params.items() if name in _RARE}
    about = {name: param for name, param in params.items() if name not in rare}
    for param in rare.values():
        param.schema["section"] = RARE
    how, more = ({name: param for name, param in found.items() if name not in params} for found in _how(limits))
    return DAG(
        dag_id=dag_id,
        description=in_one_line(doc),
        default_args={"owner": OWNER},
        doc_md=doc,
        schedule=None,
        start_date=datetime(2026, 1, 1),  # noqa: DTZ001 - only a lower bound, Airflow adds UTC
        catchup=False,
        # A run that waits holds no worker; Airflow would queue a run above this, and its question would not appear.
        max_active_runs=64,
        dagrun_timeout=timedelta(hours=rows.longest_h(dag_id)),
        params={**_who(), **about, **how, **rare, **more},
        tags=["kafka-streams", "runbook", *tags],
        render_template_as_native_obj=False,
    )


def in_one_line(doc: str) -> str:
    """The first sentence of a DAG's page, without its heading."""
    text = " ".join(line for line in doc.partition("\n")[2].partition("\n\n")[0].splitlines())
    return text.partition(". ")[0].removeprefix("This Airflow DAG ").rstrip(".")


def _who() -> dict[str, Param]:
    return {
        "application": Param(
            type="string",
            title="Application",
            description="Application of the fleet. It has no default, on purpose.",
            minLength=1,
            examples=list(application_names()),
        )
    }


def _how(limits: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Whether it is a dry run and why it is run; and the limits that a run may have of its own."""
    how = {
        "dry_run": Param(
            True,
            type="boolean",
            title="Dry run",
            description="On: reads, checks and plans, and reports what it would do. It changes nothing and asks for no "
            "approval. OFF: THE RUN CHANGES THE RUNNING APPLICATION, in production too, once its plan is approved.",
        ),
        "reason": Param(
            None,
            type=["null", "string"],
            title="Reason or ticket",
            description="Shown in the approval and in the evidence.",
        ),
    }
    return how, {
        name: Param(
            None,
            type=["null", "number"],
            minimum=0,
            maximum=most,
            title=title,
            section="Limits",
            description=f"In {unit}: {what}. Empty: the application's own limit.",
        )
        for name in limits
        for title, unit, what, most in (_LIMITS[name],)
    }


def given_unchanged(params: Mapping[str, Any]) -> tuple[Unchanged, ...]:
    """Fields that the form names as unchanged; BadInput for a word that is none."""
    return unchanged_fields(params.get("unchanged") or (), "unchanged")


def given_reason(params: Mapping[str, Any], field: str) -> str:
    """The reason in a field that accepts something, empty without one; BadInput for one without words."""
    given = params.get(field)
    if given is None or given == "":
        return ""
    if wrong := why_no_reason(given):
        raise BadInput(f"{field}: {wrong}")
    return str(given).strip()


def given_lost(params: Mapping[str, Any]) -> tuple[str, ...]:
    """The stores that the form lets begin empty, each once; BadInput for anything but names."""
    given = params.get(LOSE_STATE) or ()
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
        raise BadInput(f"{LOSE_STATE}: {outside(repr(given), 80)} is not a list of stores; give their names")
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def named_for_a_started_run(params: Mapping[str, Any]) -> dict[str, Sequence[str] | str]:
    """What the form names for the runbook that it starts: unchanged fields, and losses that are accepted."""
    reasons = {name: given_reason(params, name) for name in _CARRIED}
    named = {"unchanged": given_unchanged(params), LOSE_STATE: given_lost(params), **reasons}
    return {name: value for name, value in named.items() if value}


def given_limits(params: Mapping[str, Any]) -> dict[str, float]:
    """Limits that the form overrode; BadInput if one is not a number, or too large or not finite."""
    return {name: _number(name, params[name]) for name in _LIMITS if params.get(name) is not None}


def _number(name: str, value: Any) -> float:
    """The form's own check accepts NaN and infinity, and integers that only Python can represent."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{name}: {outside(repr(value), 40)} is not a number; correct it in the form")
    try:
        number = float(value)
    except OverflowError:
        raise BadInput(f"{name}: has more than 300 digits (the limit); correct it") from None
    if not math.isfinite(number):
        raise BadInput(f"{name}: {number} is not a finite number; correct it")
    return number
