"""Reads the files and options of one side of a change; BadInput begins with the name of the file."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kstreams_runbooks.decide.change.reading import ChangeReading, read_change
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.contradictions import check_declaration
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.documents.text import read_stream, read_text
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.rules import release_settings, topology_change_rules, upgrade_path_rules

# Kafka's settings, also those of clients with their prefixes, and settings that an application adds.
_KEY = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class SideFiles:
    """The options of one side; None for an option that was not given."""

    topology: Path
    declaration: Path | None = None
    config: Path | None = None
    library: str | None = None


@dataclass(frozen=True, slots=True)
class BothSides:
    """Both sides of a change, and the consequences."""

    reading: ChangeReading
    compared: Compared


def read_topology(path: Path) -> Topology:
    """The topology in a file (- for stdin)."""
    name = "stdin" if str(path) == "-" else str(path)
    try:
        text = read_stream(sys.stdin.buffer) if name == "stdin" else read_text(path)
    except BadInput as error:
        raise BadInput(f"{name}: {error} (expected the text of Topology#describe)") from None
    try:
        return parse_topology(text)
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None


def read_side(given: SideFiles) -> Side:
    """One side with everything that was given for it; BadInput if two of its files contradict each other."""
    topology = read_topology(given.topology)
    declared = _declaration(given.declaration)
    if given.config is not None:
        declared = replace(declared, config=_merged(declared.config or {}, given.config))
    if given.library is not None:
        declared = replace(declared, library=_library(declared.library, given.library))
    side = Side(topology, declared)
    try:
        check_declaration(side)
    except BadInput as error:
        raise BadInput(f"{given.declaration}: {error}") from None
    return side


def read_both(given: Mapping[str, Any]) -> BothSides:
    """The change between the two sides that the options of `plan` name."""
    if str(given["from_topology"]) == str(given["to_topology"]) == "-":
        raise BadInput("stdin: cannot be both versions; give a file for one of them")
    before, after = (
        read_side(
            SideFiles(
                given[f"{side}_topology"],
                given[f"{side}_declaration"],
                given[f"{side}_config"],
                given[f"{side}_version"],
            )
        )
        for side in ("from", "to")
    )
    catalogue = SettingCatalogue()
    if before.declared.config is not None or after.declared.config is not None:
        catalogue = release_settings()
    reading = read_change(before, after, topology_change_rules(), upgrade_path_rules(), catalogue=catalogue)
    return BothSides(reading, Compared(before, after))


def _declaration(path: Path | None) -> Declaration:
    if path is None:
        return Declaration()
    from kstreams_runbooks.fleet.topology_declaration import read_topology_declaration

    return read_topology_declaration(path)


def _merged(declared: Mapping[str, str], path: Path) -> dict[str, str]:
    from kstreams_runbooks.properties import parse

    try:
        given = parse(read_text(path, encoding="latin-1"))
    except BadInput as error:
        raise BadInput(f"{path}: {error} (expected a Java properties file)") from None
    if strange := [key for key in given if not _KEY.fullmatch(key)]:
        raise BadInput(
            f"{path}: {strange[0][:40]!r} is not a setting (expected lines such as name=value); give such a file"
        )
    for key in sorted(declared.keys() & given.keys()):
        if declared[key] != given[key]:
            raise BadInput(
                f"{path}: {key} is {given[key]}, and {declared[key]} in the declaration; correct one of them"
            )
    return {**declared, **given}


def _library(declared: Release | None, given: str) -> Release:
    release = Release.parse(given)
    if declared is not None and declared != release:
        raise BadInput(f"version {given}: the declaration has library {declared}; give the declaration of {given}")
    return release
