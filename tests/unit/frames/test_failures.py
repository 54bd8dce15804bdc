"""What Spark's exceptions mean."""

from kstreams_runbooks.errors import Inconclusive
from kstreams_runbooks.frames.failures import meaning


def test_without_a_right_only_the_right_that_a_count_needs_is_asked_for() -> None:
    """Read has Describe with it, and a count asks for no group (docs/spark.md)."""
    error = meaning("org.apache.kafka.common.errors.TopicAuthorizationException: [orders]", "b:1")
    assert isinstance(error, Inconclusive)
    assert str(error) == "Kafka at b:1 does not let these credentials read the topics; allow Read on them"
