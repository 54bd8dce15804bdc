"""GO ON after a run has ended: the command that helps, from the sentence with which it failed.

A sentence names what it asks for in these words, and what it asks for last counts: before that it may quote a person,
who asks for other things. Each of them is tried in tests/unit/decide/runs/test_go_on.py.

- `undo this run`: the run cannot go on.
- `trigger a new run … with --param FIELD=VALUE`: the same run with that field, as a dry run.
- `a reason in FIELD`, `give FIELD a reason`: the same run, and once more with that field.
- `--param lose_state=STORES`: the same run without that loss first, then with it.
- `trigger RUNBOOK with --param FIELD=VALUE`: that runbook with exactly these fields, as a dry run.
- `use RUNBOOK in place of this`, `trigger RUNBOOK`: that runbook for the same release, as a dry run.
- `release … cannot start`, `does not link`, `is another application`: the same run with another release.
- `cannot start: … SETTING …`, `output TOPIC: … leave it out`, `give another one (FIELD)`: the same run without what is
  refused of its form.
- the command of `fleet_check` in backticks: that one, once it is looked after.
- `with a seam of its own: COMMAND` at the end: that one, which is a dry run.
- `trigger a new run`, `trigger this again`: the same run; a form that is wrong leaves the wrong field out.
- `clear TASK`, `clear this step`: that task and what follows it. Without any of these: the task that failed, or the
  task that reads, if the one that failed only judges what that has read.
"""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kstreams_runbooks.decide.runbooks import RUNBOOKS, WITHOUT_FLUSH, runbook
from kstreams_runbooks.decide.runs.commands import UNDO, clear_command, trigger_command, undo_command
from kstreams_runbooks.decide.runs.conclusion import RunOutcome
from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.model.local_state import LOSE_STATE
from kstreams_runbooks.model.runs.ledger import Card, RunRecord
from kstreams_runbooks.wording import first_of

