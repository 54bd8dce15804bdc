"""Random changes of random programs, as the Java program of tests/apps/changes draws, builds and judges them."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.topology.declaration import (
    OTHER_CODE,
    Declaration,
    DeclaredStore,
    DeclaredSuppression,
    DeclaredTopic,
    Serde,
    Window,
)
from lab.settings import CHECKOUT

from fuzz.copies import with_copies
from fuzz.grading import Truth

PROGRAM = CHECKOUT / "tests" / "apps" / "changes"
_CLASSES = PROGRAM / "target" / "classes" / "changes" / "Changes.class"
_JAVA = ("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_BUILD_S = 300
_DRAW_S = 600
# How the kinds of the edits of a way back begin.
BACK = "back from: "
# What every program of tests/apps/changes gives its windows.
_GRACE_MS = 5 * 60_000


class Known(StrEnum):
    """What the planner has apart from the descriptions: a team's declarations, partitions on a cluster, or both."""

    DECLARED = "declarations"
    CLUSTER = "cluster"
    BOTH = "declarations and cluster"


@dataclass(frozen=True, slots=True)
class Change:
    """One change: the two descriptions, what a team would declare of both, and what the change does.

    `kinds` and `edits` are what was done to the program, in this order; `cluster` has the partitions of every topic
    that is there before the change, internal topics without application.id.
    """

    number: int
    kinds: tuple[str, ...]
    edits: tuple[str, ...]
    before: str
    after: str
    declared: tuple[Declaration, Declaration]
    cluster: Mapping[str, int]
    truth: Truth

    def known(self, known: Known) -> tuple[Declaration, Declaration]:
        """What the planner has of the old and of the new version."""
        if known is Known.DECLARED:
            return self.declared
        old, new = (
            replace(declaration if known is Known.BOTH else Declaration(), topics=self._counted(declaration, known))
            for declaration in self.declared
        )
        return old, new

    def _counted(self, declaration: Declaration, known: Known) -> dict[str, DeclaredTopic]:
        """Topics with the partitions of the cluster if a declaration gives none, as plan_change fills them in."""
        found = {}
        for name, declared in declaration.topics.items():
            one = declared if known is Known.BOTH else DeclaredTopic()
            found[name] = replace(one, partitions=one.partitions or self.cluster.get(name))
        return found


def build() -> None:
    """Compile the Java program if its sources are newer; BadInput with Maven's output if Maven fails."""
    sources = [PROGRAM / "pom.xml", *(PROGRAM / "src").rglob("*.java")]
    if _CLASSES.exists() and _CLASSES.stat().st_mtime >= max(path.stat().st_mtime for path in sources):
        return
    command = ["mvn", "-q", "-B", "-Dstyle.color=never", "-f", str(PROGRAM / "pom.xml"), "clean", "process-classes"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_BUILD_S, check=False
    )
    if done.returncode:
        raise BadInput(f"Maven could not build {PROGRAM} (exit {done.returncode}):", *done.stdout.splitlines()[-20:])


def drawn(seed: int, first: int, count: int) -> Iterator[Change]:
    """`count` changes of a seed from number `first`, each with its way back if what it leads to starts.

    A number is the same change whichever others are drawn.
    """
    classes = f"{PROGRAM}/target/classes:{PROGRAM}/target/libraries/*"
    done = subprocess.run(
        [*_JAVA, "-cp", classes, "changes.Changes", str(seed), str(first), str(count)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_DRAW_S,
        check=False,
    )
    if done.returncode:
        raise BadInput(f"changes.Changes {seed} {first} {count} failed:", *done.stderr.splitlines()[:20])
    for line in done.stdout.splitlines():
        yield change(json.loads(line))


def change(document: Mapping[str, Any]) -> Change:
    """A change from a line of the Java program."""
    truth, back = document["truth"], document.get("back", False)
    declared, drawn_truth = with_copies(
        document["number"],
        (document["before"], document["after"]),
        (declaration(document["declared_before"]), declaration(document["declared_after"])),
        (_tables(document["declared_before"]), _tables(document["declared_after"])),
        Truth(
            truth["answer"],
            frozenset(truth["needs"]),
            frozenset(truth["warnings"]),
            truth["facts"],
            frozenset(truth["kept"]),
        ),
        back=back,
    )
    return Change(
        document["number"],
        tuple(f"{BACK}{kind}" if back else kind for kind in document["kinds"]),
        tuple(document["edits"]),
        document["before"],
        document["after"],
        declared,
        document["cluster"],
        drawn_truth,
    )


def _tables(document: Mapping[str, Any]) -> dict[str, str]:
    """The topic that each table reads, by its store."""
    return {name: one["read_from"] for name, one in document["stores"].items() if one.get("read_from")}


def declaration(document: Mapping[str, Any]) -> Declaration:
    """What a team would declare of one program, and that it compared the rest of the code."""
    return Declaration(
        stores={name: _store(one) for name, one in document["stores"].items()},
        suppressions={
            name: DeclaredSuppression(one["mode"], one["time_limit_ms"], value_serde=Serde("string"), logging=True)
            for name, one in document["suppressions"].items()
        },
        topics={
            name: DeclaredTopic(
                one["partitions"], one["key"], Serde("string"), Serde("string"), frozenset(one["joined_with"])
            )
            for name, one in document["topics"].items()
        },
        config={"application.id": "app"},
        unchanged=frozenset((OTHER_CODE,)),
    )


def _store(one: Mapping[str, Any]) -> DeclaredStore:
    window = None if one["window"] is None else Window(one["window"], one["size_ms"], _GRACE_MS)
    return DeclaredStore(
        kind=one["kind"],
        window=window,
        key=one["key"],
        key_serde=Serde("string"),
        value_serde=Serde(one["value_serde"]),
        source_table=one["source_table"],
        aggregate=one["aggregate"],
        join=one["join"],
        logging=True,
    )
