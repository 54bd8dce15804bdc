"""`plan` and `verify` for the terminal: the answer on stdout alone, everything else on stderr."""

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kstreams_runbooks.errors import BadInput, Inconclusive, Refused
from kstreams_runbooks.model.topology.change import ChangeFigures
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import sentence

if TYPE_CHECKING:
    from kstreams_runbooks.decide.comparison.compared import Side

_F = TypeVar("_F", bound=Callable[..., None])
_FILE = click.Path(dir_okay=False, path_type=Path)
_TEXT = click.Path(dir_okay=False, path_type=Path, allow_dash=True)


def side_options(command: _F) -> _F:
    """Add the options that both versions have."""
    for side, words in (("to", "new"), ("from", "old")):
        for name, kind, meta, text in (
            ("version", str, "RELEASE", f"Kafka Streams release of the {words} version, such as 4.3.1."),
            ("config", _FILE, "FILE", f"Settings of the {words} version: a Java properties file."),
            ("declaration", _FILE, "FILE", f"Declaration of the {words} version, next to its description: YAML."),
        ):
            command = click.option(f"--{side}-{name}", type=kind, metavar=meta, help=text)(command)
    return command


def stated_options(command: _F) -> _F:
    """Add what a person states of the change, and no description shows."""
    command = click.option(
        "--same-program",
        is_flag=True,
        help="Both versions are one build, such as one image: what only code decides is the same. The plan shows it as "
        "the word of a person.",
    )(command)
    return click.option(
        "--unchanged",
        multiple=True,
        metavar="FIELDS",
        help="What the new version does not change, and code cannot show: key,value_serde (docs/declaration.md). It "
        "counts as the line `unchanged` of its declaration.",
    )(command)


_format = click.option(
    "--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True
)


def _explain(context: click.Context, _: click.Parameter, rule: str | None) -> None:
    """Print a rule and end."""
    if rule is not None:
        from kstreams_runbooks.present.change.explained import explained

        click.echo(explained(rule))
        context.exit()


@click.command(
    "plan",
    epilog="Example: kstreams-runbooks plan --from-topology old.txt --to-topology new.txt --from-declaration old.yaml "
    "--to-declaration new.yaml",
)
@click.option(
    "--from-topology",
    type=_TEXT,
    required=True,
    metavar="FILE",
    help="Topology#describe of the old version, or its facts.",
)
@click.option(
    "--to-topology",
    type=_TEXT,
    required=True,
    metavar="FILE",
    help="Topology#describe of the new version, or its facts.",
)
@click.option(
    "--explain",
    metavar="ID",
    is_eager=True,
    expose_value=False,
    callback=_explain,
    help="Explain one finding, and plan nothing: why, what it means for the data, its runbooks, a case.",
)
@side_options
@stated_options
@click.option(
    "--changed-code",
    is_flag=True,
    help="List the methods that the change adds, changes and removes, by operator and the stores that they reach, and "
    "plan nothing. Both files are topology facts of the command.",
)
@click.option(
    "--application",
    metavar="NAME",
    help="Compare the new version with the topics of this application's cluster as well, as every runbook does, and "
    "with its suppress buffers.",
)
@_format
def plan_command(form: str, application: str | None, *, changed_code: bool, **given: Any) -> None:
    """Show what follows from a change, and its runbook, from two descriptions and their declarations.

    Topology facts (docs/facts.md) take the place of a description, of its settings and release, and of most of a
    declaration.

    With --application it reads the cluster as well, and stderr reports each topic that is missing or does not fit: exit
    code 1, or 3 if that is unknown. Suppress buffers are compared with their new limits.

    Exit codes: 0 a rolling bounce is enough, 1 a runbook or a person is needed, 2 bad input, 3 inconclusive: a
    declaration is missing, and the output names it.
    """
    if changed_code:
        sys.exit(_review(given, form))
    if application is None:
        code = _answer(given, form)
    else:
        topics, figures, running = _on_cluster(application, given)
        code = _answer({**given, "application": application}, form, figures, running, topics=asdict(topics))
        for finding in topics.findings:
            click.echo(f"{finding.severity} {finding.id} on {finding.object}: {finding.message}", err=True)
        click.echo(f"topics of {application}: {topics.sentence}", err=True)
        code = _worse(code, topics)
    sys.exit(code)


