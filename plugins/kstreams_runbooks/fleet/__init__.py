"""The declared clusters and applications: loaded and checked; an invalid one does not affect the others.

Only the names for the forms are imported at once; the rest imports pydantic and YAML, and is loaded at its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kstreams_runbooks.fleet.names import application_names, fleet_dir, release_names

if TYPE_CHECKING:
    from kstreams_runbooks.fleet.consumer import Consumer
    from kstreams_runbooks.fleet.copier import Copier
    from kstreams_runbooks.fleet.copiers import copiers_of, feeding, require_copier
    from kstreams_runbooks.fleet.declarations import Application, Cluster
    from kstreams_runbooks.fleet.limits import Limits
    from kstreams_runbooks.fleet.loading import Fleet, load_fleet
    from kstreams_runbooks.fleet.topology_declaration import release_declaration

__all__ = [
    "Application",
    "Cluster",
    "Consumer",
    "Copier",
    "Fleet",
    "Limits",
    "application_names",
    "copiers_of",
    "feeding",
    "fleet_dir",
    "load_fleet",
    "release_declaration",
    "release_names",
    "require_copier",
]

_HOME = {
    "Application": "declarations",
    "Cluster": "declarations",
    "Consumer": "consumer",
    "Copier": "copier",
    "Fleet": "loading",
    "Limits": "limits",
    "copiers_of": "copiers",
    "feeding": "copiers",
    "load_fleet": "loading",
    "release_declaration": "topology_declaration",
    "require_copier": "copiers",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
