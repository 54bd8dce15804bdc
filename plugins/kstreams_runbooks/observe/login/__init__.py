"""Whether a cluster accepts a login, and the reason if it does not."""
