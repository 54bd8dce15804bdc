"""`version-path` and `version-paths` for the terminal: JSON on stdout alone, everything else on stderr."""

import json
import sys
from dataclasses import asdict
from typing import Any, Final

import click

from kstreams_runbooks.model.releases.path import PathQuestion, UpgradePath
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.verdicts import Outcome

SCHEMA_VERSION: Final = 1
_ANSWERS = click.Choice(["yes", "no", "unknown"])


@click.command("version-path")
@click.option("--from", "running", required=True, metavar="V", help="Running Kafka Streams release, such as 3.4.1.")
@click.option("--to", "target", required=True, metavar="V", help="Target release, newer or older.")
@click.option("--broker", metavar="V", help="Release of the brokers, such as 4.3.")
@click.option("--foreign-key-joins", type=_ANSWERS, default="unknown", help="Unknown counts as yes (KIP-213).")
@click.option("--table-aggregations", type=_ANSWERS, default="unknown", help="Unknown counts as yes (KIP-904).")
@click.option(
    "--processing-guarantee", "guarantee", metavar="G", help="Present processing.guarantee; to switch, ask `plan`."
)
@click.option(
    "--group-protocol",
    "protocol",
    metavar="P",
    help="Present group.protocol: classic or streams; to switch, ask `plan`.",
)
@click.option(
    "--upgrade-from", "value", metavar="V", help="upgrade.from among the settings of the target, to judge it."
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def version_path_command(
    running: str,
    target: str,
    broker: str | None,
    foreign_key_joins: Any,
    table_aggregations: Any,
    guarantee: Any,
    protocol: Any,
    value: str | None,
    form: str,
) -> None:
    """Bounces that take an application from one Kafka Streams release to another, and why.

    Exit codes: 0 one plain rolling bounce, 1 more than that, a setting to make first or a refusal, 2 bad input, 3 an
    input is missing that would change the answer.
    """
    from kstreams_runbooks.decide.releases.guard import with_value
    from kstreams_runbooks.decide.releases.path import upgrade_path
    from kstreams_runbooks.decide.releases.rules import settings_first
    from kstreams_runbooks.present.path import as_text
    from kstreams_runbooks.rules import upgrade_path_rules
    from kstreams_runbooks.terminal.columns import columns

    question = PathQuestion(
        running=Release.parse(running),
        target=Release.parse(target),
        broker=None if broker is None else Release.parse(broker),
        guarantee=guarantee,
        foreign_key_joins=foreign_key_joins,
        table_aggregations=table_aggregations,
        group_protocol=protocol,
    )
    path = upgrade_path(question, upgrade_path_rules())
    if value is not None:
        path = with_value(path, value, question, upgrade_path_rules())
    settings = settings_first(path, upgrade_path_rules())
    if form == "json":
        click.echo(json.dumps(document(path, settings), indent=2))
    else:
        click.echo(as_text(question, path, settings, columns()))
    sys.exit(exit_code(path, settings))


@click.command("version-paths")
def version_paths_command() -> None:
    """The whole table of version paths as Markdown: every row with its source (docs/version_paths.md)."""
    from kstreams_runbooks.present.path_table import whole_table
    from kstreams_runbooks.rules import upgrade_path_rules

    click.echo(whole_table(upgrade_path_rules()), nl=False)


def document(path: UpgradePath, settings: tuple[str, ...]) -> dict[str, Any]:
    """The answer as a JSON document; `settings` are to be made before the first bounce."""
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": path.verdict.value,
        "reason": path.reason,
        "settings": list(settings),
        "bounces": [asdict(bounce) for bounce in path.bounces],
        "bridge": path.bridge,
        "legs": [{"runbook": leg.runbook, "target": leg.target, "bounces": len(leg.bounces)} for leg in path.legs],
        "findings": [asdict(finding) for finding in path.findings],
    }


def exit_code(path: UpgradePath, settings: tuple[str, ...]) -> int:
    """0 one plain rolling bounce, 1 more than that, a setting to make first or a refusal, 3 inconclusive."""
    if path.verdict is Outcome.INCONCLUSIVE:
        return 3
    return 0 if path.plain and not settings else 1
