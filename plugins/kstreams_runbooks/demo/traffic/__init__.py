"""Traffic for the orders application: its records, its schedule and its generator."""
