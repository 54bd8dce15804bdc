"""Who derives the name of a changelog from that of a store: what restores a store is asked, not derived.

Covers decide/comparison/content
"""

import re
from pathlib import Path

import kstreams_runbooks

PACKAGE = Path(kstreams_runbooks.__file__).parent
# Each with the reason why the name alone is right there.
ALLOWED = {
    "decide/topology/names.py": "it is the rule of the library",
    "decide/comparison/content.py": "it decides which stores have a changelog of that name",
    "decide/topology/partitions.py": "names that a text may have, for counts, rights and leftovers; no sentence about "
    "a restore follows from them",
    "decide/change/cures.py": "it renames declared topics with their stores",
}


def test_the_name_of_a_changelog_is_derived_in_one_place() -> None:
    """A sentence about a restore that derives it is wrong for a store without logging, or with another topic."""
    files = {str(path.relative_to(PACKAGE)): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    assert {name for name, text in files.items() if re.search(r"\bchangelog_of\(", text)} == set(ALLOWED)
    literal = re.compile(r"""f["'][^"'\n]*\}-changelog\b""")
    assert [name for name, text in files.items() if literal.search(text)] == []
