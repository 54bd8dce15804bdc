"""Random copies of the stores of a change: a changelog, local disks alone, or a topic that the program reads.

The truth is adjusted from the places of the stores in both descriptions, and from what each copy has. It uses no rule
of the planner.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.declaration import Declaration

from fuzz.grading import Truth

Copy = Literal["changelog", "disk", "topic"]
REUSE = "reuse.ktable.source.topics"
# How many of ten changes have stores without a changelog, tables with their topic, and all tables by the optimization.
_UNLOGGED, _READ_ONLY, _REUSED = 3, 5, 6
_PIECES = "is in pieces of another length"
_WAS = "begins empty; it was "
_GUARANTEE = "processing.guarantee"


@dataclass(frozen=True, slots=True)
class Side:
    """One version: what a team declares, the topic of each table, the place of each store, and its copy."""

    declared: Declaration
    places: Mapping[str, str]
    copies: Mapping[str, Copy]


def with_copies(
    number: int,
    texts: tuple[str, str],
    declared: tuple[Declaration, Declaration],
    tables: tuple[Mapping[str, str], Mapping[str, str]],
    truth: Truth,
    *,
    back: bool,
) -> tuple[tuple[Declaration, Declaration], Truth]:
    """The declarations and the truth of a change with random copies, the same for its number.

    `tables` are the topics that tables read, by store, for each side. On the way `back` the copies are exchanged too.
    """
    draw = random.Random(number)
    mode = draw.randrange(10)
    chosen = tuple(_drawn(draw, mode, declared, tables))
    chosen = chosen[::-1] if back else chosen
    old, new = (
        Side(_declared(one, copies, topics, reused=mode == _REUSED), _places(text), copies)
        for one, copies, topics, text in zip(declared, chosen, tables, texts, strict=True)
    )
    return (old.declared, new.declared), _truth(old, new, truth, reused=mode == _REUSED)


def _drawn(
    draw: random.Random,
    mode: int,
    declared: tuple[Declaration, Declaration],
    tables: tuple[Mapping[str, str], Mapping[str, str]],
) -> Iterator[dict[str, Copy]]:
    """The copies by store that a version with these names would have: drawn once for both directions."""
    names = sorted({name for one in declared for name in one.stores})
    both = set(tables[0].items()) & set(tables[1].items())
    reused = draw.randrange(3)
    for side in range(2):
        found: dict[str, Copy] = {}
        for name in names:
            word = f"{draw.random():.6f}{name}{side}"
            dice = random.Random(word).randrange(4)
            topic = tables[0].get(name) or tables[1].get(name) or ""
            if mode < _UNLOGGED and dice < 3:
                found[name] = "disk" if (dice < 2 or side) else "changelog"
            elif _UNLOGGED <= mode < _READ_ONLY and (name, topic) in both:
                found[name] = "topic" if dice % 2 else "changelog"
            elif mode == _REUSED and topic:
                found[name] = "topic" if reused in {side, 2} else "changelog"
        yield found


def _declared(one: Declaration, copies: Mapping[str, Copy], tables: Mapping[str, str], *, reused: bool) -> Declaration:
    stores = {}
    for name, store in one.stores.items():
        copy = copies.get(name, "changelog")
        own = tables.get(name) if copy == "topic" and not reused else None
        stores[name] = replace(store, logging=copy != "disk", changelog=own)
    on = reused and any(copies.get(name) == "topic" for name in tables)
    config = {**(one.config or {}), **({"topology.optimization": REUSE} if on else {})}
    return replace(one, stores=stores, config=config)


def _places(text: str) -> dict[str, str]:
    return {store: sub.id for sub in parse_topology(text).subtopologies if not sub.is_global for store in sub.stores}


def _truth(old: Side, new: Side, truth: Truth, *, reused: bool) -> Truth:
    """The truth with what the copies lose, and with the stores of which a person has to be warned."""
    needs, facts, warned = set(truth.needs), dict(truth.facts), set(truth.warned)
    cleared = {new.places[name] for name in new.places if facts.get(f"store {name}") == _PIECES}
    for name in sorted(truth.kept):
        was, now = (_copy(side, name) for side in (old, new))
        left = old.places.get(name) != new.places.get(name) or new.places.get(name) in cleared
        lost = left and "disk" in {was, now} and now != "topic"
        # At least once the files stay, and its first changelog lacks them until each key was written once.
        begins = (was, now) == ("disk", "changelog") and "exactly" not in (new.declared.config or {}).get(
            _GUARANTEE, ""
        )
        if lost or (now not in {was, "topic"} and not begins):
            needs.add("reset")
            facts[f"store {name}"] = f"has its content in {was}, and looks for it in {now}"
        elif was != now:
            warned.add(REUSE if reused else name)
    renamed = {name: why.removeprefix(_WAS) for name in new.declared.stores if (why := _why(facts, name))}
    if any(_copy(old, before) == "disk" for before in renamed.values()):
        needs.add("reset")
    # A table under another name restores from the topic that it reads.
    if renamed and all("topic" == _copy(old, before) == _copy(new, name) for name, before in renamed.items()):
        needs.discard("migrate")
    answer = "state" if needs else "stop" if renamed else truth.answer
    return replace(truth, answer=answer, needs=frozenset(needs), facts=facts, warned=frozenset(warned))


def _why(facts: Mapping[str, str], name: str) -> str:
    """The words for a store that begins empty under another name; empty for any other."""
    why = facts.get(f"store {name}", "")
    return why if why.startswith(_WAS) else ""


def _copy(side: Side, name: str) -> Copy:
    return side.copies.get(name, "changelog") if name in side.declared.stores else "changelog"
