"""A run as people see it: approval, messages, outcome, and whether its record is unchanged."""
