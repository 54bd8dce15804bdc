"""The orders application as a reset of it is tried: its release prints topology facts, its outputs are settable.

A reset writes the results again. In the old outputs they would be duplicates, so it gets new ones: the judge compares
them with the inputs.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import yaml
from kstreams_runbooks.model.readings.readings import TopicReading
from kstreams_runbooks.observe import ClusterReader

from lab.settings import Lab
from lab.topology_facts import COMMAND, jar

APPLICATION = "orders"
# The id of another application that begins with it.
LONGER = f"{APPLICATION}-v2"
_ROLES = ("running", "windowed", "enriched", "per-customer")
_INTERNAL = ("-changelog", "-repartition", "-topic")


def outputs(prefix: str) -> dict[str, str]:
    """Settings that name the outputs."""
    return {f"topic.{role}": f"{prefix}{role}" for role in _ROLES}


def judged_outputs(prefix: str) -> tuple[str, ...]:
    """The same outputs, as `role=topic`."""
    return tuple(f"{role}={prefix}{role}" for role in _ROLES)


def fields(lab: Lab) -> dict[str, Any]:
    """The fields of its fleet entry that differ."""
    entry = yaml.safe_load((lab.config / "applications" / f"{APPLICATION}.yaml").read_text(encoding="utf-8"))
    deployer: dict[str, Any] = entry["deployer"]
    classes, base = f"{jar()}:{{directory}}/*", str(lab.instances / "orders-1" / "base.properties")
    command = ["java", "-cp", classes, COMMAND, "--factory", "orders.OrdersApplication::topology", "--properties", base]
    settable = [*dict.fromkeys([*deployer["settable"], *outputs("")])]
    return {"deployer": deployer | {"topology": command, "settable": settable}}


def with_own_fleet(lab: Lab, changed: Callable[[Lab], dict[str, Any]] = fields) -> Lab:
    """The same stack with a copy of the fleet in its run directory, in which these fields differ."""
    own = replace(lab, config=lab.run_dir / "demo-fleet")
    shutil.copytree(lab.config, own.config, dirs_exist_ok=True)
    file = own.config / "applications" / f"{APPLICATION}.yaml"
    entry = yaml.safe_load(file.read_text(encoding="utf-8")) | changed(own)
    file.write_text(yaml.safe_dump(entry), encoding="utf-8")
    return own


def internal(bootstrap: str, application_id: str = APPLICATION) -> dict[str, TopicReading]:
    """The internal topics of an application, and none of one whose id begins like its own."""
    with ClusterReader({"bootstrap.servers": bootstrap}) as reader:
        names = [
            name
            for name in reader.topic_names()
            if name.startswith(f"{application_id}-")
            and name.endswith(_INTERNAL)
            and (application_id == LONGER or not name.startswith(f"{LONGER}-"))
        ]
        return {one.name: one for one in reader.topics(names, configs=True)}
