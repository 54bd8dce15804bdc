"""The whole table of upgrade paths as Markdown, generated from the rows."""

from collections.abc import Iterable, Iterator
from typing import Final

from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.decide.releases.rules import newest_of
from kstreams_runbooks.model.releases.path import PathQuestion, YesNoUnknown
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.verdicts import Outcome

# Brokers of this release serve every release of Kafka Streams: no path in the matrix depends on the broker.
_ANY_CLIENT = Release("3.9")

_USES: Final[tuple[tuple[YesNoUnknown, str], ...]] = (
    ("yes", "With foreign-key joins and table aggregations"),
    ("no", "With neither of the two"),
)

_HEAD = """\
# Upgrade paths

Every row from which `kstreams-runbooks version-path` and the DAG `library_bump` derive the upgrade path between two
Kafka Streams releases, with its source. This page is printed from the rows in `plugins/kstreams_runbooks/rules`
by `make docs`; a test fails if it is out of date.

A range is written with two dots, both ends included: `2.4..3.2`, `..2.3` (and older), `4.0..` (and newer); `3.5` is all
its patches. A row that *needs* a feature applies if the feature is used or its use is unknown.
"""

_LEGEND = """\
From the newest patch of one minor (rows) to the newest of another (columns), with `at_least_once`, the classic protocol
and brokers of 3.9.

| sign | what it takes |
|---|---|
| 1 | one rolling bounce |
| 2 | two rolling bounces, the first with `upgrade.from` |
| B | a bridge release between: two bounces to it, one from it |
| c | a downgrade: all instances down at once, local state cleared, then the old release |
| k | the same, and local state is kept |
| S | a downgrade as `c`, after `upgrade.from` on the running release, one rolling bounce, and a drain |
| x | refused |
"""

_BACK = (
    "Every row that covers a pair, and whose needs are met, adds its duties. To another minor, local state is cleared "
    "unless a row keeps it: no published source promises that older releases open newer files."
)


def whole_table(rules: UpgradePathRules) -> str:
    """The page; the same rows give the same page."""
    return "\n".join((*_page(rules), ""))


def _page(rules: UpgradePathRules) -> Iterator[str]:
    yield _HEAD
    yield f"Known are {len(rules.releases)} releases, {rules.releases[0]} to {rules.releases[-1]}."
    yield from ("", "## Each minor to each", "", _LEGEND)
    for used, told in _USES:
        yield from (f"{told}:", "")
        yield from _matrix(used, rules)
        yield ""
    yield from ("## Upward", "", "The first row that covers a pair, and whose needs are met, decides.", "")
    yield from _table(
        ("running", "target", "needs", "what", "`upgrade.from`", "why", "source"),
        (
            (
                _ranges(row.running),
                _ranges(row.target),
                _needs(row.needs),
                row.effect.replace("_", " ") + (f" ({_ranges(row.bridges)})" if row.bridges else ""),
                _value(row.effect, row.upgrade_from, "the running minor"),
                _because(row.reason, row.action),
                _source(row.id, row.source),
            )
            for row in rules.upgrades
        ),
    )
    yield from ("", "## Values of `upgrade.from`", "", "What each release starts and runs with.", "")
    yield from _table(
        ("release", "values", "taken, but it throws", "source"),
        (
            (
                _ranges(row.releases),
                f"{row.lowest} to {row.highest}" if row.lowest != row.highest else row.lowest or "none",
                _ranges(row.throws),
                row.source,
            )
            for row in rules.upgrade_from
        ),
    )
    yield from ("", "## Back", "", _BACK, "")
    yield from _table(
        ("running", "target", "needs", "duties, in this order", "why", "source"),
        (
            (
                _ranges(row.running),
                _ranges(row.target) + (", of the same minor" if row.same_minor else ""),
                _needs(row.needs),
                row.effect if row.effect != "allow" else _duties(row.duties, row.upgrade_from),
                _because(row.reason, row.action),
                _source(row.id, row.source),
            )
            for row in rules.downgrades
        ),
    )
    yield from _settings(rules)
    yield from ("", "## Brokers", "", "What is not listed asks for nothing.", "")
    yield from _table(
        ("release", "with", "brokers", "otherwise", "why", "source"),
        (
            (
                _ranges(row.releases),
                ", ".join((*row.guarantees, *(f"group.protocol={one}" for one in row.protocols))),
                _ranges(row.brokers),
                row.effect,
                row.reason,
                _source(row.id, row.source),
            )
            for row in rules.brokers
        ),
    )
    yield from ("", "## Known defects", "", "[defects](defects.md) has each known defect, and the releases to avoid.")
    yield from ("", "## What each release brought", "", "Every path across the release shows it.", "")
    yield from _table(
        ("since", "kind", "severity", "what", "source"),
        ((change.since, change.kind, change.severity, change.message, change.source) for change in rules.changes),
    )


