"""Imports point one way: floors of the package, and inside some floors its rooms; and no two classes share a name."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from world.imports import CHECKOUT, FILES, PACKAGE, floor_of, imports, inside

# Every floor may word what it prints and name what it refuses.
EVERYWHERE = {"errors", "free_text", "wording"}
_DECIDED = {"decide", "matching", "model"}
_READ = _DECIDED | {"deployers", "documents", "files", "fleet", "observe", "properties", "wire"}
_KEPT = _READ | {"connections", "frames", "ledger", "rules"}

# floor: the floors that it may import
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "wording": set(),
    "free_text": set(),
    "finite": set(),
    "patience": set(),
    "files": set(),
    "matching": set(),
    "documents": set(),
    "properties": {"files"},
    "model": set(),
    "connections": {"documents", "model", "wire"},
    "wire": {"documents", "model"},
    "rules": {"model"},
    "decide": {"matching", "model"},
    "fleet": {"documents", "model"},
    "ledger": {"files", "model"},
    "frames": {"documents", "files", "model", "properties"},
    "deployers": {"documents", "files", "fleet", "model", "patience", "properties", "wire"},
    # Of what decides it reads with what names and descriptions mean, which is pure.
    "observe": (_READ - {"files"}) | {"patience"},
    "act": {"deployers", "files", "fleet", "model", "observe", "patience"},
    "watch": _KEPT | {"patience"},
    "present": {"decide", "model", "rules"},
    "steps": _KEPT | {"act", "patience", "present", "watch"},
    # `copier seed` commits offsets; every other write is a step's.
    "terminal": _KEPT | {"act", "finite", "present", "watch"},
    "demo": {"documents", "files", "finite"},
    "local_settings": _READ | {"act", "ledger"},
    "cli": _KEPT | {"demo", "terminal"},
}

# floor: its rooms, each of which imports those before it alone; rooms in one line know nothing of each other
ROOMS: dict[str, list[set[str]]] = {
    "model": [{""}, {"releases", "readings"}, {"topology", "runs"}, {"discovery"}],
    "decide": [
        {"fleet_graph", "lag", "releases", "runbooks", "topology"},
        {"comparison", "fitting", "instances", "status"},
        {"catch_up"},
        {"change", "drain", "discovery", "internal_topics", "outputs", "reset"},
        {"growth"},
        {"plans", "runs"},
        {"rights"},
        {"registry"},
    ],
    "demo": [{"traffic"}, {"judge"}, {""}],
    "observe": [{"login"}, {"kafka"}, {"lag"}, {"application"}, {""}],
    "steps": [
        *({"run"}, {"approval"}, {"plan"}, {"stages"}),
        *({"change", "instances"}, {"drain"}, {"inputs", "reset"}, {"adoption", "cutover", "growth"}, {"green"}),
        *({"conclude"}, {"status"}),
    ],
}

# library: the only floors that may import it
ONLY_IN = {
    "airflow": {"connections", "demo", "steps", "terminal"},
    "sqlalchemy": {"ledger"},
    "alembic": {"ledger"},
    "pyspark": {"frames"},
    "confluent_kafka": {"observe", "act", "demo"},
    "kafka": {"observe", "act", "demo"},
    "httpx": {"terminal"},
    "httpcore": {"wire"},
    "docker": {"deployers"},
}


def room_of(parts: list[str]) -> str:
    """The room of a dotted name in its floor: empty for a module that is in none, unless it is named itself."""
    floor, *rest = parts
    named = set().union(*ROOMS[floor])
    return rest[0] if rest and rest[0] in named else ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    """No floor reaches up."""
    floor = floor_of(path)
    beyond = {parts[0] for parts in inside(path)} - {floor} - MAY_IMPORT[floor] - EVERYWHERE
    assert not beyond, f"{floor} imports {beyond}"


@pytest.mark.parametrize(
    "path", [path for path in FILES if floor_of(path) in ROOMS], ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_rooms_look_down(path: Path) -> None:
    """A room imports the rooms before it in its floor."""
    parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
    order = ROOMS[parts[0]]
    place = {room: number for number, rooms in enumerate(order) for room in rooms}
    mine = room_of([part for part in parts if part != "__init__"])
    for other in inside(path):
        if other[0] == parts[0] and (room := room_of(other)) != mine:
            assert place[room] < place[mine], f"{mine} imports {'.'.join(other)}"


def test_every_room_is_in_the_order() -> None:
    """A new room has to say where it stands."""
    for floor, order in ROOMS.items():
        there = {path.name for path in (PACKAGE / floor).iterdir() if (path / "__init__.py").exists()}
        assert there <= set().union(*order), floor


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_library_has_its_floors(path: Path) -> None:
    """Airflow only in steps and what talks to it, SQL only in the ledger, Spark only in frames."""
    tops = {name.split(".")[0] for name in imports(path)}
    for library, floors in ONLY_IN.items():
        assert library not in tops or floor_of(path) in floors, f"{path} imports {library}"


def test_nothing_but_the_command_line_imports_the_demo() -> None:
    """It is there for a first look and for the tests."""
    for path in FILES:
        if floor_of(path) not in {"demo", "cli"}:
            assert "demo" not in {parts[0] for parts in inside(path)}, path


def test_decisions_have_no_io_and_no_clock() -> None:
    """Values in, verdict out."""
    banned = {"time", "os", "pathlib", "random", "socket", "subprocess", "logging", "asyncio"}
    modules = list((PACKAGE / "decide").rglob("*.py"))
    assert len(modules) > len(ROOMS["decide"])
    for path in modules:
        assert not {name.split(".")[0] for name in imports(path)} & banned, path


def _types(path: Path) -> Iterator[str]:
    """Public classes of a file, and names for types such as `Labels = tuple[...]`."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        named = [node.name] if isinstance(node, ast.ClassDef) else []
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp | ast.Name):
            named = [target.id for target in node.targets if isinstance(target, ast.Name)]
        yield from (name for name in named if re.fullmatch("[A-Z][a-z][A-Za-z]*", name))


