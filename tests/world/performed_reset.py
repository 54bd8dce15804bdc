"""A reset of a real small application by the stages of its plan, on a real broker, without Airflow."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.decide.internal_topics.compared import topics_to_create
from kstreams_runbooks.decide.plans.reset import ResetParts, reset_plan
from kstreams_runbooks.decide.plans.restart import restart_plan
from kstreams_runbooks.decide.reset.radius import may_reset
from kstreams_runbooks.decide.reset.targets import target_text
from kstreams_runbooks.errors import Refused
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import BrokerReading, Missing, Taken
from kstreams_runbooks.model.readings.reset import LocalSize, ResetMode
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.model.runs.plan import Plan
from kstreams_runbooks.model.runs.stages import Bounce, ClearState, StartAll, StopAll
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.steps.run.run import Run, now_ms
from kstreams_runbooks.steps.stages.perform import perform
from kstreams_runbooks.terminal.change.inputs import SideFiles, read_side
from kstreams_runbooks.watch.blast_radius import ReadReset, ResetQuestion, read_reset
from kstreams_runbooks.watch.internal_topics import read_internal_topics
from lab.fake_streams import FakeStreams
from lab.trial import Trial

from world.new_ledger import new_ledger
from world.samples import declared, reading

_CLUSTER = "performed"


@contextmanager
def fleet_of(trial: Trial, facts: Path, folder: Path) -> Iterator[FakeStreams]:
    """A fleet that declares the application of a trial; its topology command prints these facts."""
    side = read_side(SideFiles(facts))
    # A loop of the application alone is no input: others write those.
    inputs = {topic for topic in trial.topics if topic in side.read() - side.written()}
    made = FakeStreams(
        folder,
        trial.application_id,
        facts.read_text("utf-8"),
        tuple(sorted(inputs)),
        tuple(sorted(set(trial.topics) - inputs)),
        cluster=_CLUSTER,
    )
    made.declare()
    connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": trial.bootstrap}}
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(folder))
        patched.setenv("KSTREAMS_RUNBOOKS_LEDGER", f"sqlite:///{folder / 'ledger.db'}")
        patched.setenv("KSTREAMS_RUNBOOKS_SAVED_OFFSETS", str(folder / "saved"))
        patched.setenv(f"AIRFLOW_CONN_KAFKA_{_CLUSTER.upper()}", json.dumps(connection))
        yield made


def planned_reset(
    trial: Trial, facts: Path, folder: Path, mode: ResetMode = "reset", directories: TaskDirectories = NO_DIRECTORIES
) -> Run:
    """A run with the plan of a reset, as its stages are chosen from the blast radius; Refused if that refuses.

    The application is down, and its fleet is that of `fleet_of`.
    """
    ledger = new_ledger(folder / "ledger.db")
    params: dict[str, Any] = {"gate_good_readings": 2, "gate_interval_s": 0.1}
    name = trial.application_id
    record = RunRecord("", "reset_and_cleanup", "r", name, _CLUSTER, "oncall", False, "", params, now_ms())
    run = Run(ledger.start_run(record), "act", 1, ledger)
    vars(run).update(kafka={"bootstrap.servers": trial.bootstrap}, application=load_fleet().application(name))
    read = read_reset(name, ResetQuestion(mode, {}), run.say)
    verdict = run.decide(may_reset, radius=read.radius)
    run.demand(verdict)
    plan = _plan(trial, facts, read, directories)
    ledger.store_plan(run.key, plan.digest, encode(plan))
    return run


def perform_reset(run: Run, trial: Trial, *, clears: bool = True) -> None:
    """Perform every stage of the plan but the stop and the start, which are the test's, as is the local state.

    Without `clears` the local state stays, which no runbook does.
    """
    for stage in run.whole_plan().stages:
        if isinstance(stage, ClearState) and not clears:
            continue
        if isinstance(stage, ClearState):
            trial.delete_directories(stage.deletes.names or trial.directories())
        elif not isinstance(stage, StopAll | StartAll | Bounce):
            perform(run, stage, {})


def _plan(trial: Trial, facts: Path, read: ReadReset, directories: TaskDirectories) -> Plan:
    side = read_side(SideFiles(facts))
    with ClusterReader({"bootstrap.servers": trial.bootstrap}) as reader:
        wanted, _ = read_internal_topics(reader, side, trial.application_id, [trial.application_id])
        topics = reader.topics([*(one.name for one in read.radius.internal), *trial.topics])
    created = topics_to_create(wanted) if read.radius.deleted else None
    if isinstance(created, Missing):
        raise Refused(created.missing)
    # Its local state is that of the trial, which the test deletes.
    radius = replace(read.radius, local=(LocalSize("one", {}),))
    restart = restart_plan(reading(), declared(), None, {}, (), (), "code", at_once=True)
    restart = replace(restart, limits=(("gate_ceiling_s", 300.0),))
    targets = tuple((topic, target_text(one)) for topic, one in sorted(read.targets.items()))
    needed = tuple(sorted(one.name for one in wanted.topics))
    parts = ResetParts(created, targets, directories=directories, needed=needed)
    plan = reset_plan(
        restart, radius, parts, BrokerReading(Taken(0, "test"), "4.3", (), auto_create_topics=False, brokers=1)
    )
    ids = tuple((one.name, one.topic_id, one.partitions) for one in topics)
    return replace(plan, application=trial.application_id, cluster=_CLUSTER, facts=replace(plan.facts, topics=ids))
