"""A fake Kafka Streams application: its agent and its deployer report what a test gave them, over real HTTP and files.

Only the group, the topics and the broker next to it are real.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_CLIENT = "kafka.streams:type=stream-metrics,client-id=*"
_RUNTIME = "java.lang:type=Runtime"
_NOT_THERE = ("kafka.streams:type=stream-state-updater-metrics,*", "kafka.streams:type=stream-task-metrics,*")


@dataclass(frozen=True)
class FakeStreams:
    """One instance of one application, declared in a fleet of its own with the deployer `command`.

    `targets` are releases that it may be brought to; all of them have its topology.
    """

    directory: Path
    application_id: str
    topology: str
    inputs: tuple[str, ...] = ("in",)
    outputs: tuple[str, ...] = ()
    release: str = "4.3.1"
    cluster: str = "secured"
    targets: tuple[str, ...] = ()

    @property
    def client_id(self) -> str:
        """Client id of its only thread, as Kafka Streams names it."""
        return f"{self.application_id}-1-StreamThread-1-consumer"

    def declare(self, metrics_url: str = "http://127.0.0.1:1/jolokia") -> None:
        """Write the fleet; its deployer reports that the instance is stopped."""
        for folder in ("applications", "clusters"):
            (self.directory / folder).mkdir(parents=True, exist_ok=True)
        cluster = self.directory / "clusters" / f"{self.cluster}.yaml"
        cluster.write_text(f"connection: kafka_{self.cluster}\n", encoding="utf-8")
        entry = {
            "application_id": self.application_id,
            "cluster": self.cluster,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "owner": "team",
            "approvers": ["ada"],
            "static_membership": False,
            "processing_guarantee": "at_least_once",
            "deployer": {
                "kind": "command",
                "instances": [{"name": "one", "metrics": metrics_url}],
                "releases": dict.fromkeys((self.release, *self.targets), "image"),
                "commands": {
                    "instances": {"run": ["cat", str(self.directory / "described.json")]},
                    "apply": {"run": ["false", "{instance}", "{release}", "{settings}"]},
                    "stop": {"run": ["false", "{instance}"]},
                    "start": {"run": ["false", "{instance}"]},
                    "topology": {"run": ["cat", str(self.directory / "topology-{release}.json")]},
                },
            },
        }
        # JSON is YAML.
        file = self.directory / "applications" / f"{self.application_id}.yaml"
        file.write_text(json.dumps(entry), encoding="utf-8")
        for release in (self.release, *self.targets):
            document = {"schema_version": 1, "release": release, "topology": self.topology}
            (self.directory / f"topology-{release}.json").write_text(json.dumps(document), encoding="utf-8")
        self._describe("stopped", None)

    @contextmanager
    def running(self) -> Iterator[list[float]]:
        """A fake agent reports that the instance runs this topology, and its fake deployer that it is up.

        Gives the times at which the agent was asked, by the monotonic clock.
        """
        asked: list[float] = []
        started_ms = time.time_ns() // 1_000_000 - 120_000
        answer = json.dumps(self._answer(started_ms)).encode()

        class FakeAgent(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked.append(time.monotonic())
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
                """Print nothing."""

        with ThreadingHTTPServer(("127.0.0.1", 0), FakeAgent) as server:
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            self.declare(f"http://127.0.0.1:{server.server_address[1]}/jolokia")
            self._describe("running", started_ms)
            try:
                yield asked
            finally:
                server.shutdown()
                self.declare()

    def _describe(self, process: str, started_ms: int | None) -> None:
        instance: dict[str, Any] = {
            "instance": "one",
            "process": process,
            "started_at_ms": started_ms,
            "pid": None,
            "release": self.release,
            "settings": {},
            "applied": True if started_ms else None,
            "missing": "" if started_ms else "it does not run",
        }
        document = {"schema_version": 1, "instances": [instance]}
        (self.directory / "described.json").write_text(json.dumps(document), encoding="utf-8")

    def _answer(self, started_ms: int) -> list[dict[str, Any]]:
        client = {
            "application-id": self.application_id,
            "state": "RUNNING",
            "version": self.release,
            "topology-description": self.topology,
            "alive-stream-threads": 1,
            "failed-stream-threads": 0,
        }
        values = {
            _CLIENT: {f"kafka.streams:client-id={self.application_id}-1,type=stream-metrics": client},
            _RUNTIME: {"Name": "1@here", "StartTime": started_ms},
        }
        return [
            {
                "request": {"type": "read", "mbean": mbean},
                "value": value,
                "status": 200,
                "timestamp": time.time_ns() // 1_000_000_000,
            }
            for mbean, value in values.items()
        ] + [
            # A real agent answers every bean that it is asked for, these with "not found" while nothing restores.
            {
                "request": {"type": "read", "mbean": mbean},
                "error_type": "javax.management.InstanceNotFoundException",
                "error": f"javax.management.InstanceNotFoundException : {mbean}",
                "status": 404,
            }
            for mbean in _NOT_THERE
        ]
