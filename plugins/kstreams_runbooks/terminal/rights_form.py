"""The fields of a run's form on which its rights depend, as options of `rights` give them."""

from typing import Any

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.wording import outside

# Fields with an open value, and the kind of it.
_OPEN: dict[str, type] = {
    "release": str,
    "target": str,
    "settings": dict,
    "run": str,
    "copier": str,
    "empty_topics": dict,
    "clean_outputs": list,
    "targets": dict,
}
_WORDS: dict[type, str] = {str: "a text", dict: 'an object such as {"a": "b"}', list: 'a list such as ["a"]'}


def fields_of(given: tuple[str, ...]) -> dict[str, Any]:
    """The fields by name; BadInput for one on which no right depends, or for a value that it does not take."""
    return dict(map(_field, given))


def _field(given: str) -> tuple[str, Any]:
    from kstreams_runbooks.decide.rights.needed import CHOICES

    name, equals, text = given.partition("=")
    if not name or not equals:
        raise BadInput(f"--param {outside(given, 80)}: is not NAME=VALUE; correct it")
    if name in CHOICES:
        if text not in CHOICES[name]:
            raise BadInput(f"--param {name}: {outside(text, 40)} (expected {' or '.join(CHOICES[name])}); choose one")
        return name, text
    if name not in _OPEN:
        known = ", ".join(sorted({*CHOICES, *_OPEN}))
        raise BadInput(f"--param {outside(name, 40)}: no right depends on it (expected one of {known}); leave it out")
    return name, _value(name, text)


def _value(name: str, text: str) -> Any:
    from kstreams_runbooks.documents.json_document import json_document
    from kstreams_runbooks.terminal.airflow.form import words_of

    kind = _OPEN[name]
    if kind is str:
        return text
    try:
        value = json_document(text)
    except BadInput as error:
        if kind is list and str(error).startswith("is not valid JSON"):
            return words_of(text)
        raise BadInput(f"--param {name}: {error}") from None
    if not isinstance(value, kind):
        raise BadInput(f"--param {name}: {outside(text, 80)} is not {_WORDS[kind]}; correct it")
    return value
