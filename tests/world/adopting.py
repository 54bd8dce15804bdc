"""A copier that is deployed next to the orders application and has never run, and runs that put it in front of that."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import yaml
from confluent_kafka.admin import AdminClient
from lab.adopted import COPIER, INSTANCES, ROUTES, SETTINGS
from lab.afresh import empty_group, forget_group
from lab.shipped_copier import place
from lab.stack import Stack

from world.given import declared_as

DAG = "adopt_control_topic"


@contextmanager
def copier_deployed(stack: Stack, routes: Mapping[str, str] = ROUTES) -> Iterator[None]:
    """It is declared, its programs are there, and none of them runs; afterwards nothing of it is left."""
    _forget(stack, routes)
    entry = place(stack, COPIER, INSTANCES, routes)
    try:
        yield
    finally:
        stack.supervisor.stop(*INSTANCES)
        entry.unlink(missing_ok=True)
        _forget(stack, routes)


@contextmanager
def entry_changed(stack: Stack, **limits: float) -> Iterator[None]:
    """The fleet entry of the application as it has to be once a run has adopted, with the facts of its releases."""
    folder = stack.lab.config / "applications" / "orders"
    before = {file: file.read_text(encoding="utf-8") for file in folder.glob("*.yaml")}
    for file, text in before.items():
        declaration = yaml.safe_load(text)
        topics = declaration.get("topics", {})
        declaration["topics"] = {ROUTES.get(name, name): facts for name, facts in topics.items()}
        file.write_text(yaml.safe_dump(declaration), encoding="utf-8")
    controls = [*ROUTES.values()]
    try:
        with declared_as(stack, limits=limits, inputs=controls, control=controls, input_settings=dict(SETTINGS)):
            yield
    finally:
        for file, text in before.items():
            file.write_text(text, encoding="utf-8")


def is_deployed(stack: Stack) -> bool:
    """Whether the copier is declared now."""
    return (stack.lab.config / "applications" / f"{COPIER}.yaml").exists()


def _forget(stack: Stack, routes: Mapping[str, str]) -> None:
    """No control topic, and no offset of the copier."""
    admin = AdminClient({"bootstrap.servers": stack.lab.bootstrap})
    there = set(admin.list_topics(timeout=10).topics) & {*routes.values()}
    for future in admin.delete_topics([*there]).values() if there else ():
        future.result(30)
    empty_group(stack.lab.bootstrap, COPIER)
    forget_group(stack.lab.bootstrap, COPIER)
