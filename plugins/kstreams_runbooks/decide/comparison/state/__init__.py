"""The fate of what holds data: stores, repartition topics and suppressions."""
