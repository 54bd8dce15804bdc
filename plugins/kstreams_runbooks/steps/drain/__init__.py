"""Steps that wait for a drain and count what is left to read."""
