"""`python -m kstreams_runbooks.frames.bundle OUT.zip`: the frames and their imports, for `--py-files`.

The same sources give the same bytes: a digest of the zip identifies the frames of a job.
"""

import ast
import io
import sys
import zipfile
from pathlib import Path

from kstreams_runbooks import PACKAGE
from kstreams_runbooks.files import replace_file

_ROOT = PACKAGE.name
# The earliest time of the zip format; a real time would change the zip of the same sources.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def modules() -> list[Path]:
    """Files of the frames, and of everything here that they import."""
    found: set[Path] = set()
    left = sorted((PACKAGE / "frames").glob("*.py"))
    while left:
        file = left.pop()
        if file in found:
            continue
        found.add(file)
        left += [parent / "__init__.py" for parent in file.parents if parent.is_relative_to(PACKAGE)]
        left += [path for name in _imports(file) if (path := _file(name)) is not None]
    return sorted(found)


def _imports(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in found if name.split(".")[0] == _ROOT}


def _file(name: str) -> Path | None:
    """A module's file; None for a name inside a module."""
    place = PACKAGE.parent.joinpath(*name.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


def write_bundle(path: Path) -> Path:
    """Write the zip; a job that reads it meanwhile never sees a partial file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in modules():
            entry = zipfile.ZipInfo(str(file.relative_to(PACKAGE.parent)), _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, file.read_bytes())
    replace_file(path, packed.getvalue())
    return path


if __name__ == "__main__":
    if len(sys.argv) != 2:  # noqa: PLR2004 - the command and one path
        sys.exit("usage: python -m kstreams_runbooks.frames.bundle OUT.zip")
    print(write_bundle(Path(sys.argv[1])))
