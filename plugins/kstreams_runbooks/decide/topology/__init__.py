"""One topology, from its description: its operators, names, partitions and paths."""
