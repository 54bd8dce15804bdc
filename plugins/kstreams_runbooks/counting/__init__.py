"""Exact counts of what can be read, by the way that fits their size: a consumer at once, or Spark over Connect."""
