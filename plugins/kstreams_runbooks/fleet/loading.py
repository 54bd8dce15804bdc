"""The fleet: every declaration loaded and checked, invalid ones set aside with the reason."""

import os
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from kstreams_runbooks.documents.text import is_absent
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.consumer import Consumer
from kstreams_runbooks.fleet.copier import AsDeployed, Copier, TopicCopier
from kstreams_runbooks.fleet.declarations import Application, Cluster
from kstreams_runbooks.fleet.folders import FOLDERS, declarations_in, other_suffix, signature
from kstreams_runbooks.fleet.names import entry_kind, fleet_dir
from kstreams_runbooks.fleet.problems import Problem, nearest
from kstreams_runbooks.fleet.reading import read_declaration
from kstreams_runbooks.wording import outside

_NAMED = 3
_RESET_TOOL = "https://issues.apache.org/jira/browse/KAFKA-14922"


@dataclass(frozen=True)
class Fleet:
    """All declared clusters, applications, copiers and consumers.

    Each mapping has the valid ones only, by name; a shipped copier is an application too. `disabled` has the fault of
    each invalid application, copier or consumer. `problems` are all reasons for that; `warnings` disable nothing.
    """

    directory: Path
    applications: Mapping[str, Application]
    clusters: Mapping[str, Cluster]
    disabled: Mapping[str, tuple[Problem, ...]]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    copiers: Mapping[str, Copier] = field(default_factory=dict)
    consumers: Mapping[str, Consumer] = field(default_factory=dict)

    @property
    def used_clusters(self) -> tuple[str, ...]:
        """Clusters that an application or a copier is declared on, sorted."""
        return tuple(sorted({one.cluster for one in self.entries.values()}))

    @property
    def not_looked_at(self) -> tuple[str, ...]:
        """A sentence for each application that is declared and not read, and for a folder that cannot be listed."""
        return (
            *(str(problem) for problem in self._not_listed),
            *(
                f"{outside(name)} is not checked: its declaration is bad: {problems[0]}"
                for name, problems in self.disabled.items()
            ),
        )

    @property
    def _not_listed(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.file == self.directory / "applications")

    @property
    def empty(self) -> BadInput:
        """The sentence for an empty fleet."""
        if self._not_listed:
            return BadInput(f"fleet: {self._not_listed[0]}")
        return BadInput(f"fleet: {self.directory / 'applications'} declares no application; declare or discover one")

    @property
    def entries(self) -> Mapping[str, Application]:
        """Every application, copier and consumer, by name."""
        return {**self.applications, **self.copiers, **self.consumers}

    def side(self, name: str) -> Application:
        """The entry of that name: a run may have any as a side; BadInput as `application` if there is none."""
        return self.entries[name] if name in self.entries else self.application(name)

    def application(self, name: str) -> Application:
        """The application of that name; BadInput if it is unknown, disabled, a consumer or a copier as deployed."""
        if name in self.applications:
            return self.applications[name]
        if name in self.consumers:
            raise BadInput(
                f"application {name}: is a consumer (expected a Kafka Streams application): it has no topology; name "
                "an application, or see its records left with `kstreams-runbooks lag`"
            )
        if name in self.copiers:
            fed = {*self.copiers[name].outputs}
            its = sorted(one.name for one in self.applications.values() if fed & {*one.control})
            raise BadInput(
                f"application {name}: is a copier as deployed (expected a Kafka Streams application): it is stopped "
                f"and started by runs of the applications that it feeds; name one of them ("
                f"{', '.join(its) or 'none declared'})"
            )
        self.require_known(name)
        raise BadInput(f"application {name}: unknown; {nearest(name, [*self.applications, *self.disabled])}")

    def require_known(self, name: str) -> None:
        """BadInput if that name is disabled, or if nothing is known of the fleet."""
        if name in self.disabled:
            first, *more = self.disabled[name]
            rest = f" (and {len(more)} more: kstreams-runbooks fleet)" if more else ""
            raise BadInput(f"application {name} is disabled: {first}{rest}")
        if self._not_listed:
            raise BadInput(f"application {outside(name)}: not known; {self._not_listed[0]}")
        if not self.applications and not self.disabled:
            raise BadInput(f"application {name}: unknown; {self.directory / 'applications'} declares none")

    def cluster(self, name: str) -> Cluster:
        """The cluster of that name; BadInput if it is unknown or its file is invalid."""
        if name in self.clusters:
            return self.clusters[name]
        file = self.directory / "clusters" / f"{name}.yaml"
        for problem in self.problems:
            if problem.file == file:
                raise BadInput(f"cluster {name} is disabled: {problem}")
        raise BadInput(f"cluster {name}: unknown; {nearest(name, self.clusters)}")


