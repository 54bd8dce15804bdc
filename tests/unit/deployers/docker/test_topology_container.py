"""The container in which a topology command runs."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from kstreams_runbooks.deployers.docker.topology_container import describe
from kstreams_runbooks.fleet.deployers.docker import DockerSettings
from kstreams_runbooks.model.target import Target

SETTINGS = DockerSettings.model_validate(
    {
        "kind": "docker",
        "instances": [{"name": "o1", "metrics": "http://o1:8778"}],
        "releases": {"4.3.1": "orders:18"},
        "state": "/state",
        "variable_prefix": "STREAMS_",
        "topology": ["/describe"],
    }
)


class FakeApi:
    """The calls of one description; it keeps the request that creates the container."""

    def __init__(self) -> None:
        """Nothing is created."""
        self.body: Mapping[str, Any] = {}

    def containers(self, **_: object) -> list[dict[str, Any]]:
        """Nothing is left from before."""
        return []

    def create_container_from_config(self, body: Mapping[str, Any], _: str) -> dict[str, str]:
        """Its id."""
        self.body = body
        return {"Id": "x"}

    def put_archive(self, *_: object) -> None:
        """Taken."""

    def start(self, _: str) -> None:
        """It prints at once."""

    def wait(self, _: str, **__: object) -> dict[str, int]:
        """It ended well."""
        return {"StatusCode": 0}

    def logs(self, _: str, *, stdout: bool, **__: object) -> Any:
        """The description."""
        return [b"Topologies:\n   Sub-topology: 0\n"] if stdout else b""

    def remove_container(self, *_: object, **__: object) -> None:
        """Gone."""


@pytest.mark.parametrize(
    ("labels", "project"),
    [({"com.docker.compose.project": "p", "com.docker.compose.service": "orders-1"}, "p"), ({"theirs": "1"}, None)],
)
@pytest.mark.parametrize("there", [True, False])
def test_it_names_the_project_of_its_instance_under_a_label_of_its_own(
    labels: dict[str, str], project: str | None, there: bool
) -> None:
    """Compose takes it for none of its containers, and `make compose-down` finds it, also without the old image."""
    api = FakeApi()

    def asked(_: str, call: Callable[[Any], Any]) -> Any:
        return call(api)

    raw = {"Config": {"Env": [], "Labels": labels}}
    container = SimpleNamespace(image_id="old", labels=labels, raw=raw, mounts=(), mount_of=lambda _: None)
    first: Any = SimpleNamespace(
        images=SimpleNamespace(config=lambda reference: {} if there or reference != "old" else None),
        containers=SimpleNamespace(declared=container),
        variables=None,
    )
    engine: Any = SimpleNamespace(asked=asked, address="unix")
    assert describe(engine, SETTINGS, first, Target("4.3.1")).text.startswith("Topologies:")
    made = dict(api.body["Labels"])
    assert made.pop("kstreams-runbooks.topology").startswith("kstreams-runbooks-topology-")
    assert made == ({} if project is None else {"kstreams-runbooks.compose-project": project})
