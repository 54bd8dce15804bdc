"""What every command that needs Airflow does first: stdout is its document's alone."""

import sys


def log_to_stderr() -> None:
    """Send what is logged, and warnings, to stderr: Airflow sends both to stdout once something imports it."""
    from airflow.sdk.log import configure_logging

    configure_logging(log_level="WARNING", output=sys.stderr)
