"""The agent in an application whose build puts Kafka's classes under another package (maven-shade-plugin)."""

import subprocess
from functools import cache
from pathlib import Path
from subprocess import DEVNULL

import pytest
from lab.facts_agent import two_streams
from lab.settings import CHECKOUT
from lab.topology_facts import jar

pytestmark = pytest.mark.long

_PROJECT = CHECKOUT / "tests" / "facts" / "shaded"
_BUILD_S = 300


@cache
def shaded(release: str) -> Path:
    """TwoStreams and Kafka Streams in one jar, without a class of org.apache.kafka."""
    command = ["mvn", "-q", "-B", "-Dstyle.color=never", "package", f"-Dkafka.version={release}"]
    built = subprocess.run(
        command, cwd=_PROJECT, stdin=DEVNULL, capture_output=True, text=True, timeout=_BUILD_S, check=False
    )
    assert built.returncode == 0, built.stdout[-4000:]
    return _PROJECT / "target" / release / "shaded-1.jar"


@pytest.mark.parametrize("is_attached", [False, True], ids=["at its start", "attached"])
@pytest.mark.parametrize("release", ["3.4.1", "4.3.1"])
def test_the_agent_reads_a_shaded_application(release: str, is_attached: bool, tmp_path: Path) -> None:
    """Each KafkaStreams has its MBean with the facts; the agent prints nothing, and the application goes on."""
    agent = [] if is_attached else [f"-javaagent:{jar()}"]
    command = ["java", *agent, "-cp", str(shaded(release)), "TwoStreams", str(tmp_path), "30000"]
    found, err = two_streams(command, attached=is_attached)
    assert {facts["library"] for facts in found} == {release}
    assert "topology-facts:" not in err
