"""Checks a run's parameters from Airflow: refuses values that the form could not have sent."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kstreams_runbooks.documents import DEEPEST
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.wording import outside


def check_conf(context: Mapping[str, Any]) -> None:
    """BadInput for a field that the form does not have, and for a value that cannot be kept or shown.

    Such a value has a NUL, which no command and no database accepts, or more levels than any file may have.
    """
    form = context["dag"].params
    for name in context["dag_run"].conf or {}:
        if name not in form:
            raise BadInput(
                f"conf of the run: has a field {outside(name, 80)!r} that the form of {context['dag'].dag_id} does not "
                f"have (fields: {', '.join(sorted(form))}); trigger it again without it"
            )
    for name in form:
        if _is_deep(context["params"].get(name)):
            raise BadInput(f"field {name}: is nested deeper than {DEEPEST} levels (the limit); nest it less")
        if "\\u0000" in json.dumps(context["params"].get(name), default=str).replace("\\\\", ""):
            raise BadInput(f"field {name}: has a NUL ({outside(context['params'][name], 80)}); give it without the NUL")


def _is_deep(value: Any) -> bool:
    """Whether lists and objects are nested deeper than `DEEPEST` levels; found without recursion."""
    level = _nested([value])
    for _ in range(DEEPEST):
        level = _nested(one for each in level for one in (each.values() if isinstance(each, Mapping) else each))
    return bool(level)


def _nested(values: Iterable[Any]) -> list[Any]:
    return [one for one in values if isinstance(one, Mapping | list | tuple)]
