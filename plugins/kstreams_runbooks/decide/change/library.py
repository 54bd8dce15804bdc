"""The version planner's findings on a change that brings another Kafka Streams release."""

from dataclasses import replace
from typing import cast, get_args

from kstreams_runbooks.decide.change.rules import Fired
from kstreams_runbooks.decide.comparison.compared import Compared, Side, topics_of
from kstreams_runbooks.decide.comparison.facts import sides
from kstreams_runbooks.decide.comparison.setting_facts import protocol_of
from kstreams_runbooks.decide.comparison.state.kinds import OF_STREAM, carries
from kstreams_runbooks.decide.releases.defects import refuses
from kstreams_runbooks.decide.releases.downgrade import cleared_on_the_way
from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.decide.topology.names import stem
from kstreams_runbooks.model.releases.path import PathFinding, PathQuestion, YesNoUnknown
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import GroupProtocol, Guarantee, UpgradePathRules
from kstreams_runbooks.model.topology.change import ChangeFinding, ChangeRunbook, Undecided, Undeclared
from kstreams_runbooks.model.verdicts import Outcome, Severity

LIBRARY_CHANGED = "library-changed"
PATHS = "rules of the version planner; docs/version_paths.md"
_FOREIGN_KEY_JOIN = ("KTABLE-FK-JOIN", "-subscription-registration", "-SUBSCRIPTION-REGISTRATION")
_TABLE_AGGREGATION = ("KTABLE-AGGREGATE-", "KTABLE-REDUCE-")
_BROKER = "missing-broker"
# How the path of a join ends that a reader could not read.
_JOIN = ".join"
_MISSING = (_BROKER, "missing-guarantee", "missing-group-protocol")
# Changes of a release that the two topologies answer.
_ANOTHER_TOPOLOGY = "process-values"
_GUARANTEES, _PROTOCOLS = get_args(Guarantee), get_args(GroupProtocol)
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
    answered = {_ANOTHER_TOPOLOGY, *_about_others(compared, rules)}
    # Known defects that do not refuse the target have a list of their own.
    answered |= {row.id for row in rules.defects if not refuses(row, new, question.known)}
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
        PATHS,
        () if refuse else _BUMP,
        refuse=refuse,
    )
    return Fired((whole, *(_finding(one) for one in path.findings)), ())


def with_cleared_state(compared: Compared, rules: UpgradePathRules) -> Compared:
    """The change with `state_cleared` if the way to the new library clears the local state that the old one's left."""
    old, new = compared.before.declared.library, compared.after.declared.library
    cleared = old is not None and new is not None and cleared_on_the_way(new, old, rules)
    return replace(compared, state_cleared=cleared)


def question_of(side: Side, running: Release, target: Release) -> PathQuestion:
    """The question for the path from the release of a side to another, as far as the side answers it."""
    config = side.declared.config
    guarantee = (config or {}).get("processing.guarantee", "at_least_once")
    protocol = protocol_of(side.declared)
    return PathQuestion(
        running=running,
        target=target,
        # A value that no release has is refused as a setting.
        guarantee=None if config is None or guarantee not in _GUARANTEES else cast(Guarantee, guarantee),
        foreign_key_joins=joins_by_foreign_key(side),
        table_aggregations=aggregates_tables(side),
        group_protocol=None if config is None or protocol not in _PROTOCOLS else cast(GroupProtocol, protocol),
    )


def _finding(one: PathFinding) -> ChangeFinding:
    return ChangeFinding(one.id, one.severity, one.object, one.message, one.source, ())


def joins_by_foreign_key(side: Side) -> YesNoUnknown:
    """Whether tables are joined by foreign key: the two topics of such a join always have names of their kind."""
    return "yes" if _has(side, _FOREIGN_KEY_JOIN) else "no"


def _about_others(compared: Compared, rules: UpgradePathRules) -> set[str]:
    """The rows about releases that are about other programs: this one has no store, outer join or second input."""
    after = compared.after
    has = {
        "stores": compared.stateful,
        "outer_joins": may_join_outer(after),
        "several_inputs": any(
            sum(len(topics_of(source)) + (source.pattern is not None) for source in sub.sources) > 1
            for sub in after.topology.subtopologies
            if not sub.is_global
        ),
    }
    found = {row.id for row in rules.changes if row.about and not has[row.about]}
    return found | {row.id for row in rules.downgrades if "clear_state" in row.duties and not has["stores"]}


def may_join_outer(side: Side) -> bool:
    """Whether a left or outer join is possible: by the code, else by what each join reads, another one's store.

    The join of a global table reads a global store.
    """
    declared = side.declared
    kinds = {one.join for one in declared.operators.values()} | {one.join for one in declared.stores.values()}
    unread = any(where.endswith(_JOIN) for where in declared.not_read)
    if declared.was_read and not unread:
        return bool(kinds & {"left", "outer"})
    return bool(side.global_stores) or any(len(keepers) > 1 for keepers in side.keepers.values())


def aggregates_tables(side: Side) -> YesNoUnknown:
    """Whether a table is grouped again: it always writes a repartition topic; a name hides the kind of grouping.

    A program whose facts were read shows it by the operator in front of the topic.
    """
    if _has(side, _TABLE_AGGREGATION):
        return "yes"
    if side.declared.was_read and all(carries(side, topic) == OF_STREAM for topic in side.internal):
        return "no"
    return "unknown" if side.internal else "no"


def _has(side: Side, parts: tuple[str, ...]) -> bool:
    names = (*side.nodes, *side.topology.stores, *side.internal)
    return any(part in stem(name) for name in names for part in parts)
