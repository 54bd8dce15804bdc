"""People who may approve, and the text that they read first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from zoneinfo import ZoneInfo

from kstreams_runbooks.decide.change.unchanged import NAMED
from kstreams_runbooks.decide.runs.answers import APPROVE, deleted_for_good, options_of
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.runs.ledger import Card
from kstreams_runbooks.model.runs.object_stages import DeleteRecords, DeleteTopics
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.runs.stages import Bounce, Stage, StopAll
from kstreams_runbooks.model.times import utc, utc_minute
from kstreams_runbooks.model.verdicts import SEVERITIES, Finding, Outcome, Verdict, by_cause
from kstreams_runbooks.wording import LONGEST_SENTENCE, code, first_of, markdown, why_no_reason

# Of a question that fits one screen; every danger is shown.
_MOST_RISKS = 5
_ACKNOWLEDGED = "recreated-acknowledged"
# The promise of a question about a point of no return (`has_changed` in steps/approval/approve.py).
_READ_AGAIN = "State and group are read again when you answer"


class Label(StrEnum):
    """The beginning of a line of a question; code that parses the text again looks for these."""

    NO_WAY_BACK = "POINT OF NO RETURN"
    NOW = "Now"
    WILL_DO = "Will do"
    GAP = "Expected gap"
    HELD = "Inputs held"
    WORST_CASE = "Worst case"
    UNDO = "Undo"
    RISKS = "Risks"
    OTHER_LIMITS = "Other limits than the fleet's"
    REJECT_MEANS = "Reject means"
    EXPIRES = "Expires"
    ASKED_BY = "asked by"
    MAY_APPROVE = "may approve"
    DIGEST = "Plan digest"
    WRITTEN = "written"

    @property
    def bold(self) -> str:
        """The label in Markdown."""
        return f"**{self}:**"

    @property
    def plain(self) -> str:
        """The label after the Markdown has been taken out."""
        return f"{self}:"


@dataclass(frozen=True, slots=True)
class Asking:
    """Facts in every question of a run: the people asked, the requester, start and deadline.

    `link` leads to the run, and is empty if Airflow does not know its own address. `others` are the applications that
    the run changes too. `noted`: the run's note shows the present text.
    """

    declared: DeclaredApplication
    requested_by: str
    reason: str
    at_ms: int
    expires_at_ms: int
    link: str
    others: tuple[DeclaredApplication, ...] = ()
    noted: bool = False


def may_request(declared: DeclaredApplication, requested_by: str) -> Verdict:
    """Whether a login may run anything for this application; without declared operators Airflow alone decides."""
    if not declared.operators or requested_by in declared.operators:
        return Verdict(Outcome.PROCEED, (f"asked by {requested_by}",))
    operators = ", ".join(declared.operators)
    return Verdict(
        Outcome.REFUSE,
        (
            f"{requested_by} may not run anything for {declared.name} (operators: {operators}); ask one of them to "
            "trigger a new run",
        ),
    )


def may_answer(declared: tuple[DeclaredApplication, ...], responder: str) -> Verdict:
    """Whether a login's answer that a person's work is done counts: of those who may run or approve for one of these.

    WAIT means: ask again, another person has to answer.
    """
    for one in declared:
        if responder in one.approvers or may_request(one, responder).outcome is Outcome.PROCEED:
            return Verdict(Outcome.PROCEED, (f"answered by {responder}",))
    people = ", ".join(dict.fromkeys(name for one in declared for name in (*one.operators, *one.approvers)))
    return Verdict(
        Outcome.WAIT,
        (f"{responder} may not answer for {declared[0].name}; one of its operators or approvers has to: {people}",),
    )


def may_approve(
    declared: DeclaredApplication,
    requested_by: str,
    responder: str,
    emergency_reason: str | None,
    others: tuple[DeclaredApplication, ...] = (),
    given: tuple[str, ...] = (),
) -> Verdict:
    """Whether a response counts. WAIT means: ask again, another person has to answer.

    Each of the `others`, applications that the run changes too, needs an approver of its own; `given` are the people
    who have approved this plan so far. An emergency reason lets the requester approve alone, if they are an approver;
    it is kept as evidence.
    """
    own = _may_approve_one(declared, requested_by, responder, emergency_reason)
    if not others:
        return own
    entries = (declared, *others)
    fits = [one for one in entries if _counts(one, requested_by, responder, emergency_reason)]
    if not fits:
        return own
    people = tuple(dict.fromkeys((*given, responder)))
    lacking = [
        one for one in entries if one not in fits and not any(_counts(one, requested_by, name, None) for name in given)
    ]
    if not lacking:
        return Verdict(Outcome.PROCEED, (f"approved by {', '.join(people)}",))
    asked = "; ".join(f"{one.name}: {', '.join(one.approvers) or 'none are declared'}" for one in lacking)
    return Verdict(
        Outcome.WAIT,
        (
            f"{responder} approved for {', '.join(one.name for one in fits)}; the run changes other applications too, "
            f"and an approver of each has to answer ({asked})",
        ),
    )


def _counts(declared: DeclaredApplication, requested_by: str, responder: str, emergency_reason: str | None) -> bool:
    return _may_approve_one(declared, requested_by, responder, emergency_reason).outcome is Outcome.PROCEED


def _may_approve_one(
    declared: DeclaredApplication, requested_by: str, responder: str, emergency_reason: str | None
) -> Verdict:
    """The same for one application."""
    if emergency_reason is not None and (wrong := why_no_reason(emergency_reason)):
        return Verdict(Outcome.WAIT, (f"the emergency reason {wrong}",))
    if responder not in declared.approvers:
        return Verdict(
            Outcome.WAIT,
            (
                f"{responder} may not approve for {declared.name}; one of its approvers has to answer: "
                f"{', '.join(declared.approvers) or 'none are declared, add them to its fleet entry'}",
            ),
        )
    if declared.four_eyes and requested_by == "unknown" and not emergency_reason:
        return Verdict(
            Outcome.WAIT,
            (
                f"who asked for this run is unknown, and {declared.name} needs four eyes: trigger it with a login, or "
                "give an emergency reason",
            ),
        )
    if declared.four_eyes and responder == requested_by and not emergency_reason:
        return Verdict(
            Outcome.WAIT,
            (
                f"{responder} asked for this run, and {declared.name} needs four eyes: another of "
                f"{', '.join(declared.approvers)} has to approve, or give an emergency reason",
            ),
        )
    note = f" in an emergency: {emergency_reason}" if emergency_reason else ""
    return Verdict(Outcome.PROCEED, (f"approved by {responder}{note}",))


def approval_body(
    asking: Asking,
    plan: Plan,
    bounce: int,
    now: str,
    *,
    fleet_limits: tuple[tuple[str, float], ...],
    cards: tuple[Card, ...],
    held: str = "",
) -> str:
    """The text for the approver, 15 lines at most, in Markdown; `bounce` is the first that this approval opens.

    `now` is the observed state, `fleet_limits` are those of the fleet entry alone, `cards` the changes by the run so
    far, `held` how long it holds inputs (empty: it holds none).
    """
    todo = [one for one in plan.stages if one.number >= bounce]
    limits = _other_limits(plan, fleet_limits)
    on, stop = options_of(bounce, deletes=bool(deleted_for_good(plan)))
    lines = [
        _no_way_back(plan, bounce, on) if on != APPROVE else "",
        labelled(Label.NOW, now),
        labelled(Label.WILL_DO, "; ".join(_todo(plan, one) for one in todo) or "close the undo cards, nothing else"),
        labelled(Label.GAP, _gap(plan)),
        labelled(Label.HELD, held) if held else "",
        labelled(Label.WORST_CASE, plan.worst_case),
        labelled(Label.UNDO, plan.undo[-1] if bounce > 1 else "; ".join(plan.undo)),
        risks(plan.findings),
        labelled(Label.OTHER_LIMITS, limits) if limits else "",
        labelled(
            Label.REJECT_MEANS if on == APPROVE else f"{stop!r} means",
            f"{_rejected(cards, second=bounce > 1)}; the run ends failed",
        ),
        asked_by(asking),
        last_line(asking, plan.digest),
    ]
    return "\n\n".join(line for line in lines if line)


def risks(findings: Iterable[Finding]) -> str:
    """The risks as a list, dangers first: one line a cause with its objects, and one for all that was accepted before.

    Dangers are all there; of the warnings the first, and how many more the log of `plan` has.
    """
    kept = [one for one in findings if one.severity != "info" or one.id == NAMED]
    before = [one.object for one in kept if one.id == _ACKNOWLEDGED and one.severity != SEVERITIES[0]]
    causes = by_cause(one for one in kept if one.id != _ACKNOWLEDGED or one.severity == SEVERITIES[0])
    shown = causes[: max(sum(one.severity == SEVERITIES[0] for one in causes), _MOST_RISKS)]
    lines = [f"{one.severity}: {one.object}: {one.message}" for one in shown]
    lines += [f"and {len(causes) - len(shown)} more, which the log of `plan` has"] if shown != causes else []
    lines += [f"accepted before, at fleet_check: {first_of(before)}"] if before else []
    return listed(Label.RISKS, lines) if lines else labelled(Label.RISKS, "none found")


def listed(label: str, lines: Iterable[str]) -> str:
    """A list under a label, in Markdown; quoted text stays text."""
    return "\n".join([f"**{label}:**", *(f"- {markdown(line, LONGEST_SENTENCE)}" for line in lines)])


def _no_way_back(plan: Plan, bounce: int, on: str) -> str:
    """The first block of a question about a point of no return: what ends there, and what is left as a way back."""
    if bounce == 1:
        return labelled(Label.NO_WAY_BACK, _ends(plan))
    older = " or ".join(sorted({one.version for one in plan.facts.at_start}))
    return labelled(
        Label.NO_WAY_BACK,
        f"from the first instance of {on!r} on, records are written that {older} cannot read: going back then costs "
        f"the repartition topics read to their end first. {_READ_AGAIN}",
    )


def _ends(plan: Plan) -> str:
    """What a plan deletes for good, and from which stage on."""
    stages = deleted_for_good(plan)
    topics = [name for one in stages if isinstance(one, DeleteTopics) for name in one.topics]
    emptied = [name for one in stages if isinstance(one, DeleteRecords) for name in one.topics]
    gone = [
        f"{what} ({first_of(names)})"
        for what, names in ((_counted(topics), topics), (f"the records of {_counted(emptied)}", emptied))
        if names
    ]
    return (
        f"from stage {min(one.number for one in stages)} on, {' and '.join(gone)} are deleted for good: no undo brings "
        f"back what is in them. {_READ_AGAIN}"
    )


def _counted(names: Sequence[str]) -> str:
    return f"{len(names):,} topic{'s' * (len(names) != 1)}"


def labelled(label: str, text: str) -> str:
    """One line of a question, in Markdown; quoted text stays text."""
    return f"**{label}:** {markdown(text, LONGEST_SENTENCE)}"


def asked_by(asking: Asking) -> str:
    """The line of a question with its deadline, the requester, the reason, and the people who may answer."""
    until = when(asking.expires_at_ms, asking.declared.zone)
    why = f" ({markdown(asking.reason)})" if asking.reason else ""
    who = markdown(may_answer_text(asking), LONGEST_SENTENCE)
    return (
        f"{Label.EXPIRES.bold} {until}; {Label.ASKED_BY.bold} {markdown(asking.requested_by)}{why}; "
        f"{Label.MAY_APPROVE.bold} {who}"
    )


def may_answer_text(asking: Asking) -> str:
    """The people who may answer, for each application that the run changes."""
    own = who_may_approve(asking.declared, asking.requested_by)
    also = (f"for {one.name}: {who_may_approve(one, asking.requested_by)}" for one in asking.others)
    return "; and ".join((own, *also))


def last_line(asking: Asking, digest: str) -> str:
    """The line of a question with the plan that an answer is for, and about its text, which Airflow never changes.

    `noted` names the place of the present text. A question that is asked again keeps its first text, subject, answers
    and form.
    """
    where = "the run's note" if asking.noted else "the task's log"
    linked = f"[{where}]({asking.link})" if asking.link else where
    written = f"{Label.WRITTEN.bold} {when(asking.at_ms, asking.declared.zone)}"
    return f"{Label.DIGEST.bold} {code(digest)}; {written}; it cannot change: the present text is in {linked}"


def _todo(whole: Plan, stage: Stage) -> str:
    """One stage; of a bounce also the order of its instances."""
    if not isinstance(stage, Bounce):
        return whole.sentence_of(stage)
    plan, bounce = whole.of_side(stage.side), stage
    names = [name for name in plan.facts.instances if bounce.takes(name)]
    if stage is whole.start:
        return (
            f"stop all {len(names)} instances, remove their members until the group is EMPTY, start all with "
            f"{whole.sentence_of(stage).partition(': ')[2]}"
        )
    who = f"{len(names)} instances one after another" if len(names) > 1 else names[0]
    return f"{whole.sentence_of(stage)}, {who}"


def _gap(plan: Plan) -> str:
    """Seconds without processing, and why, of each application whose instances are stopped."""
    gaps = [
        f"{part.application}: {_gap_of(plan, part)}" if plan.sides else _gap_of(plan, part)
        for part in plan.parts
        if part.costs
    ]
    if not gaps and any(isinstance(one, StopAll) and one.stays is not None for one in plan.stages):
        return f"none of another application; {plan.application} stays down"
    return "; ".join(gaps) or "none: no instance is stopped"


def _gap_of(plan: Plan, part: SidePart) -> str:
    together = plan.at_once or any(isinstance(one, StopAll) and one.side == part.role for one in plan.stages)
    first = part.costs[0]
    most = max(cost.gap_s[1] for cost in part.costs)
    return f"{first.gap_s[0]}–{most} s {'of all instances' if together else 'per instance'}; {first.why}"


def _other_limits(plan: Plan, fleet_limits: tuple[tuple[str, float], ...]) -> str:
    """Every limit of the plan that the form changed, with the fleet entry's value."""
    fleet = dict(fleet_limits)
    return ", ".join(
        f"{name} {_number(value)} (the fleet entry has {_number(fleet[name])})"
        for name, value in plan.limits
        if name in fleet and fleet[name] != value
    )


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,}"


def who_may_approve(declared: DeclaredApplication, requested_by: str) -> str:
    """People who may answer; the requester alone only without any other approver."""
    others = [name for name in declared.approvers if not (declared.four_eyes and name == requested_by)]
    return ", ".join(others) or f"only {requested_by}, who asked, and only with an emergency reason"


def _rejected(cards: tuple[Card, ...], *, second: bool) -> str:
    """The state after a rejection: the last card of each instance, if the requested bounce has begun."""
    last = {card.object: card.step for card in cards}
    if second and not any(card.misreads for card in cards):
        return "every instance stays on the new release, upgrade.from as it is set now"
    if not last:
        return "nothing is changed"
    steps = {step: [name for name, of in last.items() if of == step] for step in sorted(set(last.values()))}
    return "nothing more is changed, the changes so far stay: " + "; ".join(
        f"{step} on {', '.join(names)}" for step, names in steps.items()
    )


def when(at_ms: int, zone: str) -> str:
    """A time for a person: UTC, and the owner's zone if that is another one."""
    if zone in {"UTC", "Etc/UTC"}:
        return utc_minute(at_ms)
    return f"{utc_minute(at_ms)} ({utc(at_ms).astimezone(ZoneInfo(zone)):%H:%M} {zone})"
