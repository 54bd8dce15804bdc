"""A draft as the text of a declaration, each field with the mark of where it is from."""

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from kstreams_runbooks.model.discovery import Draft, Field

_WIDTH = 120
_HEAD = """\
# {group} on {cluster}, as `kstreams-runbooks discover` found it ({at}).
#
# Look at every field before you rely on it. observed: read from the cluster or from an instance. guessed: likely, to be
# checked. unknown: nobody can see it from outside, and the value is a careful one. given: on the command line.
# What else may stand here: this project's own config/applications/orders.yaml has every field with its meaning.
"""
_CLUSTER = """\
# One Kafka cluster, written by `kstreams-runbooks discover`. The file's name is the cluster's name.

# guessed: create an Airflow connection of type kafka with this id; bootstrap.servers in its extra field, and what is
# needed to log in, were given to discover by hand
connection: {connection}
"""


def declaration_text(draft: Draft, at: str) -> str:
    """YAML of one declaration; `at` is when it was found, for the person who reads it."""
    fields = draft.fields
    head = _HEAD.format(group=_clean(fields["application_id"].value), cluster=_clean(fields["cluster"].value), at=at)
    return "\n".join([head, *_lines(fields, ""), "deployer:", *_lines(draft.deployer, "  ")]).rstrip() + "\n"


def cluster_text(name: str) -> str:
    """YAML of a cluster that no fleet declares yet."""
    # What may also stand in the name of an environment variable, where Airflow looks for connections.
    return _CLUSTER.format(connection=_flow(f"kafka_{re.sub('[^a-zA-Z0-9]+', '_', name)}"))


def _lines(fields: Mapping[str, Field], indent: str) -> Iterator[str]:
    for name, field in fields.items():
        yield from textwrap.wrap(
            f"{field.mark}: {_clean(field.note)}",
            _WIDTH,
            initial_indent=f"{indent}# ",
            subsequent_indent=f"{indent}# ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from _value(name, field.value, indent)
        yield ""


def _value(name: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        yield f"{indent}{name}:"
        yield from (f"{indent}  - {_flow(entry)}" for entry in value)
    else:
        yield f"{indent}{name}: {_flow(value)}"


def _flow(value: Any) -> str:
    """One line of YAML, quoted wherever YAML would read another thing than this text."""
    if not isinstance(value, list | dict):
        # A scalar of its own would get an end of document behind it.
        return _flow([value])[1:-1]
    return yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=False, width=float("inf")
    ).strip()


def _clean(text: Any) -> str:
    """Text from a broker as it may stand in a comment: on one line, nothing but what can be printed."""
    return "".join(character if character.isprintable() else "?" for character in " ".join(str(text).split()))
