"""A rule judges a change of each setting that a release has, or the setting is harmless, and why is written here.

Covers rules/topology_changes.yaml, decide/comparison/setting_facts
"""

import re

from kstreams_runbooks.decide.comparison.setting_facts import CLEANUP_MS, MOVES_TASKS, NEW_NAMES, bare, facts_of
from kstreams_runbooks.rules import release_settings, topology_change_rules
from world.pairs import compared

# Why a change can lose, double or misread nothing, and the settings as patterns.
HARMLESS = {
    "into which class of Java lists are read: their bytes stay (tests/apps/topologies, class-of-lists-changed)": (
        r"default\.list\.(key|value)\.serde\.type"
    ),
    "how a client finds and keeps its connections: a wrong value ends in no connection": (
        r"bootstrap\.(controllers|resolve\.timeout\.ms)|client\.dns\.lookup"
        r"|connections\.max\.idle\.ms|reconnect\.backoff.*|retry\.backoff.*|socket\..*|(receive|send)\.buffer\.bytes"
        r"|metadata\..*|enable\.metrics\.push|zookeeper\.connect"
    ),
    "how long a client waits: then an error ends the thread, and the record is processed again": (
        r"(request|delivery|default\.api|task|transaction)\.timeout\.ms|max\.block\.ms|timeout\.ms"
        r"|block\.on\.buffer\.full|heartbeat\.interval\.ms|poll\.ms"
    ),
    "how much is read or written at once: a record that alone is larger is fetched all the same (KIP-74)": (
        r"fetch\..*|max\.partition\.fetch\.bytes|max\.poll\.records|buffered\.records\.per\.partition"
        r"|batch\.size|linger\.ms|buffer\.memory.*|compression\..*|statestore\.uncommitted\.max\.bytes"
    ),
    "records without a key alone: the partitions of the others do not depend on it (KIP-794)": (
        r"partitioner\.(adaptive\.partitioning\.enable|availability\.timeout\.ms|rack\.aware)"
    ),
    "what an instance reports, or answers to queries": (
        r"metrics\..*|auto\.include\.jmx\.reporter|built\.in\.metrics\.version|client\.id|log\.summary\.interval\.ms"
        r"|application\.server|default\.interactive\.query\.isolation\.level|topology\.description\.push\.enabled"
    ),
    "Kafka Streams sets it itself, or no consumer of it uses it (StreamsConfig)": (
        r"allow\.auto\.create\.topics|(auto\.commit\.interval|enable\.auto\.commit).*|exclude\.internal\.topics"
        r"|group\.(id|remote\.assignor)|(key|value)\.(de)?serializer|partition\.assignment\.strategy"
        r"|internal\.(auto\.downgrade\.txn\.commit|throw\.on\.fetch\.stable\.offset\.unsupported)|share\..*"
        r"|transactional\.id|transaction\.two\.phase\.commit\.enable"
    ),
    "when what is processed is deleted, or who may read the files": (
        r"repartition\.purge\.interval\.ms|allow\.os\.group\.write\.access"
    ),
    "how much longer a new changelog keeps what its store has dropped": (
        r"windowstore\.changelog\.additional\.retention\.ms"
    ),
    "the topology and the stores as they are built, which are compared": (
        r"topology\.optimization|dsl\.store\.format|enable\.transactional\.statestores"
        r"|ensure\.explicit\.internal\.resource\.naming"
    ),
}
HARMLESS_NAME = re.compile("|".join(f"(?:{pattern})" for pattern in HARMLESS.values()))
RULES = [rule for rule in topology_change_rules() if rule.on == "setting"]


def judged(name: str) -> bool:
    """Whether a row names the setting or its family, or its findings are those of stores."""
    key = bare(NEW_NAMES.get(name, name))
    family = facts_of(key, "", "x", compared("threads-added"), creates=True)[0]["family"]
    by_row = {rule.fires_when.get(field) for rule in RULES for field in ("setting", "family")}
    return key in by_row or family in by_row or key in MOVES_TASKS or key in CLEANUP_MS


def test_each_setting_of_each_release_is_judged_or_harmless() -> None:
    """A release brings new ones: somebody reads what they do, and adds a row or a reason."""
    names = {row.name for row in release_settings().rows}
    open_ = {name for name in names if not judged(name) and not HARMLESS_NAME.fullmatch(name)}
    assert open_ == set()


def test_none_is_both() -> None:
    """What a rule judges is not called harmless, and each reason is about a setting."""
    names = {row.name for row in release_settings().rows}
    assert {name for name in names if judged(name) and HARMLESS_NAME.fullmatch(name)} == set()
    assert [why for why, pattern in HARMLESS.items() if not any(re.fullmatch(pattern, name) for name in names)] == []
