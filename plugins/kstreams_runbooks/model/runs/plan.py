"""A plan is a value with a digest: the actions of a run, and the facts from which its steps were chosen.

It never binds offsets, lag, starts or times: planning again from unchanged facts yields the same digest.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from kstreams_runbooks.model.copying import with_until
from kstreams_runbooks.model.local_state import AfterKill, RestoredFirst
from kstreams_runbooks.model.runs.input_holds import InputHold, input_holds
from kstreams_runbooks.model.runs.object_stages import CreateTopics, DeleteTopics, TopicStage
from kstreams_runbooks.model.runs.stages import Bounce, Stage, StartAll, StopAll, deployed
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.model.verdicts import Finding

_EXPLAINING = frozenset({"costs", "findings", "undo", "title", "worst_case", "then", "bound"})


@dataclass(frozen=True, slots=True)
class DeployedInstance:
    """The deployment of an instance: `version` is the Kafka Streams release inside `release`.

    `build` is which build of `release` it was; empty if its deployer does not know it.
    """

    instance: str
    release: str
    settings: tuple[tuple[str, str], ...]
    version: str
    build: str = ""

    @property
    def target(self) -> Target:
        """What it is set to."""
        return Target(self.release, self.settings)

    @property
    def deployed(self) -> str:
        """Release and settings, for a person."""
        return deployed(self.release, self.settings)


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """The facts from which the steps were chosen; any change of them leads to another plan.

    `group_type` is empty for an application out of use, whose group may be unknown to the brokers.
    """

    group_type: str
    topics: tuple[tuple[str, str, int], ...]
    instances: tuple[str, ...]
    at_start: tuple[DeployedInstance, ...]
    static_membership: bool
    code: str


@dataclass(frozen=True, slots=True)
class InstanceCost:
    """What bouncing one instance costs: seconds without processing of its partitions, and why.

    `session_ms` is the session timeout of its member as it runs now, None if it is not known. `longer` is why it may
    take longer than `gap_s`, by a time that is not known; empty if it does not.
    """

    instance: str
    gap_s: tuple[int, int]
    why: str
    session_ms: int | None = None
    session_source: str = ""
    longer: str = ""


@dataclass(frozen=True, slots=True)
class SidePart:
    """Another application of a run, by its `role`: the facts that the plan binds about it, and its costs."""

    role: str
    application: str
    cluster: str
    facts: PlanFacts
    costs: tuple[InstanceCost, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The actions of a run, stage after stage. `limits` are name and value, in the units of the fleet declaration.

    `application`, `cluster`, `facts` and `costs` are those of the first side, whose role is empty; `sides` are the
    others. `bound` is the digest of the whole plan if this is one side's part of it (`of_side`).

    `emptied` are the stores whose loss is accepted: they begin empty, or if they are `in_part` too, with what a topic
    restores, and without what their files alone have. `after_kill` is the local state that an instance does not keep if
    it is killed, `restored_first` the releases that are not stopped while a task restores.

    `title` names it in one line, `worst_case` describes possible damage while it runs. With `at_once` every instance
    is down before the first starts again; otherwise they are taken one after another. `then` lists the steps left for
    other runs of the same runbook once this one has ended.
    """

    runbook: str
    application: str
    cluster: str
    change: tuple[tuple[str, str], ...]
    limits: tuple[tuple[str, float], ...]
    stages: tuple[Stage, ...]
    facts: PlanFacts
    costs: tuple[InstanceCost, ...]
    findings: tuple[Finding, ...]
    undo: tuple[str, ...]
    title: str
    worst_case: str
    at_once: bool = False
    then: tuple[str, ...] = ()
    sides: tuple[SidePart, ...] = ()
    bound: str = ""
    emptied: tuple[str, ...] = ()
    in_part: tuple[str, ...] = ()
    after_kill: tuple[AfterKill, ...] = ()
    restored_first: tuple[RestoredFirst, ...] = ()

    @property
    def losses(self) -> tuple[str, ...]:
        """What each store of `emptied` begins with, as clauses."""
        begins = (
            (one, "without what its files alone have" if one in self.in_part else "empty") for one in self.emptied
        )
        return tuple(f"{store} begins {how}" for store, how in begins)

    @property
    def bounces(self) -> tuple[Bounce, ...]:
        """The stages that leave instances on a release, a start included, and a stop after which they stay down."""
        ends = (StartAll, StopAll)
        found = (one.bounce if isinstance(one, ends) and _leaves(one) else one for one in self.stages)
        return tuple(one for one in found if isinstance(one, Bounce))

    @property
    def start(self) -> StartAll | Bounce | None:
        """The stage that starts every instance for good once all of them are down, None without one."""
        found = next((one for one in reversed(self.stages) if isinstance(one, StartAll)), None)
        return self.bounces[0] if found is None and self.at_once and self.bounces else found

    @property
    def stop(self) -> StopAll | None:
        """The stop before that start, None if the start includes it."""
        return next((one for one in reversed(self.stages) if isinstance(one, StopAll)), None)

    def start_after(self, stop: StopAll) -> StartAll | StopAll:
        """The stage that starts what a stop has stopped; the stop itself if its instances stay down."""
        starts = (one for one in self.stages if isinstance(one, StartAll) and one.side == stop.side)
        return stop if stop.stays else next(one for one in starts if one.number > stop.number)

    @property
    def stays_down_as(self) -> Target | None:
        """What the instances are set to that the plan leaves down; None if it leaves none down. Of one side."""
        return next((one.stays for one in self.stages if isinstance(one, StopAll) and one.stays), None)

    def holds(self, stop: StopAll) -> bool:
        """Whether something waits from a stop on: not if it is a copier into topics that the plan itself creates."""
        return not (stop.side and any(isinstance(one, CreateTopics) for one in self.stages if one.number < stop.number))

    def with_until(self, until: str) -> "Plan":
        """The same plan with the offsets before which a copier ends by itself, which are not known at its beginning."""
        stages = tuple(
            replace(one, settings=with_until(one.settings, until)) if isinstance(one, StartAll) else one
            for one in self.stages
        )
        return replace(self, stages=stages, bound=self.digest)

    @property
    def input_holds(self) -> tuple[InputHold, ...]:
        """Every hold of its inputs, in the order of its stages; none if it holds none."""
        return input_holds(self.stages)

    @property
    def switching(self) -> InputHold | None:
        """The hold in which it stops what it changes, None without one."""
        return next((one for one in self.input_holds if one.stops), None)

    @property
    def going(self) -> frozenset[str]:
        """Internal topics that it deletes once nothing writes to them: what they are like does not matter before."""
        found = (one.topics for one in self.stages if isinstance(one, DeleteTopics) and one.at_rest)
        return frozenset(name for topics in found for name in topics)

    def deleted_before(self, stage: Stage) -> frozenset[str]:
        """Topics that exist now, and that an earlier stage deletes."""
        earlier = (one for one in self.stages if isinstance(one, DeleteTopics) and one.number < stage.number)
        return frozenset(name for one in earlier for name in one.topics)

    @property
    def rolled(self) -> tuple[Bounce, ...]:
        """The bounces that take one instance after another."""
        return tuple(one for one in self.stages if isinstance(one, Bounce) and one is not self.start)

    @property
    def parts(self) -> tuple[SidePart, ...]:
        """Every side, the first with the empty role."""
        return (SidePart("", self.application, self.cluster, self.facts, self.costs), *self.sides)

    @property
    def topics(self) -> tuple[str, ...]:
        """Names of the topics that it binds or creates."""
        created = (topic.name for one in self.stages if isinstance(one, CreateTopics) for topic in one.topics)
        return tuple(dict.fromkeys([*(name for name, *_ in self.facts.topics), *created]))

    def application_of(self, stage: Stage) -> str:
        """The application of the side that a stage concerns."""
        return {one.role: one.application for one in self.parts}[stage.side]

    def sentence_of(self, stage: Stage) -> str:
        """What a stage does, with the application in place of its role."""
        sentence = (replace(stage, side=self.application_of(stage)) if stage.side else stage).sentence
        changed = self.changed_settings(stage)
        return f"{sentence} (changed: {', '.join(changed)})" if changed else sentence

    def changed_settings(self, stage: Stage) -> tuple[str, ...]:
        """The settings that a stage changes, as `num.stream.threads 1 → 2`; empty if it changes none.

        The values before it are those of the stage before, or those with which the run began.
        """
        if not isinstance(stage, Bounce | StartAll):
            return ()
        own = stage.bounce if isinstance(stage, StartAll) else stage
        before, after = [dict(one.settings) for one in self.before(own)], dict(stage.settings)
        found = []
        for name in sorted({*after, *(name for one in before for name in one)}):
            had = sorted({one.get(name, "unset") for one in before})
            if had != [after.get(name, "unset")]:
                found.append(f"{name} {' and '.join(had) or 'unset'} → {after.get(name, 'unset')}")
        return tuple(found)

    def before(self, bounce: Bounce) -> tuple[DeployedInstance, ...]:
        """What each instance of a bounce runs before it: as the bounce before left it, or as the run found it."""
        part = next((one for one in self.parts if one.role == bounce.side), self.parts[0])
        found = []
        for began in part.facts.at_start:
            earlier = [one for one in self.bounces if one.side == bounce.side and one.takes(began.instance)]
            last = next((one for one in reversed(earlier) if one.number < bounce.number), None)
            was = began if last is None else DeployedInstance(began.instance, last.release, last.settings, last.version)
            if bounce.takes(began.instance):
                found.append(was)
        return tuple(found)

    def ends_way_back(self, bounce: Bounce) -> bool:
        """Whether a bounce is a point of no return: from the last of a library bump on, the new formats are written."""
        several = self.runbook == "library_bump" and self.start is None and len(self.bounces) > 1
        return several and bounce.number == self.bounces[-1].number

    def of_application(self, application: str) -> "Plan":
        """The part of the side that this application is (`of_side`); KeyError for one that is none of its sides."""
        return self.of_side({one.application: one.role for one in self.parts}[application])

    def of_side(self, role: str) -> "Plan":
        """One side's part, with the digest of the whole; KeyError for an unknown role.

        It has the side's own stages and, because every application of the cluster may see them, the stages that change
        topics there.
        """
        if not self.sides and not role:
            return self
        clusters = {one.role: one.cluster for one in self.parts}
        part = {one.role: one for one in self.parts}[role]
        stages = tuple(
            one
            for one in self.stages
            if one.side == role or (isinstance(one, TopicStage) and clusters[one.side] == part.cluster)
        )
        return replace(
            self,
            application=part.application,
            cluster=part.cluster,
            facts=part.facts,
            costs=part.costs,
            stages=stages,
            sides=(),
            bound=self.digest,
            after_kill=tuple(one for one in self.after_kill if one.side == role),
            restored_first=tuple(one for one in self.restored_first if one.side == role),
        )

    def stopped_before(self, stage: Stage) -> tuple[StopAll, ...]:
        """The stops before a stage after which no instance of their side has been started when its turn comes."""
        last: dict[str, Stage] = {}
        for one in sorted(self.stages, key=lambda one: one.number):
            if one.number < stage.number and isinstance(one, Bounce | StopAll | StartAll):
                last[one.side] = one
        return tuple(one for one in last.values() if isinstance(one, StopAll))

    def limit(self, name: str) -> float:
        """Value of one limit."""
        return dict(self.limits)[name]

    def bounce(self, number: int) -> Bounce | None:
        """The numbered bounce that takes one instance after another, None if this path does not need it."""
        return next((bounce for bounce in self.rolled if bounce.number == number), None)

    def last_of(self, instance: str) -> Bounce | None:
        """The bounce on which an instance ends, None if the plan does not change it."""
        return next((bounce for bounce in reversed(self.bounces) if bounce.takes(instance)), None)

    @property
    def digest(self) -> str:
        """First 16 hex digits of the SHA-256 over the canonical JSON of the binding parts.

        Explanations of the plan may carry measured figures: they do not bind.
        """
        if self.bound:
            return self.bound
        binding = _binding(asdict(self))
        # The costs of the other sides explain as those of the first.
        binding["sides"] = [_binding(side) for side in binding["sides"]]
        text = json.dumps(binding, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]


def _binding(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parts.items() if name not in _EXPLAINING}


def _leaves(stage: StartAll | StopAll) -> bool:
    return isinstance(stage, StartAll) or stage.stays is not None
