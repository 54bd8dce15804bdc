"""One declaration file: YAML read, `${NAME}` replaced, validated."""

import re
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from kstreams_runbooks.fleet.problems import Problem, field_name, problems_of

_M = TypeVar("_M", bound=BaseModel)
_NAME = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_STEM = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")
# libyaml parses about ten times as fast; a PyYAML built without it still works.
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BASE):  # type: ignore[misc]  # chosen at run time
    """A safe loader that refuses a key given twice: YAML itself would silently take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """The mapping; an error with its line where a key comes twice."""
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len({key.value for key in keys}) != len(keys):
            names = [key.value for key in keys]
            twice = next(key for number, key in enumerate(keys) if key.value in names[:number])
            raise yaml.constructor.ConstructorError(None, None, f"the key {twice.value} stands twice", twice.start_mark)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping


def read_declaration(
    file: Path, model: type[_M], environment: Mapping[str, str], used: dict[str, str | None]
) -> tuple[_M | None, tuple[Problem, ...]]:
    """The declaration in `file`, or None and why. Adds to `used` each environment name it mentions and its value."""
    if not _STEM.fullmatch(file.stem):
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
    unset: list[Problem] = []

    def value_of(name: str, loc: tuple[str | int, ...], text: str) -> str:
        used[name] = environment.get(name)
        if used[name] is None:
            reason = f"needs {name}, which is not set in the environment; set it, or write the value"
            unset.append(Problem(file, field_name(loc, written), f'"{text}"', reason))
        return environment.get(name, "")

    replaced = _replaced(written, (), value_of)
    if unset:
        return None, tuple(unset)
    try:
        return model.model_validate({**replaced, "name": file.stem}), ()
    except ValidationError as error:
        return None, tuple(problems_of(error, model, written, file))


def _written(file: Path) -> Any:
    """What stands in a file, or why it cannot be read."""
    try:
        return yaml.load(file.read_bytes(), Loader=_Loader)  # noqa: S506 - a subclass of the safe loader
    except yaml.YAMLError as error:
        return Problem(file, "", "", f"is no valid YAML: {_where(error)}")
    except (OSError, ValueError, RecursionError) as error:
        # Numbers of thousands of digits and lists in themselves too: nothing that anybody declares.
        return Problem(file, "", "", f"cannot be read: {error}")


def _replaced(
    value: Any, loc: tuple[str | int, ...], value_of: Callable[[str, tuple[str | int, ...], str], str]
) -> Any:
    if isinstance(value, str) and "${" in value:
        return _NAME.sub(lambda found: value_of(found[1], loc, value), value)
    if isinstance(value, dict):
        return {key: _replaced(each, (*loc, key), value_of) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, (*loc, number), value_of) for number, each in enumerate(value)]
    return value


def _where(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())
