"""The imports of the package, read from its sources: for the test of its floors and for their diagram."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import networkx as nx

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGE = CHECKOUT / "plugins" / "kstreams_runbooks"
FILES = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


@cache
def imports(path: Path) -> frozenset[str]:
    """Modules that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; Airflow's plugin loader cannot follow it"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def inside(path: Path) -> list[list[str]]:
    """The parts of the package that a file imports: floor, room and module, as far as the name goes."""
    names = (name.split(".")[1:] for name in imports(path) if name.startswith("kstreams_runbooks."))
    return [parts for parts in names if not parts[0].isupper()]


def floor_of(path: Path) -> str:
    """First name under the package."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def drawing() -> str:
    """The floors as Mermaid: an arrow to each imported floor, unless another arrow leads there already.

    Files of the package itself are left out, because nearly every floor imports them.
    """
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()} | {"dags", "cli"}
    made: nx.DiGraph[str] = nx.DiGraph()
    for path in FILES:
        made.add_edges_from((floor_of(path), parts[0]) for parts in inside(path))
    made.add_edge("dags", "steps")
    made.remove_edges_from(list(nx.selfloop_edges(made)))
    few = nx.transitive_reduction(made.subgraph(folders))
    return "\n".join(["flowchart TD", *(f"    {above} --> {below}" for above, below in sorted(few.edges))])


if __name__ == "__main__":
    page = CHECKOUT / sys.argv[1]
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(r"(?s)(?<=```mermaid\n).*?(?=\n```)", lambda _: drawing(), text, count=1), encoding="utf-8")
