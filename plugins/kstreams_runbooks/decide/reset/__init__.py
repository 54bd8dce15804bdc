"""What a reset would do: targets of offsets, state that cannot be rebuilt, topics that would go, who sees results."""
