"""One YAML document as plain values, read event by event: every limit is checked before anything grows.

PyYAML composes nodes by recursion in C, and a deeply nested file crashes the process; it constructs an alias as often
as it is written. Its parser alone yields events in bounded memory; the values are built here, one by one.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import yaml

from kstreams_runbooks.documents import DEEPEST, LONGEST_NUMBER, MOST_NODES, beginning
from kstreams_runbooks.documents.text import LARGEST_BYTES
from kstreams_runbooks.errors import BadInput

# libyaml parses about ten times as fast; a PyYAML built without it still works.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE = "tag:yaml.org,2002:"
_NUMBERS = frozenset({f"{_CORE}int", f"{_CORE}float"})
_SCALARS = _NUMBERS | {f"{_CORE}{name}" for name in ("str", "null", "bool", "timestamp", "binary", "merge", "value")}
_MERGE = f"{_CORE}merge"
_COLLECTIONS = {yaml.MappingStartEvent: (None, "!", f"{_CORE}map"), yaml.SequenceStartEvent: (None, "!", f"{_CORE}seq")}


@dataclass(frozen=True, slots=True)
class _Value:
    """One value with its weight: nodes and characters with every alias written out, and levels below it."""

    value: Any
    nodes: int = 1
    characters: int = 0
    depth: int = 0


@dataclass(slots=True)
class _Open:
    """A mapping or a list that is not closed yet."""

    line: int
    anchor: str | None
    values: list[Any] | None
    pairs: dict[Hashable, Any] = field(default_factory=dict)
    merged: list[Any] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    key: tuple[Hashable, bool] | None = None
    nodes: int = 1
    characters: int = 0
    depth: int = 0

    def weigh(self, one: _Value) -> None:
        """Add a child's weight."""
        self.nodes += one.nodes
        self.characters += one.characters
        self.depth = max(self.depth, one.depth)


def yaml_document(text: str) -> Any:
    """The values of a YAML text: dicts, lists, text, numbers, booleans, dates and None.

    BadInput with the line for invalid YAML and for a second document; for more than `DEEPEST` levels, `MOST_NODES`
    nodes or `LARGEST_BYTES` characters with every alias written out; for an alias inside its own anchor, a key given
    twice, a key that is a list or a mapping, any tag but those of plain values, and a number of absurd length.
    """
    _refuse_directives(text)
    loader = LOADER(text)
    try:
        return _Reader(loader, text).document()
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        raise BadInput(f"is not valid YAML: line {line}: {error.problem}; correct it") from None
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"is not valid YAML: {reason}; correct it") from None
    finally:
        loader.dispose()


