"""Translates Spark's exceptions: one sentence and an exit code instead of two stack traces.

Over Connect an exception of the JVM arrives as text, so each row matches text; the first match counts, the most exact
row comes first. A failure without a row is inconclusive with Spark's own first line: the count does not exist.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from kstreams_runbooks.errors import BadInput, Inconclusive, RunbookError, Unreachable

_GONE = (
    "an offset of the ranges does not exist{where}: deleted by retention or a user, or past an open transaction; "
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
        r"UnsupportedSaslMechanismException|Client SASL mechanism '[^']*' not enabled",
        Unreachable,
        "Kafka at {kafka}: the mechanism of the command config is not enabled on this port{mechanisms}; set "
        "sasl.mechanism to one that is",
    ),
    (
        r"IllegalSaslStateException|The AdminClient thread has exited|Unsupported or unrecognized SSL message",
        Unreachable,
        "Kafka at {kafka}: the port speaks another protocol than security.protocol of the command config; set the one "
        "of the port (PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL), or give another port",
    ),
    (
        r"CertificateExpiredException|NotAfter: ",
        Unreachable,
        "Kafka at {kafka}: the broker's certificate has expired; renew it on the broker (or correct the clock of the "
        "machine where Spark runs)",
    ),
    (
        r"CertificateNotYetValidException|NotBefore: ",
        Unreachable,
        "Kafka at {kafka}: the broker's certificate is not valid yet; correct the clock of the machine where Spark "
        "runs, or the certificate",
    ),
    (
        r"No (subject alternative names? |name )[^\n]*(found|present)|No subject alternative names",
        Unreachable,
        "Kafka at {kafka}: the broker's certificate is for another host; give a host that it is for as the bootstrap "
        "server, or give the broker a certificate for this host",
    ),
    (
        r"PKIX path building failed|unable to find valid certification path|Path does not chain with any of the trust",
        Unreachable,
        "Kafka at {kafka}: the broker's certificate is not signed by a CA of the truststore; set ssl.truststore.* of "
        "the command config to the CA that signed it",
    ),
    (
        r"SslAuthenticationException",
        Unreachable,
        "Kafka at {kafka}: no TLS connection: the broker's certificate is not signed by a CA of the truststore, is for "
        "another host, or has expired; or the broker asks for a client's certificate; compare ssl.* of the command "
        "config with the broker",
    ),
    (
        r"SaslAuthenticationException",
        Unreachable,
        "Kafka at {kafka} does not accept the login of the command config: the user or the password is wrong; correct "
        "sasl.jaas.config",
    ),
    (
        r"(Failed to load|Failed to open|Modification time of) [^\n]*(store|PEM)|NoSuchFileException",
        BadInput,
        "a truststore or keystore of the command config cannot be read where Spark runs{file}; give a file that is "
        "there, and its password",
    ),
    (
        r"AuthorizationException",
        Inconclusive,
        "Kafka at {kafka} does not let these credentials read the topics; allow Read on them",
    ),
    (
        r"ConfigException|Failed to (construct|create new) (kafka|KafkaAdminClient)|JAAS",
        BadInput,
        "a setting of the command config, or the bootstrap servers {kafka}, is not valid for Kafka's Java client",
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
        r"long overflow|ArithmeticException",
        Inconclusive,
        "a record has a time that Spark cannot hold (after the year 294247, such as nanoseconds for milliseconds): its "
        "topic cannot be compared",
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
        "the server at the address is not a Spark Connect server; check SPARK_REMOTE",
    ),
    (
        r"UNAVAILABLE|failed to connect to all addresses|Connection refused",
        Unreachable,
        "Spark does not answer any more; read its log, and repeat",
    ),
)
_SPARKS = frozenset({"pyspark", "py4j", "grpc"})
# The parts of the text that a sentence shows, if the text has them.
_DETAILS = {
    "where": re.compile(r"for partitions: \{([^}\n]+)\}"),
    "mechanisms": re.compile(r"enabled mechanisms are \[([^\]\n]*)\]"),
    "file": re.compile(r"(?:(?:key|trust)?store |NoSuchFileException: )(/[^\s:,]+)"),
}


@contextmanager
def spoken(kafka: str) -> Iterator[None]:
    """Raise Spark's exceptions in the body as errors of our own tree; `kafka` are the bootstrap servers."""
    try:
        yield
    except Exception as error:
        # By name: a client of Connect alone has no py4j, a submitted job no grpc.
        if type(error).__module__.partition(".")[0] not in _SPARKS:
            raise
        raise meaning(str(error), kafka) from error


def meaning(text: str, kafka: str) -> RunbookError:
    """The error for this text of Spark."""
    for pattern, kind, sentence in _ROWS:
        if re.search(pattern, text):
            found = {name: place[1] for name, one in _DETAILS.items() if (place := one.search(text))}
            details = {name: f" ({found[name]})" if name in found else "" for name in _DETAILS}
            return kind(sentence.format(kafka=kafka, **details))
    first = next((line.strip() for line in text.splitlines() if line.strip()), "no message")
    return Inconclusive(f"Spark could not count: {first[:300]}")
