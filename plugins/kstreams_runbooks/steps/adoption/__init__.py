"""A copier in front of an application that runs: it comes, or leaves again."""
