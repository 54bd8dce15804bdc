"""The orders application in containers of the tests' own engine: the stack's broker, ports and instance directories."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.properties import dump
from lab import application
from lab.afresh import afresh
from lab.application import Deployed
from lab.engine import OwnEngine, own_engine
from lab.settings import Lab
from lab.stack import Stack
from lab.supervise import until

# What the JVM of this machine needs; the image has a shell alone.
_READ_ONLY = ("/usr", "/lib", "/lib64")
_RUNNING_S = 120
_BRIDGE = "kr-tests"
# As bin/run-instance does it, for a release that the image names.
_RUN = r"""
port=$(sed -n 's/^metrics\.port=//p' /conf/base.properties)
grep -qs '^facts.agent' /conf/settings.properties && { echo "facts.agent is not a file" >&2; exit 2; }
exec > >(tee -a /log) 2>&1
agent=$(echo "$RELEASES/$RELEASE"/jolokia-agent-jvm-*-javaagent.jar)
exec "$JAVA" -Xmx192m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    "-javaagent:$agent=host=127.0.0.1,port=$port,discoveryEnabled=false" \
    -cp "$RELEASES/$RELEASE/*" orders.OrdersApplication /conf/base.properties /conf/settings.properties
"""
_DESCRIBE = 'exec "$JAVA" -cp "$RELEASES/$0/*" orders.OrdersApplication --describe /conf/base.properties "$1"'
_SETTABLE = ("num.stream.threads", "topology.optimization", "facts.agent")


@dataclass(frozen=True)
class Contained:
    """The application in containers `orders-1`, `orders-2`; `stack.supervisor` does not run it."""

    stack: Stack
    engine: OwnEngine

    @property
    def lab(self) -> Lab:
        """The stack's places."""
        return self.stack.lab

    def starts(self) -> dict[str, tuple[str, str]]:
        """Id of each instance's container, and when it was started."""
        names = Deployed().names
        found = {name: self.engine.api.inspect_container(name) for name in names}
        return {name: (one["Id"], one["State"]["StartedAt"]) for name, one in found.items()}

    def deployer(self, releases: tuple[str, ...], **other: Any) -> dict[str, Any]:
        """The entry's `deployer` of kind docker; an image for each release is made if there is none."""
        for release in releases:
            _image(self.engine, release)
        instances = [{"name": name, "metrics": self.lab.metrics_url(n)} for n, name in enumerate(Deployed().names, 1)]
        return {
            "kind": "docker",
            "url": self.engine.url,
            "instances": instances,
            "image": "orders:{artifact}",
            "releases": {release: release for release in releases},
            "state": "/state",
            "settings_file": "/conf/settings.properties",
            "settable": list(_SETTABLE),
            "topology": ["/usr/bin/bash", "-c", _DESCRIBE, "{release}", "{settings_file}"],
            "stop_timeout_s": 60,
        } | other


@contextmanager
def contained(stack: Stack, deployed: Deployed) -> Iterator[Contained]:
    """The application from nothing, in containers, RUNNING; it is gone afterwards."""
    with _engine() as engine:
        found = Contained(stack, engine)
        try:
            _begin(found, deployed)
            yield found
        finally:
            engine.clean()


def _begin(found: Contained, deployed: Deployed) -> None:
    stack, lab, engine = found.stack, found.lab, found.engine
    afresh(stack, deployed)
    stack.supervisor.stop(*deployed.names)
    _image(engine, deployed.release)
    for number, name in enumerate(deployed.names, 1):
        folder = lab.instances / name
        shutil.rmtree(folder / "state")
        (folder / "state").mkdir()
        (folder / "conf").mkdir()
        settings = application.base_properties(lab, deployed, number, name) | {"state.dir": "/state"}
        (folder / "conf" / "base.properties").write_text(dump(settings), encoding="latin-1")
        (folder / "conf" / "settings.properties").touch()
        (lab.logs / f"{name}.log").write_text("", encoding="utf-8")
        engine.api.create_container_from_config(_container(lab, folder, deployed.release), name)
        engine.api.start(name)

    def running() -> bool:
        readings = [application.streams(lab, number) for number, _ in enumerate(deployed.names, 1)]
        return all(not isinstance(one, Missing) and one.state == "RUNNING" for one in readings)

    until(running, _RUNNING_S, "instances in containers RUNNING", poll_s=0.5)


def _image(engine: OwnEngine, release: str) -> None:
    """Once: another build under the same tag is another image, which no runbook takes for the same release."""
    if not engine.api.images(f"orders:{release}"):
        engine.image(release)


def _container(lab: Lab, folder: Path, release: str) -> Mapping[str, Any]:
    java = Path(shutil.which("java") or "java").resolve()
    read_only = [*_READ_ONLY, *map(str, Path("/etc").glob("java*")), str(lab.releases), str(java.parents[1])]
    binds = [f"{path}:{path}:ro" for path in dict.fromkeys(read_only) if Path(path).exists()]
    own = {folder / "conf": "/conf", folder / "state": "/state", lab.logs / f"{folder.name}.log": "/log"}
    return {
        "Image": f"orders:{release}",
        "Entrypoint": ["/usr/bin/bash", "-c", _RUN],
        "Env": ["PATH=/usr/bin:/bin", f"RELEASES={lab.releases}", f"JAVA={java}", "MALLOC_ARENA_MAX=2"],
        "HostConfig": {"NetworkMode": "host", "Binds": [*binds, *(f"{at}:{to}" for at, to in own.items())]},
    }


@contextmanager
def _engine() -> Iterator[OwnEngine]:
    """An engine whose containers are in this machine's network; a bridge of its own keeps the one of another engine."""
    _ip("link", "add", _BRIDGE, "type", "bridge")
    try:
        _ip("address", "add", "10.213.77.1/24", "dev", _BRIDGE)
        alone = (f"--bridge={_BRIDGE}", "--iptables=false", "--ip-forward=false", "--ip-masq=false")
        with own_engine(alone, networked=True) as engine:
            yield engine
    finally:
        _ip("link", "delete", _BRIDGE)


def _ip(*words: str) -> None:
    subprocess.run([shutil.which("ip") or "/usr/sbin/ip", *words], check=True)
