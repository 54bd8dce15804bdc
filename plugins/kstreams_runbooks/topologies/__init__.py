"""Topology descriptions on the terminal: what to name before a first deployment, and a diagram."""
