"""The tasks of a growth of partitions in place."""
