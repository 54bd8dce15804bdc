"""Two topologies compared: the fate of each operator, store, topic and setting."""
