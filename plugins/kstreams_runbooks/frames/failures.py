"""What Spark's own exceptions mean to a person: one sentence and an exit code instead of two stack traces.

Over Connect an exception of the JVM arrives as text, so text is what is looked at; first row that fits, most exact
first. A failure that no row knows is inconclusive with Spark's own first line: nothing was counted.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError, Unreachable

_GONE = (
    "an offset of the ranges is not there{where}: deleted by retention or by somebody, or past an open transaction; "
    "read committed offsets and last stable offsets again, and repeat"
)
_ROWS: tuple[tuple[str, type[RunbookError], str], ...] = (
    (
        r"Failed to find (the )?data source: kafka|DATA_SOURCE_NOT_FOUND",
        BadInput,
        "Spark has no Kafka connector; give it the jars of spark_jobs/pom.xml by spark.jars (over Connect: its server)",
    ),
    (
        r"NoClassDefFoundError|NoSuchMethodError|ClassNotFoundException",
        BadInput,
        "the Kafka connector is of another release than Spark; give the jars of spark_jobs/pom.xml",
    ),
    (
        r"(Sasl|Ssl)AuthenticationException",
        Unreachable,
        "Kafka at {kafka} does not accept the credentials of the command config",
    ),
    (
        r"AuthorizationException",
        Inconclusive,
        "Kafka at {kafka} does not let these credentials read the topics; allow Read and Describe on them, and Read on "
        "groups that begin with kstreams-runbooks",
    ),
    (
        r"ConfigException|Failed to (construct|create new) (kafka|KafkaAdminClient)|JAAS",
        BadInput,
        "a setting of the command config, or the bootstrap servers {kafka}, is not one that Kafka's Java client takes",
    ),
    (
        r"Timed out waiting for a node assignment|Call: (listNodes|fetchMetadata|describeTopics)|DisconnectException",
        Unreachable,
        "Kafka at {kafka}: no answer to Spark; is the broker up, and reachable from where Spark runs?",
    ),
    (
        r"UnknownTopicOrPartitionException|Partitions specified for Kafka start offsets don't match",
        Inconclusive,
        "a topic or a partition of the ranges is not on the cluster any more; read the ends again, and repeat",
    ),
    (
        r"KafkaIllegalStateException|OffsetOutOfRangeException|may have been lost",
        Inconclusive,
        _GONE,
    ),
    (
        r"Cannot fetch (record|offset)",
        Inconclusive,
        "a record of the ranges did not come in time: an end is past an open transaction, or where Spark's tasks run "
        "the brokers cannot be reached under the names that they advertise",
    ),
    (
        r"OutOfMemoryError",
        Unreachable,
        "Spark ran out of memory; give it more, or start its server with the settings of docs/spark.md, and repeat",
    ),
    (
        r"UNIMPLEMENTED",
        Unreachable,
        "what answers at the address is no Spark Connect server; look at SPARK_REMOTE",
    ),
    (
        r"UNAVAILABLE|failed to connect to all addresses|Connection refused",
        Unreachable,
        "Spark does not answer any more; read its log, and repeat",
    ),
)
_SPARKS = frozenset({"pyspark", "py4j", "grpc"})
_WHERE = re.compile(r"for partitions: \{([^}\n]+)\}")


@contextmanager
def spoken(kafka: str) -> Iterator[None]:
    """Say what Spark raises in the body as an error of our own tree; `kafka` are the bootstrap servers."""
    try:
        yield
    except Exception as error:
        # By name: a client of Connect alone has no py4j, a submitted job no grpc.
        if type(error).__module__.partition(".")[0] not in _SPARKS:
            raise
        raise meaning(str(error), kafka) from error


def meaning(text: str, kafka: str) -> RunbookError:
    """The error that this text of Spark's stands for."""
    for pattern, kind, sentence in _ROWS:
        if re.search(pattern, text):
            places = _WHERE.search(text)
            return kind(sentence.format(kafka=kafka, where=f" ({places[1]})" if places else ""))
    first = next((line.strip() for line in text.splitlines() if line.strip()), "no message")
    return Inconclusive(f"Spark could not count: {first[:300]}")
