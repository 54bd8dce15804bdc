"""The steps of the scheduled check."""
