"""One stack, whole or in part: its programs, the order of their start, and the end of all of them."""

import shlex
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kstreams_runbooks.demo.traffic.schedule import CUSTOMER_EVERY
from kstreams_runbooks.frames.job import REMOTE

from lab import airflow, application, kafka, leftovers, prerequisites, spark
from lab.airflow import Airflow
from lab.application import Deployed
from lab.settings import Lab
from lab.supervise import Program, Supervisor, Waiting, inherited, unheard

TRAFFIC = "traffic"
DEFAULT_RATE = 300
# A customer's update reaches every order of that customer through the join: the more customers, the fewer orders each,
# and the longer traffic can run before updates alone are more than a small machine can do.
DEFAULT_CUSTOMERS = 1_000
_JOIN_S = 0.2


@dataclass(frozen=True)
class Parts:
    """The parts of a stack. `deployed` None leaves the application out; `built` means that Maven has run already.

    `broker` has settings of the broker that are not those of its launcher; `prepared` is called once it has the
    topics, before the application starts. `traffic_topics` are inputs of other names, as `role=topic`.
    `spark` is a Connect server on the loopback, which every program finds by SPARK_REMOTE. `environment` is of every
    program too.
    """

    deployed: Deployed | None = field(default_factory=Deployed)
    airflow: bool = True
    spark: bool = False
    traffic_rate: int = DEFAULT_RATE
    customers: int = DEFAULT_CUSTOMERS
    customer_every: int = CUSTOMER_EVERY
    traffic_topics: tuple[str, ...] = ()
    seed: int = 1
    built: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    broker: Mapping[str, str] = field(default_factory=dict)
    second_scheduler: bool = False
    prepared: Callable[[], None] = lambda: None

    @classmethod
    def broker_only(cls) -> "Parts":
        """Only a broker."""
        return cls(deployed=None, airflow=False)

    @classmethod
    def broker_and_application(cls, deployed: Deployed | None = None) -> "Parts":
        """Without Airflow."""
        return cls(deployed=deployed or Deployed(), airflow=False)


