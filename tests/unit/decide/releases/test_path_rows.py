"""One example per row of the version rules: the pair that it is about, and what it comes to.

Covers decide/releases/answers, decide/releases/downgrade, decide/releases/unknowns, decide/releases/upgrade
"""

import re
from dataclasses import replace
from typing import Any

import pytest
from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.model.releases.path import PathQuestion, UpgradePath
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import upgrade_path_rules

RULES = upgrade_path_rules()
REFUSED = "refused"

EOS1: dict[str, Any] = {"guarantee": "exactly_once"}
BETA: dict[str, Any] = {"guarantee": "exactly_once_beta"}
EOS2: dict[str, Any] = {"guarantee": "exactly_once_v2"}
STREAMS: dict[str, Any] = {"group_protocol": "streams"}
NO_JOINS: dict[str, Any] = {"foreign_key_joins": "no"}
NO_AGGREGATIONS: dict[str, Any] = {"table_aggregations": "no"}
NEITHER: dict[str, Any] = {**NO_JOINS, **NO_AGGREGATIONS}
CLEARED = "clear_state"

# row: running, target, broker, what is not the default (all known, both features used), and the bounces or a refusal
EXAMPLES: dict[str, tuple[str, str, str, dict[str, Any], Any]] = {
    "metadata-format-without-setting": ("0.10.0.1", "1.1.0", "1.1", {}, REFUSED),
    "foreign-key-join-format-3.3": ("3.2.3", "3.3.2", "3.9", {}, REFUSED),
    "table-aggregation-format-3.5.0": ("3.4.1", "3.5.1", "3.9", {}, REFUSED),
    "table-aggregation-format-3.5.0-with-joins": ("3.3.2", "3.5.0", "3.9", {}, REFUSED),
    "eager-rebalancing-gone": (
        "2.3.1",
        "4.3.1",
        "3.9",
        {},
        [("3.9.2", "2.3"), ("3.9.2",), ("4.3.1",)],
    ),
    "metadata-format-0.10.1": ("0.10.0.1", "1.1.1", "1.1", {}, [("1.1.1", "0.10.0"), ("1.1.1",)]),
    "metadata-format-2.0": ("0.10.2.1", "2.3.1", "2.3", {}, [("2.3.1", "0.10.2"), ("2.3.1",)]),
    "cooperative-rebalancing": ("1.1.1", "3.8.1", "3.9", {}, [("3.8.1", "1.1"), ("3.8.1",)]),
    "foreign-key-join-format": ("3.2.3", "3.4.1", "3.9", NO_AGGREGATIONS, [("3.4.1", "3.2"), ("3.4.1",)]),
    "table-aggregation-format-with-joins-of-3.3": ("3.3.2", "4.3.1", "3.9", {}, [("4.3.1", "3.4"), ("4.3.1",)]),
    "table-aggregation-format": ("3.3.2", "4.3.1", "3.9", NO_JOINS, [("4.3.1", "3.3"), ("4.3.1",)]),
    "same-metadata-0.10.0": ("0.10.0.0", "0.10.0.1", "0.10.0", {}, [("0.10.0.1",)]),
    "same-metadata-0.10.1": ("0.10.1.1", "1.1.0", "1.1", {}, [("1.1.0",)]),
    "version-probing": ("2.0.1", "2.3.1", "2.3", {}, [("2.3.1",)]),
    "no-format-change-from-2.4": ("2.4.1", "3.2.3", "3.9", {}, [("3.2.3",)]),
    "no-format-change-from-3.3": ("3.3.2", "3.4.1", "3.9", {}, [("3.4.1",)]),
    "join-format-not-used": ("3.2.3", "3.4.1", "3.9", NO_JOINS, [("3.4.1",)]),
    "formats-not-used": ("2.8.2", "4.3.1", "3.9", NEITHER, [("4.3.1",)]),
    "aggregation-format-not-used": ("3.3.2", "4.3.1", "3.9", NO_AGGREGATIONS, [("4.3.1",)]),
    "no-format-change-from-3.5": ("3.5.0", "4.3.1", "3.9", {}, [("4.3.1",)]),
    "eager-cannot-come-back": ("2.8.2", "2.3.1", "2.8", {}, REFUSED),
    "metadata-cannot-come-back-1.1": ("2.3.1", "1.1.1", "2.8", {}, REFUSED),
    "metadata-cannot-come-back-0.10.0": ("1.1.1", "0.10.0.1", "1.1", {}, REFUSED),
    "foreign-key-subscriptions-stay": ("3.4.1", "3.2.3", "3.9", NO_AGGREGATIONS, REFUSED),
    "table-aggregations-drain-to-3.3-with-joins": (
        "3.9.2",
        "3.3.2",
        "3.9",
        {},
        [("3.9.2", "3.4"), ("3.3.2", "drain", CLEARED)],
    ),
    "table-aggregations-drain": ("3.9.2", "3.4.1", "3.9", {}, [("3.9.2", "3.4"), ("3.4.1", "drain", CLEARED)]),
    "rocksdb-3.0": ("3.4.1", "2.8.2", "3.9", NEITHER, [("2.8.2", CLEARED)]),
    "rocksdb-4.0": ("4.0.2", "3.9.2", "3.9", {}, [("3.9.2", CLEARED)]),
    "store-offsets-4.3": ("4.3.1", "4.2.1", "4.3", {}, [("4.2.1", CLEARED)]),
    "stores-of-4.4-open": ("4.4.0", "4.3.1", "4.4", {}, [("4.3.1",)]),
    "stream-time-forgotten": ("3.4.1", "3.2.3", "3.9", NEITHER, [("3.2.3", CLEARED)]),
    "same-metadata-back": ("1.1.1", "0.10.2.2", "1.1", {}, [("0.10.2.2", CLEARED)]),
    "same-minor-back": ("2.3.1", "2.3.0", "2.3", {}, [("2.3.0",)]),
    "back-within-2.4-and-later": ("3.9.2", "3.7.2", "3.9", {}, [("3.7.2", CLEARED)]),
    "exactly-once-v1-gone": (
        "2.8.2",
        "4.3.1",
        "3.9",
        EOS1,
        [("3.9.2", "2.8"), ("3.9.2",), ("3.9.2", "exactly_once_v2"), ("4.3.1",)],
    ),
    "exactly-once-v1-switch-first": (
        "3.4.1",
        "4.3.1",
        "3.9",
        EOS1,
        [("3.4.1", "exactly_once_v2"), ("4.3.1", "3.4"), ("4.3.1",)],
    ),
    "exactly-once-beta-renamed": (
        "2.8.2",
        "4.3.1",
        "3.9",
        BETA,
        [("4.3.1", "2.8", "exactly_once_v2"), ("4.3.1",)],
    ),
    "exactly-once-deprecated": ("3.8.1", "3.9.2", "3.9", EOS1, [("3.9.2",)]),
    "no-exactly-once-before-0.11": ("1.1.1", "0.10.2.2", "1.1", EOS1, REFUSED),
    "exactly-once-v2-before-3.0": (
        "3.2.3",
        "2.8.2",
        "3.9",
        EOS2,
        [("2.8.2", "exactly_once_beta", CLEARED)],
    ),
    "exactly-once-v2-back-from-4.0": ("4.0.2", "2.5.1", "3.9", {**EOS2, **NEITHER}, REFUSED),
    "exactly-once-v2-back": (
        "3.2.3",
        "2.5.1",
        "3.9",
        EOS2,
        [("3.2.3", "exactly_once"), ("2.5.1", CLEARED)],
    ),
    "no-streams-protocol-before-4.1": ("4.2.1", "4.0.2", "4.3", STREAMS, REFUSED),
    "streams-protocol-early-access": ("4.1.1", "4.3.1", "4.3", STREAMS, REFUSED),
    "streams-protocol-back-to-early-access": ("4.3.1", "4.1.2", "4.3", STREAMS, REFUSED),
    "streams-protocol": ("4.2.1", "4.3.1", "4.3", STREAMS, [("4.3.1",)]),
    "broker-0.10.0": ("0.10.0.0", "0.10.0.1", "0.9.0", {}, REFUSED),
    "broker-0.10.1": ("0.10.0.1", "1.1.1", "0.10.0", {}, REFUSED),
    "broker-0.11": ("2.2.0", "2.2.2", "0.10.2", {}, REFUSED),
    "broker-2.1": ("3.9.2", "4.3.1", "2.0", {}, REFUSED),
    "broker-4.0-old-clients": ("2.0.0", "2.0.1", "4.0", {}, REFUSED),
    "broker-4.0-partly": ("2.0.1", "2.3.1", "4.3", {}, [("2.3.1",)]),
    "broker-exactly-once": ("0.11.0.2", "2.0.1", "0.10.2", EOS1, REFUSED),
    "broker-exactly-once-v2": ("3.9.2", "4.3.1", "2.4", EOS1, REFUSED),
    "broker-replication-factor": ("2.8.2", "3.2.3", "2.3", {}, [("3.2.3",)]),
    "broker-streams-protocol-early-access": ("4.1.1", "4.1.2", "4.0", STREAMS, REFUSED),
    "broker-streams-protocol": ("4.2.1", "4.3.1", "4.1", STREAMS, REFUSED),
    "lost-updates-kip-557": ("2.5.1", "2.7.0", "2.8", {}, REFUSED),
    "foreign-key-joins-of-3.3": ("3.3.0", "3.3.2", "3.9", {}, [("3.3.2",)]),
    "upgrade-from-3.4-throws": ("2.8.2", "3.5.1", "3.9", {}, [("3.5.1", "2.8"), ("3.5.1",)]),
    "process-values-not-fixed": ("3.9.2", "4.0.0", "3.9", {}, [("4.0.0",)]),
    "iterator-leak-4.1.0": ("3.9.2", "4.1.0", "3.9", {}, REFUSED),
    "rocksdb-leak-4.3.0": ("3.9.2", "4.3.0", "3.9", {}, REFUSED),
}


