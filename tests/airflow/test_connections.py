"""Connections that Airflow keeps: a command of the terminal finds those that its tasks find."""

import json
import subprocess
from collections.abc import Iterator

import pytest
from lab.stack import Stack

NAME = "kafka_demo"


@pytest.fixture
def added(fresh: Stack) -> Iterator[dict[str, str]]:
    """The environment of a terminal without the connection, which `airflow connections add` has made."""
    environment = fresh.environment()
    given = json.loads(environment.pop(f"AIRFLOW_CONN_{NAME.upper()}"))

    def airflow(*words: str) -> None:
        program = str(fresh.lab.python.with_name("airflow"))
        subprocess.run([program, "connections", *words], env=environment, check=True, capture_output=True)

    airflow("add", NAME, "--conn-type", "kafka", "--conn-extra", json.dumps(given["extra"]))
    yield environment
    airflow("delete", NAME)


def lag(stack: Stack, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Of the orders application."""
    return subprocess.run(
        [str(stack.lab.command), "lag", "orders"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_connection_of_airflows_database_is_found(fresh: Stack, added: dict[str, str]) -> None:
    """And where there is none, the sentence has the places that were looked at."""
    assert lag(fresh, added).returncode in {0, 1}
    nowhere = added | {"AIRFLOW_HOME": str(fresh.lab.run_dir / "nowhere")}
    nowhere = {name: value for name, value in nowhere.items() if not name.startswith("AIRFLOW__DATABASE")}
    refused = lag(fresh, nowhere)
    assert refused.returncode == 2
    assert f"Airflow connection {NAME}: not found in the environment (AIRFLOW_CONN_…)" in refused.stderr