def _refuse_directives(text: str) -> None:
    """BadInput for a directive: libyaml compares each %TAG with all before it, and a megabyte takes minutes."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("%"):
            raise BadInput(f"line {number} has a YAML directive ({beginning(line)}), which is not read; remove it")
        if line.strip() and not line.startswith("#"):
            return


class _Reader:
    """Builds the values of one document from its events."""

    def __init__(self, loader: Any, text: str) -> None:
        self._loader = loader
        self._text = text
        self._open: list[_Open] = []
        self._anchors: dict[str, _Value] = {}
        # What was read of each scalar, by its tag, text and quotes: a declaration repeats its keys and most values.
        self._scalars: dict[tuple[Any, ...], _Value] = {}
        # Anchors that are not closed yet.
        self._pending: set[str] = set()
        self._nodes = self._characters = 0
        self._root: Any = None

    def document(self) -> Any:
        """The only document, None for an empty text."""
        seen = False
        while (event := self._loader.get_event()) is not None:
            # The most frequent first.
            if isinstance(event, yaml.ScalarEvent):
                self._add(event, self._scalar(event), event.anchor)
            elif isinstance(event, yaml.DocumentStartEvent):
                if seen:
                    self._refuse(event, "begins a second document (expected one); give each a file of its own")
                seen = True
            elif isinstance(event, yaml.DocumentEndEvent):
                if event.explicit:
                    self._require_end(event)
                    break
            elif isinstance(event, yaml.AliasEvent):
                self._add(event, self._alias(event), None)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._begin(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._end(event)
        return self._root

    def _require_end(self, event: Any) -> None:
        """After `...` only comments: the parser would read directives there again."""
        first = event.end_mark.line
        for number, line in enumerate(self._text.splitlines()[first:], first + 1):
            rest = line.removeprefix("...").lstrip()
            if rest and not rest.startswith("#"):
                raise BadInput(f"line {number} begins a second document (expected one); give each a file of its own")

    def _scalar(self, event: Any) -> _Value:
        written = (event.tag, event.value, event.implicit)
        if written not in self._scalars:
            self._scalars[written] = self._plain(event)
        return self._scalars[written]

    def _plain(self, event: Any) -> _Value:
        tag, text = event.tag, event.value
        if tag is None or tag == "!":
            tag = self._loader.resolve(yaml.ScalarNode, text, event.implicit)
        if tag not in _SCALARS:
            self._refuse(event, f"has the tag {beginning(tag)}, which is not read here; write a plain value")
        if tag in _NUMBERS and len(text) > LONGEST_NUMBER:
            self._refuse(event, f"has a number of {len(text):,} characters (limit {LONGEST_NUMBER}); correct it")
        if tag in {f"{_CORE}str", _MERGE, f"{_CORE}value"}:
            return _Value(text, characters=len(text))
        try:
            value = self._loader.construct_object(yaml.ScalarNode(tag, text, event.start_mark, event.end_mark))
        except (ArithmeticError, AttributeError, LookupError, ValueError):
            # Errors that PyYAML's constructors raise if a tag names another type than the text has.
            self._refuse(event, f"has {beginning(text)}, which is not a possible value; correct or quote it")
        return _Value(value, characters=len(text))

    def _alias(self, event: Any) -> _Value:
        name = event.anchor
        if name in self._pending:
            self._refuse(event, f"has the alias *{beginning(name)} inside its own anchor; write the value")
        if name not in self._anchors:
            alias = beginning(name)
            self._refuse(event, f"has the alias *{alias}, and nothing before it is &{alias}; define it")
        found = self._anchors[name]
        if len(self._open) + found.depth > DEEPEST:
            self._refuse_depth(event)
        return found

    def _begin(self, event: Any) -> None:
        if event.tag not in _COLLECTIONS[type(event)]:
            self._refuse(event, f"has the tag {beginning(event.tag)}, which is not read here; write a plain value")
        if len(self._open) >= DEEPEST:
            self._refuse_depth(event)
        if self._open and self._open[-1].values is None and self._open[-1].key is None:
            self._refuse(event, "has a list or a mapping as a key; write a plain key")
        if event.anchor is not None:
            self._pending.add(event.anchor)
        is_list = isinstance(event, yaml.SequenceStartEvent)
        self._open.append(_Open(event.start_mark.line + 1, event.anchor, [] if is_list else None))

    def _end(self, event: Any) -> None:
        done = self._open.pop()
        if done.values is None and done.merged:
            self._merge(event, done)
        if done.anchor is not None:
            self._pending.discard(done.anchor)
        value = done.pairs if done.values is None else done.values
        # Its children were counted as they came; here it counts for its aliases.
        self._place(event, _Value(value, done.nodes, done.characters, done.depth + 1), done.anchor)
        self._count(event, 1, 0)

    def _add(self, event: Any, one: _Value, anchor: str | None) -> None:
        self._count(event, one.nodes, one.characters)
        self._place(event, one, anchor)

    def _count(self, event: Any, nodes: int, characters: int) -> None:
        self._nodes += nodes
        self._characters += characters
        if self._nodes > MOST_NODES:
            self._refuse(
                event, f"brings more than {MOST_NODES:,} values with every alias written out (the limit); split it"
            )
        if self._characters > LARGEST_BYTES:
            self._refuse(
                event, f"brings more than {LARGEST_BYTES:,} characters with every alias written out (the limit)"
            )

    def _place(self, event: Any, one: _Value, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = one
        if not self._open:
            self._root = one.value
            return
        place = self._open[-1]
        place.weigh(one)
        if place.values is not None:
            place.values.append(one.value)
        elif place.key is None:
            place.key = self._key(event, place, one.value)
        else:
            (key, merges), place.key = place.key, None
            if merges:
                place.merged.append(one.value)
            else:
                place.pairs[key] = one.value

    def _key(self, event: Any, place: _Open, value: Any) -> tuple[Hashable, bool]:
        """A key, and whether it is YAML's `<<`; two that are written alike (1 and "1") count as one."""
        merges = isinstance(event, yaml.ScalarEvent) and value == "<<" and not event.style
        if not isinstance(value, Hashable):
            self._refuse(event, "has a list or a mapping as a key; write a plain key")
        written = str(event.value) if isinstance(event, yaml.ScalarEvent) else str(value)
        if written in place.written or value in place.pairs:
            self._refuse(event, f"has the key {beginning(written)} a second time; remove one of them")
        place.written.add(written)
        return value, merges

    def _merge(self, event: Any, done: _Open) -> None:
        """`<<: *base` and `<<: [*a, *b]`: keys that the mapping lacks, from the first that has them."""
        [given] = done.merged
        for base in given if isinstance(given, list) else [given]:
            if not isinstance(base, dict):
                self._refuse(event, "ends a mapping whose << is not a mapping; give it mappings alone")
            for key, value in base.items():
                done.pairs.setdefault(key, value)

    def _refuse(self, event: Any, reason: str) -> None:
        raise BadInput(f"line {event.start_mark.line + 1} {reason}")

    def _refuse_depth(self, event: Any) -> None:
        self._refuse(event, f"is nested deeper than {DEEPEST} levels (the limit); nest it less")
