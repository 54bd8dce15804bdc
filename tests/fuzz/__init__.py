"""Random changes with known consequences: each answer of the change planner is graded against the truth."""
