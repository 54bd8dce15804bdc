"""The steps of `plan_change`: what a release changes, which runbooks it needs, and starting one."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kstreams_runbooks.decide.change.comparable import comparable, set_by_runbooks, with_settings
from kstreams_runbooks.decide.change.described import described_change
from kstreams_runbooks.decide.change.reading import ChangeReading
from kstreams_runbooks.decide.change.unchanged import again_with
from kstreams_runbooks.decide.releases.settings import may_change_the_topology
from kstreams_runbooks.decide.runs.choice import NONE, Choices, accepted, choices, commands, started_id, started_with
from kstreams_runbooks.decide.topology.described import ParsedDescription, parsed
from kstreams_runbooks.decide.topology.graph import internal_topics
from kstreams_runbooks.decide.topology.partitions import possible_changelogs
from kstreams_runbooks.errors import Inconclusive, Refused, RunbookError, WriteRefused
from kstreams_runbooks.ledger.codec import decode, encode
from kstreams_runbooks.model.readings.readings import polled_buffers
from kstreams_runbooks.model.topology.change import ChangeFigures
from kstreams_runbooks.model.topology.declaration import Described
from kstreams_runbooks.model.topology.topology import Source
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.observe.application.change_figures import read_change_figures
from kstreams_runbooks.present.change.document import document
from kstreams_runbooks.present.change.headline import headline
from kstreams_runbooks.present.change.kept import kept_lines
from kstreams_runbooks.rules import release_settings, topology_change_rules, upgrade_path_rules
from kstreams_runbooks.steps.approval.authorize import approved
from kstreams_runbooks.steps.approval.code import code_digest
from kstreams_runbooks.steps.change.accepted import demand_accepted, refused_by
from kstreams_runbooks.steps.change.start import start_run
from kstreams_runbooks.steps.plan.fitting import judged_topics
from kstreams_runbooks.steps.plan.plan import refuse_drift, require_fresh
from kstreams_runbooks.steps.plan.releases import (
    known_of,
    one_running,
    running,
    settings_between,
    wanted,
    with_its_code,
    with_kept_logs,
)
from kstreams_runbooks.steps.plan.rights import require_rights_of_versions
from kstreams_runbooks.steps.run.form import given_limits, named_for_a_started_run
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.steps.run.step import step, write
from kstreams_runbooks.wording import first_of, pasted

CHOSEN = "chosen"
CHOOSE = "choose_runbook"
_BEFORE, _AFTER = "before", "after"
_ANSWERED = "change_answered"
# Reasons in a run's outcome; the rest is in the log of `plan`.
_MOST = 3

_Sides = tuple[ParsedDescription, ParsedDescription]


@step("reads what runs and the description of the release; changes nothing")
def describe_release(run: Run) -> None:
    """Read the description and the declaration of what runs and of what is wanted."""
    reading = run.observed()
    settings = set_by_runbooks(reading.instances)
    kept = with_settings(wanted(run, settings), settings)
    version = one_running(run, reading)
    [before], after = comparable((with_its_code(run, version, running(run, version), kept),), kept)
    [before] = with_kept_logs(run, (before,), known_of(run, reading))
    unseen = may_change_the_topology(dict(settings), release_settings())
    if unseen and not run.deployer.abilities.topology_settings:
        run.say(
            f"{', '.join(unseen)}: set by a runbook, and may change the topology; the topology command takes no "
            "settings and describes the release without them; add their placeholder (docs/deployers.md)"
        )
    for side, one in ((_BEFORE, before), (_AFTER, after)):
        topology = parsed(one).topology
        run.keep("reading", side, one)
        release = f"release {one.release}" if one.release else "of no release"
        run.say(
            f"{'runs' if side == _BEFORE else 'wanted'}: {release}, {len(topology.subtopologies)} subtopologies from "
            f"{one.source}, {_known_from(one)}"
        )
        for why in one.unread:
            run.say(f"topology facts not read: {why}")


def _known_from(one: Described) -> str:
    """The origin of the facts that a description omits."""
    if one.declared is None:
        return "nothing declared"
    unread = sum(not where.startswith("config.") for where in one.declared.not_read)
    read = f"facts read from its program{f', {unread} not read' if unread else ''}" if one.read else ""
    declared = "nothing declared" if one.only_read or one.is_bare else "declared"
    named = one.declared.named
    by = f"declared {named.by}: {', '.join(named.fields)} unchanged" if named else ""
    return "; ".join(filter(None, (read, declared, by)))


def plan_of_change() -> Any:
    """The task `plan` of a change."""

    @step("derives what the change asks for and what it costs; changes nothing")
    def plan(run: Run) -> None:
        """Show every consequence and the runbooks for it; continue only with a plan."""
        reading = run.observed()
        require_fresh(run, reading, "observe")
        before, after = sides_of(run)
        sides = parsed(before), parsed(after)
        require_rights_of_versions(run, reading, [sides[1].topology])
        buffers = tuple(polled_buffers(one.instance, one.streams) for one in reading.instances)
        figures = replace(_figures(run, sides), buffers=buffers)
        change = run.decide(
            described_change,
            before=before,
            after=after,
            known=known_of(run, reading, figures.partitions),
            rules=topology_change_rules(),
            versions=upgrade_path_rules(),
            catalogue=settings_between((before,), after),
        )
        offered = choices(change.plan, *sides)
        refused = refused_by(run, offered.runbooks, reading, after.release)
        offered = accepted(offered, {name: str(error) for name, error in refused.items()})
        _store(run, change, figures, sides, offered)
        demand_runbook(change, judged_topics(run, reading, (after,)), (*before.unread, *after.unread))
        demand_accepted(refused, offered.runbooks)

    return plan()


def _store(run: Run, change: ChangeReading, figures: ChangeFigures, sides: _Sides, offered: Choices) -> None:
    """Keep the plan as a document and show it, with the runbooks that would accept it."""
    before, after = (side.described for side in sides)
    named = named_for_a_started_run(run.record.params)
    made = {
        **document(change, figures),
        "application": run.record.application,
        "cluster": run.record.cluster,
        "before": {"release": before.release, "library": before.library, "source": before.source},
        "after": {"release": after.release, "library": after.library, "source": after.source},
        "choices": encode(offered),
        "commands": list(commands(offered.runbooks, after.release, run.record.application, named)),
        "code": code_digest(run.record.dag_id),
        "declare_with": list(_named_again(run, change)),
    }
    digest = _digest({**made, **document(change)}, before, after)
    refuse_drift(run, digest)
    run.ledger.store_plan(run.key, digest, made)
    for line in kept_lines(made, digest):
        run.say(line)


def _named_again(run: Run, change: ChangeReading) -> Iterator[str]:
    """The command that plans again with the fields that decide it, if the form can."""
    if change.enough:
        given = {name: run.record.params.get(name) for name in ("release", "topology_file")}
        named = {**{name: value for name, value in given.items() if value}, "unchanged": ",".join(change.enough)}
        words = [word for name, value in named.items() for word in ("--param", f"{name}={value}")]
        yield "if the code of these did not change, plan again:"
        yield pasted(("kstreams-runbooks", "trigger", "plan_change", "--application", run.record.application, *words))


def _digest(made: Mapping[str, Any], before: Described, after: Described) -> str:
    """First 16 hex digits over the binding facts: the change and its consequences, never a size or an offset."""
    binding = {**made, "texts": [before.text, after.text]}
    text = json.dumps(binding, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]


def demand_runbook(change: ChangeReading, topics: Verdict, unread: Sequence[str]) -> None:
    """Refused or Inconclusive if there is nothing to choose, or the cluster's topics do not fit the release.

    `unread` are the reasons why facts of the running program were not read: they would answer what is not declared.
    """
    reasons = change.plan.reasons
    more = f"; and {len(reasons) - _MOST} more in the log of plan" if len(reasons) > _MOST else ""
    said = f"{'; '.join(reasons[:_MOST])}{more}"
    against = list(topics.reasons) if topics.outcome is not Outcome.PROCEED else []
    if change.plan.verdict is Outcome.INCONCLUSIVE:
        why = f"; topology facts were not read: {first_of(unread, _MOST, '; ')}" if unread else ""
        again = again_with("plan_change", change.enough)
        against.append(f"{len(reasons)} things are not declared, and the runbook depends on them: {said}{why}{again}")
    elif change.plan.verdict is not Outcome.PROCEED:
        against.append(f"no runbook makes this safe: {said}")
    if not against:
        return
    certain = Outcome.REFUSE in {topics.outcome, change.plan.verdict}
    raise Refused("; ".join(against)) if certain else Inconclusive("; ".join(against))


def sides_of(run: Run) -> tuple[Described, Described]:
    """The two sides, what runs and what is wanted, as `describe_release` kept them."""
    found = []
    for side in (_BEFORE, _AFTER):
        kept = run.ledger.evidence(run.key, kind="reading", name=side)
        if not kept:
            raise Refused("nothing described in this run: `describe_release` has not run; clear it and what follows it")
        found.append(decode(Described, kept[-1].payload))
    before, after = found
    return before, after


def stored_change(run: Run) -> tuple[str, dict[str, Any]]:
    """Digest and document of the stored plan; Refused without a plan that offers a choice."""
    stored, digest = run.ledger.plan(run.key), run.ledger.run(run.key).plan_digest
    if stored is None or digest is None:
        raise Refused("this run has no plan: `plan` has not run; clear it and what follows it")
    if stored["verdict"] != Outcome.PROCEED:
        raise Refused(f"the plan of this run is {stored['verdict']} (expected proceed): nothing can be started")
    return digest, stored


def offered_by(stored: Mapping[str, Any]) -> Choices:
    """The runbooks that may be started for a stored plan."""
    offered: Choices = decode(Choices, stored["choices"])
    return offered


@write("starts the chosen runbook")
def start_runbook(run: Run) -> None:
    """Start the chosen runbook with its parameters filled in, once: a rerun finds the run that it started."""
    answer_choice(run)


def answer_choice(run: Run) -> None:
    """Start the runbook chosen for the stored plan, or report why none is started."""
    digest, stored = stored_change(run)
    offered, said = offered_by(stored), headline(stored)
    if not offered.runbooks:
        # The first is the plan's own, the others its alternatives, which are in the log of `plan`.
        _answered(run, f"{said}; {offered.left_out[0]}; nothing was changed")
    elif run.dry_run:
        run.say(f"would start {' or '.join(offered.runbooks)}, or {NONE}, as the approver chooses")
        _answered(run, f"{said}; nothing was changed, trigger again without dry run to choose and start it")
    elif (chosen := _chosen(run, digest)) == NONE:
        _answered(run, f"{said}; nothing was started, as was chosen")
    else:
        if chosen not in offered.runbooks:
            raise WriteRefused(f"{run.task_id}: {chosen} is not among what the plan offers; clear {CHOOSE}")
        _start(run, stored, chosen)


def _chosen(run: Run, digest: str) -> str:
    """The runbook chosen for exactly this plan; WriteRefused if the ledger has no valid choice."""
    approved(run, CHOOSE, digest)
    kept = run.ledger.evidence(run.key, kind="note", name=CHOSEN, task_id=CHOOSE)
    return str(kept[-1].payload["runbook"])


def _start(run: Run, stored: Mapping[str, Any], runbook: str) -> None:
    dry = bool(run.record.params.get("start_dry_run", True))
    conf = started_with(
        runbook,
        stored["after"]["release"],
        application=run.record.application,
        dry_run=dry,
        reason=run.record.reason,
        run_id=run.record.run_id,
        limits=given_limits(run.record.params),
        named=named_for_a_started_run(run.record.params),
    )
    run_id = started_id(runbook, run.record.run_id, run.record.number)
    new = start_run(runbook, run_id, conf, f"planned by plan_change, run {run.record.run_id}")
    run.keep("write", "start", {"dag_id": runbook, "run_id": run_id, "conf": conf, "new": new})
    how = "a dry run" if dry else "for real"
    _answered(run, f"{runbook} {'is started' if new else 'was started before'} as {how}: run {run_id}")


def _answered(run: Run, sentence: str) -> None:
    run.keep("verdict", _ANSWERED, {"result": encode(Verdict(Outcome.PROCEED, (sentence,)))})
    run.say(sentence)


def _figures(run: Run, sides: _Sides) -> ChangeFigures:
    """The figures that only the cluster has; no verdict depends on them. Inconclusive if an input is hidden."""
    prefix = f"{run.application.application_id}-"
    topologies = [side.topology for side in sides]
    internal = {f"{prefix}{name}" for one in topologies for name in (*internal_topics(one), *possible_changelogs(one))}
    read = {topic for one in topologies for _, node in one.nodes() if isinstance(node, Source) for topic in node.topics}
    others = read | set(run.application.outputs)
    try:
        with run.reader() as reader:
            own = {name for one in topologies for name in internal_topics(one)}
            hidden = reader.names().unseen({*run.application.inputs, *others} - own)
            # Tables may be restored from the topics that they read, and global stores are.
            restored = internal | read
            figures = read_change_figures(reader, restored=restored, inputs=run.application.inputs, others=others)
    except RunbookError as error:
        run.say(f"sizes, records and partitions are not known: {error}")
        hidden, figures = {}, ChangeFigures()
    if hidden:
        # Otherwise its partitions would be those of a declaration, or none.
        raise Inconclusive("; ".join(hidden.values()))
    run.keep("reading", "figures", figures)
    return figures
