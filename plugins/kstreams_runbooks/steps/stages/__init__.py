"""Stages of a plan that change something else than instances: each with its undo card before its write."""
