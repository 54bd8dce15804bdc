"""Known defects as JSON, as text and as the page docs/defects.md."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from kstreams_runbooks.decide.releases.defects import PROOFS, done_differently, may_apply
from kstreams_runbooks.model.releases.path import PathFinding
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import Defect, UpgradePathRules
from kstreams_runbooks.model.verdicts import SEVERITIES
from kstreams_runbooks.present.path import WIDTH, finding_lines

SCHEMA_VERSION: Final = 1
_HEAD = """\
# Known defects

The known defects of Kafka Streams, its clients and the brokers that this project judges: what loses, doubles, stops or
delays something, from release 3.0 on with a few of before. No list of defects is complete.
This page is printed from `plugins/kstreams_runbooks/rules/defects.yaml` by `make docs`; a test fails if it is out of
date.

`kstreams-runbooks defects --from RELEASE --to RELEASE` shows those that bite an application. `version-path`, `plan`,
`readiness`, the step `check` and the plan of each runbook show them too. If a row needs something that is not known of
the application, the row is shown as one that may apply.

| word | when a defect bites |
|---|---|
| going to | a change brings a release that has it |
| leaving | an instance that has it is stopped, for another release or for a restart |
| while running | the application runs on a release that has it |
| at a kill | an instance ends without a clean stop |

A defect that the change leaves behind is information. A target that a row refuses is refused for applications that meet
its needs. A release is never a bridge if a row refuses it, or warns of *going to* it. A run clears
local state after a kill, stops no instance that restores, and counts full restores in its forecasts, if a row that
applies or may apply asks for it. What else is done differently, it shows.

## After a kill

A run deletes the task directories of an instance before it starts it, if a row asks for that after a kill and the
process did not end cleanly: its supervisor killed it, it died, or its deployer does not report how it ended
(`ended_cleanly`). After a clean stop the directories stay. A process that exits by itself although
`KafkaStreams#close` ran into its timeout looks clean: give `close` less time than the supervisor gives the process.

Directories with a store that no topic restores in full are not deleted, and neither are those that the deployer cannot
delete or that no description names. The instance then stays down and the run is inconclusive: delete the directories,
start the instance, and clear the task. The plan has all of this in its worst case.

If an instance was killed outside of a run and its supervisor has started it again, no reading shows that. Stop the
supervisor from starting it (`autorestart=false`, no restart policy), or delete the directories before the process
starts, in the start script of the instance.
"""


def document(running: Release, target: Release | None, found: Sequence[PathFinding]) -> dict[str, Any]:
    """The answer as a JSON document."""
    return {
        "schema_version": SCHEMA_VERSION,
        "from": str(running),
        "to": None if target is None else str(target),
        "defects": [{name: value for name, value in asdict(one).items() if name != "runbook"} for one in found],
    }


def as_text(running: Release, target: Release | None, found: Sequence[PathFinding], columns: int | None) -> str:
    """The number, then each defect from the worst, in lines of at most `columns` characters (None: 110)."""
    pair = f"{running}" if target is None else f"{running} to {target}"
    biting = [one for one in found if one.severity != "info"]
    some = len([one for one in biting if may_apply(one)])
    lines = [f"{pair}: known defects that bite: {len(biting) - some}, that may: {some} (docs/defects.md)"]
    for severity in SEVERITIES:
        of_severity = [one for one in found if one.severity == severity]
        lines += ["", severity] if of_severity else []
        lines += [line for one in of_severity for line in finding_lines(one, min(WIDTH, columns or WIDTH))]
    return "\n".join(lines)


def exit_code(found: Sequence[PathFinding]) -> int:
    """0 none bites, 1 at least one does, 3 none is certain and some may apply."""
    biting = [one for one in found if one.severity != "info"]
    if any(not may_apply(one) for one in biting):
        return 1
    return 3 if biting else 0


def whole_page(rules: UpgradePathRules) -> str:
    """The page; the same rows give the same page."""
    return "\n".join((*_page(rules), ""))


def needs(row: Defect) -> str:
    """What an application must have for a defect to bite it; empty if every one has it."""
    return "; ".join(f"{name.replace('_', ' ')}: {' or '.join(values)}" for name, values in row.needs.items())


def _page(rules: UpgradePathRules) -> Iterator[str]:
    yield _HEAD
    head = ("defect", "releases", "when", "needs", "data", "what happens", "done differently", "source")
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rules.defects:
        yield f"| {' | '.join(each.replace('|', chr(92) + '|') for each in _cells(row))} |"


def _cells(row: Defect) -> Iterator[str]:
    yield f"`{row.id}`"
    yield f"{'brokers of ' if row.of == 'broker' else ''}{', '.join(row.releases)}"
    yield ", ".join(row.when).replace("_", " ")
    yield needs(row) or "nothing"
    yield row.data
    yield row.reason
    yield done_differently(row)
    yield f"{row.source} ({PROOFS[row.proof]})"
