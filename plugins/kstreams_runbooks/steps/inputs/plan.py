"""The plan of `control_topic_flush`: the stop and restart that the form describes, between a pause and a resume."""

from dataclasses import replace
from typing import get_args

from kstreams_runbooks.act.topic_checks import certain
from kstreams_runbooks.decide.change.described import with_full_names
from kstreams_runbooks.decide.change.needless import key_pairs, not_compared
from kstreams_runbooks.decide.comparison.prediction import predicted
from kstreams_runbooks.decide.fitting.needed import repartitions_read
from kstreams_runbooks.decide.fitting.uncommitted import SKIPPED_AT_FIRST
from kstreams_runbooks.decide.plans.basis import costs_at_once, facts
from kstreams_runbooks.decide.plans.flush import flush_plan
from kstreams_runbooks.decide.plans.switches import COPIER, MANUAL, SWAP, AnySwitch, CopierSwitch, ManualSwitch
from kstreams_runbooks.decide.topology.described import ParsedDescription, parsed
from kstreams_runbooks.decide.topology.names import is_repartition
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.fleet import load_fleet, require_copier
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.hold import HowHeld
from kstreams_runbooks.model.readings.partitioning import KeyPair
from kstreams_runbooks.model.readings.readings import ApplicationReading, Missing
from kstreams_runbooks.model.runs.plan import Plan, SidePart
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.observe.kafka.ends import ends_of
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.inputs.hold import may_be_held
from kstreams_runbooks.steps.inputs.swap import swap_of
from kstreams_runbooks.steps.plan.plan import check_deployer, judged, stop_and_restart
from kstreams_runbooks.steps.plan.releases import before_a_roll, known_of
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.wording import outside

_UNCHECKED = "without_key_check"
_PAIRS = "keys to compare"
_WORDS: dict[str, HowHeld] = {word: word for word in get_args(HowHeld)}


def control_topic_flush(run: Run, reading: ApplicationReading, findings: tuple[Finding, ...]) -> Plan:
    """The plan to another release or other settings, with every record of the old one processed before.

    Refused or Inconclusive if the versions cannot be compared: what the flush leaves behind would not be known.
    """
    word = str(run.record.params.get("switch") or "")
    if (how := _WORDS.get(word)) is None:
        raise BadInput(f"switch: {outside(word or 'nothing', 30)} (expected {', '.join(_WORDS)}); choose one")
    restart = stop_and_restart(run, reading, (*findings, *_of_copier(run, how)), flushed=True)
    before, after = before_a_roll(run, reading, restart.bounces[-1].target)
    if isinstance(after, Missing):
        raise Inconclusive(f"{run.declared.name}: its topologies cannot be compared: {after.missing}")
    [running, *others] = map(parsed, before)
    if others:
        raise Inconclusive(
            f"instances of {run.declared.name} run {1 + len(others)} versions (expected one); bring all to one first"
        )
    switch = _switch(run, reading, restart, running, how)
    may_be_held(run, reading, running, switch)
    orphans = _orphans(run, reading, running, parsed(after))
    pairs = key_pairs(running, parsed(after), run.declared.application_id)
    run.keep("note", _PAIRS, {"pairs": encode(pairs)})
    if pairs and run.record.params.get(_UNCHECKED):
        restart = replace(restart, findings=(*restart.findings, *map(not_compared, pairs)))
    emptied = _emptied(run, running, parsed(after))
    # The run commits the beginning of these.
    begun = [one for one in restart.findings if one.id == SKIPPED_AT_FIRST and one.object in emptied]
    restart = replace(restart, findings=tuple(one for one in restart.findings if one not in begun))
    made = run.decide(
        flush_plan,
        restart=restart,
        switch=switch,
        orphans=orphans,
        emptied=emptied,
        group=run.declared.application_id,
    )
    check_deployer(run, made.of_side(""))
    return made


def keys_to_compare(run: Run) -> tuple[KeyPair, ...]:
    """The keys that decide whether the repartitions that this run removes are needless; none if the form leaves them.

    Then the approval names what may be lost. Refused before `plan` has found them.
    """
    if run.record.params.get(_UNCHECKED):
        return ()
    kept = run.ledger.evidence(run.key, kind="note", name=_PAIRS, newest=1)
    if not kept:
        raise Refused("the keys to compare are not known: `plan` has not run; clear it and what follows it")
    pairs: tuple[KeyPair, ...] = decode(tuple[KeyPair, ...], kept[0].payload["pairs"])
    return pairs


def _switch(run: Run, reading: ApplicationReading, restart: Plan, running: ParsedDescription, how: str) -> AnySwitch:
    if how == SWAP:
        return swap_of(run, reading, restart, running)
    if how == MANUAL:
        return ManualSwitch(run.application.inputs)
    return _copier(run)


def _of_copier(run: Run, how: HowHeld) -> tuple[Finding, ...]:
    """The findings of `check` about the copier; BadInput if the form has one for another switch, or lacks it."""
    if how == COPIER:
        side = run.side(COPIER)
        return judged(side, side.observed())
    if given := run.record.params.get(COPIER):
        raise BadInput(f"copier: {outside(str(given), 60)} with switch {how} (expected none); choose switch copier")
    return ()


def _copier(run: Run) -> CopierSwitch:
    """The copier as a side of the run; BadInput unless it alone writes every input of the application."""
    side = run.side(COPIER)
    copier = require_copier(load_fleet(), run.application, side.record.application)
    found = facts(side.observed(), side.declared, code_digest(run.record.dag_id))
    costs = tuple(costs_at_once(side.declared))
    part = SidePart(COPIER, side.declared.name, side.declared.cluster, found, costs)
    return CopierSwitch(run.application.inputs, part, copier.inputs)


def _emptied(run: Run, running: ParsedDescription, wanted: ParsedDescription) -> tuple[str, ...]:
    """Repartition topics without a record that exist, that the wanted version reads, and the running one does not."""
    now, later = (repartitions_read([one], run.declared.application_id).keys() for one in (running, wanted))
    with run.reader() as reader:
        ends = ends_of(reader, reader.topics(later - now))
    full = {topic for (topic, _), (start, end) in certain(ends).items() if start != end}
    return tuple(sorted({topic for topic, _ in ends} - full))


def _orphans(
    run: Run, reading: ApplicationReading, running: ParsedDescription, wanted: ParsedDescription
) -> tuple[str, ...]:
    """Repartition topics that the running version reads and the wanted one does not; full names."""
    change = predicted(with_full_names(running, wanted, known_of(run, reading)))
    return tuple(one.name for one in change.orphaned if is_repartition(one.name))
