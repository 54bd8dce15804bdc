"""What a run was asked for, as Airflow gives it: refused before anything else where the form could not have said it."""

import json
from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.wording import outside


def check_asked(context: Mapping[str, Any]) -> None:
    """BadInput for a field that the form does not have, and for a NUL, which no command and no database takes."""
    form = context["dag"].params
    for name in context["dag_run"].conf or {}:
        if name not in form:
            raise BadInput(
                f"conf of the run: has a field {outside(name, 80)!r} that the form of {context['dag'].dag_id} does not "
                f"have (fields: {', '.join(sorted(form))}); trigger it again without it"
            )
    for name in form:
        if "\\u0000" in json.dumps(context["params"].get(name), default=str).replace("\\\\", ""):
            raise BadInput(f"field {name}: has a NUL ({outside(context['params'][name], 80)}); give it without that")
