"""The result of `discover` as a value, as JSON and as text."""

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from kstreams_runbooks.model.discovery.discovery import Draft, Field, Found, Mark, Sighting

_WIDTH = 120
_HEAD = """\
# {group} on {cluster}, as `kstreams-runbooks discover` found it ({at}).
#
# Look at every field before you rely on it. observed: read from the cluster or from an instance. guessed: likely, to be
# checked. unknown: not observable from outside, and the value is a conservative one. given: on the command line.
# Other fields: this project's own config/applications/orders.yaml has every field with its meaning.
"""
_GREEN = """\
# {name}: starts next to {blue}, to take over from it, as `kstreams-runbooks declare-green {blue}` drafted it.
#
# Look at every field before you rely on it. observed: as in the entry of {blue}. guessed: likely, to be checked.
# unknown: to be filled in. given: on the command line.
#
# If its code does something outside of Kafka, it happens twice while both run; why that is right:
# effects_twice: accepted, because …
"""
_CLUSTER = """\
# One Kafka cluster, written by `kstreams-runbooks discover`. The file's name is the cluster's name.

# guessed: create an Airflow connection of type kafka with this id; put bootstrap.servers and
# the login that discover got on the command line into its extra field
connection: {connection}
"""


def declaration_text(draft: Draft, at: str) -> str:
    """YAML of one declaration; `at` is the time of discovery, for its reader."""
    fields = draft.fields
    group, cluster = _clean(fields["application_id"].value), _clean(fields["cluster"].value)
    return entry_text(draft, _HEAD.format(group=group, cluster=cluster, at=at))


def green_text(draft: Draft, blue: str) -> str:
    """YAML of the declaration of an application that starts next to `blue`."""
    return entry_text(draft, _GREEN.format(name=draft.name, blue=_clean(blue)))


def entry_text(draft: Draft, head: str) -> str:
    """YAML of a declaration behind a comment, each field behind its mark and its note."""
    return "\n".join([head, *_lines(draft.fields, ""), "deployer:", *_lines(draft.deployer, "  ")]).rstrip() + "\n"


def cluster_text(name: str) -> str:
    """YAML of a cluster that no fleet declares yet."""
    # Only characters that an environment variable may have: Airflow also looks there for connections.
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
    """One line of YAML, quoted if YAML would otherwise read another value."""
    if not isinstance(value, list | dict):
        # YAML adds an end of document after a single scalar.
        return _flow([value])[1:-1]
    return yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=False, width=float("inf")
    ).strip()


def _clean(text: Any) -> str:
    """Text from a broker, safe for a comment: on one line, printable characters only."""
    return "".join(character if character.isprintable() else "?" for character in " ".join(str(text).split()))


SCHEMA_VERSION: Final = 1
Written = Literal["written", "declared already", "left alone"]
_MARKS: Final[tuple[Mark, ...]] = ("observed", "given", "guessed", "unknown")


@dataclass(frozen=True)
class DraftedEntry:
    """One application, its draft, and the outcome for its file; `problems` prevent loading it.

    `declarations` are the files that were written for its releases, from the topology facts of its instances.
    """

    found: Found
    draft: Draft
    file: Path
    written: Written
    why: str = ""
    problems: tuple[str, ...] = ()
    declarations: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Report:
    """The result for one cluster; `not_seen` are sentences about what the login may not see."""

    cluster: str
    applications: tuple[DraftedEntry, ...]
    others: tuple[Sighting, ...]
    not_seen: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 every application has a declaration that loads, 1 a person must check, 3 not all groups could be read."""
        if self.not_seen or any(one.kind == "unknown" for one in self.others):
            return 3
        open_ends = any(one.written == "left alone" or one.problems for one in self.applications)
        return 1 if open_ends or any(one.kind == "perhaps" for one in self.others) else 0


def document(report: Report) -> dict[str, Any]:
    """Everything as JSON, including the notes that stderr shows."""
    return {
        "schema_version": SCHEMA_VERSION,
        "cluster": report.cluster,
        "applications": [_application(one) for one in report.applications],
        "perhaps": _others(report, "perhaps"),
        "left_out": _others(report, "other"),
        "not_readable": _others(report, "unknown"),
        "not_seen": list(report.not_seen),
    }


def as_text(report: Report) -> Iterator[str]:
    """One paragraph for each application."""
    if not report.applications:
        whole = not report.not_seen and all(one.kind != "unknown" for one in report.others)
        among = "" if whole else " among the groups that this login may see; others are unknown"
        yield f"no Kafka Streams application found on {report.cluster}{among}"
    for one in report.applications:
        signs = one.found.signs
        yield f"{signs.group_id} @ {report.cluster}: {signs.type} group, {signs.state}, {_running(one.found)}"
        yield f"  {one.file}: {one.written}{f', {one.why}' if one.why else ''}"
        yield from (f"  {file}: written, from the topology facts of its instances" for file in one.declarations)
        if one.written == "written":
            yield from (f"  {mark:9}{', '.join(names)}" for mark in _MARKS if (names := _marked(one.draft, mark)))


def notices(report: Report) -> Iterator[str]:
    """Notes outside the answer: groups that were left out, and problems of files."""
    yield from report.not_seen
    words = {"perhaps": "perhaps an application, not declared", "other": "left out", "unknown": "not readable"}
    for one in report.others:
        yield f"group {one.signs.group_id}: {words[one.kind]}: {one.why}"
    for each in report.applications:
        yield from each.problems


def _application(one: DraftedEntry) -> dict[str, Any]:
    signs = one.found.signs
    return {
        "application_id": signs.group_id,
        "group_type": signs.type,
        "group_state": signs.state,
        "instances": len(one.found.instances),
        "versions": sorted({each.version for each in one.found.instances if each.version}),
        "file": str(one.file),
        "outcome": one.written,
        "why": one.why,
        "problems": list(one.problems),
        "declarations": list(map(str, one.declarations)),
        "fields": {mark: _marked(one.draft, mark) for mark in _MARKS},
    }


def _others(report: Report, kind: str) -> list[dict[str, str]]:
    return [{"group": one.signs.group_id, "why": one.why} for one in report.others if one.kind == kind]


def _marked(draft: Draft, mark: Mark) -> list[str]:
    deployer: dict[str, Field] = {f"deployer.{name}": field for name, field in draft.deployer.items()}
    return [name for name, field in {**draft.fields, **deployer}.items() if field.mark == mark]


def _running(found: Found) -> str:
    number = len(found.instances)
    versions = sorted({one.version for one in found.instances if one.version})
    on = f" on {', '.join(versions)}" if versions else ", none of which reports its release" if number else ""
    return f"{number} {'instance' if number == 1 else 'instances'}{on}"
