"""Reads the files and options of one side of a change; BadInput begins with the name of the file."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kstreams_runbooks.decide.change.reading import ChangeReading, read_change
from kstreams_runbooks.decide.change.unchanged import (
    check_same_program,
    unchanged_fields,
    with_same_program,
    with_unchanged,
)
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.contradictions import check_declaration
from kstreams_runbooks.decide.comparison.kept_code import KeptCode, kept_code
from kstreams_runbooks.decide.topology.code_facts import is_facts, merged, without_given
from kstreams_runbooks.decide.topology.kept_facts import KeptFacts, kept_facts
from kstreams_runbooks.decide.topology.lines import lines
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.documents.text import read_stream, read_text
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.topology.declaration import Declaration, TopologyFacts
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
    """Both sides of a change, and the consequences; `without_facts` is the side (old, new) that alone has none."""

    reading: ChangeReading
    compared: Compared
    without_facts: str = ""


@dataclass(frozen=True, slots=True)
class GivenTopology:
    """A topology with its text, and its facts if the file has them."""

    source: str
    text: str
    topology: Topology
    facts: TopologyFacts | None = None


def read_topology(path: Path) -> Topology:
    """The topology in a file of either kind (- for stdin)."""
    return read_given(path).topology


def read_given(path: Path) -> GivenTopology:
    """What a file has (- for stdin): the text of Topology#describe, or facts, which have that text too."""
    name = "stdin" if str(path) == "-" else str(path)
    try:
        text = read_stream(sys.stdin.buffer) if name == "stdin" else read_text(path)
    except BadInput as error:
        raise BadInput(f"{name}: {error} (expected the text of Topology#describe, or topology facts)") from None
    if not text.strip():
        raise BadInput(f"{name}: is empty (expected the text of Topology#describe, or topology facts); print it again")
    facts = None
    if is_facts(text):
        from kstreams_runbooks.fleet.topology_facts import read_facts

        facts = read_facts(text, name)
        text = _description(facts, name)
    try:
        return GivenTopology(name, text, parse_topology(text), facts)
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None


def without_facts(old: GivenTopology, new: GivenTopology) -> GivenTopology | None:
    """The one without facts if the other has them."""
    if (old.facts is None) == (new.facts is None):
        return None
    return old if old.facts is None else new


def kept_lines(old: GivenTopology, new: GivenTopology) -> tuple[KeptFacts, KeptCode]:
    """Both as lines to compare: their facts too if both have them, one line each; equal for equal topologies.

    The lines of their code are those that differ.
    """
    if old.facts is None or new.facts is None:
        return KeptFacts(tuple(lines(old.topology)), tuple(lines(new.topology))), KeptCode()
    facts = kept_facts(old.facts, new.facts)
    code = kept_code(Compared(*(Side(one.topology, one.facts.read) for one in (old, new) if one.facts)))
    both = replace(
        facts,
        old=(*lines(old.topology), *facts.old, *code.old),
        new=(*lines(new.topology), *facts.new, *code.new),
    )
    return both, code


def lacks_code(old: GivenTopology, new: GivenTopology) -> bool:
    """Whether the kept facts have digests of code that the present ones lack."""
    return bool(old.facts and old.facts.read.code) and bool(new.facts and not new.facts.read.code)


def _description(facts: TopologyFacts, source: str) -> str:
    if facts.text is None:
        reason = facts.read.not_read.get("topology", "the document has no `topology`")
        raise BadInput(f"{source}: the topology was not read: {reason}; give the text of Topology#describe instead")
    return facts.text


def read_side(given: SideFiles) -> Side:
    """One side, whose topology is read here."""
    return side_of(read_given(given.topology), given)


def side_of(described: GivenTopology, given: SideFiles) -> Side:
    """One side with everything that was given for it; BadInput if two of its files contradict each other.

    Facts win over the declaration, and the side has the contradictions.
    """
    declared = _declaration(given.declaration)
    if described.facts is not None:
        declared = merged(described.facts.read, None if given.declaration is None else declared)
    known = "the declaration" if described.facts is None else described.source
    if given.config is not None:
        read, config = declared.config or {}, _merged(declared.config or {}, given.config, known)
        # What the library refused was tried with the settings that were printed.
        refused = declared.refused if config == read else None
        declared = replace(declared, config=config, refused=refused, not_read=without_given(declared.not_read, config))
    if given.library is not None:
        declared = replace(declared, library=_library(declared.library, given.library, known))
    side = Side(described.topology, declared)
    try:
        check_declaration(side)
    except BadInput as error:
        raise BadInput(f"{given.declaration or described.source}: {error}") from None
    return side


def files_of(given: Mapping[str, Any], side: str) -> SideFiles:
    """The options of one side, `from` or `to`."""
    names = ("topology", "declaration", "config", "version")
    return SideFiles(*(given[f"{side}_{name}"] for name in names))


def read_both(given: Mapping[str, Any], running: Side | None = None) -> BothSides:
    """The change between the two sides that the options of `plan` name; `running` is the old one, if it is read."""
    if str(given["from_topology"]) == str(given["to_topology"]) == "-":
        raise BadInput("stdin: cannot be both versions; give a file for one of them")
    files = [files_of(given, side) for side in ("from", "to")]
    old, new = (read_given(one.topology) for one in files)
    before, after = running or side_of(old, files[0]), side_of(new, files[1])
    named = unchanged_fields(",".join(given.get("unchanged") or ()), "--unchanged")
    after = replace(after, declared=with_unchanged(after.declared, named, "with --unchanged"))
    if given.get("same_program"):
        after = replace(after, declared=with_same_program(after.declared, "with --same-program"))
        check_same_program(before, after)
    catalogue = SettingCatalogue()
    if before.declared.config is not None or after.declared.config is not None:
        catalogue = release_settings()
    reading = read_change(before, after, topology_change_rules(), upgrade_path_rules(), catalogue=catalogue)
    lacking = without_facts(old, new)
    return BothSides(reading, Compared(before, after), "" if lacking is None else "old" if lacking is old else "new")


def _declaration(path: Path | None) -> Declaration:
    if path is None:
        return Declaration()
    from kstreams_runbooks.fleet.topology_declaration import read_topology_declaration

    if is_facts(read_text(path)):
        raise BadInput(f"{path}: these are topology facts (expected a declaration); give them as the topology")
    return read_topology_declaration(path)


def _merged(declared: Mapping[str, str], path: Path, known: str) -> dict[str, str]:
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
            raise BadInput(f"{path}: {key} is {given[key]}, and {declared[key]} in {known}; correct one of them")
    return {**declared, **given}


def _library(declared: Release | None, given: str, known: str) -> Release:
    release = Release.parse(given)
    if declared is not None and declared != release:
        raise BadInput(f"version {given}: {known} has library {declared}; give that of {given}")
    return release
