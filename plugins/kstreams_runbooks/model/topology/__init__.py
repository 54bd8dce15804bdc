"""A topology as values: operators, what an application declares of it, and a change."""