def asked(running: str, target: str, broker: str, inputs: dict[str, Any]) -> UpgradePath:
    known = {"guarantee": "at_least_once", "group_protocol": "classic", **inputs}
    return upgrade_path(PathQuestion(Release(running), Release(target), Release(broker), **known), RULES)


@pytest.mark.parametrize("row", EXAMPLES)
def test_each_row_does_what_it_says(row: str) -> None:
    """It fires for its pair, and the answer is the one that its source describes."""
    running, target, broker, inputs, expected = EXAMPLES[row]
    path = asked(running, target, broker, inputs)
    finding = next(finding for finding in path.findings if finding.id == row)
    if expected is REFUSED:
        assert (path.verdict, path.legs, finding.severity) == (Outcome.REFUSE, (), "danger")
        assert finding.message in path.reason
    else:
        seen = [
            tuple(part for part in (one.target, one.upgrade_from, one.processing_guarantee, *one.before) if part)
            for one in path.bounces
        ]
        assert (path.verdict, seen) == (Outcome.PROCEED, expected)
        assert finding.severity != "danger"


def test_every_row_has_its_example() -> None:
    """A new row comes with a pair that shows it."""
    rows: tuple[Any, ...] = (
        *RULES.upgrades,
        *RULES.downgrades,
        *RULES.guarantee_changes,
        *RULES.protocol_changes,
        *RULES.brokers,
        *(row for row in RULES.defects if row.shuns),
    )
    assert set(EXAMPLES) == {row.id for row in rows}


