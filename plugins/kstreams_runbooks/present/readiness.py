"""Application × runbook as JSON and as text."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from kstreams_runbooks.decide.rights.granted import lacks, not_known
from kstreams_runbooks.decide.runbooks import runbook
from kstreams_runbooks.errors import RunbookError, Unreachable
from kstreams_runbooks.model.discovery.readiness import FactsShown, NoteReadiness, Readiness, Sessions
from kstreams_runbooks.model.readings.acls import RightsAnswer
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.present.rights import acl_document

SCHEMA_VERSION: Final = 1
_FACTS: Final = "topology facts"
_SESSIONS: Final = "session timeouts"
_NOTE: Final = "the run's note"
_UNREAD = FactsShown("not known", unknown=("nothing was read",))


@dataclass(frozen=True)
class ApplicationReadiness:
    """One application; `error` is why nothing of it could be read, None if something could.

    `bootstrap` is for the commands that grant rights. `defects` are the known ones that bite what runs, or may.
    `sessions` is about the restarts that runs measured, None of a copier.
    """

    application: str
    cluster: str
    runbooks: tuple[Readiness, ...]
    error: RunbookError | None = None
    facts: FactsShown = _UNREAD
    bootstrap: str = ""
    defects: tuple[Finding, ...] = ()
    sessions: Sessions | None = None


def document(found: Sequence[ApplicationReadiness], note: NoteReadiness, ledger: str = "") -> dict[str, Any]:
    """Every application with every runbook, and whether runs can write their notes.

    `ledger` is why workers of several machines cannot share it.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "ledger": ledger or None,
        "run_note": {"standing": note.status, "why": note.why},
        "applications": [
            {
                "application": one.application,
                "cluster": one.cluster,
                "unreachable": str(one.error) if isinstance(one.error, Unreachable) else None,
                "not_read": str(one.error) if one.error else None,
                "runbooks": [
                    {
                        "runbook": each.runbook,
                        "kind": "dag" if runbook(each.runbook).is_dag else "procedure",
                        "standing": each.status,
                        "missing": list(each.missing),
                        "not_known": list(each.unknown),
                        "better_with": list(each.better),
                        "rights": _rights(each.rights, one.bootstrap),
                    }
                    for each in one.runbooks
                ],
                "defects": [asdict(each) for each in one.defects],
                "session_timeouts": one.sessions and {"standing": one.sessions.status, "why": list(one.sessions.why)},
                "topology_facts": {
                    "standing": one.facts.status,
                    "instances_without": list(one.facts.without),
                    "not_known": list(one.facts.unknown),
                    "not_read": list(one.facts.not_read),
                },
            }
            for one in found
        ],
    }


def as_text(found: Sequence[ApplicationReadiness], note: NoteReadiness) -> Iterator[str]:
    """One line for each runbook with what it lacks, and one about the notes of all runs."""
    for one in found:
        yield f"{one.application} @ {one.cluster}"
        if one.error:
            yield f"  {one.error}"
            continue
        # Several runbooks may lack the same failed reading: it is printed once.
        said: dict[str, int] = {}
        for each in one.runbooks:
            name = each.runbook if runbook(each.runbook).is_dag else f"{each.runbook}*"
            yield f"  {name:21} {each.status:11} {_lacks(each, said, one.bootstrap)}".rstrip()
        yield from (f"  {defect.severity:7} {defect.id}: {defect.message}" for defect in one.defects)
        yield f"  {_FACTS:21} {one.facts.status:11} {'; '.join(_about(one.facts))}".rstrip()
        if one.sessions:
            yield f"  {_SESSIONS:21} {one.sessions.status:11} {'; '.join(one.sessions.why)}"
        yield from (f"  [{number}] {why}" for why, number in said.items())
    if any(not runbook(each.runbook).is_dag for one in found if not one.error for each in one.runbooks):
        yield "* a procedure for a person: kstreams-runbooks plan prints its steps"
    # A run goes on without its note: this is not in the exit code.
    works = "; runbooks work without it" if note.status in {"missing", "not known"} else ""
    yield f"{_NOTE:23} {note.status:11} {note.why}{works}"


def _about(facts: FactsShown) -> Iterator[str]:
    """The instances without facts, the unknown, and what a person declares, each with the next action."""
    if facts.without:
        yield f"none from {', '.join(facts.without)}: start with -javaagent:topology-facts.jar (docs/facts.md)"
    yield from facts.unknown
    if facts.not_read:
        yield f"not read: {', '.join(facts.not_read)}: declare them (kstreams-runbooks declare)"


def exit_code(found: Sequence[ApplicationReadiness]) -> int:
    """0 everything is ready, 1 something is missing, 3 something is unknown, or an error's code; the largest counts."""
    return max(map(_code, found), default=0)


def _code(one: ApplicationReadiness) -> int:
    if one.error:
        return one.error.exit_code
    if any(each.unknown or (each.rights and each.rights.unknown) for each in one.runbooks):
        return 3
    return int(any(each.status == "missing" for each in one.runbooks))


def _rights(answer: RightsAnswer | None, bootstrap: str) -> dict[str, Any] | None:
    """Null for a procedure, and if nothing could be read."""
    if answer is None:
        return None
    return {
        "missing": [acl_document(acl, bootstrap) for acl in answer.missing],
        "not_known": [{**acl_document(acl, bootstrap), "why": why} for acl, why in answer.unknown],
    }


def _lacks(each: Readiness, said: dict[str, int], bootstrap: str) -> str:
    if each.status == "not needed":
        return "; ".join(each.better)
    parts = ["; ".join(each.missing)] if each.missing else []
    rights = each.rights or RightsAnswer(each.runbook)
    if rights.missing:
        numbers = ", ".join(_number(lacks(acl, bootstrap), said) for acl in rights.missing)
        parts.append(f"rights missing: {numbers}")
    if unknown := (*each.unknown, *(not_known(acl, why) for acl, why in rights.unknown)):
        parts.append(f"not known: {', '.join(_number(why, said) for why in unknown)}")
    if each.better:
        parts.append(f"works, but: {'; '.join(each.better)}" if each.status == "ready" else "")
    return " | ".join(part for part in parts if part)


def _number(why: str, said: dict[str, int]) -> str:
    return f"[{said.setdefault(why, len(said) + 1)}]"
