"""Results of discovery, and the readiness of an application for each runbook."""
