"""The places of one stack: every path under one run directory, every port from one base."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kstreams_runbooks.errors import BadInput

CHECKOUT = Path(__file__).resolve().parents[2]

DEFAULT_PORT_BASE = 19_000
_HIGHEST_OFFSET = 20
_HIGHEST_PORT = 65_535


@dataclass(frozen=True)
class Ports:
    """Every port of a stack, counted from `base`."""

    base: int = DEFAULT_PORT_BASE

    @classmethod
    def parse(cls, text: str) -> "Ports":
        """Ports from `PORT_BASE`; BadInput for anything that is not a usable port number."""
        if not text.isdigit() or not 1_024 <= int(text) <= _HIGHEST_PORT - _HIGHEST_OFFSET:
            limits = f"1024 to {_HIGHEST_PORT - _HIGHEST_OFFSET}"
            raise BadInput(f"PORT_BASE={text}: not a number from {limits}; set PORT_BASE to one")
        return cls(int(text))

    @property
    def broker(self) -> int:
        """Kafka's listener."""
        return self.base

    @property
    def controller(self) -> int:
        """Kafka's controller listener."""
        return self.base + 1

    def broker_of(self, node: int) -> int:
        """Kafka's listener of the n-th broker of a cluster, from 1."""
        return self.broker if node == 1 else self.base + 12 + 2 * node

    def controller_of(self, node: int) -> int:
        """Its controller listener."""
        return self.broker_of(node) + 1

    @property
    def supervisor(self) -> int:
        """XML-RPC of supervisord."""
        return self.base + 2

    @property
    def api(self) -> int:
        """Airflow's API server and UI."""
        return self.base + 3

    @property
    def secured(self) -> int:
        """Kafka's listener with logins, if it has one."""
        return self.base + 4

    @property
    def connect(self) -> int:
        """Spark Connect."""
        return self.base + 6

    def metrics(self, instance: int) -> int:
        """Jolokia of the n-th application instance, from 1."""
        return self.base + 10 + instance


@dataclass(frozen=True)
class Lab:
    """One stack: its run directory, its ports, its fleet, its number of brokers. Two stacks share nothing.

    `connection` are the settings with which the runbooks reach Kafka, if they are not those of the open listener;
    `ledger` and `metadata` the addresses of the ledger and of Airflow's database, if they are not SQLite files.
    """

    run_dir: Path
    ports: Ports
    checkout: Path = CHECKOUT
    config: Path = CHECKOUT / "config"
    brokers: int = 1
    connection: Mapping[str, str] = field(default_factory=dict)
    ledger: str = ""
    metadata: str = ""

    @classmethod
    def of(cls, environ: Mapping[str, str] = os.environ) -> "Lab":
        """The stack that `RUN_DIR` and `PORT_BASE` name, or the default one; BadInput for a bad value."""
        directory = Path(environ.get("RUN_DIR") or CHECKOUT / ".run").expanduser().resolve()
        return cls(directory, Ports.parse(environ.get("PORT_BASE") or str(DEFAULT_PORT_BASE)))

    @property
    def nodes(self) -> range:
        """The ids of the brokers."""
        return range(1, self.brokers + 1)

    @property
    def bootstrap(self) -> str:
        """Kafka's bootstrap servers."""
        return ",".join(f"127.0.0.1:{self.ports.broker_of(node)}" for node in self.nodes)

    @property
    def supervisor_url(self) -> str:
        """XML-RPC of supervisord."""
        return f"http://127.0.0.1:{self.ports.supervisor}/RPC2"

    @property
    def airflow_url(self) -> str:
        """Airflow's UI and API."""
        return f"http://127.0.0.1:{self.ports.api}"

    @property
    def spark_remote(self) -> str:
        """Spark Connect, as its clients write it."""
        return f"sc://127.0.0.1:{self.ports.connect}"

    def metrics_url(self, instance: int) -> str:
        """Jolokia of the n-th application instance, from 1."""
        return f"http://127.0.0.1:{self.ports.metrics(instance)}/jolokia"

    @property
    def logs(self) -> Path:
        """One file per program."""
        return self.run_dir / "logs"

    @property
    def instances(self) -> Path:
        """One directory per application instance."""
        return self.run_dir / "instances"

    @property
    def broker_data(self) -> Path:
        """The broker's data, or those of the first of them."""
        return self.run_dir / "broker"

    @property
    def airflow_home(self) -> Path:
        """AIRFLOW_HOME: inside the run directory, to leave the user's own untouched."""
        return self.run_dir / "airflow"

    @property
    def dags(self) -> Path:
        """Airflow's DAGs folder: links to the project's own, and what a test adds."""
        return self.run_dir / "dags"

    @property
    def environment_file(self) -> Path:
        """The file in which the terminal command finds a stack that is up."""
        return self.run_dir / "env"

    @property
    def started_file(self) -> Path:
        """The processes to stop: written before anything is started."""
        return self.run_dir / "started.json"

    @property
    def apps(self) -> Path:
        """The Maven projects."""
        return self.checkout / "tests" / "apps"

    @property
    def releases(self) -> Path:
        """One directory of jars per release of the orders application."""
        return self.apps / "orders" / "target" / "releases"

    @property
    def python(self) -> Path:
        """Python of the locked environment."""
        return self.checkout / ".venv" / "bin" / "python"

    @property
    def command(self) -> Path:
        """The terminal command of the locked environment."""
        return self.checkout / ".venv" / "bin" / "kstreams-runbooks"

    def fleet_environment(self) -> dict[str, str]:
        """The variables that the demo's fleet files and the package read."""
        return {
            "DEMO_DIR": str(self.run_dir),
            "DEMO_BOOTSTRAP": self.bootstrap,
            "DEMO_SUPERVISOR": self.supervisor_url,
            "DEMO_METRICS_1": self.metrics_url(1),
            "DEMO_METRICS_2": self.metrics_url(2),
            "DEMO_RELEASES": str(self.releases),
            "DEMO_PYTHON": str(self.python),
            "KSTREAMS_RUNBOOKS_CONFIG": str(self.config),
            "KSTREAMS_RUNBOOKS_LEDGER": self.ledger or f"sqlite:///{self.run_dir / 'ledger.db'}",
            "AIRFLOW_CONN_KAFKA_DEMO": json.dumps(
                {"conn_type": "kafka", "extra": {"bootstrap.servers": self.bootstrap, **self.connection}}
            ),
        }
