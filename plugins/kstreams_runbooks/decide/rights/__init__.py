"""Rights on a cluster: the ACLs that a runbook needs, and what of them is not granted."""
