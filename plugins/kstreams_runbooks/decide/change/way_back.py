"""The way back from a change: what the old version finds once the new one has run, and the runbook that it needs.

The runbook is that of the change in the other direction. What an undo clears and restores by itself is named.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.change.answer import MILD, MILDEST_FIRST, change_plan
from kstreams_runbooks.decide.change.library import LIBRARY_CHANGED
from kstreams_runbooks.decide.change.rules import Fired
from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.directories import directories_to_delete, directories_to_undo
from kstreams_runbooks.decide.comparison.prediction import changelog_topics
from kstreams_runbooks.decide.comparison.setting_facts import protocol_of
from kstreams_runbooks.decide.comparison.state.makers import new_column_family
from kstreams_runbooks.decide.releases.answers import CLEAR_STATE, DRAIN
from kstreams_runbooks.model.local_state import shown
from kstreams_runbooks.model.topology.change import ChangeFinding, ChangeRunbook
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.wording import first_of

_MOST = 3
# Runbooks of a change that delete what the old version would start with. Each is also the way back, from the inputs.
_GIVES_UP: Mapping[ChangeRunbook, str] = {
    "reset_and_cleanup": "reset_and_cleanup deletes the state and the internal topics of the old version",
    "partition_increase": "keys have moved to other partitions, and the old version does not find their state there",
}
# Findings about a store that does not get back what it held, and what becomes of it.
_GIVEN_UP = {"only-copy-given-up": "begins empty", "only-copy-removed": "comes back empty"}


@dataclass(frozen=True, slots=True)
class WayBack:
    """What keeps the old version from starting in place of the new one; empty if nothing does.

    `doors` are sentences, each about one thing that a change opens one way. `runbooks` are those of the change back if
    they are heavier than the plan's or `loses` is set (records or state do not come back), `because` the findings
    behind that. `clears` are task directories that an undo deletes, and whose stores restore. `rebuilds`: the way back
    builds state from what the inputs still have.
    """

    doors: tuple[str, ...] = ()
    runbooks: tuple[ChangeRunbook, ...] = ()
    because: tuple[str, ...] = ()
    clears: tuple[str, ...] = ()
    loses: bool = False
    rebuilds: bool = False

    @property
    def sentences(self) -> tuple[str, ...]:
        """At most two: what does not go back in place, and how to go back."""
        told = [f"no way back in place: {first_of(self.doors, _MOST, '; ')}"] if self.doors else []
        clears = f"an undo clears and restores {', '.join(self.clears)}" if self.clears else ""
        how = " and then ".join(self.runbooks) or ("" if clears else "no runbook makes it safe")
        if self.because or self.doors:
            reasons = f" ({first_of(self.because, _MOST)})" if self.because else ""
            cost = "; what came since the change is lost" if self.loses else ""
            cost = "; it builds what the inputs still have, and the rest is lost" if self.rebuilds else cost
            told.append(f"way back: {'; '.join(part for part in (f'{how}{reasons}'.strip(), clears) if part)}{cost}")
        return tuple(told)


NOTHING_IN_THE_WAY = WayBack()


def way_back(compared: Compared, forward: Fired, back: Fired, runbooks: tuple[ChangeRunbook, ...]) -> WayBack:
    """The way back of a plan with these runbooks; `back` has what fires in the other direction."""
    if gives_up := [why for one, why in _GIVES_UP.items() if one in runbooks]:
        return WayBack((*gives_up, *_given_up(forward)), ("reset_and_cleanup",), loses=True, rebuilds=True)
    if not runbooks or not set(runbooks) <= set(MILD):
        return NOTHING_IN_THE_WAY
    known = {(one.id, one.object) for one in forward.findings if one.covered_by is None and one.severity == "danger"}
    open_ = [one for one in back.findings if one.covered_by is None and one.severity != "info"]
    plan = change_plan(Fired(back.findings, ()))
    heavier = [one for one in open_ if one.refuse or _weight(one) > max(map(MILDEST_FIRST.index, runbooks))]
    lossy = [
        one for one in open_ if one.severity == "danger" and (one.id, one.object) not in known and one not in heavier
    ]
    doors = (*_given_up(forward), *_doors(compared, back))
    state_lost = any(True for _ in _changelogs_left(compared)) or not set(plan.runbooks) <= set(MILD)
    loses = bool(lossy) or state_lost or plan.verdict is Outcome.REFUSE
    if not (heavier or lossy or doors):
        return NOTHING_IN_THE_WAY
    gone = set(directories_to_delete(compared).names)
    clears = () if state_lost else tuple(shown(directories_to_undo(compared, gone).names))
    because = tuple(f"{one.id}: {one.object}" for one in (*heavier, *lossy))
    return WayBack(doors, plan.runbooks, because, clears, loses)


def swapped(compared: Compared) -> Compared:
    """The change in the other direction: what a person stated about both versions holds for it too."""
    before, after = compared.before, compared.after
    stated = replace(before.declared, unchanged=after.declared.unchanged)
    return Compared(after, replace(before, declared=stated))


def _given_up(forward: Fired) -> Iterator[str]:
    """Stores that begin empty because that is accepted, and those that go with the only copy of their content."""
    for one in forward.findings:
        if one.id in _GIVEN_UP and one.covered_by is None:
            yield f"store {one.object} {_GIVEN_UP[one.id]}, and no undo brings back what it held"


def _weight(finding: ChangeFinding) -> int:
    return MILDEST_FIRST.index(finding.runbooks[0]) if finding.runbooks else 0


def _doors(compared: Compared, back: Fired) -> Iterator[str]:
    before, after = compared.before.declared, compared.after.declared
    for store in sorted(before.stores.keys() & after.stores.keys()):
        if gets := new_column_family(compared, before.stores[store], after.stores[store]):
            yield f"the files of store {store} get {gets}, which the old version does not open"
    for store, was, now in _changelogs_left(compared):
        yield (
            f"store {store} restores from {now} from now on, and {was} gets no more records: the old version would "
            "restore from it what is there at the change"
        )
    was, now = protocol_of(before), protocol_of(after)
    if None not in (before.config, after.config) and was != now:
        yield f"the group has group.protocol {now}, which changes back only while it is empty"
    for one in back.findings:
        if one.id == LIBRARY_CHANGED and (one.refuse or any(duty in one.message for duty in (DRAIN, CLEAR_STATE))):
            yield one.message


def _changelogs_left(compared: Compared) -> Iterator[tuple[str, str, str]]:
    """Stores that get a topic which is read for their changelog, with their own one and that topic."""
    was, now = changelog_topics(compared.before), changelog_topics(compared.after)
    inputs = compared.after.read(is_global=False)
    for store in sorted(was.keys() & now.keys()):
        declared = compared.after.declared.stores.get(store)
        topic = (declared.changelog if declared is not None else None) or now[store]
        before = compared.before.declared.stores.get(store)
        own = (before.changelog if before is not None else None) or was[store]
        if own != topic and topic in inputs:
            yield store, own, topic
