"""A fleet in a temporary folder, made from the declarations that the repository ships."""

from collections.abc import Callable
from pathlib import Path

import pytest

CONFIG = Path(__file__).resolve().parents[3] / "config"
DEMO = {
    "DEMO_SUPERVISOR": "http://127.0.0.1:19002",
    "DEMO_DIR": "/srv/demo",
    "DEMO_METRICS_1": "http://127.0.0.1:19011/jolokia",
    "DEMO_METRICS_2": "http://127.0.0.1:19012/jolokia",
    "DEMO_RELEASES": "/srv/releases",
}

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def _demo(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in DEMO.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The shipped declarations, to be changed."""
    for folder in ("clusters", "applications"):
        (tmp_path / folder).mkdir()
        for file in (CONFIG / folder).glob("*.yaml"):
            (tmp_path / folder / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


@pytest.fixture
def write(config: Path) -> Write:
    """Writes another application: the shipped one with some pieces of text replaced."""

    def write(name: str, *changes: tuple[str, str]) -> Path:
        text = (CONFIG / "applications" / "orders.yaml").read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text, f"the shipped declaration has no {old!r}"
            text = text.replace(old, new)
        file = config / "applications" / f"{name}.yaml"
        file.write_text(text, encoding="utf-8")
        return file

    return write
