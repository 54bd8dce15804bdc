"""The status of an application in the scheduled check."""
