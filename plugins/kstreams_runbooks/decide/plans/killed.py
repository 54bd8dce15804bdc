"""Local state after a kill: a known defect may let the next start of an instance take it as it is.

1. The plan has what is deleted then, and what keeps a run from it (`after_kill`): only directories whose stores a topic
   restores in full are deleted by a run.
2. After each end of a process, and before its next start, `left_state` decides by how it ended. Only the deployer knows
   that; if it does not report it, the end counts as a kill.
3. Whether an instance that is down now was killed is a finding of `check`, `plan` and `readiness`
   (decide/change/defects.py).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.change.defects import CLEARS, defects_with, known_facts
from kstreams_runbooks.decide.change.described import Known, with_full_names
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.content import contents
from kstreams_runbooks.decide.plans.basis import restore_cost
from kstreams_runbooks.decide.reset.restoring import restored_fate
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.local_state import AfterKill, LeftState, TaskDirectories
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.readings.reset import RestoringLog
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.wording import first_of

_MOST = 3


def after_kill(
    plan: Plan,
    reading: ApplicationReading,
    declared: DeclaredApplication,
    versions: tuple[Described, ...],
    unread: tuple[str, ...],
    known: Known,
    logs: Mapping[str, RestoringLog] | Missing,
    elsewhere: tuple[str, ...],
    abilities: Abilities,
    rules: UpgradePathRules,
) -> AfterKill | None:
    """The local state that an instance of a plan does not keep after a kill; None if no defect needs that.

    `versions` are those that run and the one that is brought, `unread` why one of them is not described, `logs` those
    that restore their stores and exist, `elsewhere` the sentences of `state_elsewhere`.
    """
    settings = plan.bounces[-1].settings if plan.bounces else ()
    facts = known_facts(reading, declared, () if unread else versions, settings)
    libraries = {*(one.version for one in plan.facts.at_start), *(one.version for one in plan.bounces)}
    rows = {library: defects_with(CLEARS, library, facts, rules) for library in sorted(libraries)}
    defects = tuple(dict.fromkeys(row for found in rows.values() for row in found))
    if not defects:
        return None
    sides = [with_full_names(side, side, known).before for side in map(parsed, versions)]
    unclear = (*unread, *elsewhere, *(why for side in sides for why in _not_restored(side, known, logs)))
    if abilities.act and not abilities.clear_directories:
        unclear = (*unclear, f"the deployer of {declared.name} does not delete single task directories")
    directories = {f"{place}_" for side in sides for place in side.store_places.values()}
    topics = {one.at(known.application.application_id).topic for side in sides for one in contents(side).values()}
    clears = TaskDirectories(tuple(sorted(directories)), tuple(sorted(topics - {""})))
    bitten = tuple(library for library, found in rows.items() if found)
    if not clears.names and not unclear:
        return None
    return AfterKill(bitten, defects, clears, unclear=first_of(tuple(dict.fromkeys(unclear)), _MOST, "; "))


def with_kills(plan: Plan, kills: Collection[AfterKill], restored: Mapping[str, int | Missing]) -> Plan:
    """The plan with what becomes of local state after a kill, in its worst case too; `restored` are bytes by role."""
    sentences = [_worst_case(plan, one, restored[one.side]) for one in kills]
    return replace(plan, after_kill=tuple(kills), worst_case="; ".join((plan.worst_case, *sentences)))


def left_state(
    kill: AfterKill, instance: str, ended: bool | Missing, ran: tuple[str, ...], asks: str, *, gone: bool
) -> LeftState:
    """What becomes of the local state of an instance whose process has ended.

    `ended` is whether it ended cleanly, `ran` the releases that it may have run (empty: any), `asks` what a person
    does, `gone` whether its deployer shows none of the directories.
    """
    if ended is True or gone or (ran and not set(ran) & set(kill.libraries)):
        return LeftState()
    how = "it was killed" if ended is False else f"how it ended is not known ({ended.missing})"
    on, defects = " or ".join(kill.libraries), ", ".join(kill.defects)
    why = f"{how}, and {on} may keep writes that were not committed ({defects})"
    if kill.unclear:
        return LeftState(
            stays_down=f"{instance} is not started: {why}; this run does not delete its state: {kill.unclear}; {asks}"
        )
    return LeftState(kill.clears, f"{why}: clears {kill.clears.what} before its start")


def _not_restored(side: Side, known: Known, logs: Mapping[str, RestoringLog] | Missing) -> Iterator[str]:
    """Each store of tasks that no topic restores in full, as a sentence, unless its loss is declared acceptable."""
    for store, content in sorted(contents(side).items()):
        full, declared = content.at(known.application.application_id), side.declared.stores.get(store)
        fate, why = restored_fate(full, side, logs if isinstance(logs, Missing) else logs.get(full.topic))
        if fate not in {"restored", "gone"} and not (declared is not None and declared.loss_acceptable):
            yield f"store {store}: {why}"


def _worst_case(plan: Plan, kill: AfterKill, restored: int | Missing) -> str:
    which = {one.role: one.application for one in plan.parts}[kill.side]
    begins = f"if an instance of {which} on {' or '.join(kill.libraries)} does not end by itself and is killed"
    if kill.unclear:
        return f"{begins}, it stays down for a person ({', '.join(kill.defects)}): {kill.unclear}"
    costs = restore_cost(restored, topics=kill.clears.changelogs)
    return f"{begins}, the run clears {kill.clears.what} before it starts it ({', '.join(kill.defects)}): {costs}"


def killed_sentence(kill: AfterKill, delete: str) -> str:
    """The part of a request to a person who stops and starts an instance; `delete` is the request to delete state."""
    done = f"do not start it yet: {kill.unclear}" if kill.unclear else f"{delete} before you start it"
    return f"if the process does not end by itself and is killed, {done} ({', '.join(kill.defects)})"
