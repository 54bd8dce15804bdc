"""A run as values: plan, gate, journal, message."""
