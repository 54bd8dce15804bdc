"""`python -m benchmarks.links`: the link scan of a class path of about 200 jars, next to reading every entry once.

Both are a JVM of their own and alternate, so that a machine whose speed drifts hits both. REPEATS for another number.
"""

import json
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.links import COMMAND, kafka, library
from lab.topology_facts import SOURCES, jar

SCHEMA_VERSION = 1
REPEATS, RELEASE = 5, "4.4.0"
_LIBRARIES = (
    ("org.springframework.cloud", "spring-cloud-stream-binder-kafka-streams", "5.0.4"),
    ("software.amazon.glue", "schema-registry-serde", "1.1.27"),
    ("io.apicurio", "apicurio-registry-avro-serde-kafka", "3.1.7"),
)


def main() -> None:
    """Print the document."""
    repeats = int(os.environ.get("REPEATS") or REPEATS)
    jars = [*{path.name: path for one in _LIBRARIES for path in library(*one)}.values(), *kafka(RELEASE)]
    seconds: dict[str, list[tuple[float, float]]] = {"scan": [], "floor": []}
    with TemporaryDirectory() as folder:
        subprocess.run(["javac", "-d", folder, str(SOURCES / "EveryEntry.java")], check=True)
        scan = ["-cp", str(jar()), COMMAND, "--class-path", ":".join(map(str, jars))]
        floor = ["-cp", folder, "EveryEntry", *map(str, jars)]
        for command in (scan, floor) * 2:
            _run(command)  # the files are in memory for both
        for _ in range(repeats):
            seconds["scan"].append(_run(scan))
            seconds["floor"].append(_run(floor))
    ratios = [one[0] / other[0] for one, other in zip(seconds["scan"], seconds["floor"], strict=True)]
    print(
        json.dumps(
            {
                "schema_version": SCHEMA_VERSION,
                "jars": len(jars),
                "mib": round(sum(Path(one).stat().st_size for one in jars) / 2**20),
                **{f"{name}_s": _spread([wall for wall, _ in of]) for name, of in seconds.items()},
                **{f"{name}_cpu_s": _spread([processor for _, processor in of]) for name, of in seconds.items()},
                "ratio": _spread(ratios),
            }
        )
    )


def _run(arguments: Sequence[str]) -> tuple[float, float]:
    """Seconds from the launch to the end, and processor seconds."""
    began, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(["java", *arguments], capture_output=True, text=True, check=False)
    assert ran.returncode in {0, 1}, ran.stderr
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "median": round(statistics.median(values), 2),
        "least": round(min(values), 2),
        "most": round(max(values), 2),
    }


if __name__ == "__main__":
    main()
