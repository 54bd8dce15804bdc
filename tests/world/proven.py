"""The product's own proof of a copy: the command compare-topics, with Spark in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from lab.settings import Lab, Ports

from world.copied import Copy


def compare_topics(copy: Copy) -> tuple[int, dict[str, Any]]:
    """Exit code and document of the first route's source and target."""
    lab = Lab(copy.directory, Ports(int(copy.bootstrap.rpartition(":")[2])))
    words = ("compare-topics", copy.source, copy.target, "--examples", "100", "--format", "json")
    compared = subprocess.run(
        [str(Path(sys.executable).with_name("kstreams-runbooks")), *words],
        env=os.environ | lab.fleet_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert compared.stdout, compared.stderr
    return compared.returncode, json.loads(compared.stdout)
