"""Whether an application can get more partitions, by its topics and by what its keys do then; and which way."""

from collections.abc import Iterator

from kstreams_runbooks.decide.growth.closure import Closure, closure
from kstreams_runbooks.decide.growth.in_place import copier_of, forgotten, obstacles
from kstreams_runbooks.decide.internal_topics.derived import prefix_of
from kstreams_runbooks.decide.runbooks import GREEN, INCREASE
from kstreams_runbooks.decide.topology.described import parsed
from kstreams_runbooks.decide.topology.names import is_registration
from kstreams_runbooks.model.readings.growth import ForecastCase, ForecastReading, ForecastTopic, TopicForecast
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import DEFAULT, Declaration
from kstreams_runbooks.model.topology.growth import GrowthSeen
from kstreams_runbooks.model.topology.topology import Sink
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of, outside, pasted

# GO ON has the command of it.
_ACCEPT = (
    "to accept that, set loss_acceptable of each of these stores in the declaration of the release that runs, then "
    "clear forecast_keys and what follows it"
)
_KEEPS_STATE = (
    "with its state it goes blue/green on wider topics: declare a second application and the copier of its topics "
    "(docs/blue_green_start.md, More partitions), then {command}"
)
_LONGEST_KEY = 80


def may_grow(seen: GrowthSeen, forecast: ForecastReading | None) -> Verdict:
    """Whether the growth is possible at all, with the way that keeps state if there is state to keep.

    Refuse: topics that cannot grow together, a number that merges partitions unless a person wants that, and keys that
    are not where murmur2 puts them: a copy by key would move them, and a join would differ. Inconclusive: a fact that
    is not known, a partitioner of the program's own, or keys that were not forecast (None: Spark was not asked).
    """
    closed = closure(seen)
    refused = (*closed.refused, *_merged(seen, closed), *_not_at_home(forecast))
    unknown = (*closed.unknown, *_partitioners(seen, closed), *_not_forecast(closed, forecast))
    if refused:
        return Verdict(Outcome.REFUSE, (*refused, *unknown))
    if unknown:
        return Verdict(Outcome.INCONCLUSIVE, unknown)
    return Verdict(Outcome.PROCEED, (*_summary(closed, forecast), *_way(seen, closed)))


def may_grow_in_place(seen: GrowthSeen, forecast: ForecastReading | None) -> Verdict:
    """The same for a growth in place: also refused while a store's loss is not accepted, or others use the topics.

    The findings are what the approver accepts.
    """
    verdict, closed = may_grow(seen, forecast), closure(seen)
    if verdict.outcome is Outcome.REFUSE:
        return verdict
    accept = (_ACCEPT,) if closed.keeps_state else ()
    if against := (*_state(closed), *accept, *obstacles(seen, closed)):
        return Verdict(Outcome.REFUSE, against)
    if verdict.outcome is not Outcome.PROCEED:
        return verdict
    return Verdict(Outcome.PROCEED, tuple(_summary(closed, forecast)), forgotten(seen, closed))


def _merged(seen: GrowthSeen, closed: Closure) -> Iterator[str]:
    if closed.merged and not seen.uneven:
        wanted = seen.wanted
        before = sorted({one.before for one in closed.inputs})
        multiple = next((number for number in range(wanted, wanted * 64) if not any(number % one for one in before)), 0)
        hint = f"{multiple:,} is one: " if multiple else ""
        yield from (f"{one}; {hint}give another one (partitions), or accept that (uneven)" for one in closed.merged)


def _not_at_home(forecast: ForecastReading | None) -> Iterator[str]:
    for one in _forecasts(forecast):
        if one.several:
            yield (
                f"topic {one.topic}: {one.several:,} of {one.keyed.keys:,} keys are in more than one partition (limit "
                f"0): {_example(one, 'several')}; their records have no order, and a copy by key would mix them; find "
                "the producer with another partitioner, or a growth from before, and repeat once retention has deleted "
                "these records"
            )
        elif one.misplaced:
            yield (
                f"topic {one.topic}: {one.misplaced:,} of {one.keyed.keys:,} keys are not where Kafka's default "
                f"partitioner (murmur2) puts them today (limit 0): {_example(one, 'misplaced')}; a copy by key would "
                "move them, and a join would differ; correct their producer (librdkafka needs "
                "partitioner=murmur2_random), and repeat once retention has deleted these records"
            )
        if one.short:
            yield (
                f"topic {one.topic}: {one.short:,} rows have a key that is too short for a {one.kind} store (limit "
                "0): the declared kind is another one; correct it"
            )


def _example(one: TopicForecast, case: ForecastCase) -> str:
    placed = next(iter(one.examples.get(case, ())), None)
    if placed is None:
        return "no example"
    return f"key {outside(placed.key, _LONGEST_KEY)} is in partition {' and '.join(map(str, placed.input))}"


