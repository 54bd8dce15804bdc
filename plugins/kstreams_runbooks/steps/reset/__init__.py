"""Resets: what their plans are made from."""
