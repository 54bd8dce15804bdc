"""What a release takes is asked of its own jar once more: the kept sample is not made up."""

import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
PROGRAM = TESTS / "integration" / "java" / "AcceptedValues.java"
SETTINGS = ("upgrade.from | ", "processing.guarantee | ", "group.protocol | ")
SAMPLE = TESTS / "unit" / "rules" / "samples" / "settings_of_each_release.txt"


@pytest.mark.parametrize("release", ["3.4.1", "4.3.1"])
@pytest.mark.usefixtures("kafka")  # whatever starts a broker has built the releases
def test_the_kept_sample_is_what_the_jars_say(release: str) -> None:
    """Same program, same release, same words."""
    jars = TESTS / "apps" / "orders" / "target" / "releases" / release
    answer = subprocess.run(
        ["java", "-Xmx128m", "-cp", f"{jars}/*", str(PROGRAM)], capture_output=True, encoding="utf-8", check=True
    )
    seen = {
        tuple(line.split(" | ")) for line in answer.stdout.splitlines() if line.startswith(SETTINGS)
    }  # rest: its log
    kept = [line.split(" | ") for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    assert {(name, said.rpartition(": ")[2]) for name, said in seen} == {
        (row[1], row[2]) for row in kept if row[0] == release
    }