def _settings(rules: UpgradePathRules) -> Iterator[str]:
    yield from ("", "## Processing guarantee", "")
    yield from _table(
        ("value", "releases", "source"), ((row.value, _ranges(row.releases), row.source) for row in rules.guarantees)
    )
    yield ""
    yield from _table(
        ("running", "target", "value", "what", "why", "source"),
        (
            (
                _ranges(row.running),
                _ranges(row.target),
                ", ".join(row.guarantees),
                row.effect.replace("_", " ") + (f" to {row.to}" if row.to else ""),
                _because(row.reason, row.action),
                _source(row.id, row.source),
            )
            for row in rules.guarantee_changes
        ),
    )
    yield from ("", "## Group protocol", "")
    yield from _table(
        ("value", "releases", "source"), ((row.value, _ranges(row.releases), row.source) for row in rules.protocols)
    )
    yield ""
    yield from _table(
        ("running", "target", "value", "what", "why", "source"),
        (
            (
                _ranges(row.running),
                _ranges(row.target),
                ", ".join(row.protocols),
                row.effect,
                _because(row.reason, row.action),
                _source(row.id, row.source),
            )
            for row in rules.protocol_changes
        ),
    )


def _matrix(used: YesNoUnknown, rules: UpgradePathRules) -> Iterator[str]:
    minors = tuple(dict.fromkeys(release.minor for release in rules.releases))
    yield from _table(
        ("", *minors),
        ((f"**{running}**", *(_sign(running, target, used, rules) for target in minors)) for running in minors),
    )


def _sign(running: str, target: str, used: YesNoUnknown, rules: UpgradePathRules) -> str:
    if running == target:
        return "·"
    path = upgrade_path(
        PathQuestion(
            newest_of(Release(running), rules),
            newest_of(Release(target), rules),
            _ANY_CLIENT,
            guarantee="at_least_once",
            foreign_key_joins=used,
            table_aggregations=used,
            group_protocol="classic",
        ),
        rules,
    )
    if path.verdict is not Outcome.PROCEED:
        return "x"
    if path.bridge:
        return "B"
    if any(bounce.at_once for bounce in path.bounces):
        duties = {duty for bounce in path.bounces for duty in bounce.before}
        another = Release(running).minor != Release(target).minor
        return "S" if "drain" in duties else "k" if another and "clear_state" not in duties else "c"
    return str(len(path.bounces))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _ranges(ranges: tuple[str, ...]) -> str:
    return ", ".join("any" if one == ".." else one for one in ranges)


def _needs(needs: tuple[str, ...]) -> str:
    return ", ".join(need.replace("_", " ").replace("foreign key", "foreign-key") for need in needs)


def _value(effect: str, value: str, own: str) -> str:
    if effect != "two_bounces":
        return ""
    return own if value in {"running", "target"} else value


def _duties(duties: tuple[str, ...], upgrade_from: str) -> str:
    value = "the target's minor" if upgrade_from == "target" else upgrade_from
    words = {
        "set_upgrade_from": f"`upgrade.from` = {value} on the running release",
        "drain": "drain",
        "clear_state": "clear local state",
        "keep_state": "keep local state",
    }
    return ", ".join(words[duty] for duty in duties) or "none"


def _because(reason: str, action: str) -> str:
    return f"{reason} Instead: {action}." if action else reason


def _source(row_id: str, source: str) -> str:
    return f"`{row_id}`: {source}"