def test_no_two_public_types_share_a_name() -> None:
    """One word, one thing."""
    homes = defaultdict(set)
    for path in FILES:
        for name in _types(path):
            homes[name].add(str(path.relative_to(PACKAGE)))
    assert len(homes["Topology"]) == len(homes["Labels"]) == 1
    assert not {name: places for name, places in homes.items() if len(places) > 1}


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Also inside functions and for types: a circle is one module in two files."""
    own = {path: list(path.relative_to(PACKAGE).with_suffix("").parts) for path in FILES}
    modules = {tuple(parts[:-1] if parts[-1] == "__init__" else parts): path for path, parts in own.items()}
    graph = TopologicalSorter[Path]()
    for path in FILES:
        # The last part may be a module, or a name in the module before it.
        named = (modules.get(tuple(parts), modules.get(tuple(parts[:-1]))) for parts in inside(path))
        graph.add(path, *(other for other in named if other not in {None, path}))
    graph.prepare()


def test_dags_import_only_steps() -> None:
    """A DAG file is its verbs."""
    for path in (CHECKOUT / "dags").glob("*.py"):
        names = {name for name in imports(path) if not name.startswith("kstreams_runbooks.steps")}
        assert not names, f"{path} imports {names}"
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 120


def test_the_library_s_own_pause_is_used_nowhere() -> None:
    """docs/holding_inputs.md has the reason: with standbys an instance ends in ERROR after a resume (KAFKA-20731)."""
    checkout = CHECKOUT
    sources = [*(checkout / "topology_facts").rglob("*.java"), *(checkout / "plugins").rglob("*.py")]
    assert len(sources) > 500
    assert [file.name for file in sources if re.search(r"[sS]treams\.(pause|resume)\(", file.read_text("utf-8"))] == []
    assert "KAFKA-20731" in (checkout / "docs" / "holding_inputs.md").read_text("utf-8")