@pytest.mark.parametrize("change", RULES.changes, ids=lambda change: change.id)
def test_each_change_is_told_on_every_path_across_it(change: Any) -> None:
    """Both ways, and not to who stays on one side. A row beyond the newest release waits for it."""
    since = Release(change.since)
    before = [release for release in RULES.releases if release < since]
    after = [release for release in RULES.releases if release >= since]
    if not after:
        future = replace(RULES, releases=(*RULES.releases, since))
        path = upgrade_path(
            PathQuestion(before[-1], since, Release("4.3"), "at_least_once", group_protocol="classic"), future
        )
        assert change.id in {finding.id for finding in path.findings}
        return
    for running, target in ((before[-1], after[0]), (after[0], before[-1])):
        path = asked(running.text, target.text, "3.9", {})
        assert change.id in {finding.id for finding in path.findings}
    if len(before) > 1:
        assert change.id not in {one.id for one in asked(before[-2].text, before[-1].text, "3.9", {}).findings}


def test_the_topology_change_of_4_5_reaches_no_known_release() -> None:
    """KAFKA-20464 is in no jar up to the newest known; the row waits."""
    assert all(
        "shared-store-builder"
        not in {one.id for one in asked(release.text, RULES.releases[-1].text, "3.9", {}).findings}
        for release in RULES.releases[:-1]
    )


def test_a_row_that_asks_for_a_setting_names_it() -> None:
    """The exit code of `version-path` depends on the field, never on the sentence."""
    rows = {row.id: (row.setting, row.reason) for row in RULES.brokers if row.effect == "warn"}
    rows |= {row.id: (row.setting, row.message) for row in RULES.changes if row.severity != "info"}
    asking = {row for row, (_, sentence) in rows.items() if re.search(r"\bset (it|both)\b|has to be", sentence)}
    assert asking == {row for row, (setting, _) in rows.items() if setting}
    assert asking == {"broker-replication-factor", "default-serdes-null"}
