"""Reads: groups, topics, offsets, metrics and deployments. This floor cannot change anything.

Kafka clients and HTTP are imported where they are used: a DAG that names this package parses without them.
"""

from kstreams_runbooks.observe.application.application import read_application, unread
from kstreams_runbooks.observe.application.metrics import read_streams
from kstreams_runbooks.observe.kafka.cluster import ClusterReader, KafkaAddress

__all__ = ["ClusterReader", "KafkaAddress", "read_application", "read_streams", "unread"]
