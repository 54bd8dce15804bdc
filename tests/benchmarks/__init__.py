"""Measurements, run by hand: ratios in one run, medians with their spread, never a test."""
