"""Wire schemas of Kafka messages that kafka-python does not ship, read by its own schema loader.

Field names, order and types follow the protocol guide (KIP-1071, StreamsGroupDescribe, API key 89, version 0).
"""
