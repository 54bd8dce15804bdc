"""Kafka's own command line tools, from the broker's jars."""

import os
import subprocess
from collections.abc import Mapping, Sequence

from lab.settings import CHECKOUT

_BROKER = CHECKOUT / "tests" / "apps" / "broker"
_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
_TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
_TOPICS = "org.apache.kafka.tools.TopicCommand"
_RESET = "org.apache.kafka.tools.StreamsResetter"
_SHARE = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
_TOOL_S = 300

Places = Mapping[tuple[str, str, int], str]


def consumer_groups(bootstrap: str, *words: str) -> Sequence[str]:
    """Command line of `kafka-consumer-groups.sh`."""
    return _command(_GROUPS, bootstrap, words)


def transactions(bootstrap: str, *words: str) -> Sequence[str]:
    """Command line of `kafka-transactions.sh`."""
    return _command(_TRANSACTIONS, bootstrap, words)


def topics(bootstrap: str, *words: str) -> Sequence[str]:
    """Command line of `kafka-topics.sh`."""
    return _command(_TOPICS, bootstrap, words)


def application_reset(bootstrap: str, *words: str) -> Sequence[str]:
    """Command line of `kafka-streams-application-reset.sh`."""
    return _command(_RESET, bootstrap, words)


def share_consumer(bootstrap: str, *words: str) -> Sequence[str]:
    """Command line of `kafka-console-share-consumer.sh`."""
    return _command(_SHARE, bootstrap, words)


def _command(main: str, bootstrap: str, words: Sequence[str]) -> Sequence[str]:
    """The command, with the heap that the launcher of each tool sets."""
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else "java"
    path = f"{_BROKER / 'config'}:{_BROKER / 'target' / 'libs'}/*"
    return (java, "-Xmx512M", "-cp", path, main, "--bootstrap-server", bootstrap, *words)


def described_lag(bootstrap: str, groups: Sequence[str]) -> Places:
    """Column LAG of `--describe` of these groups, in one call, by group, topic and partition; as it is printed."""
    named = [word for group in groups for word in ("--group", group)]
    command = consumer_groups(bootstrap, "--describe", *named)
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_TOOL_S)
    # It exits with 0 if one group is not found, and prints nothing about the others.
    assert "Error" not in done.stdout, done.stdout
    found: dict[tuple[str, str, int], str] = {}
    columns: list[str] = []
    for line in done.stdout.splitlines():
        words = line.split()
        if words[:2] == ["GROUP", "TOPIC"]:
            columns = words
        elif columns and len(words) >= len(columns) and words[0] in groups:
            row = dict(zip(columns, words, strict=False))
            found[row["GROUP"], row["TOPIC"], int(row["PARTITION"])] = row["LAG"]
    return found
