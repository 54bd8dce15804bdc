"""Whether a login gets into a cluster, and what keeps it out."""
