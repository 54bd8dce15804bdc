"""Prints docs/forms.md: the fields of every form, as the DAG files have them."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from kstreams_runbooks.errors import BadInput
from lab.settings import CHECKOUT

FILE = CHECKOUT / "docs" / "forms.md"
_HEAD = """\
# Forms

The fields of the form of each DAG, with their defaults. This page is printed from the forms by `make docs`; a test
fails if it is out of date. A terminal fills a field with `kstreams-runbooks trigger DAG --param FIELD=VALUE`
(`--application`, `--execute` and `--reason` have options of their own)."""


def page() -> str:
    """The page; the same DAG files give the same page."""
    return "\n".join((*_lines(), ""))


def _lines() -> Iterator[str]:
    # Airflow reads its settings when it is imported.
    os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="airflow-home-"))
    os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"
    os.environ["AIRFLOW__CORE__PLUGINS_FOLDER"] = str(CHECKOUT / "plugins")
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(dag_folder=str(CHECKOUT / "dags"), bundle_name="dags")
    if bag.import_errors:
        # A busy machine imports a DAG too slowly, and the page would lack its form.
        raise BadInput(f"forms: {next(iter(bag.import_errors.values())).splitlines()[-1]}; print them again")
    yield _HEAD
    for name in sorted(bag.dags):
        dag = bag.dags[name]
        yield from ("", f"## {name}", "", f"It {dag.description}.", "", "| field | title | default | meaning |")
        yield "|---|---|---|---|"
        for field in dag.params:
            param = dag.params.get_param(field)
            meaning = _cell(param.description) if param.description else param.schema["description_md"]
            default = _default(param.value if param.has_value else None, param.schema)
            yield f"| `{field}` | {param.schema['title']} | {default} | {meaning}{_choice(param.schema)} |"


def _default(value: Any, schema: Mapping[str, Any]) -> str:
    if value is None or value == []:
        return "empty" if "null" in schema["type"] or value == [] else "has to be given"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _choice(schema: Mapping[str, Any]) -> str:
    """The values that a field takes, if its text does not explain each of them."""
    return f" One of {', '.join(f'`{one}`' for one in schema['enum'])}." if "enum" in schema else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