@dataclass(frozen=True)
class _Loaded:
    files: tuple[tuple[object, ...], ...]
    environment: Mapping[str, str | None]
    fleet: Fleet


_cache: dict[Path, _Loaded] = {}
_lock = threading.Lock()


def load_fleet(config_dir: Path | None = None) -> Fleet:
    """The fleet of a folder (default: `fleet_dir()`), read again only if a file or a used variable has changed.

    Never raises for a faulty declaration: check `problems`, or request one application.
    """
    directory = fleet_dir(config_dir).absolute()
    with _lock:
        files = tuple(signature(directory))
        known = _cache.get(directory)
        if known and known.files == files and all(os.environ.get(n) == value for n, value in known.environment.items()):
            return known.fleet
        used: dict[str, str | None] = {}
        fleet = _load(directory, used)
        _cache[directory] = _Loaded(files, used, fleet)
        return fleet


def _load(directory: Path, used: dict[str, str | None]) -> Fleet:
    clusters: dict[str, Cluster] = {}
    applications: dict[str, Application] = {}
    bad: dict[Path, tuple[Problem, ...]] = {}
    folders = {name: declarations_in(directory / name) for name in FOLDERS}
    bad |= {directory / name: problems for name, (_, problems) in folders.items() if problems}
    for file in folders["clusters"][0]:
        cluster, problems = read_declaration(file, Cluster, os.environ, used)
        if cluster is not None:
            clusters[cluster.name] = cluster
        # A file that was removed since it was listed declares nothing.
        elif not is_absent(file):
            bad[file] = problems
    for file in folders["applications"][0]:
        application, problems = _read_application(file, used)
        if application is None:
            bad |= {} if is_absent(file) else {file: problems}
        elif trouble := _cluster_trouble(file, application, clusters, bad):
            bad[file] = (trouble,)
        else:
            applications[application.name] = application
    for cross in (_same_id, _same_target, _in_circles):
        for file, problem in tuple(cross(directory, applications.values())):
            bad[file] = (problem,)
            applications.pop(file.stem, None)
    return Fleet(
        directory=directory,
        applications={name: one for name, one in applications.items() if not one.as_deployed},
        clusters=clusters,
        disabled={file.stem: problems for file, problems in bad.items() if file.parent == directory / "applications"},
        problems=tuple(problem for problems in bad.values() for problem in problems),
        warnings=(*other_suffix(directory), *_prefixes(directory, applications.values())),
        copiers={name: one for name, one in applications.items() if isinstance(one, Copier)},
        consumers={name: one for name, one in applications.items() if isinstance(one, Consumer)},
    )


def _read_application(file: Path, used: dict[str, str | None]) -> tuple[Application | None, tuple[Problem, ...]]:
    """A Kafka Streams application or, by its `kind` and `program`, a copier or a consumer."""
    return read_declaration(file, Application, os.environ, used, model_of=_model_of)


def _model_of(values: Any) -> type[Application]:
    models: dict[str, type[Application]] = {"as-deployed": AsDeployed, "shipped": TopicCopier, "consumer": Consumer}
    return models.get(entry_kind(values), Application)


