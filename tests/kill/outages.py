"""What happens to the brokers in the middle of a task: which one is killed, when, and for how long it is away."""

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.runs.ledger import Evidence
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.steps.instances.watch_trigger import SAW
from lab.application import Deployed
from lab.brokers import NODES, Brokers
from lab.kafka import INPUTS

from kill.harness import Strike
from kill.moments import Kill, Missed, Target, doing, wait_for

_AT_WORK = frozenset({"running", "deferred", "awaiting_input"})
# A reading that began before the kill may end after it.
_STALE_S = 2
_LATEST_S, _LONGEST_S = 2.0, 15.0
_SAID = 4
# Decisions by which a run goes on.
_GATES = frozenset({"gate", "drained", "certified", "ready_for_change", "every_member_runs", "change_verified"})


class Outage(StrEnum):
    """What is done to the brokers."""

    COORDINATOR = "the broker with the group's offsets is killed"
    CONTROLLER = "the broker that is the active controller is killed"
    LEADER = "the broker that leads the first input is killed"
    ELECTION = "the preferred leaders are elected"
    TWO = "two brokers are killed: min.insync.replicas and the quorum are lost"
    BELOW = "a broker is killed while min.insync.replicas is 3: leaders move, and no record is acknowledged"


# Nothing that needs an acknowledged record can be proven meanwhile.
_NOTHING_PROVEN = frozenset({Outage.TWO, Outage.BELOW})
_KILLS = (Outage.COORDINATOR, Outage.CONTROLLER, Outage.LEADER)


@dataclass(frozen=True)
class Blow:
    """One outage: `delay_s` after its task was seen at work; a killed broker is started again after `away_s`."""

    outage: Outage
    delay_s: float
    away_s: float

    def __call__(self, target: Target, after_try: int) -> Kill:
        """Wait for the task, strike, and return once the cluster is whole again; Missed if the task was over before."""
        brokers = Brokers(target.stack.lab, target.stack.supervisor)
        brokers.wait_whole()
        nodes = self._nodes(brokers)
        task = wait_for(target, after_try, lambda found: found["state"] in _AT_WORK)
        # A task that takes a second is struck at once.
        waits = task["state"] in {"deferred", "awaiting_input"}
        time.sleep(self.delay_s if waits else 0)
        at = time.time()
        if self.outage is Outage.BELOW:
            brokers.demand_in_sync(NODES)
        changed = brokers.elect_preferred() if self.outage is Outage.ELECTION else 0
        for node in nodes:
            brokers.kill(node)
        try:
            _require_in_its_middle(target, int(task["try_number"]), at)
        except Missed:
            brokers.start_missing()
            raise
        time.sleep(max(0.0, self.away_s - (time.time() - at)) if nodes else 0)
        back = time.time()
        for node in nodes:
            brokers.start(node)
        behind = brokers.wait_whole()
        whole = time.time()
        kept = [one for one in _kept(target) if at * 1000 <= one.at_ms <= whole * 1000]
        number = int(task["try_number"])
        return Kill(
            target.task,
            self.outage,
            number,
            round(at - _began(target, number), 1),
            doing(target, number),
            away=f"{changed} leaders changed" if not nodes else f"{_named(nodes)}, {whole - at:.0f} s{_behind(behind)}",
            meanwhile=said(kept),
            faults=tuple(passed_without_quorum(kept, at, back)) if self.outage in _NOTHING_PROVEN else (),
        )

    def _nodes(self, brokers: Brokers) -> tuple[int, ...]:
        """The nodes to kill."""
        if self.outage is Outage.ELECTION:
            return ()
        if self.outage is Outage.CONTROLLER:
            return (brokers.controller(),)
        if self.outage in {Outage.LEADER, Outage.BELOW}:
            return (brokers.leader(INPUTS[0], 0),)
        coordinator = brokers.coordinator(Deployed().application_id)
        if self.outage is Outage.COORDINATOR:
            return (coordinator,)
        # The coordinator stays, and with it the group: what is read of it is at its most convincing.
        return tuple(node for node in brokers.nodes if node != coordinator)


