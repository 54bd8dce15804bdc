"""The kept facts of programs with outputs of each class are those that the library shows now."""

import subprocess
from pathlib import Path

from lab.settings import CHECKOUT
from lab.topology_facts import jar

FOLDER = CHECKOUT / "tests" / "apps" / "topologies" / "outputs"
BUILT = CHECKOUT / "tests" / "apps" / "orders" / "target" / "releases" / "4.3.1"


def test_the_kept_documents_are_those_of_the_programs(tmp_path: Path) -> None:
    """Written again as the comment in Outputs.java has it."""
    command = ["java", "-cp", f"{jar()}:{BUILT}/*", str(FOLDER / "Outputs.java"), str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    kept, written = ({file.name: file.read_text("utf-8") for file in one.glob("*.yaml")} for one in (FOLDER, tmp_path))
    assert len(written) > 60
    assert kept == written
