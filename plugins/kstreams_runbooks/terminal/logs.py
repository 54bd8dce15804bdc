"""Keeps logs off stdout, which is for a command's document alone; every command that needs Airflow calls it first."""

import sys


def log_to_stderr() -> None:
    """Send logs and warnings to stderr: Airflow sends both to stdout once it is imported."""
    from airflow.sdk.log import configure_logging

    configure_logging(log_level="WARNING", output=sys.stderr)