def _partitioners(seen: GrowthSeen, closed: Closure) -> Iterator[str]:
    """A partitioner of the program's own decides where the keys of an internal topic are: murmur2 forecasts nothing."""
    if not closed.grown:
        return
    declared = seen.described.declaration
    names = {one.name.removeprefix(f"{prefix_of(declared, seen.application_id)}-"): one for one in closed.grown}
    for _, node in parsed(seen.described).topology.nodes():
        if not isinstance(node, Sink) or node.topic not in names:
            continue
        # The library's own partitioner answers a foreign-key join.
        is_response = node.topic.endswith("-topic") and not is_registration(node.topic)
        if is_response:
            continue
        custom = _partitioner(declared, node.name)
        if custom is None:
            yield (
                f"sink {node.name} of {names[node.topic].name}: whether it has a partitioner of its own is not known; "
                f"declare operators.{node.name}.partitioner, or let the topology facts show it (docs/facts.md)"
            )
        elif custom != DEFAULT:
            yield (
                f"sink {node.name} of {names[node.topic].name}: has a partitioner of its own, {outside(custom, 120)} "
                "(expected Kafka's default): which keys move is not known; compare results on a copy of the "
                "application, or take the partitioner out in a release before"
            )


def _partitioner(declared: Declaration, operator: str) -> str | None:
    found = declared.operators.get(operator)
    return None if found is None else found.partitioner


def _not_forecast(closed: Closure, forecast: ForecastReading | None) -> Iterator[str]:
    if not closed.grown:
        return
    if forecast is None:
        yield "the keys were not forecast (expected an answer of Spark): which of them move is not known; repeat"
    elif isinstance(forecast.topics, Missing):
        yield f"the keys were not forecast: {forecast.topics.missing}"
    else:
        asked = {one.topic for one in forecast.topics}
        for topic in closed.inputs:
            if topic.name not in asked:
                yield f"input {topic.name}: its keys were not forecast (expected: those of each input); repeat"
        for one in forecast.topics:
            grown = next((topic for topic in closed.grown if topic.name == one.topic), None)
            if grown is None or (grown.before, grown.after) != (one.before, one.after):
                yield f"topic {one.topic}: the forecast is not about this growth; repeat it"
            elif one.kind == "input" and not one.keyed.keys and not one.null_keys.records:
                yield (
                    f"input {one.topic}: has no record to read (expected at least one): where its producers put keys "
                    "is not known; repeat once it has records"
                )


def _forecasts(forecast: ForecastReading | None) -> tuple[TopicForecast, ...]:
    return () if forecast is None or isinstance(forecast.topics, Missing) else forecast.topics


def _summary(closed: Closure, forecast: ForecastReading | None) -> Iterator[str]:
    yield (
        f"{len(closed.grown):,} topics grow together to {closed.wanted:,} partitions: {closed.tasks[0]:,} → "
        f"{closed.tasks[1]:,} tasks"
    )
    yield from closed.merged
    for one in _forecasts(forecast):
        yield moved_sentence(one)
        if one.null_keys.records:
            yield (
                f"topic {one.topic}: {one.null_keys.records:,} records have no key: a copy by key keeps the number of "
                "their partition"
            )
    for asked in () if forecast is None else forecast.asked:
        yield from _not_seen(asked)
    asked_names = {one.topic for one in _forecasts(forecast)}
    if lacking := [one.name for one in closed.stores if one.changelog not in asked_names]:
        yield (
            f"state of {first_of(lacking)}: not forecast (no changelog of its own, a kind that is not declared, or "
            "keys of its own form)"
        )


def moved_sentence(one: TopicForecast) -> str:
    """How much of a topic moves."""
    what = "records" if one.kind == "input" else "rows"
    keyed = one.keyed
    return (
        f"topic {one.topic}: {one.moved.keys:,} of {keyed.keys:,} keys move ({_share(one.moved.keys, keyed.keys)}), "
        f"with {_share(one.moved.records, keyed.records)} of the {what} and {_share(one.moved.bytes, keyed.bytes)} of "
        "the bytes"
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def _not_seen(asked: ForecastTopic) -> Iterator[str]:
    if asked.deleted and asked.kind == "input":
        yield (
            f"topic {asked.name}: {asked.deleted:,} offsets before its log start are deleted: a key without a record "
            "that is left is not in the forecast"
        )
    if asked.open:
        yield f"topic {asked.name}: {asked.open:,} offsets behind an open transaction are not in the forecast"


def _way(seen: GrowthSeen, closed: Closure) -> Iterator[str]:
    if against := (*_state(closed), *obstacles(seen, closed)):
        if not closed.keeps_state:
            yield _keeps_state(closed)
        yield from (f"not in place: {one}" for one in against)
    else:
        yield f"in place: {increase_command(seen, closed)}"


def _state(closed: Closure) -> Iterator[str]:
    if stores := closed.keeps_state:
        yield (
            f"{'stores' if len(stores) > 1 else 'store'} {first_of(stores)}: {'keep' if len(stores) > 1 else 'keeps'} "
            "content by key, and keys that move would begin from nothing (accepted by loss_acceptable of each store); "
            f"{_keeps_state(closed)}"
        )


def _keeps_state(closed: Closure) -> str:
    """The way on which each key keeps its state, with its command; the second application has a name of its own."""
    words = ("kstreams-runbooks", "trigger", GREEN, "--application", "GREEN", "--param", f"partitions={closed.wanted}")
    return _KEEPS_STATE.format(command=pasted(words))


def increase_command(seen: GrowthSeen, closed: Closure) -> str:
    """The command that grows the topics in place."""
    fields = {"partitions": str(closed.wanted), "copier": copier_of(seen, closed)}
    fields |= {"topics": ",".join(seen.topics)} if seen.topics else {}
    fields |= {"uneven": "true"} if seen.uneven else {}
    words = ("kstreams-runbooks", "trigger", INCREASE, "--application", seen.application)
    return pasted((*words, *(word for field, value in fields.items() for word in ("--param", f"{field}={value}"))))
