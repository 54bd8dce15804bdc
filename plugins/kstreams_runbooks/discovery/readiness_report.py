"""Application × runbook as JSON and as text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kstreams_runbooks.model.readiness import Readiness

SCHEMA_VERSION: Final = 1


@dataclass(frozen=True)
class ApplicationReadiness:
    """One application; `unreachable` says which system did not answer, empty where all did."""

    application: str
    cluster: str
    runbooks: tuple[Readiness, ...]
    unreachable: str = ""


def document(found: Sequence[ApplicationReadiness], by_hand: frozenset[str]) -> dict[str, Any]:
    """Every application with every runbook; `by_hand` are runbooks that are procedures for a person."""
    return {
        "schema_version": SCHEMA_VERSION,
        "applications": [
            {
                "application": one.application,
                "cluster": one.cluster,
                "unreachable": one.unreachable or None,
                "runbooks": [
                    {
                        "runbook": each.runbook,
                        "kind": "procedure" if each.runbook in by_hand else "dag",
                        "standing": each.standing,
                        "missing": list(each.missing),
                        "not_known": list(each.unknown),
                        "better_with": list(each.better),
                    }
                    for each in one.runbooks
                ],
            }
            for one in found
        ],
    }


def as_text(found: Sequence[ApplicationReadiness], by_hand: frozenset[str]) -> Iterator[str]:
    """One line for each runbook, and what it lacks."""
    for one in found:
        yield f"{one.application} @ {one.cluster}"
        if one.unreachable:
            yield f"  {one.unreachable}"
            continue
        # What is not known of several runbooks is one reading that failed: it is said once.
        said: dict[str, int] = {}
        for each in one.runbooks:
            name = f"{each.runbook}*" if each.runbook in by_hand else each.runbook
            yield f"  {name:21} {each.standing:11} {_lacks(each, said)}".rstrip()
        yield from (f"  [{number}] {why}" for why, number in said.items())
    if by_hand:
        yield "* a procedure for a person: kstreams-runbooks plan prints its steps"


def exit_code(found: Sequence[ApplicationReadiness]) -> int:
    """0 everything is ready, 1 something is missing, 3 something is not known, 4 a system did not answer."""
    if any(one.unreachable for one in found):
        return 4
    standings = {each.standing for one in found for each in one.runbooks}
    unknown = any(each.unknown for one in found for each in one.runbooks)
    return 3 if unknown else 1 if "missing" in standings else 0


def _lacks(each: Readiness, said: dict[str, int]) -> str:
    if each.standing == "not needed":
        return "; ".join(each.better)
    parts = ["; ".join(each.missing)] if each.missing else []
    if each.unknown:
        parts.append(f"not known: {', '.join(_number(why, said) for why in each.unknown)}")
    if each.better:
        parts.append(f"works, but: {'; '.join(each.better)}" if each.standing == "ready" else "")
    return " | ".join(part for part in parts if part)


def _number(why: str, said: dict[str, int]) -> str:
    return f"[{said.setdefault(why, len(said) + 1)}]"
