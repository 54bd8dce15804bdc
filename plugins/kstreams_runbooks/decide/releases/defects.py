"""The known defects that bite an application: on the way from one release to another, or on what runs now."""

from collections.abc import Iterator, Mapping
from typing import Final

from kstreams_runbooks.decide.releases.rules import how_to_learn, is_newer, newer_than
from kstreams_runbooks.model.releases.path import PathFinding
from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import Defect, DefectEffect, DefectFacts, UpgradePathRules
from kstreams_runbooks.model.verdicts import Severity

# What is done differently, as a sentence; a row that only warns has its own.
DONE: Final[Mapping[DefectEffect, str]] = {
    "refuse": "Do not go to this release.",
    "warn": "",
    "no_stop_while_restoring": "Stop an instance only while none of its tasks restores, as a run does.",
    "clear_state_before_start": "After a kill clear the local state of the instance before it starts, as a run does.",
    "roll_all_at_once": (
        "Stop all instances, then start all, in place of one by one: stop_and_restart, if the library stays. For an "
        "upgrade no runbook does that: expect that a roll writes some results twice."
    ),
    "expect_full_restore": "Expect a full restore of its state after the stop, as the forecast of a run does.",
    "never_pause": "Do not call KafkaStreams#pause; hold the inputs in place of it.",
}
_FACTS: Final[Mapping[str, str]] = {
    "guarantee": "processing.guarantee",
    "protocol": "group.protocol",
    "stateful": "whether it has stores",
    "stores": "the kind of its stores",
    "standbys": "num.standby.replicas",
    "caching": "caching of its stores",
    "foreign_key_joins": "foreign-key joins",
    "global_stores": "global stores",
    "outer_joins": "left or outer joins of streams",
    "replaces_threads": "whether its handler of uncaught exceptions replaces threads",
    "restores_from_inputs": "topology.optimization",
    "state_cleanup_age": "state.cleanup.dir.max.age.ms",
    "stream_time_punctuation": "punctuation by stream time",
    "table_aggregations": "table aggregations",
    "versioned_stores": "versioned stores",
}
PROOFS: Final = {"tried": "tried by a test", "read": "read in the releases", "reported": "reported, not tried"}
NEWER_THAN_RULES = "release-newer-than-rules"
_MAY: Final = "May apply, not known: "
_BROKER: Final = "the release of the brokers"


def defect_findings(
    running: Release | None,
    target: Release | None,
    facts: DefectFacts,
    rules: UpgradePathRules,
    broker: Release | None = None,
) -> Iterator[PathFinding]:
    """A finding for each defect that bites an application with these `facts`, in the order of the rows.

    `running` is None if it is not known; `target` None asks about what runs now. A row whose needs are not met is left
    out; if a need is not known it may apply, and the finding has the need. Danger: it is certain, data is lost, doubled
    or wrong, and something has to be done differently.
    A defect that only the running release has, and that does not bite on the way, is information. A release that is
    newer than the rules is a warning: its defects are not known.
    """
    ends = [one for one in (running, target) if one is not None]
    for release in dict.fromkeys(ends):
        if is_newer(release, rules):
            said = f"It is {newer_than(release, rules)}; {how_to_learn(release)}."
            yield PathFinding(NEWER_THAN_RULES, "warning", str(release), said, "docs/new_release.md")
    streams = next(row.releases for row in rules.protocols if row.value == "streams")
    if ends and not any(within(one, streams) for one in ends):
        facts = {**facts, "protocol": ("classic",)}
    for row in rules.defects:
        unknown = unknown_needs(row, facts)
        if unknown is None:
            continue
        if row.of == "broker":
            if broker is None or within(broker, row.releases):
                # Of brokers only the minor release is known, and not which patch they run.
                told = broker is not None and (
                    Release.full(str(broker)) or not any(one.count(".") > 1 for one in row.releases)
                )
                yield _finding(row, "broker", (*unknown, *(() if told else (_BROKER,))))
        elif _bites(row, running, target):
            gets_it = target is not None and within(target, row.releases)
            yield _finding(row, str(target if gets_it else running), unknown)
        elif running is not None and within(running, row.releases):
            yield PathFinding(row.id, "info", str(running), f"Leaves a known defect: {row.reason}", _source(row))


def unknown_needs(row: Defect, facts: DefectFacts) -> tuple[str, ...] | None:
    """The needs of a row that are not known, for a person; None if one is not met."""
    unknown = []
    for name, values in row.needs.items():
        known = facts.get(name)
        if known is None:
            unknown.append(_FACTS[name])
        elif not set(known) & set(values):
            return None
    return tuple(unknown)


def refuses(row: Defect, target: Release, facts: DefectFacts) -> bool:
    """Whether a row speaks against a target: a feature that is not known counts as used."""
    open_ = {name for name in row.needs if name not in facts}
    return (
        "refuse" in row.effects
        and within(target, row.releases)
        and open_ <= {"foreign_key_joins", "table_aggregations"}
        and unknown_needs(row, facts) is not None
    )


def done_differently(row: Defect) -> str:
    """What a runbook or a person does differently, and the first releases without the defect."""
    fixed = [one for one in row.first_fixed if one != "none"]
    ends = f"Fixed in {', '.join(fixed)}." if fixed else "No release is known to have a fix."
    return " ".join(part for part in (*(DONE[one] for one in row.effects), row.action, ends) if part)


def may_apply(finding: PathFinding) -> bool:
    """Whether the defect of a finding may apply: one of its needs is not known."""
    return finding.message.startswith(_MAY)


def _bites(row: Defect, running: Release | None, target: Release | None) -> bool:
    has_it = running is not None and within(running, row.releases)
    gets_it = has_it if target is None else within(target, row.releases)
    bites = {
        "going_to": gets_it and target is not None and target != running,
        "leaving": has_it,
        "while_running": gets_it,
        "at_a_kill": has_it or gets_it,
    }
    return any(bites[one] for one in row.when)


def _finding(row: Defect, on: str, unknown: tuple[str, ...]) -> PathFinding:
    severity: Severity = "danger" if row.is_costly and not unknown else "warning"
    may = f"{_MAY}{', '.join(unknown)}. " if unknown else ""
    return PathFinding(row.id, severity, on, f"{may}{row.reason} {done_differently(row)}", _source(row))


def _source(row: Defect) -> str:
    return f"{row.source} ({PROOFS[row.proof]})"
