"""The containers of docker-compose.yaml on the engine of this machine, or on one of the tests' own, gone afterwards."""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import docker
import pytest
from kstreams_runbooks.errors import Unreachable
from lab.base_image import base_image
from lab.compose import Compose, Engine, draw
from lab.engine import own_engine
from world.composed import Composed, say
from world.ports import COMPOSE, port


@pytest.fixture(scope="session")
def composed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composed]:
    """Images built, everything started and healthy; nothing of it is left afterwards."""
    with ExitStack() as ends:
        environ = dict(os.environ)
        try:
            Engine.of(environ)
        except Unreachable:
            say("no engine answers; the tests start one of their own")
            environ["DOCKER_HOST"] = ends.enter_context(own_engine(networked=True)).url
        engine = Engine.of(environ)
        api = docker.APIClient(f"unix://{engine.path}", version="auto", timeout=600)
        env = tmp_path_factory.mktemp("compose") / ".env"
        project = environ.get("COMPOSE_PROJECT_NAME") or f"kstreams-runbooks-test-{os.getpid()}"
        given = {"COMPOSE_PROJECT_NAME": project, "BASE": base_image(api, say), "AIRFLOW_PORT": str(port(COMPOSE))}
        draw(engine, given, env)
        compose = Compose.of(environ, env)
        made = Composed(compose, api)
        try:
            made.timed("build", compose.build)
            made.timed("start until healthy", lambda: compose.up(say))
            yield made
        finally:
            _keep_logs(made, tmp_path_factory.getbasetemp() / "compose-logs")
            began = time.monotonic()
            compose.down(images=True)
            say(f"down: {time.monotonic() - began:.0f} s; seconds before: {made.seconds}")


def _keep_logs(made: Composed, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for one in made.compose.engine.containers(made.compose.project):
        name = one["Names"][0].lstrip("/")
        (folder / f"{name}.log").write_bytes(made.api.logs(one["Id"]))
    say(f"logs of the containers: {folder}")
