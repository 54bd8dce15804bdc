"""The same source built by compilers of other releases of Java: equal digests, if the release of class files is one."""

import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from kstreams_runbooks.decide.comparison.compared import Side
from lab.coded import LIBRARIES, changes, read_code, read_sides, write_build

pytestmark = pytest.mark.long

# javac of later releases that runs on the JDK of the build (org.frgaal:compiler), by its version.
COMPILERS = {21: "21.0.0", 25: "25.0.0"}
RELEASES = (8, 11, 17)
_RUN_S = 300


@cache
def _compiler(version: str) -> Path:
    """The jar, which Maven fetches once."""
    artifact = f"org.frgaal:compiler:{version}"
    subprocess.run(["mvn", "-q", "-B", "dependency:get", f"-Dartifact={artifact}"], check=True, timeout=_RUN_S)
    return Path.home() / ".m2" / "repository" / "org" / "frgaal" / "compiler" / version / f"compiler-{version}.jar"


@cache
def sides() -> Mapping[str, Side]:
    """The program by the JDK's own compiler (`release-8`), and by each later one (`21-8`)."""
    with TemporaryDirectory() as place:
        builds = Path(place) / "builds"
        libraries = ":".join(map(str, LIBRARIES.glob("*.jar")))
        for release in RELEASES:
            write_build(builds / f"release-{release}", release)
            for jdk, version in COMPILERS.items():
                write_build(builds / f"{jdk}-{release}", release)
                classes = builds / f"{jdk}-{release}" / "classes"
                classes.mkdir()
                # Without the compiler of the JDK, which would hide it.
                command = [
                    "java",
                    "--limit-modules",
                    "java.base,jdk.zipfs,java.compiler",
                    "-cp",
                    str(_compiler(version)),
                ]
                command += ["com.sun.tools.javac.Main", "-nowarn", "-proc:none", "--release", str(release)]
                command += ["-d", str(classes), "-cp", libraries, *map(str, classes.parent.glob("*.java"))]
                subprocess.run(command, check=True, capture_output=True, timeout=_RUN_S)
        read_code(Path(place))
        return dict(read_sides(builds))


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("jdk", COMPILERS)
def test_another_compiler_gives_equal_digests(jdk: int, release: int) -> None:
    """In every part of the program."""
    found = changes(sides()[f"release-{release}"], sides()[f"{jdk}-{release}"])
    assert {where: one.methods for where, one in found.items() if one.state != "same"} == {}
    assert len(found) > 45
