"""Whether the changes of a release may be rolled: findings of a change, before a runbook plans on them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from kstreams_runbooks.decide.change.answer import change_plan
from kstreams_runbooks.decide.change.code_findings import SAME
from kstreams_runbooks.decide.change.contradicted import CONTRADICTED
from kstreams_runbooks.decide.change.described import Judging, Known, parsed_change, side_of
from kstreams_runbooks.decide.change.reading import ChangeReading
from kstreams_runbooks.decide.change.rules import Fired, found
from kstreams_runbooks.decide.change.settings import settings_of_release
from kstreams_runbooks.decide.change.unchanged import NAMED, again_with, with_same_program
from kstreams_runbooks.decide.change.without_topology import may_stay_unread, unread_release
from kstreams_runbooks.decide.comparison.boundary import sources
from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.settings import NOTHING_KNOWN, settings
from kstreams_runbooks.decide.comparison.whole import application
from kstreams_runbooks.decide.topology.described import ParsedDescription, parsed
from kstreams_runbooks.model.local_state import LOSE_STATE
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.topology.change import ChangeFinding, ChangeRule, Undecided, Undeclared
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.verdicts import Finding, Outcome, Severity, Verdict
from kstreams_runbooks.wording import first_of

ONLY_COPY = "only-copy-left"
_ROLLED = {"rolling_bounce", "library_bump"}
_DROPPED = {"repartition-removed", "repartition-renamed", "generated-name-shifted"}
# Changes after which the group and the topics are those of another application.
_OTHER_APPLICATION = {"application-id-changed", "topic-prefix-changed"}
# Findings about a program that depend on its library: serdes with a default, and how global stores are restored.
_OF_LIBRARY = {
    "serde-missing",
    "default-serde-becomes-bytes",
    "global-store-restored-past-processor",
    "global-store-restored-by-processor",
}
# What happens only while two versions run next to each other.
_OF_A_ROLL = {"mixed-topology-roll", "upgrade-from-still-eager"}
# Findings on which no runbook depends, and that an approver reads.
_SHOWN = {CONTRADICTED, NAMED, SAME}
_WAY_BACK = "the change in the other direction, by the rules of docs/change_rules.md"
_DECLARATION = "docs/change_rules.md"
# A sentence in a log and in a run's outcome; the evidence has the rest.
_MOST = 3


def may_be_rolled(
    before: tuple[Described, ...],
    after: Described | Missing,
    known: Known,
    rules: tuple[ChangeRule, ...],
    versions: UpgradePathRules,
    *,
    at_once: bool,
    catalogue: SettingCatalogue = NOTHING_KNOWN,
    flushed: bool = False,
    same_build: bool = False,
    same_program: str = "",
    accepted: str | None = None,
) -> Verdict:
    """Whether instances of every running version may run next to those of the wanted one; findings for a person.

    Changes by the library are not judged here: the runbooks plan them by the rules of the versions. Settings on which
    the wanted version does not start are refused, by the rows of `catalogue`. With `at_once` versions never run next to
    each other: only a version that cannot start and two descriptions of different applications are refused, and manual
    steps are findings. `flushed`: everything is read to its end in between. BadInput if a declaration contradicts its
    description.

    Inconclusive about a topology that was not read, and about facts that neither side declares or shows: equal
    descriptions prove nothing about what they omit. `accepted` is a person's reason to go on without them
    (without_topology.py). `same_build`: only settings change, and code decides the rest, so undeclared facts are a
    finding at once. `same_program`: how it is known that one build is on both sides, and that none of the settings that
    change is the program's own: what only code decides is the same, also in a roll.
    """
    if isinstance(after, Missing):
        # A flush reads both topologies: without them, what it drains and leaves behind is not known.
        return may_stay_unread((unread_release(after),), known.application, None if flushed else accepted)
    findings: list[Finding] = []
    wanted = parsed(_of_one_program(after, same_program))
    for old in map(parsed, before):
        if refused := _refused_settings(old, wanted, known, versions, catalogue):
            return Verdict(Outcome.REFUSE, (_cannot_start(wanted.described, refused),), tuple(map(_finding, refused)))
        unless = partial(_unless_accepted, known=known, accepted=accepted, same_build=same_build and at_once)
        verdict = _compared(
            old, wanted, known, Judging(rules, versions, catalogue), unless, at_once=at_once, unread=not flushed
        )
        if verdict.outcome is not Outcome.PROCEED:
            return verdict
        findings += [found for found in verdict.findings if found not in findings]
    how = "restarting all at once" if at_once else "rolling it"
    dangers = list(dict.fromkeys(one.id for one in findings if one.severity == "danger"))
    said = f"{first_of(dangers, _MOST)}: for the approver to accept" if dangers else "nothing speaks against it"
    return Verdict(Outcome.PROCEED, (f"{_named(after)} by {how}: {said}",), tuple(findings))


def _of_one_program(after: Described, by: str) -> Described:
    return replace(after, declared=with_same_program(after.declaration, by)) if by else after


def _compared(
    old: ParsedDescription,
    new: ParsedDescription,
    known: Known,
    judging: Judging,
    unless_accepted: Callable[[Verdict], Verdict],
    *,
    at_once: bool,
    unread: bool,
) -> Verdict:
    before, after = old.described, new.described
    change = parsed_change(_alone(old), _alone(new), known, replace(judging, catalogue=NOTHING_KNOWN))
    uncovered = (*change.uncovered, *_of_settings(old, new, known, judging, change))
    told = [one for one in uncovered if not (at_once and one.id in _OF_A_ROLL)]
    shown = [one for one in told if one.severity != "info" or one.id in _SHOWN]
    findings = (*(_finding(one, unread=at_once and unread) for one in shown), *_way_back(change, known))
    if change.mixed_up:
        return Verdict(Outcome.REFUSE, change.plan.reasons, findings)
    demanding = [one for one in told if one.refuse or (one.runbooks and one.runbooks[0] not in _ROLLED)]
    if dead := [one for one in uncovered if one.refuse and one.id not in _OF_A_ROLL]:
        return Verdict(Outcome.REFUSE, (_cannot_start(after, dead),), findings)
    if other := [one for one in uncovered if one.id in _OTHER_APPLICATION]:
        return Verdict(Outcome.REFUSE, (_other_application(after, other, known),), findings)
    lost = [one for one in change.uncovered if one.id == ONLY_COPY]
    if lost and (at_once or demanding == lost):
        # A reset would delete what a person may still keep.
        return Verdict(Outcome.REFUSE, (_loses(lost),), findings)
    if demanding and not at_once:
        return Verdict(Outcome.REFUSE, (_refusal(before, after, change, demanding),), findings)
    if open_ := [one for one in change.undecided if one.id == ONLY_COPY]:
        return Verdict(Outcome.INCONCLUSIVE, (_may_lose(open_),), findings)
    if change.plan.verdict is Outcome.INCONCLUSIVE:
        same = old.topology == new.topology
        unknown = Verdict(Outcome.INCONCLUSIVE, (_open(before, after, change, at_once=at_once, same=same),), findings)
        # A change that was seen is judged, and never accepted unseen.
        return unless_accepted(unknown) if at_once or same else unknown
    return Verdict(Outcome.PROCEED, (), findings)


def _of_settings(
    old: ParsedDescription, new: ParsedDescription, known: Known, judging: Judging, change: ChangeReading
) -> Iterator[ChangeFinding]:
    """Findings about settings that need all that is known of releases: such as one that only one of the two heeds.

    `change` compares the versions as if they had one library, and has those that need no more. With them come the other
    findings that depend on the library of a version.
    """
    compared = Compared(side_of(old, known), side_of(new, known))
    reported = {(one.id, one.object) for one in change.findings}
    parts = (application(compared), *sources(compared))
    of_library = (one for one in found(parts, judging.rules) if one.id in _OF_LIBRARY)
    for one in (*found(settings(compared, judging.catalogue), judging.rules), *of_library):
        if one.covered_by is None and (one.id, one.object) not in reported:
            yield one


def _unless_accepted(verdict: Verdict, known: Known, accepted: str | None, *, same_build: bool) -> Verdict:
    """The verdict about undeclared facts, with the finding in their place if a person accepts them."""
    if same_build:
        name = known.application.name
        open_ = Finding("change-not-declared", "warning", name, verdict.text, _DECLARATION)
        return Verdict(Outcome.PROCEED, (), (*verdict.findings, open_))
    judged = may_stay_unread(verdict.reasons, known.application, accepted)
    return replace(judged, findings=(*verdict.findings, *judged.findings))


def _refused_settings(
    old: ParsedDescription,
    new: ParsedDescription,
    known: Known,
    versions: UpgradePathRules,
    catalogue: SettingCatalogue,
) -> list[ChangeFinding]:
    """Settings on which no instance of the wanted version starts."""
    compared = Compared(side_of(old, known), side_of(new, known))
    broker = Release.parse(known.broker) if known.broker else None
    return [one for one in settings_of_release(compared, versions, catalogue, broker).findings if one.refuse]


def _alone(one: ParsedDescription) -> ParsedDescription:
    """The version without its library and its links: a change of library has a planner, and links have a decision."""
    declared = one.described.declared
    without = None if declared is None else replace(declared, library=None, unlinked=None)
    return replace(one, described=replace(one.described, library="", declared=without))


def _named(described: Described) -> str:
    return f"release {described.release}" if described.release else described.source


def _cannot_start(after: Described, dead: list[ChangeFinding]) -> str:
    """A version that does not start or process anything, whichever runbook brings it."""
    return f"{_named(after)} cannot start: {first_of([one.message for one in dead], _MOST, '; ')}"


def _refusal(before: Described, after: Described, change: ChangeReading, demanding: list[ChangeFinding]) -> str:
    """The rules against a roll, and the runbook that answers them."""
    shown = first_of([f"{one.id} ({one.object}): {one.message}" for one in demanding], _MOST, "; ")
    # Undeclared facts may demand more; the findings demand this much. The only copy is accepted or kept in any runbook.
    runbooks = change_plan(Fired(tuple(one for one in change.findings if one.id != ONLY_COPY), ())).runbooks
    answer = f"use {' and then '.join(runbooks)} in place of this; " if runbooks else ""
    if "stop_and_restart" in runbooks and before.library != after.library:
        answer += f"it takes no other library, so bring this change on {before.library} first; "
    return f"{_named(after)} changes more than a roll may: {shown}; {answer}plan_change shows all of it"


def _other_application(after: Described, other: list[ChangeFinding], known: Known) -> str:
    """A version whose group and topics no step of this run would look at."""
    told = first_of([one.message for one in other], _MOST, "; ")
    return (
        f"{_named(after)} is another application than {known.application.name}: {told}; correct the setting, or give "
        "that application a fleet entry of its own"
    )


def _loses(lost: list[ChangeFinding]) -> str:
    """Stores that begin empty, whichever way the release is brought."""
    stores = ",".join(one.object for one in lost)
    return (
        f"{first_of([one.message for one in lost], _MOST, '; ')}; to accept that, trigger this again with "
        f"--param {LOSE_STATE}={stores}"
    )


def _may_lose(open_: list[Undecided]) -> str:
    """Stores that begin empty unless a changelog has their content, which is not known: no other field accepts that."""
    stores, asked = (list(dict.fromkeys(map(str, of))) for of in ([one.object for one in open_], _asked(open_)))
    return (
        f"whether a changelog has the content of {first_of(stores, _MOST)} is not known, and the change leaves their "
        f"files: declare {first_of(asked, _MOST)}; or trigger this again with --param {LOSE_STATE}={','.join(stores)}"
    )


def _asked(open_: list[Undecided]) -> list[Undeclared]:
    return [field for one in open_ for field in one.asked]


def _open(before: Described, after: Described, change: ChangeReading, *, at_once: bool, same: bool) -> str:
    """Undeclared facts that would decide it; `same`: both have one topology."""
    again = again_with("this runbook", change.enough)
    bare = " and ".join(_named(one) for one in (before, after) if one.is_bare)
    if bare and same:
        return (
            f"nothing but the description is known of {bare}: the descriptions are the same, and have no windows, "
            "formats, keys or aggregates; let the topology command and the instances show topology facts "
            f"(docs/facts.md), or declare both releases{again}"
        )
    may = f"may take over from {_named(before)}" if at_once else f"may be rolled next to {_named(before)}"
    reasons = first_of(change.plan.reasons, _MOST, "; ")
    return (
        f"whether {_named(after)} {may} cannot be said: {reasons}; declare it next to the fleet entry, plan_change "
        f"shows all of it{again}"
    )


def _finding(one: ChangeFinding, *, unread: bool = False) -> Finding:
    """The finding; `unread`: records may be left in a topic that goes, because nothing reads them first."""
    if unread and one.id in _DROPPED:
        first = "have the inputs paused and read to their end before you approve; verify counts what was left"
        return Finding(one.id, one.severity, one.object, f"{one.message}; {first}", one.source)
    return Finding(one.id, one.severity, one.object, one.message, one.source)


def _way_back(change: ChangeReading, known: Known) -> Iterator[Finding]:
    """What an approver has to know of the way back."""
    if change.back.sentences:
        severity: Severity = "warning" if change.back.loses else "info"
        yield Finding("way-back", severity, known.application.name, "; ".join(change.back.sentences), _WAY_BACK)
