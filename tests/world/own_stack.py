"""A stack for tests: in directories of its own, on ports next to those of the others."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from lab.settings import CHECKOUT, Lab, Ports
from lab.stack import Parts, Stack

from world.ports import port


@contextmanager
def own_stack(directories: pytest.TempPathFactory, parts: Parts, offset: int, **places: Any) -> Iterator[Stack]:
    """Up while the body runs, its ports from `offset` (world.ports); its fleet is in the environment.

    `places` are fields of its Lab: another connection to Kafka, other databases.
    """
    run_dir, config = directories.mktemp("stack"), directories.mktemp("fleet") / "config"
    # A copy, so that a test may declare the application otherwise (given.declared_as).
    shutil.copytree(CHECKOUT / "config", config)
    # Scheduled, the check would read in the middle of every other test; its own test triggers it.
    (config / "fleet_check.yaml").write_text("every_minutes: 0\n", encoding="utf-8")
    lab = Lab(run_dir, Ports(port(offset)), config=config, **places)
    made = Stack(lab, parts)
    environ = {**os.environ}
    os.environ.update(lab.fleet_environment())
    try:
        made.up()
        if parts.airflow:
            made.api().wait_for_dag("library_bump")
        yield made
    finally:
        made.down()
        os.environ.clear()
        os.environ.update(environ)