def _review(given: dict[str, Any], form: str) -> int:
    """Print the code that the change touches: 0 none, 1 some, 3 if a part is not proven and none is known to differ."""
    from kstreams_runbooks.decide.comparison.code import obfuscated, reviewed_code
    from kstreams_runbooks.decide.comparison.compared import Compared
    from kstreams_runbooks.present.change.changed_code import code_document, code_text
    from kstreams_runbooks.terminal.change.inputs import files_of, read_side

    before, after = (read_side(files_of(given, side)) for side in ("from", "to"))
    for path, side in ((given["from_topology"], before), (given["to_topology"], after)):
        if not side.declared.code:
            reason = side.declared.not_read.get("code", "the document has no `code`")
            raise Inconclusive(f"{path}: its code was not read: {reason}; print it with FactsCommand (docs/facts.md)")
    if why := obfuscated(Compared(before, after)):
        click.echo(why, err=True)
    reviewed = reviewed_code(Compared(before, after))
    click.echo(json.dumps(code_document(reviewed), indent=2) if form == "json" else code_text(reviewed))
    states = {one.change.state for one in reviewed}
    return 1 if "other" in states else Inconclusive.exit_code if states else 0


def _worse(code: int, topics: Verdict) -> int:
    """The plan's exit code, or that of the topics: a certain result outranks a missing one, bad input outranks both."""
    if code == BadInput.exit_code or topics.outcome is Outcome.PROCEED:
        return max(code, 1) if topics.findings else code
    return Refused.exit_code if topics.outcome is Outcome.REFUSE else Inconclusive.exit_code


def _on_cluster(application: str, given: dict[str, Any]) -> tuple[Verdict, ChangeFigures, "Side"]:
    """Judge the new version against the cluster; its files are read as the plan reads them."""
    from kstreams_runbooks.model.topology.declaration import Described
    from kstreams_runbooks.terminal.change.inputs import files_of, read_given, read_side, side_of
    from kstreams_runbooks.terminal.logs import log_to_stderr
    from kstreams_runbooks.watch.planned_topics import judged_on_cluster

    path = given["to_topology"]
    if "-" in {str(path), str(given["from_topology"])}:
        raise BadInput("stdin: can be read only once; with --application give both topologies as files")
    described = read_given(path)
    side, running = side_of(described, files_of(given, "to")), read_side(files_of(given, "from"))
    log_to_stderr()
    return judged_on_cluster(application, Described("", "", str(path), described.text, side.declared), running)


