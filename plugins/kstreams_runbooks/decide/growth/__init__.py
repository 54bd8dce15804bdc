"""A growth of partitions: the topics that grow together, whether in place, and what it does to keys."""