class Stack:
    """A stack that is up. Traffic is declared but not started: a test that needs it starts it."""

    def __init__(self, lab: Lab, parts: Parts, say: Callable[[str], None] = unheard) -> None:
        self.lab = lab
        self.parts = parts
        self.supervisor = Supervisor(lab)
        self.seconds: dict[str, float] = {}
        self._say = say
        self._environment: dict[str, str] = {}

    def up(self) -> None:
        """Start everything and wait for it; BadInput before anything is started if the machine lacks something."""
        lab, parts = self.lab, self.parts
        if leftovers.stop(lab):
            self._say("stopped the stack that was up")
        instances = parts.deployed.instances if parts.deployed else 0
        ports = prerequisites.ports_of(lab.ports, brokers=lab.brokers, instances=instances, airflow=parts.airflow)
        ports |= {"Spark Connect": lab.ports.connect} if parts.spark else {}
        prerequisites.require(ports, build=not parts.built, base=lab.ports.base)
        leftovers.clear(lab)
        lab.logs.mkdir(parents=True)
        if parts.airflow:
            airflow.draw_passwords(lab)
        settings = lab.fleet_environment() | (airflow.environment(lab) if parts.airflow else {})
        settings |= {REMOTE: lab.spark_remote} if parts.spark else {}
        settings |= parts.environment
        self._environment = inherited() | settings
        _write_environment(lab.environment_file, settings)
        if parts.airflow:
            # Airflow creates its database while Maven builds.
            with self._in_background("airflow-db", lambda: airflow.prepare(lab, self._environment), airflow.MIGRATE_S):
                self._build()
        else:
            self._build()
        self._launch()
        self._wait()

    def down(self) -> None:
        """Stop everything that was started."""
        leftovers.stop(self.lab)

    def start_traffic(self) -> None:
        """Start the generator."""
        self.supervisor.start(TRAFFIC)

    def stop_traffic(self) -> None:
        """Stop the generator and wait until it is gone."""
        self.supervisor.stop(TRAFFIC)

    def api(self, login: str = "admin") -> Airflow:
        """Airflow's API as one of its logins."""
        return Airflow.of(self.lab, login)

    def environment(self) -> dict[str, str]:
        """Environment of every program, for a command that needs the same."""
        return dict(self._environment)

    def _build(self) -> None:
        if not self.parts.built:
            with self._timed("build the application", application.build_log(self.lab)):
                application.build(self.lab, self._say)
                if self.parts.spark:
                    spark.build_jars(self.lab.logs / "build-spark.log", self._say)

    def _launch(self) -> None:
        lab, parts = self.lab, self.parts
        programs: list[Program] = kafka.broker_programs(lab, parts.broker)
        if parts.deployed:
            application.write_instances(lab, parts.deployed)
            programs += [application.program(lab, name) for name in parts.deployed.names]
            programs.append(traffic_program(lab, parts))
        if parts.airflow:
            programs += airflow.programs(lab, self._components())
        if parts.spark:
            programs.append(spark.connect_program(lab.ports.connect))
        at = time.time()
        session = self.supervisor.launch(programs, self._environment)
        leftovers.Started(session, at, lab.ports.base).write(lab.started_file)

    def _wait(self) -> None:
        lab, parts = self.lab, self.parts
        with self._timed("start the broker", lab.bootstrap):
            self.supervisor.start(*kafka.broker_names(lab))
            kafka.wait_for_broker(lab, self.supervisor, self._say)
            if parts.deployed:
                kafka.create_topics(lab.bootstrap, parts.deployed.topics)
            parts.prepared()
        began = time.monotonic()
        if parts.airflow:
            self.supervisor.start(*self._components())
        if parts.spark:
            self.supervisor.start(spark.CONNECT)
        if parts.deployed:
            names = parts.deployed.names
            with self._timed("start the application", application.addresses(lab, names)):
                self.supervisor.start(*names)
                application.wait_running(lab, self.supervisor, names, say=self._say)
        if parts.airflow:
            with self._timed("wait for Airflow", lab.airflow_url):
                airflow.wait_healthy(lab, self.supervisor, self._say)
            self.seconds["Airflow, from its start"] = round(time.monotonic() - began, 1)
        if parts.spark:
            with self._timed("wait for Spark Connect", lab.spark_remote):
                spark.wait_connect(lab.ports.connect, self.supervisor, self._say)

    def _components(self) -> tuple[str, ...]:
        second = (airflow.SECOND_SCHEDULER,) if self.parts.second_scheduler else ()
        return (*airflow.COMPONENTS, *second)

    @contextmanager
    def _timed(self, what: str, where: str | Path) -> Iterator[None]:
        """Keep the seconds of a wait; `where` is the address of what is waited for, or the log of what is built."""
        self._say(f"{what}: {where}")
        began = time.monotonic()
        yield
        self.seconds[what] = round(time.monotonic() - began, 1)

    @contextmanager
    def _in_background(self, what: str, work: Callable[[], None], limit_s: float) -> Iterator[None]:
        """Run `work` in parallel with the body, and raise its error at the end of the body.

        It ends within `limit_s`, and its log has its name.
        """
        failed: list[BaseException] = []
        began = time.monotonic()

        def run() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - raised again below
                failed.append(error)
            self.seconds[what] = round(time.monotonic() - began, 1)

        thread = threading.Thread(target=run, name=what)
        thread.start()
        try:
            yield
        finally:
            waiting = Waiting(limit_s, self._say)
            while thread.is_alive():
                waiting.count(lambda: f"{what} has not ended: {self.lab.logs / what}.log")
                thread.join(_JOIN_S)
        if failed:
            raise failed[0]


@contextmanager
def stack(lab: Lab, parts: Parts, *, keep: Path | None = None) -> Iterator[Stack]:
    """A stack for as long as the body runs; its logs are copied to `keep` before it is taken away."""
    made = Stack(lab, parts)
    try:
        made.up()
        yield made
    finally:
        made.down()
        if keep is not None and lab.logs.is_dir():
            shutil.copytree(lab.logs, keep, dirs_exist_ok=True)


def traffic_program(lab: Lab, parts: Parts) -> Program:
    """The generator under supervisord; it runs until it is stopped."""
    command = (str(lab.command), "generate-traffic", "--bootstrap", lab.bootstrap)
    options = {"--rate": parts.traffic_rate, "--customers": parts.customers, "--seed": parts.seed}
    options["--customer-every"] = parts.customer_every
    words = [word for option in options.items() for word in option]
    words += [word for topic in parts.traffic_topics for word in ("--topic", topic)]
    return Program(TRAFFIC, command + tuple(map(str, words)))


def _write_environment(file: Path, settings: dict[str, str]) -> None:
    """Lines that a shell can source; only the owner may read them, Airflow's secrets are among them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in sorted(settings.items())]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
