"""Changes by each runbook of a plan: topics, task directories and groups, by their names."""

from collections.abc import Iterator
from dataclasses import dataclass

from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.content import contents
from kstreams_runbooks.decide.comparison.directories import directories_to_delete
from kstreams_runbooks.decide.comparison.prediction import Prediction
from kstreams_runbooks.decide.topology.names import is_changelog
from kstreams_runbooks.model.local_state import shown
from kstreams_runbooks.model.topology.change import ChangeRunbook


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect of a runbook: `action`, a verb, on the `kind` (topic, directory or group) of these names."""

    runbook: ChangeRunbook
    action: str
    kind: str
    names: tuple[str, ...]


def effects(runbooks: tuple[ChangeRunbook, ...], compared: Compared, prediction: Prediction) -> tuple[Effect, ...]:
    """All effects of the runbooks, in their order; without application.id if it is not declared."""
    return tuple(
        Effect(runbook, action, kind, tuple(sorted(names)))
        for runbook in runbooks
        for action, kind, names in _of(runbook, compared, prediction)
        if names
    )


def _of(runbook: ChangeRunbook, compared: Compared, prediction: Prediction) -> Iterator[tuple[str, str, set[str]]]:
    created = {one.name for one in prediction.created}
    orphaned = {one.name for one in prediction.orphaned}
    kept = {one.name for one in prediction.kept}
    group = {(compared.before.declared.config or {}).get("application.id", "the application's group")}
    directories = {f"{sub.id}_*" for sub in compared.before.topology.subtopologies if not sub.is_global and sub.stores}
    inputs = compared.before.read(is_global=False)
    if runbook == "blue_green_cutover":
        yield "create next to the old one, for the new application.id", "group", group
        yield "create next to the old ones, under the new application.id", "topic", created | kept
        return
    if runbook == "partition_increase":
        yield "raise the partitions of", "topic", _grown(compared, prediction)
    elif runbook == "reset_and_cleanup":
        yield "set back to the beginning of its inputs", "group", group
        yield "read again from the beginning", "topic", inputs
        yield "delete", "topic", orphaned | kept
        yield "create again, empty", "topic", created | kept
        yield "delete on every instance", "directory", directories
        return
    elif runbook == "library_bump" and compared.state_cleared:
        yield "delete on every instance, to restore from the changelogs", "directory", directories
    elif runbook == "store_migration":
        yield "copy to the changelog of the new name", "topic", _changelogs(compared, orphaned)
        yield "delete on every instance, to restore from the copy", "directory", _directories(compared)
    elif runbook == "control_topic_flush":
        yield "read to the end first", "topic", {name for name in orphaned if not is_changelog(name)}
    if runbook not in {"rolling_bounce", "library_bump"}:
        yield "empty (every instance down, static members removed)", "group", group
    yield "create", "topic", created
    yield "leave behind", "topic", orphaned
    if runbook == "stop_and_restart":
        yield "delete on every instance", "directory", set(shown(directories_to_delete(compared).names))
    else:
        yield "leave behind on the disks", "directory", set(shown(prediction.stale_directories))


def _grown(compared: Compared, prediction: Prediction) -> set[str]:
    """Topics with the partitions that they have and those that they need: only those whose number changes."""
    before, after = compared.before.declared.topics, compared.after.declared.topics
    sources = {
        name: (before[name].partitions, after[name].partitions)
        for name in before.keys() & after.keys() & compared.before.read(is_global=False)
    }
    there = {topic.name: topic.partitions for topic in prediction.kept}
    internal = {topic.name: (there[topic.name], topic.partitions) for topic in prediction.refused}
    return {
        f"{name} ({was} -> {now})"
        for name, (was, now) in {**sources, **internal}.items()
        if None not in (was, now) and was != now
    }


def _changelogs(compared: Compared, orphaned: set[str]) -> set[str]:
    held = contents(compared.before)
    renamed = tuple(held[old].changelog for old, _ in compared.stores.renamed if held[old].changelog)
    return {name for name in orphaned if name.endswith(renamed)}


def _directories(compared: Compared) -> set[str]:
    places = compared.after.store_places
    return {f"{places[new]}_*" for _, new in compared.stores.renamed}
