"""Problems of a declaration, in one sentence: file, field, value, reason."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from kstreams_runbooks.model.address import concealed, without_logins
from kstreams_runbooks.wording import outside, sentence

_LONGEST_VALUE = 80
_LONGEST_REASON = 1000
# Follows from another error of the same file, which is reported.
_CONSEQUENCE = "default_factory_not_called"

_REASONS = {
    "model_type": "must be a mapping (`key: value` lines)",
    "model_attributes_type": "must be a mapping (`key: value` lines)",
    "dict_type": "must be a mapping (`key: value` lines)",
    "tuple_type": "must be a list",
    "string_type": "must be text; quote the value",
    "too_short": "is empty; at least one is needed",
    "string_too_short": "is empty",
    "path_type": "must be text: a path",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of one file. `value` is as written there, without a login: a secret is never in it."""

    file: Path
    field: str
    value: str
    reason: str

    def __str__(self) -> str:
        """One sentence."""
        # Names of files and keys are free text: a line break in one would make a line of its own.
        file, field, reason = outside(self.file), outside(self.field), sentence(self.reason, _LONGEST_REASON)
        where = f"{file}: {field}" if field else file
        return f"{where}: {self.value} {reason}" if self.value else f"{where} {reason}"


def problems_of(error: ValidationError, model: type[BaseModel], written: Any, file: Path) -> Iterator[Problem]:
    """Every error of one file, as a sentence; `written` is the document before names were replaced."""
    for each in error.errors(include_url=False):
        if each["type"] != _CONSEQUENCE:
            yield Problem(file, field_name(each["loc"], written), _shown(each, written), _reason(each, model))


def explained(error: ValidationError, model: type[BaseModel], written: Any) -> str:
    """The first error without a file: for values from a form."""
    first = next(problems_of(error, model, written, Path()))
    return f"{first.field}: {first.value} {first.reason}" if first.value else f"{first.field} {first.reason}"


def field_name(loc: Iterable[str | int], written: Any) -> str:
    """`deployer.instances[0].name` for a location, without parts that the document does not have (a union's tag)."""
    path = ""
    for part, missing_last in _steps(loc, written):
        if isinstance(part, int):
            path += f"[{part}]"
        elif not missing_last:
            path += f".{part}" if path else part
    return path


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean a, b?`, or the whole list if none is near."""
    names = sorted(known)
    near = get_close_matches(name[:_LONGEST_VALUE], names, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"known are {', '.join(names)}" if names else "none is known"


def _steps(loc: Iterable[str | int], written: Any) -> Iterator[tuple[str | int, bool]]:
    """Each part of a location and whether to leave it out: a tag or `[key]`, which the document does not have."""
    parts = tuple(loc)
    for number, part in enumerate(parts):
        there = (isinstance(written, Mapping) and part in written) or (
            isinstance(written, list) and isinstance(part, int) and part < len(written)
        )
        last = number == len(parts) - 1
        yield part, not there and not (last and part != "[key]")
        if there:
            written = written[part]


def _shown(each: Mapping[str, Any], written: Any) -> str:
    """The value as the file has it; empty for a mapping, a list and an absent one."""
    if each["type"] in {"missing", "extra_forbidden"}:
        return ""
    if each["loc"] and each["loc"][-1] == "[key]":
        return ""
    for part in each["loc"]:
        if (isinstance(written, Mapping) and part in written) or (isinstance(written, list) and isinstance(part, int)):
            written = written[part]
    if isinstance(written, Mapping | list):
        return ""
    return shown(written)


def shown(value: Any) -> str:
    """A value as a file has it, in one line of bounded length, without the login of an address."""
    # Before the cut: the rest of a login that is longer would not look like one.
    first = concealed(value)[: 2 * _LONGEST_VALUE] if isinstance(value, str) else value
    return outside(json.dumps(first, ensure_ascii=False, default=str), _LONGEST_VALUE)


def _reason(each: Mapping[str, Any], model: type[BaseModel]) -> str:
    kind, context = each["type"], each.get("ctx", {})
    if kind == "extra_forbidden":
        return f"is not a known key; {nearest(str(each['loc'][-1]), _keys(model, each['loc'][:-1]))}"
    if kind == "missing":
        return f"is missing: {_description(model, each['loc'])}"
    if kind == "value_error":
        return without_logins(str(context["error"]))
    if kind == "union_tag_invalid":
        return f"has the kind {context['tag']!r}, which is not one of {context['expected_tags']}"
    if kind == "union_tag_not_found":
        from kstreams_runbooks.fleet.deployers.kinds import listed_kinds

        return f"has no `kind`; it names the deployer: {listed_kinds()}"
    if kind in _REASONS:
        return _REASONS[kind]
    message = str(each["msg"])
    for words in ("Input should be", "String should"):
        if message.startswith(words):
            return message.replace(words, "must be" if words.startswith("Input") else "must", 1)
    return f"is not possible: {message}"


def _keys(model: type[BaseModel], loc: Iterable[str | int]) -> Iterable[str]:
    found = _model_at(model, loc)
    return [name for name in found.model_fields if name != "name" or found is not model]


def _description(model: type[BaseModel], loc: tuple[str | int, ...]) -> str:
    field = _model_at(model, loc[:-1]).model_fields.get(str(loc[-1]))
    return (field.description if field else None) or "it has no default"


def _model_at(model: type[BaseModel], loc: Iterable[str | int]) -> type[BaseModel]:
    """The model at a location; of several kinds of deployer the one whose tag is in the location."""
    found = [model]
    for part in loc:
        if isinstance(part, str):
            fields = [each.model_fields[part] for each in found if part in each.model_fields]
            inner = [each for field in fields for each in _models(field.annotation)]
            found = [each for each in found if part in _tags(each)] or inner or found
    return found[0]


def _tags(model: type[BaseModel]) -> tuple[Any, ...]:
    kind = model.model_fields.get("kind")
    return get_args(kind.annotation) if kind else ()


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    # The models of every deployer, which only a problem needs: a plan reads declarations without them.
    from kstreams_runbooks.fleet.deployers import kinds
    from kstreams_runbooks.fleet.deployers.base import DeployerDeclaration

    if annotation is DeployerDeclaration:
        yield from kinds.settings_classes()
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)
