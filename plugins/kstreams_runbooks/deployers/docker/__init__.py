"""Instances that are containers of a Docker Engine."""
