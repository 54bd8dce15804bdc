"""The upgrade path between two Kafka Streams releases, and the way back."""
