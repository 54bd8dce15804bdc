"""A runbook's form, filled from a terminal: names and values checked against the form that Airflow has."""

from collections.abc import Mapping, Sequence
from typing import Any

from kstreams_runbooks.documents.json_document import json_document
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.problems import nearest
from kstreams_runbooks.free_text import require_free_text
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.wording import why_no_reason

# Each has its own option.
_OPTIONS = {"application": "--application", "dry_run": "--execute", "reason": "--reason"}
# Fields that name a release.
_RELEASES = ("target", "release")


def pairs_of(texts: Sequence[str]) -> dict[str, str]:
    """`NAME=VALUE` as a mapping; BadInput for anything else, for a name given twice, and for one that is an option."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise BadInput(f"--param {text}: is not NAME=VALUE; correct it")
        if name in _OPTIONS:
            raise BadInput(f"--param {name}: has an option of its own; use {_OPTIONS[name]}")
        if name in pairs:
            raise BadInput(f"--param {name}: is given twice; remove one")
        pairs[name] = value
    return pairs


def filled(
    runbook: str,
    params: Mapping[str, Any],
    given: Mapping[str, str],
    *,
    application: str | None,
    execute: bool,
    reason: str | None,
) -> dict[str, Any]:
    """The conf of the run; `params` is the form from Airflow: name to value, schema, description.

    BadInput names an unknown field, application or value (with the nearest), and missing fields. Airflow itself checks
    patterns and ranges, and names the field too.
    """
    conf: dict[str, Any] = {}
    if application is not None:
        conf["application"] = _known(application, runbook, params)
    for name, text in given.items():
        if name not in params:
            raise BadInput(f"--param {name}: {runbook} has no such field; {nearest(name, set(params) - set(_OPTIONS))}")
        conf[name] = _value(name, text, params[name]["schema"])
        if name in _RELEASES and isinstance(conf[name], str):
            _require_release(name, text, params[name]["schema"])
    if "dry_run" in params:
        conf["dry_run"] = not execute
    if reason is not None:
        if why := why_no_reason(reason):
            raise BadInput(f"--reason: {why}")
        conf["reason"] = reason.strip()
    require_free_text(conf, "--param ")
    missing = [name for name, param in params.items() if name not in conf and _is_needed(param)]
    if missing:
        hints = ", ".join(_OPTIONS.get(name, f"--param {name}=…") for name in missing)
        first = params[missing[0]].get("description") or ""
        raise BadInput(f"{runbook} needs {', '.join(missing)}: give {hints} ({missing[0]}: {first.rstrip('.')})")
    return conf


def _known(application: str, runbook: str, params: Mapping[str, Any]) -> str:
    if "application" not in params:
        raise BadInput(f"--application {application}: {runbook} does not take it; leave it out")
    known = [str(one) for one in params["application"]["schema"].get("examples") or []]
    if application not in known:
        raise BadInput(f"application {application}: unknown; {nearest(application, known)}")
    return application


def _require_release(name: str, text: str, schema: Mapping[str, Any]) -> None:
    """BadInput for what no release is called; the run itself refuses one that its application does not declare."""
    if not Release.full(text):
        known = [str(one) for one in schema.get("examples") or []]
        raise BadInput(f"--param {name}: {text!r} is not a release such as 4.3.1; {nearest(text, known)}")


def _is_needed(param: Mapping[str, Any]) -> bool:
    return param["value"] is None and "null" not in _types(param["schema"])


def _types(schema: Mapping[str, Any]) -> list[str]:
    types = schema.get("type", "null")
    return [types] if isinstance(types, str) else list(types)


def _value(name: str, text: str, schema: Mapping[str, Any]) -> Any:
    """The text as the field's type: JSON if the field accepts JSON, else the text itself."""
    types = _types(schema)
    try:
        value = json_document(text)
    except BadInput as error:
        # Text that is not JSON may be plain text; JSON that is too deep or ambiguous is an error.
        if {"object", "array"} & {*types} and not str(error).startswith("is not valid JSON"):
            raise BadInput(f"--param {name}: {error}") from None
        value = text
    if _name_of(value) in types or (_name_of(value) == "integer" and "number" in types):
        return value
    if "string" in types or "type" not in schema:
        return text
    if "array" in types and not isinstance(value, dict) and schema.get("items", {}).get("type") == "string":
        return words_of(text)
    wanted = " or ".join(kind for kind in types if kind != "null")
    raise BadInput(f"--param {name}: {text!r} is not of type {wanted} ({schema.get('title', name)})")


def words_of(text: str) -> list[str]:
    """A list of names, as a terminal gives it: `totals,maxima`."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _name_of(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")
