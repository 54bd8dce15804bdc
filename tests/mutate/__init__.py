"""Drops and negates each row of the change rules in turn: a row that no test holds is not known to work."""
