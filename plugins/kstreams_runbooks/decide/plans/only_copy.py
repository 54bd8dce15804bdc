"""Whether a plan loses a store: it deletes, leaves or hands over files whose content no topic has.

1. What the plan does to local state: it deletes directories, changes `state.dir`, moves tasks to other instances (a
   static member keeps its own within its session timeout), or starts instances that do not find the state of before (a
   container created again without a volume).
2. The place of the content of each store that runs (decide/comparison/content.py), and whether the log that restores
   the store is whole (decide/reset/restoring.py).
3. A store that only disks have is refused, and one that is not known is inconclusive, unless its loss is accepted: by
   `loss_acceptable` of its declaration, or by a field of the form that names exactly these stores.

Each restart loses a store in memory without a changelog: a warning until its owners declare that as acceptable.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from kstreams_runbooks.decide.change.described import Known, with_full_names
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.content import Content, contents
from kstreams_runbooks.decide.comparison.left_files import emptied
from kstreams_runbooks.decide.comparison.setting_facts import DEFAULTS
from kstreams_runbooks.decide.plans.recreated import cleared_by
from kstreams_runbooks.decide.plans.reset import RESET
from kstreams_runbooks.decide.releases.consumer_settings import SESSION
from kstreams_runbooks.decide.reset.restoring import global_fates, restored_fate
from kstreams_runbooks.decide.runbooks import GREEN
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.local_state import GLOBAL, LOSE_STATE, Directories
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import Fate, RestoringLog
from kstreams_runbooks.model.runs.plan import InstanceCost, Plan
from kstreams_runbooks.model.times import SECOND_MS
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.topology.facts import FactsReading
from kstreams_runbooks.model.verdicts import Finding, Outcome, Verdict
from kstreams_runbooks.wording import first_of

GIVEN_UP = "state-given-up"
IN_PART = "state-given-up-in-part"
# The rule about a store that begins empty because of what a release changes.
BY_CHANGE = "only-copy-given-up"
IN_MEMORY = "only-copy-in-memory"
ELSEWHERE = "state-elsewhere"
_STATE_DIR = "state.dir"
_MOST = 3
_SOURCE = "Kafka Streams developer guide, State Stores, fault-tolerant state stores; docs/runbooks.md"
_COPY = "start from a copy of the directories (this run keeps one aside if the form names the store)"
_NO_COPY = (
    "copy the directories aside while the instances are stopped (this run keeps no copy; with {aside} in "
    "deployer.commands.clear_state it does)"
)
_DECLARE_DIR = "declare the directory of the program in the fleet entry"
_VOLUME = "give each instance a volume that stays"
_WRITTEN = "let every key be written once first"
_INSTEAD = "switch logging on first, under at_least_once, and let every key be written once"


@dataclass(frozen=True, slots=True)
class Cause:
    """What a plan does to files of stores: those in `directories`, none for all; `instead` is what does not lose them.

    `deletes` is False if files stay where they are, and a task may run without them: elsewhere, or after a start.
    `certain` is False if only that may happen.
    """

    what: str
    instead: str
    directories: Directories = ()
    deletes: bool = True
    certain: bool = True

    def takes(self, place: str) -> bool:
        """Whether the files of a subtopology, or of the global stores, are among them."""
        if place == GLOBAL or not self.directories:
            return not self.directories or GLOBAL in self.directories
        return any(name.rpartition("_")[0] == place for name in self.directories)


@dataclass(frozen=True, slots=True)
class AtStake:
    """A store that a plan may leave without its content, why, and by what; `fate` is `unknown` if that is not known.

    `in_part`: a topic restores it, but for what its files alone have.
    """

    store: str
    fate: Fate
    why: str
    causes: tuple[Cause, ...]
    declared: bool
    in_part: bool = False

    @property
    def is_open(self) -> bool:
        """Whether no file is deleted, and whether the store has a changelog is not known either."""
        return self.fate == "unknown" and not any(one.deletes for one in self.causes)

    @property
    def is_certain(self) -> bool:
        """Whether the store begins empty for certain; otherwise it may."""
        return self.fate != "unknown" and any(one.certain for one in self.causes)

    @property
    def begins(self) -> str:
        """How it begins afterwards, after a verb."""
        return "begin without what its files alone have" if self.in_part else "begin empty"


def losing(
    plan: Plan, *, keeps_state: bool | None = True, left: tuple[str, ...] = (), keeps_aside: bool = True
) -> tuple[Cause, ...]:
    """What a plan does to the files of stores; nothing if it judges itself what it rebuilds.

    `keeps_state` is whether a started instance finds the local state of before, None if its deployer does not show it.
    `left` are sentences about state in a directory that a started instance may not find. `keeps_aside`: its deployer
    can move what it would delete.
    """
    copy = _COPY if keeps_aside else _NO_COPY
    return () if judges_itself(plan) else tuple(dict.fromkeys(_losing(plan, keeps_state, left, copy)))


def state_elsewhere(abilities: Abilities, read: Mapping[str, FactsReading | Missing]) -> tuple[str, ...]:
    """Each instance whose program keeps its state in another directory than its deployer declares, as a sentence.

    `read` are the facts that instances show; one that shows none, or not this setting, is not known to.
    """
    found = list[str]()
    for instance, expected in abilities.state_dirs:
        facts = read.get(instance)
        if not isinstance(facts, FactsReading) or not facts.read.config:
            continue
        own = facts.read.config.get(_STATE_DIR) or DEFAULTS[_STATE_DIR]
        if _STATE_DIR not in facts.read.settings_not_read and not _may_be(own, expected):
            found.append(f"{instance} keeps its state in {own} ({_STATE_DIR} of its program), not in {expected}")
    return tuple(found)


def _may_be(own: str, expected: str) -> bool:
    """Whether a directory is the expected one; a relative one is, if the expected one ends with it."""
    name, parts = _parts(own), _parts(expected)
    return bool(name) and name == (parts if own.startswith("/") else parts[-len(name) :])


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in {"", "."}]


def judges_itself(plan: Plan) -> bool:
    """Whether its own decision names the stores that begin empty: a reset that clears state, and blue/green."""
    return plan.runbook == GREEN or (plan.runbook == RESET and ("mode", "offsets") not in plan.change)


def restoring_topics(before: Collection[Described], known: Known) -> frozenset[str]:
    """Full names of the topics that restore the stores of these versions, and of their global tables."""
    sides = [_side(one, known) for one in before]
    return task_topics(before, known) | {topic for side in sides for topic in side.global_stores}


def task_topics(before: Collection[Described], known: Known) -> frozenset[str]:
    """Full names of the topics from which a task restores the stores of these versions."""
    own = {_named(content, known).topic for one in before for content in contents(_side(one, known)).values()}
    return frozenset(own - {""})


def may_lose_state(
    plan: Plan,
    before: tuple[Described | Missing, ...],
    known: Known,
    logs: Mapping[str, RestoringLog] | Missing,
    named: tuple[str, ...],
    by: str,
    *,
    keeps_state: bool | None = True,
    unread: bool = False,
    back: tuple[Described | Missing, ...] = (),
    elsewhere: tuple[str, ...] = (),
    keeps_elsewhere: bool = True,
    keeps_aside: bool = True,
) -> Verdict:
    """Refuse a plan that loses what only local disks have, unless that is declared, or `named` in the form by `by`.

    `before` are the running versions, `logs` those that restore their stores and exist. `unread`: a person is asked
    about versions and stores of which nothing is known, as an undo does. `back` are the versions that an undo brings.
    `elsewhere` are the sentences of `state_elsewhere`, `keeps_elsewhere` whether a started instance finds that state.
    `keeps_aside` is whether the deployer moves the directories of a store that the form names, not deletes them.
    BadInput if `named` has a store that keeps its content. What is accepted is a finding for the approver.
    """
    left = () if keeps_elsewhere else elsewhere
    causes = losing(plan, keeps_state=keeps_state, left=left, keeps_aside=keeps_aside)
    described = [_side(one, known) for one in before if not isinstance(one, Missing)]
    missing = [one for one in before if isinstance(one, Missing) and causes and not named]
    brought = [_side(one, known) for one in back if not isinstance(one, Missing)]
    accepts = unread and not any(cause.deletes for cause in causes)
    unknown = [] if accepts else [_undescribed(plan, causes, one) for one in missing]
    findings = [_unseen(plan, causes, one) for one in missing] if accepts else []
    findings += [_not_compared(plan, one) for one in back if isinstance(one, Missing)]
    if elsewhere and any(cleared_by(stage) is not None for stage in plan.stages):
        # An older version would start on files that it cannot open, a reset would go on from what it should forget.
        unknown.append(
            f"{plan.runbook} clears local state where it is not: {first_of(elsewhere, _MOST, '; ')}; {_DECLARE_DIR}"
        )
    elif elsewhere and plan.bounces:
        findings.append(
            Finding(
                ELSEWHERE, "warning", plan.application, f"{first_of(elsewhere, _MOST, '; ')}; {_DECLARE_DIR}", _SOURCE
            )
        )
    stakes = list[AtStake]()
    for side in described:
        left_by = (found for target in brought for found in _left_by(side, target))
        stakes += [one for one in (*_at_stake(side, causes, known, logs), *left_by) if one not in stakes]
        findings += [
            one for one in (*_restored(causes, side, known, logs), *_in_memory(plan, side)) if one not in findings
        ]
    if len(described) == len(before):
        require_exact(named, {*given_up(plan.findings), *(one.store for one in stakes)})
    refused = list[str]()
    every = ",".join(dict.fromkeys(one.store for one in stakes if not one.declared))
    for stake in stakes:
        if stake.declared or stake.store in named:
            findings.append(_given_up(stake, "" if stake.declared else by, keeps_aside=keeps_aside))
        elif unread and stake.is_open:
            findings.append(_question(plan, stake))
        else:
            (refused if stake.is_certain else unknown).append(_sentence(plan, stake, every))
    if refused:
        return Verdict(Outcome.REFUSE, tuple(refused), tuple(findings))
    if unknown:
        return Verdict(Outcome.INCONCLUSIVE, tuple(unknown), tuple(findings))
    return Verdict(Outcome.PROCEED, ("no store begins empty that is not accepted",), tuple(findings))


def given_up(findings: Collection[Finding]) -> tuple[str, ...]:
    """The stores whose loss a plan accepts, by its findings, whole or in part."""
    return tuple(dict.fromkeys(one.object for one in findings if one.id in {GIVEN_UP, IN_PART, BY_CHANGE}))


def given_up_in_part(findings: Collection[Finding]) -> tuple[str, ...]:
    """Those of them that a topic restores, but for what their files alone have."""
    whole = {one.object for one in findings if one.id in {GIVEN_UP, BY_CHANGE}}
    return tuple(dict.fromkeys(one.object for one in findings if one.id == IN_PART and one.object not in whole))


def _losing(plan: Plan, keeps_state: bool | None, left: tuple[str, ...], copy: str) -> Iterator[Cause]:
    for stage in plan.stages:
        if (cleared := cleared_by(stage)) is not None:
            keep = "local_state=keep keeps the files" if plan.runbook == "stop_and_restart" else ""
            yield Cause(f"{plan.runbook} deletes {cleared.what}", keep or copy, cleared.names)
    before = {dict(one.settings).get(_STATE_DIR) for one in plan.facts.at_start}
    for bounce in plan.bounces:
        value = dict(bounce.settings).get(_STATE_DIR)
        if {value} != before:
            yield Cause(
                f"{_STATE_DIR} becomes {value or 'that of the program'}", "move the directory on every instance"
            )
    if plan.bounces:
        yield from _at_a_start(keeps_state, left)
    several = len(plan.facts.instances) > 1
    if several and plan.rolled and not plan.facts.static_membership:
        roll = "use static membership, which keeps tasks within the session timeout"
        yield Cause("tasks move to other instances while one is down (static_membership: false)", roll, deletes=False)
    elif several and plan.rolled:
        yield from _past_the_session(plan.costs)
    if several and plan.start is not None:
        # A task without a changelog counts as one without state, which the assignor gives to the least loaded instance.
        what = "a start of all instances may give a task to another one than before"
        yield Cause(what, "roll with static membership", deletes=False, certain=False)


def _at_a_start(keeps_state: bool | None, left: tuple[str, ...]) -> Iterator[Cause]:
    """What a started instance does not find, or may not."""
    if keeps_state is False:
        yield Cause("a started instance does not find the state of before (deployer.keeps_state: false)", _VOLUME)
    if keeps_state is None:
        what = "whether a started instance finds the state of before is not known"
        yield Cause(what, f"declare deployer.keeps_state, or {_VOLUME}", deletes=False, certain=False)
    if left:
        what = f"{first_of(left, _MOST, '; ')}, which the next container has only if it is mounted there"
        yield Cause(what, _DECLARE_DIR, deletes=False, certain=False)


def _past_the_session(costs: Collection[InstanceCost]) -> Iterator[Cause]:
    """Static members that are away for longer than their session, or may be: the others take their tasks."""
    if unknown := [cost for cost in costs if cost.session_ms is None]:
        why = f" ({unknown[0].session_source})" if unknown[0].session_source else ""
        what = f"{_away(unknown)}, and whether {SESSION} covers that is not known{why}: past it others take its tasks"
        yield Cause(what, f"declare {SESSION} of its release", deletes=False, certain=False)
    for certain in (True, False):
        late = [cost for cost in costs if cost.session_ms is not None and _outlasts(cost, cost.session_ms) is certain]
        if late:
            session_ms = min(cost.session_ms or 0 for cost in late)
            longer = f"set {SESSION} above {max(cost.gap_s[1] for cost in late)} s first"
            what = f"{_away(late)}, and others take its tasks after {SESSION} {session_ms:,}"
            yield Cause(what, longer, deletes=False, certain=certain)


def _away(costs: Collection[InstanceCost]) -> str:
    names = first_of([cost.instance for cost in costs], _MOST)
    each = " each" if len(costs) > 1 else ""
    return f"{names} is away for up to {max(cost.gap_s[1] for cost in costs)} s{each}"


def _outlasts(cost: InstanceCost, session_ms: int) -> bool | None:
    """Whether a restart takes longer than the session, False if it may, None if it does not."""
    low, high = (seconds * SECOND_MS > session_ms for seconds in cost.gap_s)
    return low if high else None


def _at_stake(
    side: Side, causes: tuple[Cause, ...], known: Known, logs: Mapping[str, RestoringLog] | Missing
) -> Iterator[AtStake]:
    for store, content in sorted(contents(side).items()):
        own = tuple(one for one in causes if one.takes(side.store_places[store]))
        deletes = any(one.deletes for one in own)
        if not own or (not deletes and content.restores):
            # A task that moves is restored as after any failure of an instance.
            continue
        full = _named(content, known)
        log = _log_of(full, logs)
        fate, why = restored_fate(full, side, log)
        if fate in {"lost", "unknown", "partly"}:
            in_part = bool(content.restores) and isinstance(log, RestoringLog)
            yield AtStake(store, fate, why, own, _is_accepted(side, store), in_part)
    own = tuple(one for one in causes if one.deletes and one.takes(GLOBAL))
    if own and not isinstance(logs, Missing):
        for found in global_fates(side, "state", logs):
            if found.fate in {"lost", "unknown", "partly"}:
                yield AtStake(found.store, found.fate, found.why, own, found.accepted, found.changelog in logs)


def _log_of(content: Content, logs: Mapping[str, RestoringLog] | Missing) -> RestoringLog | Missing | None:
    return logs if isinstance(logs, Missing) else logs.get(content.topic)


def _left_by(side: Side, target: Side) -> Iterator[AtStake]:
    """Stores whose files the version of an undo does not use, and whose content no topic has."""
    for one in emptied(Compared(side, target)):
        why = f"no topic has its content, and its files are left ({one.why})"
        cause = Cause(f"{target.declared.library or 'the version before'} takes over", "roll forward")
        fate: Fate = "unknown" if one.asks else "lost"
        asks = f"; declare {' and '.join(one.asks)}" if one.asks else ""
        yield AtStake(one.store, fate, f"{why}{asks}", (cause,), _is_accepted(side, one.store))


def _side(one: Described, known: Known) -> Side:
    version = parsed(one)
    return with_full_names(version, version, known).before


def _named(content: Content, known: Known) -> Content:
    """The content with the full name of its changelog."""
    return content.at(known.application.application_id)


def _is_accepted(side: Side, store: str) -> bool:
    declared = side.declared.stores.get(store)
    return declared is not None and declared.loss_acceptable


def require_exact(named: tuple[str, ...], lost: Collection[str]) -> None:
    """BadInput if the form names a store that keeps its content."""
    if strange := [one for one in named if one not in lost]:
        raise BadInput(
            f"{LOSE_STATE}: store {strange[0]} keeps its content in this run (expected: the stores that begin empty: "
            f"{first_of(sorted(lost), _MOST, ', ') or 'none'}); correct the field"
        )


def _undescribed(plan: Plan, causes: tuple[Cause, ...], one: Missing) -> str:
    what = " and ".join(cause.what for cause in causes)
    return (
        f"{what}, and which stores of {plan.application} only local disks have is not known: {one.missing}; trigger a "
        f"new run with --param {LOSE_STATE}=STORE,STORE that names the stores that may begin empty"
    )


def _unseen(plan: Plan, causes: tuple[Cause, ...], one: Missing) -> Finding:
    what = " and ".join(cause.what for cause in causes)
    message = f"{what}, and which stores only local disks have is not known: {one.missing}; such a store begins empty"
    return Finding("state-copies-not-known", "danger", plan.application, message, _SOURCE)


def _question(plan: Plan, stake: AtStake) -> Finding:
    what = " and ".join(one.what for one in stake.causes)
    message = f"store {stake.store} of {plan.application}: {stake.why}; {what}, and without a changelog it begins empty"
    return Finding("state-copies-not-known", "danger", stake.store, message, _SOURCE)


def _not_compared(plan: Plan, one: Missing) -> Finding:
    message = f"whether the version of the undo uses the files of every store is not known: {one.missing}"
    return Finding("state-copies-not-known", "danger", plan.application, message, _SOURCE)


def _sentence(plan: Plan, stake: AtStake, every: str) -> str:
    causes = [one for one in stake.causes if one.deletes and one.certain] or list(stake.causes)
    what = " and ".join(one.what for one in causes)
    instead = " or ".join(dict.fromkeys(one.instead for one in causes))
    would = "would" if stake.is_certain else "may"
    written = _WRITTEN if stake.in_part else _INSTEAD
    return (
        f"store {stake.store}: {stake.why}, and {what}: it {would} {stake.begins}. Instead, {instead}; or {written}. "
        f"To accept that, trigger {plan.runbook} again with --param {LOSE_STATE}={every}, or declare loss_acceptable"
    )


def _given_up(stake: AtStake, by: str, *, keeps_aside: bool) -> Finding:
    what = " and ".join(one.what for one in stake.causes)
    who = f"in the form by {by}" if by else "by its declaration (loss_acceptable)"
    begins = stake.begins.replace("begin", "begins", 1) if stake.is_certain else f"may {stake.begins}"
    message = f"store {stake.store} {begins}: {stake.why}, and {what}; accepted {who}; no undo brings it back"
    if any(one.deletes for one in stake.causes) and not keeps_aside:
        message += f"; {_NO_COPY}"
    if stake.in_part:
        return Finding(IN_PART, "danger", stake.store, message, _SOURCE)
    return Finding(GIVEN_UP, "danger", stake.store, message, _SOURCE)


def _restored(
    causes: tuple[Cause, ...], side: Side, known: Known, logs: Mapping[str, RestoringLog] | Missing
) -> Iterator[Finding]:
    """The topic of each store whose files a plan deletes or leaves, if it restores the store in full."""
    touched = [one for one in causes if one.deletes]
    named = [
        f"{store} from {full.topic}"
        for store, full in ((store, _named(content, known)) for store, content in sorted(contents(side).items()))
        if any(one.takes(side.store_places[store]) for one in touched)
        and restored_fate(full, side, _log_of(full, logs))[0] == "restored"
    ]
    if named:
        message = f"restored after {' and '.join(one.what for one in touched)}: {first_of(named)}"
        yield Finding("state-restored-from", "info", known.application.name, message, _SOURCE)


def _in_memory(plan: Plan, side: Side) -> Iterator[Finding]:
    """Stores that every restart empties: their owners accept that once, by declaration."""
    for store, content in sorted(contents(side).items()):
        if plan.bounces and content.place == "memory" and not _is_accepted(side, store):
            message = (
                f"store {store}: it is in memory without a changelog, and each restart of an instance loses what it "
                "holds there; declare loss_acceptable if that is intended"
            )
            yield Finding(IN_MEMORY, "warning", store, message, _SOURCE)
