"""What a plan does with the local state of an instance that is killed, and what each end of a process needs."""

from dataclasses import dataclass, field, replace

from kstreams_runbooks.decide.change.defects import CLEARS, defects_with, known_facts
from kstreams_runbooks.decide.plans.killed import after_kill, killed_sentence, left_state
from kstreams_runbooks.decide.plans.killed import with_kills as with_worst_case
from kstreams_runbooks.decide.plans.only_copy import restoring_topics, state_elsewhere
from kstreams_runbooks.deployers import Deployer
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.ledger.card_facts import instance_facts
from kstreams_runbooks.model.local_state import AfterKill, LeftState, TaskDirectories, is_in
from kstreams_runbooks.model.readings.readings import Deployment, InstanceReading, Missing, StreamsReading
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.rules import upgrade_path_rules
from kstreams_runbooks.steps.plan.cards import bytes_of_topics, last_card
from kstreams_runbooks.steps.plan.late_losses import versions_of
from kstreams_runbooks.steps.plan.only_copy import logs_of
from kstreams_runbooks.steps.plan.releases import known_of
from kstreams_runbooks.steps.run.run import Run

# The ledger's entry for local state that was deleted after a kill.
CLEARED = "cleared after a kill"


def with_kills(run: Run, made: Plan, taken_by: str) -> Plan:
    """The plan with the local state that an instance does not keep after a kill, for each application of it.

    `taken_by` is the step whose reading has the instances.
    """
    kills, restored = list[AfterKill](), dict[str, int | Missing]()
    for part in made.parts:
        side, own = run.on(part.application), made.of_side(part.role)
        if side.application.copies or side.application.as_deployed or not own.bounces:
            continue
        reading, rules = side.observed(taken_by), upgrade_path_rules()
        libraries = {*(one.version for one in own.facts.at_start), *(one.version for one in own.bounces)}
        facts = known_facts(reading, side.declared, ())
        if not any(defects_with(CLEARS, library, facts, rules) for library in libraries):
            continue
        try:
            versions, unread = versions_of(side, reading, own)
        except RunbookError as error:
            versions, unread = tuple[Described, ...](), (str(error),)
        known, able = known_of(side, reading), side.deployer.abilities
        kill = side.decide(
            after_kill,
            plan=own,
            reading=reading,
            declared=side.declared,
            versions=versions,
            unread=unread,
            known=known,
            logs=logs_of(side, restoring_topics(versions, known)),
            elsewhere=state_elsewhere(able, side.running_facts(reading)) if able.state_dirs else (),
            abilities=able,
            rules=rules,
        )
        if kill is not None:
            kills.append(replace(kill, side=part.role))
            restored[part.role] = bytes_of_topics(side, reading, kill.clears.changelogs)
    return with_worst_case(made, kills, restored) if kills else made


def killed_requests(run: Run, name: str) -> list[str]:
    """What a person does after a kill of an instance, next to the request to restart it; empty if nothing."""
    return [
        f"{name}: {killed_sentence(one, run.deployer.request('clear_state', name, directories=one.clears.names))}"
        for one in run.plan().after_kill
    ]


def releases_of(run: Run, instance: InstanceReading) -> tuple[str, ...]:
    """The releases that the process of an instance may run: the one that it reports, or else those declared for it.

    A try of this run that was killed may have set another one than its process ran. Empty if none is known: then it may
    be any.
    """
    if isinstance(instance.streams, StreamsReading):
        return (instance.streams.version,)
    card, deployment = last_card(run, instance.instance), instance.deployment
    found = [] if card is None else [instance_facts(card).before.version]
    if isinstance(deployment, Deployment) and not isinstance(deployment.release, Missing):
        found.append(run.declared.library(deployment.release))
    return tuple(dict.fromkeys(found))


@dataclass
class ProcessEnds:
    """Decides, after each end of a process of one instance, what its next start needs; `cleared` has what it asked for.

    `ran` are the releases that the process may have run, `starts` the one that this run starts.
    """

    kills: tuple[AfterKill, ...]
    instance: str
    ran: tuple[str, ...]
    starts: str
    deployer: Deployer
    task_id: str
    cleared: list[LeftState] = field(default_factory=list)

    def __call__(self, found: Deployment | None, started: bool) -> LeftState:
        """What the process has left."""
        ended = Missing("its deployer does not show it") if found is None else found.ended_cleanly
        ran = (*self.ran, self.starts) if started else self.ran
        for kill in self.kills:
            left = left_state(
                kill, self.instance, ended, ran, self._asks(kill.clears), gone=bool(kill.unclear) and self._gone(kill)
            )
            if left != LeftState():
                self.cleared.append(left)
                return left
        return LeftState()

    def _gone(self, kill: AfterKill) -> bool:
        """Whether none of the directories is there: a person has deleted them."""
        sizes = self.deployer.state_sizes(self.instance)
        return (
            bool(kill.clears.names)
            and not isinstance(sizes, Missing)
            and not any(is_in(name, kill.clears.names) for name in sizes)
        )

    def _asks(self, clears: TaskDirectories) -> str:
        delete = self.deployer.request("clear_state", self.instance, directories=clears.names)
        return f"{delete}, {self.deployer.request('start', self.instance)}, then clear {self.task_id}"


def ends_of_instance(
    run: Run, instance: InstanceReading, starts: str, deployer: Deployer, ran: tuple[str, ...] = ()
) -> ProcessEnds | None:
    """The decision about each end of a process of one instance; None if no defect needs one.

    `ran` are the releases that its process may have run (default: by its reading), `starts` the one that is started.
    """
    if not (kills := run.plan().after_kill):
        return None
    return ProcessEnds(kills, instance.instance, ran or releases_of(run, instance), starts, deployer, run.task_id)


def keep_cleared(run: Run, ends: ProcessEnds | None) -> None:
    """Keep what was deleted after a kill, for the outcome of the run."""
    if ends is None:
        return
    for left in ends.cleared:
        if left.clears is not None:
            run.keep("write", CLEARED, {"instance": ends.instance, "what": left.clears.what, "why": left.why})
