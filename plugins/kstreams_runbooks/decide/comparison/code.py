"""What the code of both versions proves: fields that are as they were, and parts of the program with other code.

Equal code answers a fact of a subject that is not known, and no other one. Other code answers nothing: a person has to
compare what it does. Of a partitioner, an extractor and a supplier only the name of the class was compared: other code
is a change.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.facts import of_serdes
from kstreams_runbooks.decide.comparison.state.order import PROGRAM
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.change import Fact, Subject, SubjectKind, Undeclared
from kstreams_runbooks.model.topology.code import Code
from kstreams_runbooks.model.topology.declaration import OTHER_CODE
from kstreams_runbooks.model.topology.topology import Processor, Sink, Source
from kstreams_runbooks.wording import first_of

State = Literal["same", "other", "unknown"]
SECTIONS: Final[Mapping[SubjectKind, str]] = {
    "store": "stores",
    "internal_topic": "topics",
    "source_topic": "topics",
    "sink": "topics",
    "operator": "operators",
}
# Facts that only a person or the code can answer.
_ANSWERED: Final = ("key", "key_serde", "value_serde", "aggregate")
# From this release on the library keeps serdes where it kept the serializers in them.
_KEEPS_SERDES: Final = Release("3.9")
_MOST_METHODS: Final = 4
# The classes of Kafka in the jar of the program (Border.java): another release has others.
_KAFKA_INSIDE: Final = "kafka-inside"
_WINDOW_CLASS: Final = (
    "a class of the program makes the windows, and its digest may leave out what the library reads of them"
)


@dataclass(frozen=True, slots=True)
class CodeChange:
    """What became of the code behind one fact of the new version.

    `altered` are methods with other instructions; all three are sorted, and empty if only values differ that its
    objects keep. `libraries` are those of another version or content: (name, old, new). `reason` is that of an
    unknown one.
    """

    where: str
    field: str
    state: State
    added: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    libraries: tuple[tuple[str, str, str], ...] = ()
    reason: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(sorted((*self.added, *self.altered, *self.removed)))

    @property
    def words(self) -> str:
        """The names of the methods, or what else differs."""
        return first_of(self.methods, _MOST_METHODS) if self.methods else "the values that its objects keep"


def code_changes(compared: Compared) -> tuple[CodeChange, ...]:
    """Every part of the new version that has code in both; none without the code of both versions."""
    old, new = compared.before.declared, compared.after.declared
    if not old.code or not new.code:
        return ()
    renamed = {("stores", now): was for was, now in compared.stores.pairs}
    renamed |= {("topics", now): was for was, now in compared.topics.pairs}
    renamed |= {("operators", now): was for was, now in compared.operators.pairs}
    found = []
    for where, code in new.code.items():
        section, name, field = split(where)
        before = old.code.get(f"{section}.{renamed.get((section, name), name)}.{field}")
        if before is not None:
            found.append(_change(f"{section}.{name}", field, before, code, compared))
    return tuple(found)


def split(where: str) -> tuple[str, str, str]:
    """Section, name (which may have dots) and field of a fact."""
    section, _, rest = where.partition(".")
    name, _, field = rest.rpartition(".")
    return section, name, field


def _change(where: str, field: str, old: Code, new: Code, compared: Compared) -> CodeChange:
    if not old.digest or not new.digest:
        return CodeChange(where, field, "unknown", reason=new.not_provable or old.not_provable)
    releases = compared.before.declared.library, compared.after.declared.library
    another_library = releases[0] != releases[1]
    libraries = tuple(_libraries(old, new, another_library=another_library))
    state: State
    if old.rules != new.rules:
        reason = "the two documents have digests of other rules: print both with the present topology-facts.jar"
        return CodeChange(where, field, "unknown", reason=reason)
    if old.digest == new.digest:
        return _same(where, field, libraries)
    was, now = ({one.rpartition(" ")[0] for one in side} for side in (old.methods, new.methods))
    differing = {one.rpartition(" ")[0] for one in old.methods ^ new.methods}
    # The library keeps other objects around those of the program in some releases, and another compiler writes other
    # instructions of the same source: neither is a change of the program.
    if old.java != new.java:
        state, reason = "unknown", "both versions are built for other releases of Java"
    elif not differing and old.jvm != new.jvm:
        reason = f"the two documents were printed on Java {old.jvm} and {new.jvm}, whose objects keep other values"
        state = "unknown"
    elif another_library and (not differing or _keeps_otherwise(where, field, *releases)):
        state, reason = "unknown", "the two releases of Kafka Streams keep other objects around the code"
    else:
        state, reason = "other", ""
    added, removed = tuple(sorted(now - was)), tuple(sorted(was - now))
    return CodeChange(where, field, state, added, tuple(sorted(differing & was & now)), removed, libraries, reason)


def _keeps_otherwise(where: str, field: str, *releases: Release | None) -> bool:
    later = {release is None or release >= _KEEPS_SERDES for release in releases}
    return where.startswith("stores.") and field == "value_serde" and len(later) > 1


def _same(where: str, field: str, libraries: tuple[tuple[str, str, str], ...]) -> CodeChange:
    """Equal code; below it a library may have another version, and no library may come or go."""
    for name, old, new in libraries:
        if _NONE in {old, new} or name == _KAFKA_INSIDE:
            reason = f"the same code has other libraries below it: {name} {old} → {new}"
            return CodeChange(where, field, "unknown", libraries=libraries, reason=reason)
    return CodeChange(where, field, "same", libraries=libraries)


_NONE: Final = "none"


def _libraries(old: Code, new: Code, *, another_library: bool) -> Iterator[tuple[str, str, str]]:
    was = {name: (version, digest) for name, version, digest in old.libraries}
    now = {name: (version, digest) for name, version, digest in new.libraries}
    for name in sorted(was.keys() | now.keys()):
        before, after = was.get(name, (_NONE, "")), now.get(name, (_NONE, ""))
        if before != after and not (another_library and name == _KAFKA_INSIDE):
            same = " (other classes)" if before[0] == after[0] else ""
            yield name, before[0], f"{after[0]}{same}"


# The names that obfuscators give to classes: a, b, aa.
_SHORT: Final = re.compile(r"(?:.*[.$])?[a-z]{1,2}")
_FEWEST_PARTS: Final = 5


def obfuscated(compared: Compared) -> str:
    """That an obfuscator may be why most parts of a program have other code; empty if nothing shows that.

    Most classes with changed methods have names of one or two letters.
    """
    states = [one for one in code_changes(compared) if one.state != "unknown"]
    others = [one for one in states if one.state == "other"]
    owners = {method.split(" ")[0].rpartition(".")[0] for one in others for method in one.methods}
    short = [name for name in owners if _SHORT.fullmatch(name)]
    if len(states) < _FEWEST_PARTS or len(others) * 2 <= len(states) or len(short) * 2 <= len(owners):
        return ""
    return (
        f"{len(others)} of {len(states)} parts of the program have other code, and {len(short)} of {len(owners)} of "
        "its classes have names of one or two letters: obfuscated jars have other names in each build; print "
        "both facts from the jars before that"
    )


def with_code(compared: Compared, subjects: Iterable[Subject]) -> tuple[Subject, ...]:
    """The subjects with what the code of both versions answers."""
    changes: dict[str, dict[str, CodeChange]] = {}
    for one in code_changes(compared):
        changes.setdefault(one.where, {})[one.field] = one
    feeding = _feeding(compared.after) if changes else frozenset()
    given = tuple(subjects)
    found = tuple(_with_code(one, changes, compared, feeding) for one in given)
    differs = any(_by_window_class(was, now) for was, now in zip(given, found, strict=True))
    return tuple(map(_not_the_same, found)) if differs else found


def _by_window_class(before: Subject, after: Subject) -> bool:
    """Whether only its code shows that the windows of a store change."""
    changes = before.kind == "store" and after.facts["window_changed"] is True
    return changes and before.facts["window_changed"] is None


def _not_the_same(subject: Subject) -> Subject:
    return (
        replace(subject, facts={**subject.facts, "declared_same": False}) if subject.kind == "application" else subject
    )


def _with_code(
    subject: Subject, changes: Mapping[str, Mapping[str, CodeChange]], compared: Compared, feeding: frozenset[str]
) -> Subject:
    section = SECTIONS.get(subject.kind)
    if subject.kind == "operator":
        by = changes.get(f"operators.{subject.name}", {}).get("code")
        is_other = by is not None and by.state == "other" and not (subject.facts["added"] or subject.facts["removed"])
        facts = {**subject.facts, "code_changed": is_other, "before_store": subject.name in feeding}
        words = {**subject.said, "methods": by.words if by else ""}
        return replace(subject, facts=facts, said=words)
    if section is None or not changes:
        return subject
    own = dict(changes.get(f"{section}.{subject.name}", {}))
    own |= _of_ends(subject, compared, changes)
    return _answered(subject, own, compared) if own else subject


def _of_ends(
    subject: Subject, compared: Compared, changes: Mapping[str, Mapping[str, CodeChange]]
) -> dict[str, CodeChange]:
    """Partitioners of the sinks of a topic and extractors of its sources."""
    if subject.kind == "store":
        return {}
    ends = {
        "partitioner": compared.after.writers.get(subject.name, []),
        "timestamp_extractor": [one.name for one in compared.after.readers.get(subject.name, ())],
    }
    found: dict[str, CodeChange] = {}
    for field, names in ends.items():
        of_names = [one for name in names if (one := changes.get(f"operators.{name}", {}).get(field))]
        others = [one for one in of_names if one.state == "other"]
        if others:
            found[field] = others[0]
        elif of_names and len(of_names) == len(names) and all(one.state == "same" for one in of_names):
            found[field] = of_names[0]
    return found


# By name alone these were the same so far.
_BY_NAME: Final = {
    "partitioner": "partitioner_changed",
    "timestamp_extractor": "extractor_changed",
    "supplier": "supplier_changed",
}


def _answered(subject: Subject, changes: Mapping[str, CodeChange], compared: Compared) -> Subject:
    facts: dict[str, Fact] = dict(subject.facts)
    asked = dict(subject.asked)
    words = dict(subject.said)
    proven = []
    for field in _ANSWERED:
        fact, change = f"{field}_changed", changes.get(field)
        if change is not None and facts.get(fact, False) is None:
            proven += _answers(field, fact, change, facts)
            if change.state == "other":
                asked[fact] = tuple(_because(missing, change) for missing in asked.get(fact, ()))
    behind = dict(changes)
    if subject.kind == "store" and facts["window_changed"] is None:
        facts |= _of_window_class(change := behind.pop("supplier", None), compared)
        if change is not None and change.state == "same":
            asked["window_changed"] = (Undeclared(PROGRAM, OTHER_CODE, "new", _WINDOW_CLASS),)
    for field, fact in _BY_NAME.items():
        change = behind.get(field)
        if change is None or fact not in facts:
            continue
        proven += _answers(field, fact, change, facts)
        if change.state == "other" and facts[fact] is not True and not subject.facts.get("added"):
            facts[fact] = True
            words |= {f"{field}_after": f"{words.get(f'{field}_after', 'its class')} with other code"}
    _derived(facts, asked)
    words["proven"] = ", ".join(proven)
    return replace(subject, facts=facts, asked=asked, said=words)


def _answers(field: str, fact: str, change: CodeChange, facts: dict[str, Fact]) -> list[str]:
    """The field, if it was not known and equal code answers it."""
    if change.state != "same" or facts[fact] is not None:
        return []
    facts[fact] = False
    return [field]


def _derived(facts: dict[str, Fact], asked: dict[str, tuple[Undeclared, ...]]) -> None:
    """Facts that are made of those that the code answered."""
    if facts.get("serde_changed", False) is None:
        facts["serde_changed"], asked["serde_changed"] = of_serdes(facts, asked)
    if "kinds_known" in facts:
        facts["kinds_known"] = all(facts[fact] is not None for fact in ("aggregate_changed", "join_changed"))


def _of_window_class(change: CodeChange | None, compared: Compared) -> dict[str, Fact]:
    """Whether windows change that a class of the program makes: its code is that behind the maker of the store.

    Nothing if it is not known: a person declares both windows. For equal code a person answers by `other_code`.
    """
    if change is None or change.state == "unknown":
        return {}
    answered = OTHER_CODE in compared.after.declared.unchanged
    changes = True if change.state == "other" else False if answered else None
    return {"window_changed": changes, "grace_changed": False, "emit_changed": False}


def _because(missing: Undeclared, change: CodeChange) -> Undeclared:
    return replace(missing, reason=f"its code changed: {change.words}")


def _feeding(side: Side) -> frozenset[str]:
    """Operators whose records reach a store, or that keep one."""
    open_ = [one.name for keepers in side.keepers.values() for one in keepers]
    found = set(open_)
    while open_:
        node = side.nodes[open_.pop()]
        before = list(side.predecessors.get(node.name, ()))
        if isinstance(node, Source):
            before += [sink for topic in node.topics for sink in side.writers.get(topic, ())]
        open_ += [one for one in before if one not in found]
        found.update(before)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class ReviewedCode:
    """One part of the program with other code, or with code that is not provable, and the stores that it reaches.

    `subtopology` is empty for a store that no operator of the description keeps.
    """

    change: CodeChange
    subtopology: str
    stores: tuple[str, ...]


def reviewed_code(compared: Compared) -> tuple[ReviewedCode, ...]:
    """What a reviewer has to look at: each operator once, and each format of a store."""
    side = compared.after
    places = {node.name: sub.id for sub in side.topology.subtopologies for node in sub.nodes}
    found = []
    for change in code_changes(compared):
        section, _, name = change.where.partition(".")
        if change.state == "same" or section == "topics" or (section == "stores" and change.field in _OF_OPERATORS):
            continue
        stores = (name,) if section == "stores" else _reached(side, name)
        sub = side.store_places.get(name, "") if section == "stores" else places.get(name, "")
        found.append(ReviewedCode(change, sub, stores))
    return tuple(found)


# Of a store: the operators that fill it have the same code.
_OF_OPERATORS: Final = ("aggregate", "key")


def _reached(side: Side, operator: str) -> tuple[str, ...]:
    open_, seen, found = [operator], {operator}, set[str]()
    while open_:
        node = side.nodes.get(open_.pop())
        behind: list[str] = []
        if isinstance(node, Sink):
            behind = [one.name for one in side.readers.get(node.topic or "", ())]
        elif node is not None:
            behind = list(node.successors)
        if isinstance(node, Processor):
            found.update(node.stores)
        open_ += [one for one in behind if one not in seen]
        seen.update(behind)
    return tuple(sorted(found))
