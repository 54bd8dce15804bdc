"""One declaration file: YAML read, `${NAME}` replaced, validated."""

import os
import re
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from kstreams_runbooks.documents.text import LARGEST_BYTES, is_absent, read_text
from kstreams_runbooks.documents.yaml_document import yaml_document
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.names import VARIABLE
from kstreams_runbooks.fleet.problems import Problem, field_name, problems_of, shown

_M = TypeVar("_M", bound=BaseModel)
_LINE = re.compile(r"(line \d+) (.*)")
# The name of a file before `.yaml`, which is the name of the declared object.
STEM = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")
# More problems of one file do not help, and each searches for the nearest of the known names.
_MOST_PROBLEMS = 20


def read_declaration(
    file: Path,
    model: type[_M],
    environment: Mapping[str, str],
    used: dict[str, str | None],
    *,
    model_of: Callable[[Any], type[_M]] | None = None,
) -> tuple[_M | None, tuple[Problem, ...]]:
    """The declaration in `file`, or None and why. Adds each mentioned environment name and its value to `used`.

    `model_of` names the model by the values that were read, in place of `model`.
    """
    if not STEM.fullmatch(file.stem):
        return None, (
            Problem(file, "", "", "has a name that is not made of letters, digits, dots, _ and -; rename it"),
        )
    written = _written(file)
    if isinstance(written, Problem):
        return None, (written,)
    if not isinstance(written, dict):
        return None, (Problem(file, "", "", "must be a mapping (`key: value` lines)"),)
    if "name" in written:
        return None, (Problem(file, "name", "", "is not a key: the name is the file's stem; remove it"),)
    variables = _Variables(file, written, environment, used)
    try:
        replaced = _replaced(written, (), variables.value)
    except BadInput as error:
        return None, (Problem(file, "", "", str(error)),)
    if variables.unset:
        return None, tuple(variables.unset)
    model = model_of(replaced) if model_of else model
    try:
        return model.model_validate({**replaced, "name": file.stem}), ()
    except ValidationError as error:
        first = tuple(islice(problems_of(error, model, written, file), _MOST_PROBLEMS))
        more = error.error_count() - len(first)
        rest = Problem(file, "", "", f"has about {more:,} more problems; correct these first")
        return None, (*first, rest) if len(first) == _MOST_PROBLEMS and more else first


def read_settings(file: Path, model: type[_M], meanwhile: str) -> _M:
    """The settings in a file, the defaults if it is absent; BadInput names its fault.

    `meanwhile` describes the effect until it is corrected.
    """
    if is_absent(file):
        return model()
    settings, problems = read_declaration(file, model, os.environ, {})
    if settings is None:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise BadInput(f"{problems[0]}{more}; {meanwhile} until it is corrected")
    return settings


def _written(file: Path) -> Any:
    """The content of a file, or why it cannot be read."""
    try:
        return yaml_document(read_text(file))
    except BadInput as error:
        line = _LINE.fullmatch(str(error))
        return Problem(file, line[1], "", line[2]) if line else Problem(file, "", "", str(error))


class _Variables:
    """The values of `${NAME}` in one file, and names that are not set."""

    def __init__(self, file: Path, written: Any, environment: Mapping[str, str], used: dict[str, str | None]) -> None:
        self.unset: list[Problem] = []
        self._file, self._written, self._environment, self._used = file, written, environment, used
        self._brought = 0

    def value(self, name: str, loc: tuple[str | int, ...], text: str) -> str:
        """The value of one, empty if it is not set; BadInput if all together are too large."""
        value = self._used[name] = self._environment.get(name)
        if value is None and len(self.unset) < _MOST_PROBLEMS:
            reason = f"needs {name}, which is not set in the environment; set it, or write the value"
            self.unset.append(Problem(self._file, field_name(loc, self._written), shown(text), reason))
        # Used at ten thousand places, a long variable would fill the memory.
        self._brought += len(value or "")
        if self._brought > LARGEST_BYTES:
            raise BadInput(
                f"has more than {LARGEST_BYTES:,} characters (the limit) with variables such as {name} replaced; use "
                "them less"
            )
        return value or ""


def _replaced(
    value: Any, loc: tuple[str | int, ...], value_of: Callable[[str, tuple[str | int, ...], str], str]
) -> Any:
    if isinstance(value, str) and "${" in value:
        return VARIABLE.sub(lambda found: value_of(found[1], loc, value), value)
    if isinstance(value, dict):
        return {key: _replaced(each, (*loc, key), value_of) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, (*loc, number), value_of) for number, each in enumerate(value)]
    return value
