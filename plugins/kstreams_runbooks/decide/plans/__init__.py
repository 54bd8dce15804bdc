"""The plan of a run: one module for each runbook's plan."""
