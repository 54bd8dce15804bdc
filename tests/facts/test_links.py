"""References that do not link: the scan of real class paths next to what the JVM itself does with each of them."""

import pytest
from lab.links import found, kafka, library, scan, truth

RELEASES = ["3.9.1", "4.3.1", "4.4.0"]
SPRING = ("org.springframework.cloud", "spring-cloud-stream-binder-kafka-streams")
SUBJECTS = [
    (*SPRING, "4.2.0"),
    (*SPRING, "5.0.4"),
    ("io.apicurio", "apicurio-registry-serdes-avro-serde", "2.6.13.Final"),
    ("io.apicurio", "apicurio-registry-avro-serde-kafka", "3.1.7"),
    ("software.amazon.glue", "schema-registry-serde", "1.1.27"),
    ("com.bakdata.kafka", "error-handling-core", "1.5.0"),
]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("subject", SUBJECTS, ids=[f"{name} {of}" for _, name, of in SUBJECTS])
def test_the_scan_finds_what_the_jvm_refuses_and_nothing_else(subject: tuple[str, str, str], release: str) -> None:
    """Every reference of every class is resolved by the JVM: no finding is false, and none is missing."""
    own, others = library(*subject), kafka(release)
    document = scan([*own, *others])
    assert found(document) == truth(own, others)
    assert document["target"] == f"Kafka {release}"
    assert document["not_scanned"] == []
