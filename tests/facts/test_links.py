"""References that do not link: the scan of real class paths next to what the JVM itself does with each of them."""

import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from lab.links import found, kafka, library, scan, truth, whole_kafka
from lab.settings import CHECKOUT

RELEASES = ["3.9.1", "4.3.1", "4.4.0"]
# Of these few jars are fetched.
SHORT = {"orders", "idempotent-updates", "apicurio 3.1.7"}
SPRING = ("org.springframework.cloud", "spring-cloud-stream-binder-kafka-streams")
# By subject and release of Kafka: how many references do not link.
FOUND = {
    ("spring 4.2.0", "3.9.1"): 0,
    ("spring 4.2.0", "4.3.1"): 7,
    ("spring 4.2.0", "4.4.0"): 9,
    ("spring 5.0.4", "3.9.1"): 16,
    ("spring 5.0.4", "4.3.1"): 0,
    ("spring 5.0.4", "4.4.0"): 2,
    ("idempotent-updates", "4.4.0"): 1,
    ("error handling 1.5.0", "4.3.1"): 3,
    ("error handling 1.5.0", "4.4.0"): 3,
}
LIBRARIES = {
    "spring 4.2.0": (*SPRING, "4.2.0"),
    "spring 5.0.4": (*SPRING, "5.0.4"),
    "apicurio 2.6.13": ("io.apicurio", "apicurio-registry-serdes-avro-serde", "2.6.13.Final"),
    "apicurio 3.1.7": ("io.apicurio", "apicurio-registry-avro-serde-kafka", "3.1.7"),
    "glue 1.1.27": ("software.amazon.glue", "schema-registry-serde", "1.1.27"),
    "error handling 1.5.0": ("com.bakdata.kafka", "error-handling-core", "1.5.0"),
}
# What idempotent-updates runs in, of the release of Kafka.
TEST_UTILS = ("org.apache.kafka", "kafka-streams-test-utils")
ORDERS = CHECKOUT / "tests" / "apps" / "orders" / "target" / "releases"
UPDATES = CHECKOUT / "tests" / "apps" / "idempotent-updates" / "src" / "main" / "java"
SUBJECTS = (*LIBRARIES, "orders", "idempotent-updates")
# The newest release has the most to find; the others take three minutes.
CASES = [
    pytest.param(name, release, marks=() if release == RELEASES[-1] and name in SHORT else pytest.mark.long)
    for name in SUBJECTS
    for release in RELEASES
]


@cache
def subject(name: str) -> tuple[Path, ...]:
    """The jars of a subject without Kafka."""
    if name == "orders":
        return tuple(one for one in sorted((ORDERS / "4.3.1").glob("*.jar")) if not one.name.startswith("kafka-"))
    if name == "idempotent-updates":
        classes = Path(mkdtemp(prefix="links-"))
        path = ":".join(map(str, (*whole_kafka("3.9.1"), *library(*TEST_UTILS, "3.9.1"))))
        sources = map(str, sorted(UPDATES.rglob("*.java")))
        subprocess.run(
            ["javac", "-nowarn", "-cp", path, "-d", str(classes), *sources],
            check=True,
            capture_output=True,
            timeout=120,
        )
        return (classes,)
    return library(*LIBRARIES[name])


@pytest.mark.parametrize(("name", "release"), CASES)
def test_the_scan_finds_what_the_jvm_refuses_and_nothing_else(name: str, release: str) -> None:
    """Every reference of every class is resolved by the JVM: no finding is false, and none is missing."""
    own, others = subject(name), kafka(release)
    if name == "idempotent-updates":
        others += tuple(jar for jar in library(*TEST_UTILS, release) if "test-utils" in jar.name)
    document = scan([*own, *others])
    assert found(document) == truth(own, others)
    assert len(document["findings"]) == FOUND.get((name, release), 0)
    assert document["target"] == f"Kafka {release}"
    assert document["not_scanned"] == []
