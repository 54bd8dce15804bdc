"""Facts that change with a Kafka release, as rows of data with public sources; loaded and checked here."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import TypeAdapter

from kstreams_runbooks.model.releases.release import Release, within
from kstreams_runbooks.model.releases.rules import (
    DEFECT_FACTS,
    AcceptedValues,
    BrokerRule,
    Change,
    Defect,
    DowngradeRule,
    GuaranteeRule,
    ProtocolRule,
    Setting,
    UpgradePathRules,
    UpgradeRule,
)
from kstreams_runbooks.model.releases.settings import ReleaseSetting, SettingCatalogue, SettingEffect, SettingRefusal
from kstreams_runbooks.model.rights import Right
from kstreams_runbooks.model.topology.change import ChangeRule, FindingKind, Procedure

# libyaml parses about ten times as fast; a PyYAML built without it still works.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# file: its sections, each a list of rows of one kind
_FILES: Mapping[str, Mapping[str, Any]] = {
    "releases.yaml": {"upgrade_from": AcceptedValues, "guarantees": Setting, "protocols": Setting},
    "upgrades.yaml": {"upgrades": UpgradeRule},
    "downgrades.yaml": {"downgrades": DowngradeRule},
    "guarantees.yaml": {"guarantee_changes": GuaranteeRule, "protocol_changes": ProtocolRule},
    "brokers.yaml": {"brokers": BrokerRule},
    "defects.yaml": {"defects": Defect},
    "release_changes.yaml": {"changes": Change},
}
_RANGES = ("running", "target", "releases", "brokers", "bridges", "throws")


@cache
def upgrade_path_rules() -> UpgradePathRules:
    """Every row of this folder, schema-checked; ValueError if a row does not match its kind."""
    documents = {name: _document(name) for name in _FILES}
    sections = {
        section: _rows(kind, documents[name][section], f"{name}, {section}")
        for name, kinds in _FILES.items()
        for section, kind in kinds.items()
    }
    releases = tuple(Release.parse(text) for text in documents["releases.yaml"]["releases"])
    _check_defects(sections["defects"], releases)
    return UpgradePathRules(releases=releases, **sections)


@cache
def topology_change_rules() -> tuple[ChangeRule, ...]:
    """The rules about changes of a topology, schema-checked; ValueError if a row does not match its kind."""
    name, section = "topology_changes.yaml", "topology_changes"
    return _rows(ChangeRule, _document(name)[section], f"{name}, {section}")


@cache
def topology_cases() -> Mapping[str, str]:
    """One case of each rule about topologies, in words."""
    name, section = "topology_cases.yaml", "topology_cases"
    found: dict[str, str] = TypeAdapter(dict[str, str]).validate_python(_document(name)[section])
    return found


@cache
def finding_kinds() -> tuple[FindingKind, ...]:
    """The findings of a plan that are not rows; ValueError if an entry does not match its kind."""
    name, section = "finding_kinds.yaml", "finding_kinds"
    return _rows(FindingKind, _document(name)[section], f"{name}, {section}")


@cache
def procedures() -> tuple[Procedure, ...]:
    """The manual steps of a runbook that is not a DAG yet; ValueError if a row does not match its kind."""
    name, section = "procedures.yaml", "procedures"
    return _rows(Procedure, _document(name)[section], f"{name}, {section}")


@cache
def rights() -> tuple[Right, ...]:
    """Every call to a Kafka cluster with the right that it needs; ValueError if a row does not match its kind."""
    name, section = "rights.yaml", "rights"
    return _rows(Right, _document(name)[section], f"{name}, {section}")


@cache
def release_settings() -> SettingCatalogue:
    """Every setting of every release with what it does, schema-checked; ValueError where a row is not valid.

    It takes about 25 ms of CPU: load it only for a question about settings.
    """
    printed = _document("settings.yaml")
    rows = _rows(ReleaseSetting, printed["settings"], "settings.yaml, settings")
    name, section = "setting_effects.yaml", "setting_effects"
    effects = _rows(SettingEffect, _document(name)[section], f"{name}, {section}")
    name, section = "setting_refusals.yaml", "setting_refusals"
    refusals = _rows(SettingRefusal, _document(name)[section], f"{name}, {section}")
    # A row that `make settings` has not tried yet refuses nothing.
    by_id = {row["id"]: row for row in printed.get("refused_by", ())}
    tried = tuple(
        replace(row, releases=tuple(one["releases"]), words=one["words"]) if (one := by_id.get(row.id)) else row
        for row in refusals
    )
    name, limits = "setting_limits.yaml", "setting_limits"
    document = _document(name)
    every = (replace(row, releases=("..",)) for row in _rows(SettingRefusal, document[limits], f"{name}, {limits}"))
    topics = _rows(ReleaseSetting, document["topic_settings"], f"{name}, topic_settings")
    return SettingCatalogue(rows, effects, tried, tuple(every), topics)


def _document(name: str) -> dict[str, Any]:
    text = files(__name__).joinpath(name).read_text(encoding="utf-8")
    document: dict[str, Any] = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader, and the package's own file
    return document


def _check_defects(rows: tuple[Defect, ...], releases: tuple[Release, ...]) -> None:
    """ValueError for a defect without a fix or source, of a release that is not known, or with a need that no fact has.

    A range may end with a minor that has a release.
    """
    known = {name for release in releases for name in (release.text, release.minor)}
    for row in rows:
        where = f"defects.yaml, defects: {row.id}"
        for name in ("releases", "when", "effects", "first_fixed", "source"):
            if not getattr(row, name):
                raise ValueError(f"{where} has no {name} (expected: at least one); add it")
        for name, texts in (("releases", row.releases), ("first_fixed", row.first_fixed)):
            for text in (end for one in texts for end in one.split("..") if end not in {"", "none"}):
                if text not in known:
                    raise ValueError(f"{where} has {text} in {name} (expected: a release in releases.yaml); correct it")
        for fact, values in row.needs.items():
            if strange := sorted(set(values) - set(DEFECT_FACTS.get(fact, ()))):
                allowed = DEFECT_FACTS.get(fact, tuple(DEFECT_FACTS))
                raise ValueError(
                    f"{where} needs {fact}: {', '.join(strange)} (expected: {', '.join(allowed)}); correct it"
                )


def _rows(kind: Any, rows: list[dict[str, Any]], where: str) -> tuple[Any, ...]:
    known = {field.name for field in fields(kind)}
    needed = [one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING]
    for row in rows:
        if unknown := set(row) - known:
            raise ValueError(
                f"{where}: {row.get('id', row)} has {', '.join(sorted(unknown))}; known are {sorted(known)}"
            )
        if lacking := [name for name in needed if name not in row]:
            raise ValueError(f"{where}: {row.get('id', row)} has no {', '.join(lacking)}; add it")
        for name in _RANGES:
            within(Release("0.0"), tuple(row.get(name, ())))
    loaded: tuple[Any, ...] = TypeAdapter(tuple[kind, ...]).validate_python(rows)
    return loaded
