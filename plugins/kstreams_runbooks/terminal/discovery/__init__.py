"""The commands that draft a fleet from a cluster, and rate its readiness."""
