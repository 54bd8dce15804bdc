"""Airflow's API with its own database and the project's DAGs, without a scheduler: a test says what happens."""

import json
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from airflow.api_fastapi.app import create_app, purge_cached_app
from airflow.dag_processing.bundles.manager import DagBundlesManager
from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db
from airflow.utils.db import initdb
from fastapi.testclient import TestClient
from lab.settings import CHECKOUT

URL = "http://testserver"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Logins that may run things (oncall) or only look (viewer), and two for notes, of which one may not write."""
    home = tmp_path_factory.mktemp("airflow")
    passwords = {"oncall": "oncall", "viewer": "viewer", **{name: f"secret-of-{name}" for name in ("notes", "looker")}}
    (home / "passwords.json").write_text(json.dumps(passwords))
    settings = {
        "CORE__DAGS_FOLDER": str(CHECKOUT / "dags"),
        "CORE__LOAD_EXAMPLES": "False",
        "CORE__AUTH_MANAGER": "airflow.api_fastapi.auth.managers.simple.simple_auth_manager.SimpleAuthManager",
        "CORE__SIMPLE_AUTH_MANAGER_USERS": "oncall:op,viewer:viewer,notes:user,looker:viewer",
        "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "API_AUTH__JWT_SECRET": "j" * 64,
        "API__SECRET_KEY": "s" * 32,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(f"AIRFLOW__{name}", value)
        initdb()
        DagBundlesManager().sync_bundles_to_db()  # type: ignore[no-untyped-call]
        bag = DagBag(dag_folder=str(CHECKOUT / "dags"), bundle_name="dags-folder")
        assert bag.import_errors == {}
        sync_bag_to_db(bag, "dags-folder", None)
        purge_cached_app()
        yield TestClient(create_app(apps="core"), base_url=URL)
        purge_cached_app()


@pytest.fixture(scope="module")
def listening(server: TestClient) -> Iterator[int]:
    """The same API on a port of this machine."""
    serving = uvicorn.Server(uvicorn.Config(server.app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=serving.run, daemon=True)
    thread.start()
    while not serving.started:
        time.sleep(0.05)
    yield serving.servers[0].sockets[0].getsockname()[1]
    serving.should_exit = True
    thread.join(timeout=30)
