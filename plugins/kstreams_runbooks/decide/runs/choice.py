"""Runbooks that may be started for a planned change, their parameters, and the text that a person reads first."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from kstreams_runbooks.decide.change.answer import ChangePlan
from kstreams_runbooks.decide.runbooks import runbook, start_command
from kstreams_runbooks.decide.runs.approval import Asking, Label, asked_by, labelled, last_line, listed, risks
from kstreams_runbooks.decide.topology.described import ParsedDescription
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.wording import outside, pasted

NONE = "none"
# Airflow's limit.
_LONGEST_ID = 250
_MOST_OF_REASON = 150
NOTHING_NAMED: Mapping[str, Sequence[str] | str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Choices:
    """DAGs that may be started, the plan's own first; why each other runbook of the plan may not, one sentence each."""

    runbooks: tuple[str, ...]
    left_out: tuple[str, ...]


def choices(plan: ChangePlan, before: ParsedDescription, after: ParsedDescription) -> Choices:
    """The plan's first runbook and its alternatives, as far as they are DAGs that would take this change."""
    named = list(dict.fromkeys([*plan.runbooks[:1], *(one.runbook for one in plan.alternatives)]))
    why_not = {name: _why_not(name, before, after) for name in named}
    return Choices(tuple(name for name in named if not why_not[name]), tuple(filter(None, why_not.values())))


def accepted(offered: Choices, refused: Mapping[str, str]) -> Choices:
    """The same without those whose own plan is `refused`, with the reason of each."""
    left_out = (*offered.left_out, *(f"{name} cannot be started: {why}" for name, why in refused.items()))
    return Choices(tuple(name for name in offered.runbooks if name not in refused), left_out)


def _why_not(name: str, old: ParsedDescription, new: ParsedDescription) -> str:
    row, before, after = runbook(name), old.described, new.described
    if not row.is_dag:
        return f"{name} is not a DAG yet: it is a manual procedure"
    if not row.field:
        return f"{name} is not started from here: it brings no release, and its form asks for more"
    if not after.release:
        return (
            f"{name} cannot be started: {after.source} does not belong to a release that can be deployed; give its "
            "release"
        )
    if row.keeps_library and before.library != after.library:
        return (
            f"{name} cannot be started: it does not change the library ({before.library} to {after.library}); make "
            f"the change of the topology on {before.library} first, or the library first"
        )
    if before.release == after.release and old.topology == new.topology:
        return f"{name} has nothing to do: release {after.release} runs already"
    return ""


def started_with(
    name: str,
    release: str,
    *,
    application: str,
    dry_run: bool,
    reason: str,
    run_id: str,
    limits: Mapping[str, float],
    named: Mapping[str, Sequence[str] | str] = NOTHING_NAMED,
) -> dict[str, Any]:
    """The parameters of the started run; its reason leads back to the run that planned it.

    What the form `named` is named again, because the started run compares the two releases and accepts losses itself.
    """
    return {
        "application": application,
        runbook(name).field: release,
        "dry_run": dry_run,
        # A reason has a limit, and this one leads back to the run that has all of it.
        "reason": f"{f'{outside(reason, _MOST_OF_REASON)}; ' if reason else ''}planned by plan_change, run {run_id}",
        **{name: value if isinstance(value, str) else list(value) for name, value in named.items()},
        **limits,
    }


def started_id(name: str, run_id: str, number: int) -> str:
    """The id of the started run: the same each time, because a step that runs again must not start a second one.

    `number` counts the runs that had this id: a run started by an earlier one of them is not taken for this one's.
    """
    own = run_id if number == 1 else f"{run_id}.{number}"
    whole = f"{name}.{own}"
    return whole if len(whole) <= _LONGEST_ID else f"{name}.{sha256(own.encode()).hexdigest()}"


def commands(
    runbooks: tuple[str, ...],
    release: str,
    application: str,
    named: Mapping[str, Sequence[str] | str] = NOTHING_NAMED,
) -> Iterator[str]:
    """Commands that start them from a terminal, with what the form `named`."""
    texts = {field: value if isinstance(value, str) else ",".join(value) for field, value in named.items()}
    words = [word for field, value in texts.items() for word in ("--param", f"{field}={value}")]
    for name in runbooks:
        yield pasted((*start_command(name, application, release), *words))


def question(
    asking: Asking,
    *,
    before: Described,
    after: Described,
    headline: str,
    findings: Iterable[Finding],
    options: tuple[str, ...],
    left_out: tuple[str, ...],
    dry_run: bool,
    digest: str,
    named: str = "",
) -> str:
    """The text for the person, 15 lines at most, in Markdown; `named` is what the form declares."""
    how = "as a dry run, which shows its own plan and changes nothing" if dry_run else "for real: it asks for approval"
    lines = [
        labelled("Change", f"{before.release} to {after.release} ({after.source})"),
        labelled("Plan", headline),
        risks(findings),
        labelled("Named in the form", named) if named else "",
        listed("Not offered", left_out) if left_out else "",
        labelled(Label.WILL_DO, f"start {' or '.join(option for option in options if option != NONE)} {how}")
        + "; the log of `plan` has the whole plan",
        f"**{NONE} means:** nothing is started, the run ends",
        asked_by(asking),
        last_line(asking, digest),
    ]
    return "\n\n".join(line for line in lines if line)
