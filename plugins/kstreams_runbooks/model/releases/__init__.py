"""Releases of Kafka Streams, the rules about them, and a path between two."""
