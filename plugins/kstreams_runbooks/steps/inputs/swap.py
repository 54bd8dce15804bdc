"""The swap of inputs for empty topics: what decides whether it may be made, and whether it still holds."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args

from kstreams_runbooks.decide.change.described import side_of
from kstreams_runbooks.decide.comparison.beginning import beginning_of_all
from kstreams_runbooks.decide.comparison.compared import Side, fillers
from kstreams_runbooks.decide.comparison.content import contents
from kstreams_runbooks.decide.drain.flushed import swap_holds
from kstreams_runbooks.decide.plans.swap import empty_topic_name, may_swap
from kstreams_runbooks.decide.plans.switches import SwapSwitch
from kstreams_runbooks.decide.topology.described import ParsedDescription
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, RunbookError
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.readings.swap import EmptyTopic, SwapReading
from kstreams_runbooks.model.readings.touched import HiddenTopic
from kstreams_runbooks.model.runs.cards import OffsetsSet
from kstreams_runbooks.model.runs.object_stages import OffsetReset, SetOffsets
from kstreams_runbooks.model.runs.plan import DeployedInstance, Plan
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.observe.kafka.saved_offsets import read_saved
from kstreams_runbooks.observe.kafka.topic_names import TopicNames
from kstreams_runbooks.observe.kafka.touched import read_topic_states
from kstreams_runbooks.observe.lag.topology_topics import TopologyTopics, topology_topics
from kstreams_runbooks.steps.plan.releases import known_of, topology_of
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.stages.announce import Announced
from kstreams_runbooks.steps.stages.offsets import held_offsets
from kstreams_runbooks.wording import outside

_FIELD = "empty_topics"


def swap_of(run: Run, reading: ApplicationReading, plan: Plan, running: ParsedDescription) -> SwapSwitch:
    """The swap of every input of the application; Refused or Inconclusive if it may not be made.

    `plan` is the stop and restart that it brackets, `running` the version that runs.
    """
    runs = _runs(plan)
    seen = read_swap(run, reading, runs, running)
    run.demand(run.decide(may_swap, reading=seen))
    reset: OffsetReset = next((word for word in get_args(OffsetReset) if word == seen.reset), "")
    library = "" if runs.version == runs.release else runs.version
    return SwapSwitch(seen.group_id, runs, library, seen.empties, reset)


def read_swap(run: Run, reading: ApplicationReading, runs: DeployedInstance, running: ParsedDescription) -> SwapReading:
    """Everything that decides whether the inputs may be swapped."""
    side, group_id = side_of(running, known_of(run, reading)), run.application.application_id
    with run.reader() as reader:
        names = reader.names()
        topics = topology_topics(side.topology, group_id, names)
        read = topics.sources(names.every())
        sources = topics.inputs(read, run.application.inputs)
        empties = _empties(run, reader)
    there = {*names.every(), *(one.name for one in empties)}
    swapped = _swapped(run, runs, empties, names)
    return SwapReading(
        group_id=group_id,
        sources=tuple(sorted(sources)),
        kept=tuple(sorted(read - sources)),
        tables=tuple(sorted(own_changelogs(side, group_id, names))),
        global_sources=tuple(sorted(side.read(is_global=True))),
        empties=empties,
        swapped=swapped if isinstance(swapped, Missing) else tuple(sorted(swapped.sources(there))),
        written=() if isinstance(swapped, Missing) else tuple(sorted(swapped.outputs - topics.outputs)),
        uncommitted=tuple(uncommitted_places(reading, sources)),
        reset=beginning_of_all(side, sources),
    )


def still_swapped(run: Run) -> None:
    """Refused or Inconclusive unless the inputs wait where this run holds them, and the empty topics are empty."""
    group = run.application.application_id
    seeded = _seeded(run, group)
    with run.reader() as reader:
        # The group does not subscribe to what is held: no transaction of it has an offset there.
        now = read_saved(reader, group, stable=False)
        there = reader.topics({one.topic for one in seeded.after})
        ends = ends_of(reader, there)
    run.demand(
        run.decide(
            swap_holds,
            held=held_offsets(run, group),
            now=now,
            empty={_name(one.place): one.offset for one in seeded.after},
            ends={_name(place): each.end for place, each in ends.items()},
        )
    )


def _seeded(run: Run, group: str) -> OffsetsSet:
    """The card of the offsets on the empty topics."""
    seeds = (one for one in run.plan().stages if isinstance(one, SetOffsets) and one.to == "start")
    for stage in seeds:
        if found := Announced(run, stage).facts(OffsetsSet).get(group):
            return found
    raise Refused(f"group {group}: this run has not put empty topics in place; clear pause_inputs, and what follows")


def _runs(plan: Plan) -> DeployedInstance:
    """The one deployment that every instance has; Refused if they differ."""
    first, *others = plan.facts.at_start
    for one in others:
        if one.target != first.target:
            raise Refused(
                f"{one.instance} has {one.deployed}, {first.instance} has {first.deployed} (expected: the same, for "
                "a start on empty topics); bring all to the same first (rolling_bounce)"
            )
    return first


def _empties(run: Run, reader: ClusterReader) -> tuple[EmptyTopic, ...]:
    """The empty topic of each input that a setting names, as it is on the cluster."""
    given = _given(run)
    wanted = {
        topic: given.get(topic) or empty_topic_name(topic, run.application.application_id)
        for topic in run.application.input_settings.values()
    }
    states = read_topic_states(reader, {*wanted, *wanted.values()})
    found = []
    for setting, topic in run.application.input_settings.items():
        name = wanted[topic]
        of_input, state = states[topic], states[name]
        for one in (of_input, state):
            if isinstance(one, HiddenTopic):
                raise Inconclusive(one.missing)
        if isinstance(of_input, HiddenTopic) or isinstance(state, HiddenTopic):
            continue
        there = state.exists
        found.append(
            EmptyTopic(
                topic,
                setting,
                name,
                of_input.partitions,
                of_input.replication,
                state.partitions if there else None,
                _records(reader, name) if there else 0,
                _readers(reader, name) if there else (),
                given=topic in given,
            )
        )
    return tuple(found)


def _given(run: Run) -> dict[str, str]:
    """The topics that the form gives, by input; BadInput for anything else."""
    given: Any = run.record.params.get(_FIELD) or {}
    inputs = set(run.application.input_settings.values())
    if not isinstance(given, Mapping) or not all(isinstance(one, str) and one for one in given.values()):
        raise BadInput(f"{_FIELD}: {outside(repr(given), 60)} is not an object of topics; give " + '{"input": "topic"}')
    for topic in given:
        if topic not in inputs:
            raise BadInput(
                f"{_FIELD}: {outside(topic, 60)} is not an input of {run.application.name} (expected one of "
                f"{', '.join(sorted(inputs)) or 'none: it declares no input_settings'}); correct it"
            )
    return dict(given)


def _records(reader: ClusterReader, topic: str) -> int | Missing:
    total = 0
    for place, each in ends_of(reader, reader.topics([topic])).items():
        if isinstance(each.start, Missing) or isinstance(each.end, Missing):
            return Missing(f"{_name(place)}: its start and end cannot be read")
        # A topic whose records were deleted has an end above 0, and is empty.
        total += each.end - each.start
    return total


def _readers(reader: ClusterReader, topic: str) -> tuple[str, ...] | Missing:
    """The groups that have committed an offset on a topic."""
    groups = [name for name, *_ in reader.groups()]
    found = []
    for name, offsets in reader.committed(groups).items():
        if isinstance(offsets, Missing):
            return Missing(f"whether group {name} reads topic {topic} is not known: {offsets.missing}")
        if any(place[0] == topic for place in offsets):
            found.append(name)
    return tuple(sorted(found))


def _swapped(
    run: Run, runs: DeployedInstance, empties: Collection[EmptyTopic], names: TopicNames
) -> TopologyTopics | Missing:
    """The topics of the running release with the swapped settings, by its topology command."""
    if not run.deployer.abilities.topology_settings:
        return Missing(
            "its topology command does not get the settings that a runbook sets; add {settings_file} to it "
            "(docs/deployers.md)"
        )
    settings = {**dict(runs.settings), **{one.setting: one.name for one in empties}}
    try:
        text = topology_of(run, Target(runs.release, tuple(sorted(settings.items()))))
        return topology_topics(parse_topology(text), run.application.application_id, names)
    except RunbookError as error:
        return Missing(str(error))


def own_changelogs(side: Side, group_id: str, names: TopicNames) -> Iterator[str]:
    """Topics that restore stores, or may: tables without a changelog of their own on the cluster."""
    filled = fillers(side)
    for store, content in contents(side).items():
        if content.place == "input":
            yield content.topic
        elif not content.changelog or f"{group_id}-{content.changelog}" not in names.visible:
            yield from (topic for topic, is_table in filled[store].items() if is_table is not False)


def uncommitted_places(reading: ApplicationReading, sources: Collection[str]) -> Iterator[str]:
    """Partitions of the inputs with offsets in their log, and without a committed one."""
    if isinstance(reading.partitions, Missing):
        raise Inconclusive(*reading.lacking("offsets"))
    for one in reading.partitions:
        if one.topic in sources and one.committed is None and one.log_start_offset != one.log_end_offset:
            yield one.name


def _name(place: Place) -> str:
    return f"{place[0]}-{place[1]}"
