"""Instances that a team's own commands deploy."""
