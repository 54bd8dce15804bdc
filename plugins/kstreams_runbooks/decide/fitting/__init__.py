"""Whether the topics of a cluster fit the topology of a release."""
