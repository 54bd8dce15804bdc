"""A file that appears whole or not at all, and never in the place of another."""

import os
from contextlib import suppress
from pathlib import Path

from kstreams_runbooks.errors import BadInput


def create(path: Path, text: str) -> bool:
    """Write a new file; False, with nothing changed, where one is there. BadInput where it cannot be written."""
    temporary = path.with_name(f".{path.stem[:100]}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # Unlike a rename this refuses a name that is taken.
        with suppress(FileExistsError):
            os.link(temporary, path)
            return True
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}); give another --out") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return False
