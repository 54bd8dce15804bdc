"""A second orders application (green) next to the first, behind the shipped copier: deployed and declared, not started.

It reads the control topics of the first one, and writes outputs of its own under its own application.id, which begins
with that of the first.
"""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka.admin import AdminClient
from lab import application, kafka
from lab.afresh import empty_group, forget_group
from lab.application import TO_RELEASE, Deployed
from lab.stack import Stack

DAG = "blue_green_start"
GREEN, INSTANCE = "orders-green", "orders-green-1"
OUTPUTS = {one: f"{one}-green" for one in kafka.OUTPUTS}
ROLES = {f"topic.{one.removeprefix('orders-')}": green for one, green in OUTPUTS.items()}
# The first two ports of metrics are those of the first application, then come those of copiers.
_NUMBER = 6
_RELEASE = f"{TO_RELEASE}.yaml"


def declared(stack: Stack) -> str:
    """What `declare-green` prints of the first application."""
    done = subprocess.run(
        [str(stack.lab.command), "declare-green", "orders", "--write"],
        env=stack.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def deploy_green(stack: Stack, settings: Mapping[str, str] | None = None, /, **limits: float) -> Path:
    """Its entry as `declare-green` wrote it, filled in, which is returned; it does not run.

    `settings` override the defaults in its base.properties.
    """
    lab = stack.lab
    folder = lab.config / "applications"
    forget(stack)
    deployed = Deployed(1, TO_RELEASE, application_id=GREEN, settings={**ROLES, **(settings or {})})
    shutil.rmtree(lab.instances / INSTANCE, ignore_errors=True)
    application.write_instance(lab, deployed, _NUMBER, INSTANCE)
    # What an instance that never ran has of a state directory: an empty one.
    (lab.instances / INSTANCE / "state" / GREEN).mkdir(parents=True)
    declared(stack)
    file = folder / f"{GREEN}.yaml"
    entry: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    [first, *_] = entry["deployer"]["instances"]
    entry["deployer"]["instances"] = [{**first, "metrics": lab.metrics_url(_NUMBER)}]
    reads = [(settings or {}).get(f"topic.{one}", one) for one in entry["control"]]
    names = {name: (settings or {}).get(name, topic) for name, topic in entry["input_settings"].items()}
    declaration = folder / GREEN / _RELEASE
    release = yaml.safe_load(declaration.read_text(encoding="utf-8"))
    release["topics"] = {(settings or {}).get(f"topic.{one}", one): what for one, what in release["topics"].items()}
    declaration.write_text(yaml.safe_dump(release), encoding="utf-8")
    entry |= {"inputs": reads, "control": reads, "input_settings": names}
    entry["effects_twice"] = "accepted, because the operators of the test only compute"
    entry["limits"] |= limits
    file.write_text(yaml.safe_dump(entry), encoding="utf-8")
    stack.supervisor.add(application.program(lab, INSTANCE))
    return file


@contextmanager
def green_deployed(stack: Stack, settings: Mapping[str, str] | None = None, /, **limits: float) -> Iterator[None]:
    """Deployed and declared while the body runs; afterwards nothing of it is left."""
    file = deploy_green(stack, settings, **limits)
    try:
        yield
    finally:
        stack.supervisor.stop(INSTANCE)
        file.unlink()
        shutil.rmtree(file.parent / GREEN, ignore_errors=True)
        forget(stack)


def forget(stack: Stack) -> None:
    """No topic, no offset, no state of it."""
    own = topics_of(stack)
    if own:
        admin = AdminClient({"bootstrap.servers": stack.lab.bootstrap})
        for future in admin.delete_topics(sorted(own)).values():
            future.result(30)
    if empty_group(stack.lab.bootstrap, GREEN):
        forget_group(stack.lab.bootstrap, GREEN)
    shutil.rmtree(stack.lab.instances / INSTANCE / "state", ignore_errors=True)


def topics_of(stack: Stack) -> set[str]:
    """Its outputs and its internal topics."""
    names = AdminClient({"bootstrap.servers": stack.lab.bootstrap}).list_topics(timeout=10).topics
    return {one for one in names if one.startswith(f"{GREEN}-") or one in OUTPUTS.values()}


def state_of(stack: Stack) -> list[str]:
    """The task directories that its instance has."""
    return sorted(one.name for one in (stack.lab.instances / INSTANCE / "state").glob("*/*_*"))
