"""The version planner's findings on a change that brings another Kafka Streams release."""

from dataclasses import replace
from typing import cast

from kstreams_runbooks.decide.change.rules import Fired
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.facts import sides
from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.decide.topology.names import stem
from kstreams_runbooks.model.releases.path import PathFinding, PathQuestion, YesNoUnknown
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import GroupProtocol, Guarantee, UpgradePathRules
from kstreams_runbooks.model.topology.change import ChangeFinding, ChangeRunbook, Undecided, Undeclared
from kstreams_runbooks.model.verdicts import Outcome, Severity

LIBRARY_CHANGED = "library-changed"
_SOURCE = "rules of the version planner; docs/version_paths.md"
_FOREIGN_KEY_JOIN = ("KTABLE-FK-JOIN", "-subscription-registration", "-SUBSCRIPTION-REGISTRATION")
_TABLE_AGGREGATION = ("KTABLE-AGGREGATE-", "KTABLE-REDUCE-")
_BROKER = "missing-broker"
_MISSING = (_BROKER, "missing-guarantee", "missing-group-protocol")
# Changes of a release that the two topologies answer.
_ANOTHER_TOPOLOGY, _NULL_KEYS = "process-values", "null-keys-in-joins"
_BUMP: tuple[ChangeRunbook, ...] = ("library_bump",)


def library_findings(compared: Compared, rules: UpgradePathRules, broker: Release | None = None) -> Fired:
    """The path between the two releases as findings; empty if one is not given or both are the same.

    BadInput for a release that the rules do not know.
    """
    old, new = compared.before.declared.library, compared.after.declared.library
    if old == new:
        return Fired((), ())
    if old is None or new is None:
        missing = Undeclared("library", "", sides(old, new))
        return Fired((), (Undecided(LIBRARY_CHANGED, "warning", "library", (missing,), _BUMP),))
    question = replace(question_of(compared.before, old, new), broker=broker)
    path = upgrade_path(question, rules)
    if path.verdict is Outcome.INCONCLUSIVE and {one.id for one in path.findings if one.id in _MISSING} == {_BROKER}:
        # The release of the brokers is known to a cluster: assumed here to be the newest, and reported.
        told = tuple(one for one in path.findings if one.id == _BROKER)
        path = upgrade_path(replace(question, broker=rules.releases[-1]), rules)
        path = replace(path, findings=(*path.findings, *(replace(one, severity="info") for one in told)))
    answered = {_ANOTHER_TOPOLOGY, *([] if _may_join(compared.after) else [_NULL_KEYS])}
    path = replace(path, findings=tuple(one for one in path.findings if one.id not in answered))
    if path.verdict is Outcome.INCONCLUSIVE:
        asked = Undecided(
            LIBRARY_CHANGED, "danger", str(new), (Undeclared(f"config: {path.reason}", "", "old"),), _BUMP
        )
        return Fired(tuple(_finding(one) for one in path.findings), (asked,))
    severity: Severity = "info" if path.plain else "warning"
    refuse = path.verdict is Outcome.REFUSE
    whole = ChangeFinding(
        LIBRARY_CHANGED,
        "danger" if refuse else severity,
        str(new),
        path.reason,
        _SOURCE,
        () if refuse else _BUMP,
        refuse=refuse,
    )
    return Fired((whole, *(_finding(one) for one in path.findings)), ())


def question_of(side: Side, running: Release, target: Release) -> PathQuestion:
    """The question for the path from the release of a side to another, as far as the side answers it."""
    # Its values were checked when the side was read (contradictions.py).
    config = side.declared.config
    return PathQuestion(
        running=running,
        target=target,
        guarantee=None if config is None else cast(Guarantee, config.get("processing.guarantee", "at_least_once")),
        foreign_key_joins=joins_by_foreign_key(side),
        table_aggregations=aggregates_tables(side),
        group_protocol=None if config is None else cast(GroupProtocol, config.get("group.protocol", "classic").lower()),
    )


def _finding(one: PathFinding) -> ChangeFinding:
    return ChangeFinding(one.id, one.severity, one.object, one.message, one.source, ())


def joins_by_foreign_key(side: Side) -> YesNoUnknown:
    """Whether tables are joined by foreign key: the two topics of such a join always have names of their kind."""
    return "yes" if _has(side, _FOREIGN_KEY_JOIN) else "no"


def _may_join(side: Side) -> bool:
    """Whether a join is possible: each reads a global store, or a store that another operator fills."""
    return bool(side.global_stores) or any(len(keepers) > 1 for keepers in side.keepers.values())


def aggregates_tables(side: Side) -> YesNoUnknown:
    """Whether a table is grouped again: it always writes a repartition topic; a name hides the kind of grouping."""
    if _has(side, _TABLE_AGGREGATION):
        return "yes"
    return "unknown" if side.internal else "no"


def _has(side: Side, parts: tuple[str, ...]) -> bool:
    names = (*side.nodes, *side.topology.stores, *side.internal)
    return any(part in stem(name) for name in names for part in parts)
