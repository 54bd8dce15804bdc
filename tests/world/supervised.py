"""A real supervisord with two programs, and what a deployer reads of them."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kstreams_runbooks.deployers.supervisord.deployer import SupervisordDeployer
from kstreams_runbooks.deployers.supervisord.deployment_file import FILE
from kstreams_runbooks.errors import Unreachable
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings
from kstreams_runbooks.model.readings.readings import Deployment

PROGRAM = """
import signal, sys, time
from pathlib import Path
directory = Path(sys.argv[1])
if (directory / "broken").exists():
    print("INFO begins", flush=True)
    sys.exit("ERROR no such release, DB_PASS=hunter2")
def leave(*_):
    time.sleep(0.3)
    sys.exit(143)
if not (directory / "stubborn").exists():
    signal.signal(signal.SIGTERM, leave)
else:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
once = directory / "once.properties"
with (directory / "started").open("a") as log:
    text = (directory / "deployment.properties").read_text()
    if once.exists() and not (directory / "leaves").exists():
        text += "then " + once.read_text()
        once.unlink()
    log.write(text.replace("\\n", " ") + "\\n")
time.sleep(600)
"""


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def supervised(tmp_path: Path) -> Iterator[SupervisordSettings]:
    """A supervisord with two programs, stopped at first, and a login."""
    port = free_port()
    (tmp_path / "program.py").write_text(PROGRAM)
    sections = [
        f"[supervisord]\nnodaemon=true\nlogfile={tmp_path}/supervisord.log\npidfile={tmp_path}/supervisord.pid",
        f"[unix_http_server]\nfile={tmp_path}/socket",
        f"[inet_http_server]\nport=127.0.0.1:{port}\nusername=runbook\npassword=secret",
        "[rpcinterface:supervisor]\nsupervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface",
    ]
    instances = []
    for name in ("o1", "o2"):
        directory = tmp_path / name
        (directory / "state" / "orders" / "0_0").mkdir(parents=True)
        (directory / FILE).write_text("release=3.4.1\n")
        sections.append(
            f"[program:{name}]\ncommand={sys.executable} {tmp_path}/program.py {directory}\nautostart=false\n"
            "startretries=1\nstopwaitsecs=30\nstopasgroup=true\nkillasgroup=true"
        )
        instances.append(
            {"name": name, "program": name, "directory": directory, "metrics": f"http://127.0.0.1:9/{name}"}
        )
    (tmp_path / "supervisord.conf").write_text("\n\n".join(sections) + "\n")
    daemon = subprocess.Popen(
        [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(tmp_path / "supervisord.conf")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    found = SupervisordSettings.model_validate(
        {
            "kind": "supervisord",
            "url": f"http://runbook:secret@127.0.0.1:{port}",
            "instances": instances,
            "releases": {"3.4.1": "/old", "4.3.1": "/new"},
            "topology": [sys.executable, "-c", "print('log line\\nTopologies:\\n {release}')"],
            "settable": ["cleanup.on.start"],
            "once_file": "once.properties",
            "stop_timeout_s": 5,
            "start_timeout_s": 10,
        }
    )
    deadline = time.monotonic() + 20
    while True:
        try:
            deployer(found).instances()
            break
        except Unreachable:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    yield found
    pids = [one.pid for one in deployer(found).instances() if one.pid]
    # Told to end it takes a second to hear of it, and would start again what is killed before that.
    daemon.kill()
    daemon.wait(20)
    for pid in pids:
        os.kill(pid, 9)


def deployer(settings: SupervisordSettings, *, dry_run: bool = False) -> SupervisordDeployer:
    """A deployer for real."""
    return SupervisordDeployer(settings, application_id="orders", dry_run=dry_run)


def described(settings: SupervisordSettings, instance: str = "o1") -> Deployment:
    """What a new deployer says of one instance."""
    return next(one for one in deployer(settings).instances() if one.instance == instance)


def starts(settings: SupervisordSettings) -> list[str]:
    """What o1 read at each of its starts."""
    log = settings.instances[0].directory / "started"
    return log.read_text().splitlines() if log.exists() else []