def dealt(tasks: Sequence[str], seed: int, count: int, most: int) -> list[list[Strike]]:
    """The strikes of `count` runs, in the order of their tasks: each task once before any is struck again.

    A run has `most`; an election comes after a kill, which moves the leaders.
    """
    draw = random.Random(seed)
    each = min(most, len(tasks))
    deck: list[str] = []
    runs = []
    for _ in range(count):
        mine: list[str] = []
        while len(mine) < each:
            if not deck:
                deck = draw.sample(list(tasks), len(tasks))
            card = next((one for one in deck if one not in mine), None)
            if card is None:
                deck = []
                continue
            deck.remove(card)
            mine.append(card)
        mine.sort(key=list(tasks).index)
        kinds: list[Outage] = draw.sample(_KILLS, len(_KILLS))[:each]
        kinds += [draw.choice(_KILLS) for _ in range(each - len(kinds))]
        if each > 1 and draw.random() < 1 / 2:
            kinds[-1] = Outage.ELECTION
        runs.append([Strike(task, drawn_blow(kind, draw)) for task, kind in zip(mine, kinds, strict=True)])
    return runs


def drawn_blow(outage: Outage, draw: random.Random) -> Blow:
    """An outage at a drawn moment, for a drawn time."""
    return Blow(outage, round(draw.uniform(0, _LATEST_S), 1), round(draw.uniform(1, _LONGEST_S), 1))


def _require_in_its_middle(target: Target, number: int, at: float) -> None:
    """Missed if Airflow has an end of that try from before the strike."""
    ended = target.tried(number)["end_date"]
    if ended and datetime.fromisoformat(ended).timestamp() < at:
        raise Missed(f"{target.task} had ended before the brokers were struck")


def _began(target: Target, number: int) -> float:
    return datetime.fromisoformat(target.tried(number)["start_date"]).timestamp()


def _kept(target: Target) -> list[Evidence]:
    """What the run has decided, and what its waits saw."""
    ledger = Ledger.open()
    kept = [one for one in ledger.evidence(target.run_key, kind="verdict") if one.name in _GATES]
    return sorted([*kept, *ledger.evidence(target.run_key, kind="note", name=SAW)], key=lambda one: one.id)


def _sentence(one: Evidence) -> str:
    if one.kind == "note":
        return str(one.payload["sentence"])
    result: dict[str, Any] = one.payload["result"]
    return f"{one.name}: {result['outcome']}{': ' if result['reasons'] else ''}{'; '.join(result['reasons'])}"


def said(kept: Sequence[Evidence]) -> tuple[str, ...]:
    """The sentences, the first of each kind of answer; how many more there were."""
    first: dict[str, str] = {}
    for sentence in map(_sentence, kept):
        first.setdefault(sentence[:40], sentence)
    lines = [*first.values()]
    more = len(kept) - len(lines[:_SAID])
    return (*lines[:_SAID], *((f"and {more} more",) if more > 0 else ()))


def _named(nodes: Sequence[int]) -> str:
    return f"broker{'s' * (len(nodes) > 1)} {', '.join(map(str, nodes))}"


def _behind(partitions: int) -> str:
    return f" ({partitions} partitions still lack a replica)" if partitions else ""


def passed_without_quorum(kept: Sequence[Evidence], at: float, back: float) -> Iterator[str]:
    """Every gate that passed while no record could be acknowledged."""
    for one in kept:
        passed = f"{Outcome.PROCEED}" in _sentence(one).split(";")[0]
        if passed and (at + _STALE_S) * 1000 <= one.at_ms <= back * 1000:
            yield f"{one.task_id} passed while no record could be acknowledged: {_sentence(one)}"
