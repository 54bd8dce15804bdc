"""Imports point one way: dags, steps, then what observes, decides, acts and remembers, then values."""

import ast
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGE = CHECKOUT / "plugins" / "kstreams_runbooks"

# Every layer may word what it prints.
EVERYWHERE = {"free_text", "wording"}

# layer: the layers of the package that it may import
MAY_IMPORT = {
    "errors": set(),
    "finite": set(),
    "properties": {"errors", "files"},
    "files": set(),
    "free_text": {"errors"},
    "wording": set(),
    "wire": {"documents", "errors", "model"},
    "documents": {"errors"},
    "matching": {"errors"},
    "model": {"errors"},
    "rules": {"errors", "model"},
    "decide": {"errors", "matching", "model"},
    "fleet": {"documents", "errors", "model"},
    "ledger": {"errors", "files", "model"},
    "deployers": {"documents", "errors", "files", "model", "fleet", "properties", "wire"},
    # Of what decides it reads with what names and descriptions mean, which is pure.
    "observe": {"decide", "documents", "errors", "matching", "model", "fleet", "deployers", "properties", "wire"},
    "act": {"errors", "model", "fleet", "deployers", "observe"},
    "traffic": {"errors", "finite", "model", "observe"},
    "notification_settings": {"documents", "errors", "fleet", "model"},
    "check_settings": {"documents", "errors", "fleet"},
    "steps": {
        "documents",
        "files",
        "errors",
        "model",
        "rules",
        "decide",
        "fleet",
        "ledger",
        "deployers",
        "observe",
        "act",
        "check_settings",
        "counting",
        "frames",
        "properties",
        "notification_settings",
        "topologies",
    },
    "airflow_api": {"documents", "errors", "finite", "fleet", "model"},
    "evidence": {"decide", "errors", "ledger", "model"},
    "environment": {"documents", "errors"},
    "evidence_commands": {"errors", "evidence", "ledger", "model"},
    "local_settings": {"act", "decide", "deployers", "fleet", "ledger", "observe"},
    "version_paths": {"decide", "model", "rules"},
    "frames": {"documents", "errors", "files", "model"},
    # The one part of a terminal's plan that asks a cluster.
    "planned_topics": {"decide", "deployers", "fleet", "model", "observe", "steps"},
    "topologies": {"decide", "documents", "errors", "fleet", "model", "planned_topics", "properties", "rules"},
    "counting": {"documents", "errors", "frames", "model", "observe"},
    "lags": {
        "check_settings",
        "counting",
        "decide",
        "deployers",
        "errors",
        "fleet",
        "ledger",
        "model",
        "observe",
        "steps",
    },
    "drains": {"decide", "deployers", "errors", "finite", "fleet", "model", "observe", "steps"},
    "discovery": {"decide", "files", "deployers", "errors", "fleet", "model", "observe", "rules", "steps"},
    "cli": {
        "airflow_api",
        "discovery",
        "drains",
        "environment",
        "errors",
        "evidence_commands",
        "fleet",
        "lags",
        "ledger",
        "deployers",
        "observe",
        "steps",
        "topologies",
        "traffic",
        "version_paths",
    },
}

# library: the only layers that may import it
ONLY_IN = {
    "airflow": {"steps"},
    "sqlalchemy": {"ledger"},
    "alembic": {"ledger"},
    "pyspark": {"frames"},
    "confluent_kafka": {"observe", "act", "traffic"},
    "kafka": {"observe", "act", "traffic"},
    "httpx": {"airflow_api"},
    "httpcore": {"wire"},
}


def imports(path: Path) -> set[str]:
    """Modules that a file imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; Airflow's plugin loader cannot follow it"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def layer_of(path: Path) -> str:
    """First name under the package."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


FILES = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    """No layer reaches up."""
    layer = layer_of(path)
    inside = {name.split(".")[1] for name in imports(path) if name.startswith("kstreams_runbooks.")}
    beyond = inside - {layer} - MAY_IMPORT[layer] - EVERYWHERE
    assert not beyond, f"{layer} imports {beyond}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_library_has_its_layers(path: Path) -> None:
    """Airflow only in steps, SQL only in the ledger, Spark only in frames."""
    tops = {name.split(".")[0] for name in imports(path)}
    for library, layers in ONLY_IN.items():
        assert library not in tops or layer_of(path) in layers, f"{path} imports {library}"


def test_decisions_have_no_io_and_no_clock() -> None:
    """Values in, verdict out."""
    banned = {"time", "os", "pathlib", "random", "socket", "subprocess", "logging", "asyncio"}
    for path in (PACKAGE / "decide").glob("*.py"):
        assert not {name.split(".")[0] for name in imports(path)} & banned, path


def test_dags_import_only_steps() -> None:
    """A DAG file is its verbs."""
    for path in (CHECKOUT / "dags").glob("*.py"):
        names = {name for name in imports(path) if not name.startswith("kstreams_runbooks.steps")}
        assert not names, f"{path} imports {names}"
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 120
