"""The shipped copier as a team deploys it in front of an application: supervisord, Jolokia, releases of its own."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from kstreams_runbooks.deployers.written import wait_until_apart
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe import ClusterReader
from kstreams_runbooks.properties import dump, write_atomically

from lab import kafka, topic_copier, topology_facts
from lab.airflow import OTHER_APPROVER
from lab.copier import COPIES, TRAFFIC, members, traffic
from lab.settings import CHECKOUT, Lab
from lab.stack import Stack
from lab.supervise import Program, until

NAME, INSTANCES = "orders-passing", ("orders-passing-1", "orders-passing-2")
RELEASE, LIBRARY = "0.1.0", "4.4.0"
# The same program with an older library.
OLDER, OLDER_LIBRARY = "0.1.0.1", "4.3.1"
LIBRARIES = {RELEASE: LIBRARY, OLDER: OLDER_LIBRARY}
LAUNCHER = topic_copier.MODULE / "bin" / "run-copier"
_JVM = ("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
# Instances of the application have the first two.
_METRICS = 3
_RUNNING_S = 90
_APART_S = 0.1


def releases(lab: Lab) -> Path:
    """The folder with a folder of each release."""
    folder = lab.run_dir / "copiers"
    for release, built in ((RELEASE, topic_copier.jar()), (OLDER, topic_copier.jar_with(OLDER_LIBRARY))):
        jar = folder / release / topic_copier.JAR.name
        if not jar.is_file():
            jar.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(built, jar)
    return folder


def agent() -> Path:
    """Jolokia, as the orders application has it."""
    return next((CHECKOUT / "tests" / "apps" / "orders" / "target" / "releases").glob("*/jolokia-agent-jvm-*.jar"))


def metrics_url(lab: Lab, number: int) -> str:
    """Jolokia of the n-th instance, from 0."""
    return lab.metrics_url(_METRICS + number)


def program(lab: Lab, name: str, number: int) -> Program:
    """One instance under supervisord."""
    port = lab.ports.metrics(_METRICS + number)
    option = f"-javaagent:{agent()}=host=127.0.0.1,port={port},discoveryEnabled=false"
    facts = f"-javaagent:{topology_facts.jar()}"
    # Nothing restarts it here.
    pause = "-Dtopic.copier.pause.s=0"
    words = (str(LAUNCHER), str(lab.instances / name), str(releases(lab)), *_JVM, pause, option, facts)
    return Program(name, words, stop_wait_s=30)


def write_instance(lab: Lab, name: str, group: str, routes: Mapping[str, str], release: str = RELEASE) -> None:
    """Its directory: settings that no runbook touches, and the release."""
    directory = lab.instances / name
    directory.mkdir(parents=True, exist_ok=True)
    base = {
        "application.id": group,
        "bootstrap.servers": lab.bootstrap,
        "routes": ", ".join(f"{source} -> {target}" for source, target in routes.items()),
        "state.dir": str(directory / "state"),
    }
    (directory / "base.properties").write_text(dump(base), encoding="latin-1")
    written = directory / "deployment.properties"
    write_atomically(written, dump({"release": release}))
    # The deployer tells a start from the write only if they are apart.
    wait_until_apart(written, _APART_S)


def declared(
    lab: Lab, name: str, instances: Sequence[str], routes: Mapping[str, str], first: int = 0, **changes: Any
) -> dict[str, Any]:
    """Its fleet entry; the ports of its metrics begin with the `first` one of copiers."""
    base = lab.instances / instances[0] / "base.properties"
    facts = f'exec java -cp {topology_facts.jar()}:"$1"/topic-copier.jar kstreams.runbooks.facts.FactsCommand'
    factory = f'--factory kstreams.runbooks.copier.CopierCommand::topology --properties <(cat {base} "$2")'
    return {
        "kind": "copier",
        "program": "topic-copier",
        "application_id": name,
        "cluster": "demo",
        "routes": dict(routes),
        "deployer": {
            "kind": "supervisord",
            "url": lab.supervisor_url,
            "instances": [
                {
                    "name": one,
                    "program": one,
                    "directory": str(lab.instances / one),
                    "metrics": metrics_url(lab, number),
                }
                for number, one in enumerate(instances, first)
            ],
            "releases": {release: str(releases(lab) / release) for release in LIBRARIES},
            "topology": ["bash", "-c", f"{facts} {factory}", "topology", "{directory}", "{settings_file}"],
            "settable": ["mode", "until", "order", "pace", "partitions"],
            "stop_timeout_s": 30,
            "start_timeout_s": 30,
        },
        "libraries": dict(LIBRARIES),
        "owner": "team-passing",
        "operators": ["oncall", "admin"],
        "approvers": [OTHER_APPROVER],
        "production": False,
        "four_eyes": True,
        "limits": {
            "gate_interval_s": 0.5,
            "gate_good_readings": 2,
            "commit_interval_s": 1,
            "gate_ceiling_s": 120,
            "bake_s": 1,
        },
        **changes,
    }


def seed(bootstrap: str, group: str, topics: Sequence[str], routes: Mapping[str, str] | None = None) -> None:
    """Commit the beginning of each partition that has no offset; the group of a copier also has routes."""
    with ClusterReader({"bootstrap.servers": bootstrap}) as reader:
        places = {(one.name, number) for one in reader.topics(topics) for number in range(one.partitions)}
        committed = reader.committed([group])[group]
    known = set() if isinstance(committed, Missing) else {*committed}
    if absent := sorted(places - known):
        topic_copier.seed(bootstrap, group, dict.fromkeys(absent, 0), routes or {})


def place(
    stack: Stack,
    name: str,
    instances: Sequence[str],
    routes: Mapping[str, str],
    release: str = RELEASE,
    first: int = 0,
    **changes: Any,
) -> Path:
    """Its directories, its programs and its fleet entry, which is returned; nothing of it runs."""
    lab = stack.lab
    for number, instance in enumerate(instances, first):
        write_instance(lab, instance, name, routes, release)
        stack.supervisor.add(program(lab, instance, number))
    entry = lab.config / "applications" / f"{name}.yaml"
    entry.write_text(yaml.safe_dump(declared(lab, name, instances, routes, first, **changes)), encoding="utf-8")
    return entry


def deploy(
    stack: Stack,
    name: str = NAME,
    instances: Sequence[str] = INSTANCES,
    routes: Mapping[str, str] = COPIES,
    release: str = RELEASE,
    **changes: Any,
) -> Path:
    """Create its topics, seed it, declare it and start it; returns its fleet entry once every instance is a member."""
    lab = stack.lab
    with ClusterReader({"bootstrap.servers": lab.bootstrap}) as reader:
        absent = {*routes, *routes.values()} - reader.topic_names()
    if absent:
        kafka.create_topics(lab.bootstrap, absent, sent_with_times=absent)
    seed(lab.bootstrap, name, tuple(routes), routes)
    entry = place(stack, name, instances, routes, release, **changes)
    stack.supervisor.start(*instances)
    until(lambda: members(stack, name) == len(instances), _RUNNING_S, f"{name} is in its group", poll_s=0.3)
    return entry


@contextmanager
def shipped_copier(stack: Stack, instances: Sequence[str] = INSTANCES, **given: Any) -> Iterator[None]:
    """It runs, and is declared in the fleet, for as long as the body runs; its generator is there, not started."""
    stack.supervisor.add(traffic(stack))
    try:
        deploy(stack, instances=instances, **given)
        yield
    finally:
        stack.supervisor.stop(TRAFFIC, *instances)
        (stack.lab.config / "applications" / f"{given.get('name', NAME)}.yaml").unlink(missing_ok=True)
