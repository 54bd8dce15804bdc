"""A run as people see it: approval, messages, outcome, and the integrity of its record."""
