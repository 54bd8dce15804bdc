"""Reads: groups, topics, offsets, metrics and deployments. Nothing in here can change anything.

Kafka clients and HTTP are imported where they are used: a DAG that names this package parses without them.
"""

from kstreams_runbooks.observe.application import read_application, unread
from kstreams_runbooks.observe.cluster import ClusterReader, KafkaAddress
from kstreams_runbooks.observe.metrics import read_streams

__all__ = ["ClusterReader", "KafkaAddress", "read_application", "read_streams", "unread"]
