"""The zip that carries the frames to a cluster, alone."""

import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree as ET

from kstreams_runbooks.frames.bundle import write_bundle
from lab.spark import JOBS

# No site directories, no environment: what is left is the standard library and what the test puts there.
ALONE = """
import sys
sys.path[:0] = sys.argv[1:]
import importlib, zipfile
import pyspark.sql
for name in zipfile.ZipFile(sys.argv[1]).namelist():
    importlib.import_module(name.removesuffix("/__init__.py").removesuffix(".py").replace("/", "."))
ours = {n: m.__file__ for n, m in sys.modules.items() if n.startswith("kstreams_runbooks")}
assert all(file.startswith(sys.argv[1]) for file in ours.values()), ours
print(*sorted(ours))
"""


def test_the_zip_needs_nothing_but_pyspark(tmp_path: Path) -> None:
    """Imported whole with the standard library, pyspark and what pyspark itself cannot be without."""
    bundle = write_bundle(tmp_path / "frames.zip")
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    for name in ("pyspark", "py4j"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        (libraries / name).symlink_to(Path(spec.origin).parent)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", ALONE, str(bundle), str(libraries)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "kstreams_runbooks.frames.lag" in done.stdout.split()


def test_the_same_sources_make_the_same_zip(tmp_path: Path) -> None:
    """Its digest says which frames a job ran; nothing that it does not need is in it."""
    first, second = write_bundle(tmp_path / "one.zip"), write_bundle(tmp_path / "two.zip")
    assert first.read_bytes() == second.read_bytes()
    names = zipfile.ZipFile(first).namelist()
    assert "kstreams_runbooks/errors.py" in names
    assert not [name for name in names if "/steps/" in name or "/observe/" in name]


def test_the_jars_are_of_the_release_of_pyspark() -> None:
    """A connector of another release fails in the middle of a job, where a class is missing."""
    import pyspark

    pom = ET.parse(JOBS / "pom.xml").getroot()  # noqa: S314 - our own file
    [release] = [node.text for node in pom.iter() if node.tag.endswith("}spark.version")]
    assert release == pyspark.__version__
