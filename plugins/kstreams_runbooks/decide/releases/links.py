"""Whether the classes of a build link with the Kafka of the build: before an instance is stopped for it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kstreams_runbooks.model.topology.declaration import UnlinkedClass
from kstreams_runbooks.model.verdicts import Finding, Outcome, Severity, Verdict
from kstreams_runbooks.wording import first_of

ACCEPT_UNLINKED = "accept_unlinked"
UNLINKED = "class-not-linked"
NOT_SCANNED = "links-not-scanned"
# How the place of a class that was not scanned begins.
LINKS = "links"
_SOURCE = "docs/links.md; Java Virtual Machine Specification 5.4.3; tests/facts/test_links.py"
_SCAN = "java -cp topology-facts.jar kstreams.runbooks.links.LinkCommand --class-path PATH"
_MOST = 3


@dataclass(frozen=True, slots=True)
class PlannedBuild:
    """A release that a plan starts and that does not run yet, with the classes of it that do not link.

    `unlinked` is None if its class path was not scanned, for the reason `unscanned`; `unread` has a reason for each
    class of it that was not scanned.
    """

    release: str
    unlinked: tuple[UnlinkedClass, ...] | None
    unscanned: str = ""
    unread: tuple[str, ...] = ()


def builds_link(application: str, builds: tuple[PlannedBuild, ...], accepted: str | None) -> Verdict:
    """Refuse a build with a class that its topology needs and that does not link, unless a person accepts that.

    Every other class that does not link is a warning: it may be one that never runs. `accepted` is a person's reason
    from the form, empty without one, None if the form has no such field.

    A class path that was not scanned is a warning, and so is a class that was not. Until each topology command prints
    facts of this jar, a stop would be the answer to every release of most applications, and accepting it would become a
    habit that hides the classes that do not link. The warning has the command that looks.
    """
    findings: list[Finding] = []
    refused: list[str] = []
    for build in builds:
        needed = [one for one in build.unlinked or () if one.stops_the_build]
        if needed and not accepted:
            offer = "" if accepted is None else f", or accept that: give {ACCEPT_UNLINKED} a reason"
            refused.append(
                f"release {build.release} does not link: {first_of([_needed(one) for one in needed], _MOST, '; ')}; "
                f"build it with libraries for its Kafka{offer}"
            )
        found = (
            *link_findings(build.unlinked or (), f"release {build.release}", accepted or ""),
            *_unscanned(application, build),
        )
        findings += [one for one in found if one not in findings]
    if refused:
        return Verdict(Outcome.REFUSE, tuple(refused), tuple(findings))
    return Verdict(Outcome.PROCEED, ("no class that a topology needs is known not to link",), tuple(findings))


def link_findings(unlinked: Iterable[UnlinkedClass], build: str, accepted: str = "") -> Iterator[Finding]:
    """A danger for each class that the topology needs, and one finding for the others of each jar."""
    others: dict[str, list[UnlinkedClass]] = {}
    for one in unlinked:
        if one.stops_the_build:
            because = f"; accepted with the reason: {accepted}" if accepted else ""
            yield Finding(UNLINKED, "danger", one.name, f"{build}: {_needed(one)}{because}", _SOURCE)
        else:
            others.setdefault(one.jar, []).append(one)
    for jar, classes in others.items():
        sentences = first_of([_sentence(one) for one in sorted(classes, key=lambda one: one.is_handled)], _MOST, "; ")
        severity: Severity = "info" if all(one.is_handled for one in classes) else "warning"
        yield Finding(UNLINKED, severity, jar, f"{build}: {sentences}", _SOURCE)


def _unscanned(application: str, build: PlannedBuild) -> Iterator[Finding]:
    if build.unlinked is None:
        message = (
            f"whether the classes of release {build.release} link with its Kafka was not looked at: {build.unscanned}; "
            f"look with: {_SCAN}"
        )
        yield Finding(NOT_SCANNED, "warning", application, message, _SOURCE)
    elif build.unread:
        message = f"release {build.release}: {first_of(build.unread, _MOST, '; ')}; look with: {_SCAN}"
        yield Finding(NOT_SCANNED, "warning", application, message, _SOURCE)


def _needed(one: UnlinkedClass) -> str:
    by = "the topology needs it" if one.needed_by == one.name else f"{one.needed_by} of the topology needs it"
    return f"{_sentence(one)} ({by})"


def _sentence(one: UnlinkedClass) -> str:
    more = f" (and {one.references - 1:,} more references)" if one.references > 1 else ""
    return f"{one.sentence.rstrip('.')}{more}"
