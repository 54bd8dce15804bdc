"""The orders application: its releases, the directories of its instances, and whether they run."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kstreams_runbooks.errors import BadInput, Unreachable
from kstreams_runbooks.model.readings.readings import Missing, StreamsReading
from kstreams_runbooks.observe.application.metrics import read_streams
from kstreams_runbooks.properties import dump, write_atomically

from lab import kafka, maven
from lab.settings import Lab
from lab.supervise import Program, Supervisor, Waiting, unheard, until

FROM_RELEASE = "3.4.1"
TO_RELEASE = "4.3.1"
NEWEST = "4.4.0"
# On the same library as TO_RELEASE: customers counted behind a needless repartition topic, and without it.
WITH_REPARTITION = "4.3.1.1"
WITHOUT_REPARTITION = "4.3.1.2"

_RUNNING_S = 240


@dataclass(frozen=True)
class Deployed:
    """The setup of the application. Without static membership its members come and go under new names.

    `settings` override the defaults in every instance's base.properties.
    """

    instances: int = 2
    release: str = FROM_RELEASE
    static_membership: bool = True
    application_id: str = "orders"
    threads: int = 1
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Instances, which are programs of supervisord too."""
        return tuple(f"orders-{number}" for number in range(1, self.instances + 1))

    @property
    def topics(self) -> tuple[str, ...]:
        """Its inputs and outputs."""
        counted = (kafka.COUNTED,) if self.release in {WITH_REPARTITION, WITHOUT_REPARTITION} else ()
        return (*kafka.INPUTS, *kafka.OUTPUTS, *counted)


def described(lab: Lab, release: str, **settings: str) -> str:
    """What a release prints of itself with these settings."""
    given = lab.run_dir / "described.properties"
    given.write_text(dump(settings), encoding="latin-1")
    base = lab.instances / "orders-1" / "base.properties"
    classes = f"{lab.releases / release}/*"
    command = ["java", "-cp", classes, "orders.OrdersApplication", "--describe", str(base), str(given)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def build(lab: Lab, say: Callable[[str], None] = unheard) -> None:
    """Compile every release and fetch the broker's jars; BadInput with Maven's last lines if it fails."""
    pom = lab.apps / "pom.xml"
    maven.package(pom, build_log(lab), say, "-DskipTests", does="builds tests/apps", do="build tests/apps")


def build_log(lab: Lab) -> Path:
    """What Maven prints while it builds."""
    return lab.logs / "build.log"


def program(lab: Lab, name: str) -> Program:
    """One instance under supervisord; the launcher becomes the JVM, which closes Streams on SIGTERM."""
    launcher = lab.apps / "orders" / "bin" / "run-instance"
    return Program(name, (str(launcher), str(lab.instances / name)), stop_wait_s=40)


def write_instances(lab: Lab, deployed: Deployed) -> None:
    """Make the directory of every instance: the user's settings and the first release."""
    if not (lab.releases / deployed.release).is_dir():
        there = ", ".join(sorted(path.name for path in lab.releases.glob("*"))) or "none"
        raise BadInput(f"release {deployed.release} is not built (there are: {there})")
    for number, name in enumerate(deployed.names, start=1):
        write_instance(lab, deployed, number, name)


def write_instance(lab: Lab, deployed: Deployed, number: int, name: str) -> None:
    """The same for one instance, which has the n-th port of metrics."""
    directory = lab.instances / name
    (directory / "state").mkdir(parents=True, exist_ok=True)
    base = base_properties(lab, deployed, number, name)
    (directory / "base.properties").write_text(dump(base), encoding="latin-1")
    write_atomically(directory / "deployment.properties", dump({"release": deployed.release}))


def base_properties(lab: Lab, deployed: Deployed, number: int, name: str) -> dict[str, str]:
    """Settings of one instance that no runbook touches; session and transaction timeouts stay Kafka's defaults."""
    membership = {"group.instance.id": name} if deployed.static_membership else {}
    return {
        "application.id": deployed.application_id,
        "bootstrap.servers": lab.bootstrap,
        "metrics.port": str(lab.ports.metrics(number)),
        "num.stream.threads": str(deployed.threads),
        "processing.guarantee": "exactly_once_v2",
        "state.dir": str(lab.instances / name / "state"),
        # Every update is sent: the judge counts records. The older name is 3.4's.
        "statestore.cache.max.bytes": "0",
        "cache.max.bytes.buffering": "0",
        **membership,
        **deployed.settings,
    }


def streams(lab: Lab, number: int) -> StreamsReading | Missing:
    """What the n-th instance's Streams client reports."""
    return read_streams(lab.metrics_url(number))


def addresses(lab: Lab, names: Sequence[str]) -> str:
    """Where the instances report what they do."""
    return ", ".join(lab.metrics_url(number) for number in range(1, len(names) + 1))


def wait_running(
    lab: Lab,
    supervisor: Supervisor,
    names: Sequence[str],
    limit_s: float = _RUNNING_S,
    say: Callable[[str], None] = unheard,
) -> float:
    """Return when every instance reports RUNNING; returns seconds. Else Unreachable with each one's last report.

    Twice in a row: the first that is RUNNING rebalances when the last one joins.
    """
    said: dict[str, str] = {}
    in_a_row = 0
    states = dict.fromkeys(names, "does not answer")
    waiting = Waiting(limit_s, say)

    def running() -> bool:
        nonlocal in_a_row
        waiting.count(
            lambda: f"{', '.join(f'{name} {state}' for name, state in states.items())}: {addresses(lab, names)}"
        )
        supervisor.require_running(*names)
        for number, name in enumerate(names, start=1):
            reading = streams(lab, number)
            said[name] = reading.missing if isinstance(reading, Missing) else reading.state
            states[name] = "does not answer" if isinstance(reading, Missing) else reading.state
        in_a_row = in_a_row + 1 if all(state == "RUNNING" for state in said.values()) else 0
        return in_a_row > 1

    try:
        return until(running, limit_s, "instances RUNNING", poll_s=0.3)
    except Unreachable as error:
        last = "; ".join(f"{name}: {state}" for name, state in said.items())
        raise Unreachable(f"{error} ({last or 'no reading yet'}); read {lab.logs}{os.sep}orders-*.log") from None