@click.command(
    "verify",
    epilog="Example: kstreams-runbooks verify --expected src/test/resources/topology.txt --actual target/topology.txt",
)
@click.option("--expected", type=_TEXT, required=True, metavar="FILE", help="Topology#describe that is kept, or facts.")
@click.option(
    "--actual", type=_TEXT, required=True, metavar="FILE", help="Topology#describe of the present code, or facts."
)
@side_options
@_format
def verify_command(expected: Path, actual: Path, form: str, **given: Any) -> None:
    """Compare the present topology with the kept one, for the CI of an application; print the plan if they differ.

    The order of lines and the class of a lambda are not a change. If both files are topology facts, every fact is
    compared, such as windows; of two releases of the library only what a change of the program can cause. If both have
    digests of code, these are compared, and the output shows the stores that changed code reaches. Exit codes: 0 the
    same, 1 a change, 2 bad input, 3 inconclusive: the rest is the same, and facts or code could not be compared.
    """
    from difflib import unified_diff

    from kstreams_runbooks.present.change.changed_code import code_document, code_text
    from kstreams_runbooks.terminal.change.inputs import kept_lines, lacks_code, read_given, without_facts

    old, new = read_given(expected), read_given(actual)
    lines, code = kept_lines(old, new)
    if lines.not_compared:
        click.echo(
            f"the two files are of two releases of the library, so these facts are not compared: "
            f"{', '.join(lines.not_compared)}; print both on one release to compare them",
            err=True,
        )
    keep = "" if "-" in {str(actual), str(expected)} else _pasted("cp", str(actual), str(expected))
    unproven = _code_not_compared(str(actual), code.not_compared, lacks=lacks_code(old, new))
    difference = list(unified_diff(lines.old, lines.new, str(expected), str(actual), lineterm="", n=1))
    if not difference:
        if lacking := without_facts(old, new):
            raise Inconclusive(
                f"{lacking.source}: has no topology facts, and the other file has: the descriptions are the same, and "
                "windows and formats are not compared; print its facts too (docs/facts.md)"
            )
        if unproven:
            then = f"; if no code changed, keep the present file: {keep}" if keep else ""
            raise Inconclusive(f"{unproven}; the rest is the same{then}")
        click.echo(
            json.dumps({"schema_version": 1, "same": True, "diff": [], "facts_not_compared": lines.not_compared})
            if form == "json"
            else "the topology is the same"
        )
        if new.facts and new.facts.read.code and keep and old.facts and not old.facts.read.code:
            click.echo(f"{expected}: has no digests of code; keep the present file to compare it: {keep}", err=True)
        sys.exit(0)
    if unproven:
        click.echo(unproven, err=True)
    if form == "text":
        click.echo("\n".join(map(sentence, difference)) + "\n")
        if code.changed:
            click.echo(f"code that changed:\n{code_text(code.changed)}\n")
    if keep:
        click.echo(f"if the change is intended, keep the present file: {keep}", err=True)
    _answer(
        {**given, "from_topology": expected, "to_topology": actual},
        form,
        same=False,
        diff=difference,
        facts_not_compared=lines.not_compared,
        changed_code=code_document(code.changed)["changed_code"],
    )
    sys.exit(1)


def _pasted(*words: str) -> str:
    return " ".join(map(shlex.quote, words))


def _code_not_compared(actual: str, reasons: tuple[str, ...], *, lacks: bool) -> str:
    """Why code could not be compared, empty if it was."""
    if lacks:
        return (
            f"{actual}: has no digests of code, and the kept file has: code is not compared; print it with "
            "FactsCommand (docs/facts.md)"
        )
    return f"code is not compared of {'; '.join(reasons)}" if reasons else ""


def _answer(
    given: dict[str, Any], form: str, figures: ChangeFigures | None = None, running: "Side | None" = None, **more: Any
) -> int:
    """Print the plan for what the options name, and give its exit code; `running` is the old side with its cluster."""
    from kstreams_runbooks.present.change.document import document, exit_code
    from kstreams_runbooks.present.change.gaps import declare_commands
    from kstreams_runbooks.present.change.text import WIDEST, as_markdown, as_text
    from kstreams_runbooks.terminal.change.inputs import read_both
    from kstreams_runbooks.terminal.columns import columns

    both = read_both(given, running)
    reading = both.reading
    if both.without_facts:
        click.echo(
            f"the {both.without_facts} side has no facts: print them for it too (docs/facts.md), and most of what is "
            "not known is known",
            err=True,
        )
    figures = figures or ChangeFigures()
    plan = {**document(reading, figures), **more}
    if any(one["matters"] for one in plan["undecided"]) and not reading.mixed_up:
        plan["declare_with"] = list(declare_commands(given, plan))
    if form == "json":
        click.echo(json.dumps(plan, indent=2))
    elif form == "markdown":
        click.echo(as_markdown(plan), nl=False)
    elif sys.stdout.isatty():
        from rich.console import Console

        from kstreams_runbooks.terminal.change.plan_display import show

        show(plan, Console())
    else:
        click.echo(as_text(plan, min(WIDEST, columns() or WIDEST)))
    return exit_code(reading, figures)
