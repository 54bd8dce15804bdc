"""An upgrade path as text: the verdict, the steps in order, then the findings."""

import textwrap
from collections.abc import Iterator
from itertools import count

from kstreams_runbooks.model.releases.path import PathBounce, PathFinding, PathQuestion, UpgradePath
from kstreams_runbooks.model.verdicts import SEVERITIES, Outcome

WIDTH = 110


def as_text(
    question: PathQuestion, path: UpgradePath, settings: tuple[str, ...] = (), columns: int | None = None
) -> str:
    """Verdict first, then the steps in order (`settings`, the runs with their bounces), assumptions, findings.

    In lines of at most `columns` characters (None: 110).
    """
    width = min(WIDTH, columns or WIDTH)
    return "\n".join(_lines(question, path, settings, width))


def _lines(question: PathQuestion, path: UpgradePath, settings: tuple[str, ...], width: int) -> Iterator[str]:
    answer = "LIBRARY BUMP:" if path.verdict is Outcome.PROCEED else f"{path.verdict.upper()} "
    yield from _wrapped(f"{answer} {path.reason}", "", width)
    yield from _steps(question, path, settings, width)
    if assumed := tuple(_assumed(question)):
        yield ""
        yield from _wrapped(f"not known, counted as used: {', '.join(assumed)}", "", width)
    if question.group_protocol:
        present = f"group.protocol={question.group_protocol}"
        yield ""
        yield from _wrapped(
            f"{present} is taken as the present one, and no path changes it; to change it, ask `plan`", "", width
        )
    for severity in SEVERITIES:
        found = tuple(finding for finding in path.findings if finding.severity == severity)
        if found:
            yield ""
            yield severity
        for finding in found:
            yield from finding_lines(finding, width)


def _steps(question: PathQuestion, path: UpgradePath, settings: tuple[str, ...], width: int) -> Iterator[str]:
    """One order of steps: what to set first, then the bounces of every run."""
    if settings:
        yield from ("", "before run 1, set where it is not set yet:")
        yield from (f"   {setting}" for setting in settings)
    number = count(1)
    backward = question.target < question.running
    for index, leg in enumerate(path.legs, 1):
        if not backward:
            yield from ("", f"run {index} of {len(path.legs)}: {leg.runbook}")
        elif index == 1:
            yield from ("", f"one run: {leg.runbook}")
        for bounce in leg.bounces:
            yield from _wrapped(
                f"{next(number)}. {sentence(bounce, unset=_unset(bounce, leg.bounces))}", "   ", width, "      "
            )
    if path.legs and backward:
        yield from _wrapped(
            f"undo of the run that went from {question.target} to {question.running}, while that run is the last one, "
            "rolls the instances back and knows what ran before.",
            "   ",
            width,
        )


def sentence(bounce: PathBounce, *, unset: bool) -> str:
    """The sentence of one bounce."""
    how = "stop every instance, then start all on" if bounce.at_once else "every instance, one after another, to"
    parts = [f"{how} {bounce.target}"]
    if bounce.upgrade_from:
        parts.append(f"with upgrade.from={bounce.upgrade_from}")
    elif unset:
        parts.append("without upgrade.from")
    if bounce.processing_guarantee:
        parts.append(f"with processing.guarantee={bounce.processing_guarantee}")
    told = " ".join(parts)
    if "clear_state" in bounce.before:
        told += ", local state cleared before"
    if "drain" in bounce.before:
        told = f"wait until the repartition topics are read to their end, then {told}"
    return told


def _unset(bounce: PathBounce, bounces: tuple[PathBounce, ...]) -> bool:
    """Whether an earlier bounce of the leg set the value that this one removes."""
    return bounce.upgrade_from is None and any(one.upgrade_from for one in bounces)


def _assumed(question: PathQuestion) -> Iterator[str]:
    if question.foreign_key_joins == "unknown":
        yield "foreign-key joins"
    if question.table_aggregations == "unknown":
        yield "table aggregations"


def finding_lines(finding: PathFinding, width: int) -> Iterator[str]:
    """A finding as text: its row and object, its message, its source."""
    runbook = f" [{finding.runbook}]" if finding.runbook else ""
    yield f"  {finding.id}: {finding.object}{runbook}"
    yield from _wrapped(finding.message, "    ", width)
    yield from _wrapped(f"source: {finding.source}", "    ", width)


def _wrapped(text: str, indent: str, width: int, hanging: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
