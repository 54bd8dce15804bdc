"""The kill harness: every task of a runbook is killed in its middle, cleared, and the run has to end well."""
