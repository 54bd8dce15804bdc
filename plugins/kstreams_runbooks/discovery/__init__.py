"""A team's first contact: what runs on a cluster, as declarations to look through."""
