"""Where a secret may show: the forms that it can have, the arguments of processes, and files."""

import base64
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote


def with_forms(values: Iterable[str]) -> set[str]:
    """Each secret as it is, escaped as in URLs and JSON, and in base64."""
    return {
        form
        for value in values
        for form in (value, quote(value), json.dumps(value)[1:-1], base64.b64encode(value.encode()).decode())
    }


def arguments() -> str:
    """The command lines of every process of this machine."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(process.read_bytes().decode("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(found)


def files_with(forms: Iterable[str], files: Iterable[Path]) -> Iterator[Path]:
    """The files that have one of these forms in them, databases included."""
    wanted = [form.encode() for form in forms]
    for file in files:
        data = file.read_bytes()
        if any(form in data for form in wanted):
            yield file