def _cluster_trouble(
    file: Path, application: Application, clusters: Mapping[str, Cluster], bad: Mapping[Path, tuple[Problem, ...]]
) -> Problem | None:
    name = application.cluster
    if name in clusters:
        return None
    cluster_file = file.parents[1] / "clusters" / f"{name}.yaml"
    if cluster_file in bad:
        return Problem(file, "cluster", f'"{name}"', f"cannot be used, its file is bad: {bad[cluster_file][0]}")
    return Problem(file, "cluster", f'"{name}"', f"is not declared in {cluster_file.parent}; {nearest(name, clusters)}")


def _same_id(directory: Path, applications: Iterable[Application]) -> Iterator[tuple[Path, Problem]]:
    """Both of two applications that are one group: neither can be singled out, and a hold is by name."""
    by_id: defaultdict[tuple[str, str], list[Application]] = defaultdict(list)
    for application in applications:
        by_id[application.cluster, application.application_id].append(application)
    for (cluster, application_id), same in by_id.items():
        for application in same if len(same) > 1 else ():
            others = ", ".join([other.name for other in same[: _NAMED + 1] if other is not application][:_NAMED])
            reason = f"is also the application_id of {others} on cluster {cluster}; keep one of the files"
            file = _file(directory, application)
            yield file, Problem(file, "application_id", f'"{application_id}"', reason)


def _same_target(directory: Path, applications: Iterable[Application]) -> Iterator[tuple[Path, Problem]]:
    """Every shipped copier that shares a target with another one: its readers would get each record twice."""
    for (cluster, target), same in _writers(applications).items():
        for copier in same if len(same) > 1 else ():
            others = ", ".join([other.name for other in same if other is not copier][:_NAMED])
            reason = f"is also a target of {others} on cluster {cluster}: two copiers write it; keep one of the routes"
            file = _file(directory, copier)
            yield file, Problem(file, "routes", f'"{target}"', reason)


def _in_circles(directory: Path, applications: Iterable[Application]) -> Iterator[tuple[Path, Problem]]:
    """Every shipped copier of a circle: each record would be copied again and again."""
    writers = _writers(applications)
    reads: dict[tuple[str, str], list[tuple[str, str]]] = {
        place: [(place[0], source) for copier in copiers for source, target in copier.route_pairs if target == place[1]]
        for place, copiers in writers.items()
    }
    try:
        TopologicalSorter(reads).prepare()
    except CycleError as error:
        circle = [topic for _, topic in error.args[1]]
        for copier in {one.name: one for place in error.args[1] for one in writers[place]}.values():
            file = _file(directory, copier)
            reason = f"copies in a circle ({' ← '.join(circle)}), again and again; remove a route"
            yield file, Problem(file, "routes", "", reason)


def _writers(applications: Iterable[Application]) -> dict[tuple[str, str], list[TopicCopier]]:
    """The shipped copiers of each target, by cluster and topic."""
    writers: defaultdict[tuple[str, str], list[TopicCopier]] = defaultdict(list)
    for copier in (one for one in applications if isinstance(one, TopicCopier)):
        for target in copier.outputs:
            writers[copier.cluster, target].append(copier)
    return writers


def _prefixes(directory: Path, applications: Iterable[Application]) -> Iterator[Problem]:
    """The application reset tool takes every internal topic that begins with `<application.id>-` (KAFKA-14922)."""
    by_id = {(application.cluster, application.application_id): application for application in applications}
    for (cluster, application_id), longer in by_id.items():
        parts = application_id.split("-")
        for end in range(1, len(parts)):
            shorter = by_id.get((cluster, "-".join(parts[:end])))
            if shorter is not None:
                yield Problem(
                    _file(directory, shorter),
                    "application_id",
                    f'"{shorter.application_id}"',
                    f"begins the application_id {application_id} of {longer.name}: resetting {shorter.name} with "
                    f"Kafka's tool would also delete internal topics of {longer.name} ({_RESET_TOOL})",
                )


def _file(directory: Path, application: Application) -> Path:
    return directory / "applications" / f"{application.name}.yaml"
