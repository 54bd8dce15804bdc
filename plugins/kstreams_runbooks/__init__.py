"""Kafka Streams upgrade runbooks: what may change, in which order, and the proof that it went well."""
