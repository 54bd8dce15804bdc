"""`python -m benchmarks.lag_secured`: the lag of 500 groups on 10,000 partitions by TLS and SASL, and in plain text.

Two listeners of one broker, in one run; the commands alternate, so that a machine whose speed drifts hits both. The
login of the second listener may Describe topics, groups and the cluster, and nothing else. PORT_BASE and RUN_DIR as
everywhere, GROUPS and PARTITIONS for another size.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from confluent_kafka.admin import AclOperation  # type: ignore[attr-defined]
from lab.logins import CLUSTER, CLUSTER_NAME, GROUP, TOPIC
from lab.second_listener import SecondListener
from lab.settings import Lab
from lab.stack import Parts, stack

from benchmarks.lag_snapshot import REPEATS, SCHEMA_VERSION, fill, sizes, snapshot, spread


def main() -> None:
    """Print the document; with `once FILE` one snapshot alone, with the client's settings in that file."""
    if sys.argv[1:2] == ["once"]:
        print(json.dumps(snapshot(json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")))))
        return
    lab = Lab.of()
    groups, partitions = sizes()
    with TemporaryDirectory(prefix="bench-lag-") as made:
        folder = Path(made)
        listener = SecondListener(folder, lab.ports)
        parts = Parts(deployed=None, airflow=False, built=True, broker=listener.broker())
        with stack(lab, parts):
            fill(lab.bootstrap, groups, partitions // groups)
            listener.connect()
            login = listener.login("bench")
            for kind, name in ((TOPIC, "*"), (GROUP, "*"), (CLUSTER, CLUSTER_NAME)):
                listener.grant(login, kind, name, AclOperation.DESCRIBE)
            settings = {"plain": {"bootstrap.servers": lab.bootstrap}, "secured": listener.settings(login)}
            print(json.dumps(measured(folder, settings, partitions) | {"groups": groups, "partitions": partitions}))


def measured(folder: Path, settings: dict[str, dict[str, Any]], partitions: int) -> dict[str, Any]:
    """Each in turn; the first round warms the broker up and does not count."""
    files = {name: folder / f"{name}.json" for name in settings}
    for name, file in files.items():
        file.touch(mode=0o600)
        file.write_text(json.dumps(settings[name]), encoding="utf-8")
    rounds = [{name: once(file, partitions) for name, file in files.items()} for _ in range(REPEATS + 1)][1:]
    found: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
    for name in files:
        for what in ("command", "seconds", "warm_seconds", "peak_mb"):
            found[f"{name}_{what}"] = spread([one[name][what] for one in rounds])
    for what in ("command", "seconds", "warm_seconds"):
        found[f"ratio_{what}"] = spread([one["secured"][what] / one["plain"][what] for one in rounds])
    return found


def once(file: Path, partitions: int) -> dict[str, float]:
    """One snapshot in a process of its own, which takes two."""
    began = time.monotonic()
    command = [sys.executable, "-m", "benchmarks.lag_secured", "once", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    took = time.monotonic() - began
    found: dict[str, float] = json.loads(done.stdout)
    assert found["partitions"] == partitions, found
    return {**found, "command": took - found["warm_seconds"]}


if __name__ == "__main__":
    main()
