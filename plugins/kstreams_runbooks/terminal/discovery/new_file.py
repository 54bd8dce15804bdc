"""Writes a new file completely or not at all, and never over another."""

from pathlib import Path

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.files import create_file


def create(path: Path, text: str) -> bool:
    """Write a new file; False, with nothing changed, if one exists. BadInput if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return create_file(path, text.encode())
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}); give another --out") from None
