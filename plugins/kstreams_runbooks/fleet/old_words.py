"""Names that changed before 0.1.0: one sentence leads from the old one to the new one."""

from collections.abc import Mapping
from typing import Final

# A key of a fleet entry, by its whole path.
KEYS: Final[Mapping[str, str]] = {"deployer.describe": "topology", "deployer.commands.describe": "instances"}
# A DAG, and the file of its settings.
DAGS: Final[Mapping[str, str]] = {"drain_check": "fleet_check"}


def new_word(old: str, words: Mapping[str, str]) -> str:
    """`is called NEW now; rename it`, empty for a word that is not an old one."""
    return f"is called {words[old]} now; rename it" if old in words else ""
