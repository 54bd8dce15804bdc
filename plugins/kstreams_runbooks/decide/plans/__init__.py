"""What a run will do: one module for each runbook's plan."""
