"""Two topologies compared: what becomes of each operator, store, topic and setting."""
