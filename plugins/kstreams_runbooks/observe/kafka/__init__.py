"""Brokers: groups, topics, offsets, transactions."""