# Commands are lines of their own, and begin with this.
INDENT = "    "
# The field of the form that the new run needs, if the sentence has its value.
_FIELD = re.compile(r"trigger a new run (?:of [a-z_ ]+ )?with --param ([a-z_]+)=([\w.,-]*\w)")
_REASON = re.compile(r"\b(?:a reason in ([a-z_]+)|give ([a-z]+_[a-z_]+) a reason)\b")
_DAGS = "|".join(row.name for row in RUNBOOKS if row.is_dag and row.name != UNDO)
_PROCEDURES = "|".join(row.name for row in RUNBOOKS if not row.is_dag)
_ASKED = re.compile(
    r"\b(?P<new>trigger a new run|trigger (?:this )?again)\b|\bclear (?P<own>this (?:step|task))\b"
    r"|\bclear `?(?P<task>[a-z][a-z0-9_]*)\b|`(?P<unrun>[a-z][a-z0-9_]*)` has not run; clear it\b"
    r"|\b(?P<undo>undo this run|trigger undo for this run)\b"
    # A whole command for another application is one already.
    rf"|(?<!kstreams-runbooks )\b(?:trigger|use) (?P<runbook>{_DAGS})\b"
    r"(?:(?: again)? with(?P<given>(?: --param (?:'[^']*'|[\w.=,-]*\w))+))?"
    rf"|\buse (?P<procedure>{_PROCEDURES})\b"
)
# It depends on something else that has to be done first.
_FIRST = re.compile(r"\bthen (?:trigger|clear)\b[^;]*$|\bfirst(?: \([^()]*\))?$")
# What no step of the run can bring back, a person accepts there.
_ACCEPT = re.compile(r"`(kstreams-runbooks trigger fleet_check[^`]*)`$")
# The way back of a group that has moved: an undo leaves it.
_SEAM = re.compile(r"with a seam of its own: (kstreams-runbooks trigger [^;]*)$")
# What loses state is never the first command.
_LOSES, _KEEP = re.compile(rf"--param {LOSE_STATE}=([\w.,-]*\w)"), "local_state=keep"
# The words of an undo that has nothing to do.
_NOTHING_LEFT = re.compile(r"has no undo card left|there is nothing to undo")
# A release that is refused as it is built.
_LINKS = "does not link: "
_DEAD = re.compile(rf"release \S+ (cannot start: |{_LINKS}|is another application than )")
_RELEASE_FIELDS = ("release", "target")
# What is refused of a form: settings by a release (decide/change/preflight.py, decide/releases/tried.py), an output
# (decide/reset/outputs.py), a topic that may not replace an input (decide/plans/swap.py).
_REFUSED = "cannot start: "
_OUTPUT = re.compile(
    r"\boutput ([^\s:]+): (?:(?!\boutput [^\s:]+: ).)*?(?:leave (?:it|the output) out|name one of them)"
)
_ANOTHER = re.compile(r"give another one \(([a-z_]+)\)|\(([a-z_]+)\)$")
# Tasks that only judge what the first task has read, and that task: a clear of theirs would judge the same again.
_JUDGES, _READS = frozenset({"check", "describe_release", "plan"}), ("observe", "read_cards")
_STARTS = re.compile(r"bounce_\d+_(?:first|rest)|start_application\w*|undo")
# The beginning of a sentence about a field of the form, and what it calls fields that a run cannot begin without.
_WRONG_FIELD = re.compile(r"(?:field )?([a-z_]+)(?:=\S+)?(?: and [a-z_]+)?: ")
_TARGETS = "target of "
_NEEDED = re.compile(r"([a-z_]+)(?:, [a-z_]+)*: (?:none is given|nothing\b)|(run|application|target) \S+: ")
_MEANT = re.compile(r"did you mean ([^\s,?]+)\?")
_NEW_RUN = "start a new run (this one cannot go on)"
# Fields that name what to bring: every runbook that brings a release has them.
_CARRIED = ("settings", "unchanged", "without_topology")


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a run as its ledger has it.

    `reached` is the task that began last (empty: none), `failure` the sentence with which it failed (empty: it left
    none) and `exit_code` that of its error; `tasks` are those of its DAG, empty if they are not known; `is_void`: the
    plan no longer matches the cluster. `cards` are all of its undo cards, first to last, and `by_hand` the commands of
    those about an instance, by their number; `held` are sentences about inputs that it still holds; `then` what the
    plan leaves to later runs. `flush_back` is the command that takes back a flush whose new release has begun to run
    (of an undo: the flush that it takes back; empty for another run); `undone` is the run that an undo takes back, as
    far as it is known.
    """

    record: RunRecord
    outcome: RunOutcome
    reached: str
    failure: str
    exit_code: int
    is_void: bool
    cards: tuple[Card, ...]
    by_hand: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    flush_back: str = ""
    undone: RunRecord | None = None
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GoOn:
    """Lines for a person with their commands, and the first command."""

    lines: tuple[str, ...]
    command: str


def go_on(ending: Ending, *, changed: bool) -> GoOn:
    """How a run goes on that did not succeed; `changed`: it has changed something."""
    record, asked = ending.record, _asked(ending)
    if ending.flush_back and record.dag_id == UNDO and f"{WITHOUT_FLUSH}=true" in ending.failure:
        return _flush_first(ending)
    if moves_back := _SEAM.search(ending.failure):
        return _one("the way back, with a seam of its own, first as a dry run", moves_back[1])
    if other := _after_a_change(ending, asked) if changed else _before_a_change(ending, asked):
        return other
    # Once a run has a plan its form was read, and what is wrong is a declaration that was changed since.
    wrong_form = ending.exit_code == BadInput.exit_code and not changed and record.plan_digest is None
    accepts = not changed and _REASON.search(ending.failure)
    if ending.is_void or wrong_form or not ending.reached or accepts or (asked and asked["new"]):
        return _new_run(ending, asked, wrong_form=wrong_form)
    task_id = ((asked["task"] or asked["unrun"]) if asked else None) or _to_clear(ending, changed=changed)
    return _one(_clears(ending, f"clear {task_id} and what follows it", task_id, asked), clear_command(record, task_id))


def _after_a_change(ending: Ending, asked: re.Match[str] | None) -> GoOn | None:
    """Only back, or what a person accepts elsewhere; None if the sentence asks for neither."""
    record = ending.record
    if asked and asked["undo"] and record.dag_id != UNDO:
        command = ending.flush_back or undo_command(record)
        return GoOn(("GO ON: this run cannot go on, only back:",), command)
    if looked_after := _ACCEPT.search(ending.failure):
        how = ", accept it, with your reason in place of REASON" if "REASON" in looked_after[1] else ""
        return _one(f"once it is looked after{how}", looked_after[1])
    return None


def _before_a_change(ending: Ending, asked: re.Match[str] | None) -> GoOn | None:
    """Another form or another runbook that the sentence asks for; None if it asks for neither."""
    record = ending.record
    if record.dag_id == UNDO and _NOTHING_LEFT.search(ending.failure):
        return GoOn(("GO ON: not needed, nothing is left to take back",), "")
    if ending.is_void:
        return None
    if loses := _LOSES.search(ending.failure):
        return _or_lose(record, ending.failure, loses[1])
    other = _other_runbook(record, ending.failure, asked) if asked else None
    return other or _without_refused(record, ending.failure) or _another_release(ending)


def _to_clear(ending: Ending, *, changed: bool) -> str:
    """The task that failed; if it only judged a reading, the task that takes it again."""
    if changed or ending.reached not in _JUDGES:
        return ending.reached
    return next((one for one in _READS if one in ending.tasks), ending.reached)


def _or_lose(record: RunRecord, failure: str, stores: str) -> GoOn:
    """The run that keeps what local disks alone have, if a sentence has such a field, and the one that gives it up."""
    keeps = _KEEP in failure
    kept = with_field(record, *_KEEP.split("=")) if keeps else record
    why = "keep the files" if keeps else f"do what the sentence proposes instead, and {_NEW_RUN}"
    found = _one(f"{why}, first as a dry run", trigger_command(kept, execute=False))
    lossy = trigger_command(with_field(record, LOSE_STATE, stores), execute=False)
    said = f"or let {stores.replace(',', ', ')} begin empty, first as a dry run:"
    return replace(found, lines=(*found.lines, said, INDENT + lossy))


def _without_refused(record: RunRecord, failure: str) -> GoOn | None:
    """The same run without what is refused of its form; None if nothing is that the form has."""
    params, wrong = dict(record.params), list[str]()
    _, refused, names = failure.partition(_REFUSED)
    if refused and isinstance(settings := params.get("settings"), Mapping):
        wrong = [name for name in settings if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", names)]
        params["settings"] = {name: value for name, value in settings.items() if name not in wrong} or None
    if outputs := [name for name in _OUTPUT.findall(failure) if name in (params.get("clean_outputs") or ())]:
        wrong += outputs
        params["clean_outputs"] = [name for name in params["clean_outputs"] if name not in outputs] or None
    asks = _asks(record)
    for name in (one for found in _ANOTHER.findall(failure) for one in found if params.get(one)):
        wrong.append(name)
        params[name] = asks.get(name)
    if not wrong:
        return None
    return _one(_correct(record, wrong), trigger_command(replace(record, params=params), execute=False))


def _asks(record: RunRecord) -> Mapping[str, str]:
    """The fields without which a form of this runbook is not taken, with their placeholders."""
    return next((dict(row.asks) for row in RUNBOOKS if row.name == record.dag_id), {})


def _correct(record: RunRecord, wrong: list[str]) -> str:
    """What a person does about fields that the command leaves out, or has a placeholder of."""
    asks = _asks(record)
    given = [f"give {name} in place of {asks[name]}" for name in wrong if name in asks]
    left = [name for name in wrong if name not in asks]
    leaves = [f"correct {first_of(left)}, which this command leaves out"] if left else []
    return f"{', '.join((*given, *leaves))}, and {_NEW_RUN}"


def _another_release(ending: Ending) -> GoOn | None:
    """The same run with a release that is built otherwise; None if none is refused, or the form names none."""
    record = ending.record
    name = next((one for one in _RELEASE_FIELDS if record.params.get(one)), "")
    if not name or not (dead := _DEAD.match(ending.failure)):
        return None
    word = name.upper()
    why = f"build a release without that, declare it in the fleet entry, and {_NEW_RUN} with it in place of {word}"
    found = _one(f"{why}, first as a dry run", trigger_command(with_field(record, name, word), execute=False))
    if dead[1] != _LINKS:
        task_id = _to_clear(ending, changed=False)
        again = "or, if a file of its instances has it, correct it there, and read everything again:"
        found = replace(found, lines=(*found.lines, again, INDENT + clear_command(record, task_id)))
    return _or_accept(found, record, ending.failure)


def _or_accept(found: GoOn, record: RunRecord, failure: str) -> GoOn:
    """With the same run that accepts what is refused, if its sentence has the field for the reason."""
    if not (reason := _REASON.search(failure)):
        return found
    command = trigger_command(with_field(record, reason[1] or reason[2], "REASON"), execute=False)
    why = "or accept it, with your reason in place of REASON, first as a dry run:"
    return replace(found, lines=(*found.lines, why, INDENT + command))


def _new_run(ending: Ending, asked: re.Match[str] | None, *, wrong_form: bool) -> GoOn:
    record = ending.record
    wanted = _FIELD.match(ending.failure, asked.start()) if asked and asked["new"] else None
    # What loses records is never the first command.
    if wanted and wanted[1] != WITHOUT_FLUSH and not ending.is_void:
        # Such a field accepts something: the plan of a dry run shows what.
        command = trigger_command(with_field(record, wanted[1], wanted[2]), execute=False)
        return _one(f"to go on with {wanted[1]}, {_NEW_RUN}, first as a dry run", command)
    if wrong_form and (needed := _NEEDED.match(ending.failure)):
        return _one(*_with_needed(record, needed[1] or needed[2], ending.failure))
    if wrong := _wrong_field(record, ending.failure) if wrong_form else "":
        left = {**record.params, wrong: _asks(record).get(wrong)}
        return _one(_correct(record, [wrong]), trigger_command(replace(record, params=left), execute=False))
    first = "correct what the sentence names, then " if wrong_form else "after that, " if _is_after(ending) else ""
    found = _one(f"{first}{_NEW_RUN}", trigger_command(record, execute=not record.dry_run))
    return _or_accept(found, record, ending.failure)


def _other_runbook(record: RunRecord, failure: str, asked: re.Match[str]) -> GoOn | None:
    """The runbook that a refusal names in its place; None if it names none, or what it needs is not known."""
    name = asked["runbook"] or (asked["procedure"] and "plan_change")
    if asked["given"]:
        return _with_given(record, name, asked["given"])
    release = record.params.get("release") or record.params.get("target")
    if not name or name == record.dag_id:
        return None
    if "it takes no other library" in failure:
        # The runbook takes the change only on the library that runs: plan_change shows both steps.
        name = "plan_change"
    names_release = runbook(name).field or "release"
    if not release and name in {"library_bump", "plan_change"}:
        return None
    kept = {one: record.params[one] for one in _CARRIED if record.params.get(one) is not None}
    if name in {"plan_change", "library_bump"}:
        kept.pop("settings", None)
    params = {**kept, **({names_release: release} if release else {})}
    command = trigger_command(replace(record, dag_id=name, params=params), execute=False)
    return _one(f"use {name}, first as a dry run", command)


def _with_given(record: RunRecord, name: str, given: str) -> GoOn:
    """A runbook with the fields that a sentence names; those of its own form stay, and settings are merged."""
    fields = dict(word.split("=", 1) for word in shlex.split(given) if "=" in word)
    params = dict(record.params) if name == record.dag_id else {}
    for field_, text in fields.items():
        own = params.get(field_)
        value = json.loads(text) if text.startswith("{") else text
        params[field_] = {**value, **own} if isinstance(value, dict) and isinstance(own, Mapping) else value
    command = trigger_command(replace(record, dag_id=name, params=params), execute=False)
    return _one(f"use {name}, first as a dry run", command)


def _clears(ending: Ending, clear: str, task_id: str, asked: re.Match[str] | None) -> str:
    """When a person clears a task, or what the clear alone does."""
    if asked or _is_after(ending):
        return f"after that, {clear}" if _is_after(ending) else clear
    if ending.exit_code == Unreachable.exit_code:
        return f"once that is corrected or over, {clear}"
    return f"{clear}, which {'starts again what is down' if _STARTS.fullmatch(task_id) else 'reads everything again'}"


def _is_after(ending: Ending) -> bool:
    """Whether the sentence asks for something else first."""
    return _FIRST.search(ending.failure) is not None


def _flush_first(ending: Ending) -> GoOn:
    """How an undo goes on that was refused because a flush takes its run back without a loss."""
    lossy = trigger_command(with_field(ending.record, WITHOUT_FLUSH, "true"), execute=False)
    lines = (
        "GO ON: flush once more, to what ran before; first as a dry run:",
        INDENT + ending.flush_back,
        "or, if what the flush started does not run: undo it, and lose the records that no older release reads; first "
        "as a dry run:",
        INDENT + lossy,
    )
    return GoOn(lines, ending.flush_back)


def _asked(ending: Ending) -> re.Match[str] | None:
    """What the sentence of a failure asks for last.

    Other words follow "clear" too (the state, cache_dir): only a task of the DAG is one.
    """
    found = None
    for one in _ASKED.finditer(ending.failure):
        task_id = one["task"] or one["unrun"]
        if task_id is None or task_id in ending.tasks:
            found = one
    return found


def _with_needed(record: RunRecord, name: str, failure: str) -> tuple[str, str]:
    """Why, and the command with the value that a sentence proposes for such a field, else with a placeholder."""
    meant = _MEANT.search(failure)
    value = meant[1] if meant else name.upper()
    given = replace(record, application=value) if name == "application" else with_field(record, name, value)
    why = f"give {name}{'' if meant else f' in place of {value}'}, and {_NEW_RUN}"
    return why, trigger_command(given, execute=False)


def _wrong_field(record: RunRecord, failure: str) -> str:
    """The field of the form that a sentence about bad input begins with, empty if it begins with none that is given."""
    found = _WRONG_FIELD.match(failure)
    name = "targets" if failure.startswith(_TARGETS) else found[1] if found else ""
    given: Mapping[str, object] = record.params
    return name if given.get(name) is not None and name != "application" else ""


def with_field(record: RunRecord, name: str, value: str) -> RunRecord:
    """The same run with a field of its form set; a list that the form has keeps what is in it.

    A restart without a change has neither a release nor settings.
    """
    given = record.params.get(name)
    whole = [*given, *(one for one in value.split(",") if one not in given)] if isinstance(given, list) else value
    kept = {one: of for one, of in record.params.items() if name != "restart" or one not in {"release", "settings"}}
    return replace(record, params={**kept, name: whole})


def _one(why: str, command: str) -> GoOn:
    return GoOn((f"GO ON: {why}:", INDENT + command), command)
