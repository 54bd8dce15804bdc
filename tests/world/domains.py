"""Changes of programs of other domains (tests/apps/domains), each with the truth that was written before its plan.

The truth has the mildest runbook that loses nothing, and whether the built program shows it.
"""

import atexit
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, get_args

from kstreams_runbooks.decide.change.answer import MILD, MILDEST_FIRST
from kstreams_runbooks.model.topology.change import ChangeRunbook
from kstreams_runbooks.model.topology.declaration import Unchanged
from kstreams_runbooks.model.verdicts import Outcome
from lab.settings import CHECKOUT
from lab.topology_facts import class_path, document, java

_APP = CHECKOUT / "tests" / "apps" / "domains"
_FOLDERS = {"3.4.1": ("main",), "4.3.1": ("main", "since-3.5")}
# They give up all state, or keep it in another application: enough for every change.
_EVERYTHING: frozenset[ChangeRunbook] = frozenset({"reset_and_cleanup", "blue_green_cutover"})
_COMPILE_S = 120


class Grade(StrEnum):
    """How an answer compares with the truth."""

    RIGHT = "right"
    NOT_KNOWN = "not known"
    TOO_CAREFUL = "too careful"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Truth:
    """What a change needs: `least` is the mildest runbook that is right; `by_code` whether the program shows it.

    `changed` are fields of a declaration that the change touches and no code shows, as `stores.NAME.key`.
    """

    pair: str
    domain: str
    change: str
    least: ChangeRunbook
    by_code: bool
    changed: frozenset[str]


@cache
def truths() -> dict[str, Truth]:
    """By pair."""
    rows = [json.loads(line) for line in (_APP / "truth.jsonl").read_text("utf-8").splitlines()]
    found = [
        Truth(
            row["pair"],
            row["domain"],
            row["change"],
            row["milder_than_this_is_unsafe"],
            row["decidable_by_code"],
            frozenset(row.get("declared_as_changed", ())),
        )
        for row in rows
    ]
    return {one.pair: one for one in found}


@cache
def built(release: str) -> Path:
    """A folder with PAIR/{before,after}.{txt,yaml} of a release: descriptions and facts."""
    folder = Path(mkdtemp(prefix="domains-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    sources = [file for part in _FOLDERS[release] for file in sorted((_APP / "src" / part).glob("domains/*.java"))]
    classes = class_path(release)
    command = ["javac", "-nowarn", "-Xlint:none", "-d", str(folder / "classes"), "-cp", classes, *map(str, sources)]
    compiled = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_COMPILE_S, check=False
    )
    assert compiled.returncode == 0, compiled.stderr[-4000:]
    pairs = [file.stem for file in sources if "public Pair " in file.read_text("utf-8")]
    ran = java(f"{folder / 'classes'}:{classes}", "domains.Main", str(folder / "pairs"), *pairs)
    assert ran.returncode == 0, ran.stderr
    return folder / "pairs"


def unchanged(pair: str) -> list[str]:
    """The fields of declarations that a change does not touch where no code shows it."""
    return sorted(set(get_args(Unchanged)) - {field.rpartition(".")[2] for field in truths()[pair].changed})


def declared(pair: str, side: str, release: str) -> dict[str, Any]:
    """What the developer of a pair declares of one side: what no code shows, as it is in truth.

    That is the key of each store and topic, in words that change where the truth has it, how records become values, and
    the format of each class of the program.
    """
    read = document((built(release) / pair / f"{side}.yaml").read_text("utf-8"))
    changed = truths()[pair].changed

    def words(where: str) -> str:
        return side if where in changed else "the same"

    found: dict[str, Any] = {"stores": {}, "topics": {}}
    for section, entries in found.items():
        for name, facts in read[section].items():
            entries[name] = {"key": words(f"{section}.{name}.key")}
            for field in ("key_serde", "value_serde"):
                serde = facts.get(field) or {"name": "the same"}
                if "schema_version" not in serde:
                    entries[name][field] = {"name": serde["name"], "schema_version": 1}
            if section == "stores" and "aggregate" not in facts:
                entries[name]["aggregate"] = words(f"{section}.{name}.aggregate")
    return found


def grade(least: ChangeRunbook, verdict: Outcome, runbooks: Sequence[ChangeRunbook]) -> Grade:
    """Unsafe is an answer that loses what the mildest right runbook keeps."""
    if verdict is Outcome.INCONCLUSIVE:
        return Grade.NOT_KNOWN
    if verdict is not Outcome.PROCEED:
        return Grade.TOO_CAREFUL
    if list(runbooks) == [least]:
        return Grade.RIGHT
    heaviest = max(MILDEST_FIRST.index(one) for one in runbooks)
    enough = least in runbooks or (least in MILD and heaviest > MILDEST_FIRST.index(least))
    return Grade.TOO_CAREFUL if enough or _EVERYTHING & set(runbooks) else Grade.UNSAFE
