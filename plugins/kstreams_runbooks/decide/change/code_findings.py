"""What the code of both versions shows: parts that are proven to be the same, other code, and changed libraries."""

from collections.abc import Iterable, Iterator
from typing import Final

from kstreams_runbooks.decide.comparison.code import CodeChange, code_changes, obfuscated
from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.model.topology.change import ChangeFinding, Subject
from kstreams_runbooks.wording import first_of

SAME = "same-code"
OTHER = "other-code"
LIBRARY = "library-of-code-changed"
OBFUSCATED = "obfuscated-code"
_SOURCE: Final = "topology facts of both programs; docs/facts.md"
_PROGRAM: Final = "program"
_COST: Final = "Nothing fails, or a task dies; bytes that one version of the library wrote may be read as others"
_MOST: Final = 6
_MOST_PLACES: Final = 3
_FORMATS: Final = ("key_serde", "value_serde")


def code_findings(compared: Compared, subjects: Iterable[Subject]) -> Iterator[ChangeFinding]:
    """One finding of what is proven, one for each set of changed methods, one for each changed library."""
    changes = code_changes(compared)
    if proven := _proven(subjects):
        each = "; ".join(f"{field} of {first_of(places, _MOST_PLACES)}" for field, places in sorted(proven.items()))
        message = f"both versions have the same code, by its digest: {each}"
        yield ChangeFinding(SAME, "info", _PROGRAM, message, _SOURCE, ())
    for words, places in _by_methods(changes).items():
        message = f"other code in {words}: it is behind {first_of(places, _MOST)}"
        yield ChangeFinding(OTHER, "info", words, message, _SOURCE, ())
    if why := obfuscated(compared):
        yield ChangeFinding(OBFUSCATED, "info", _PROGRAM, why, _SOURCE, ())
    yield from _libraries(changes)


def _proven(subjects: Iterable[Subject]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for subject in subjects:
        for field in filter(None, subject.said.get("proven", "").split(", ")):
            found.setdefault(field, {})[subject.name] = None
    return {field: tuple(names) for field, names in found.items()}


def _by_methods(changes: Iterable[CodeChange]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for one in changes:
        if one.state == "other":
            found.setdefault(one.words, []).append(_place(one))
    return {words: tuple(sorted(places)) for words, places in found.items()}


def _place(change: CodeChange) -> str:
    section, _, name = change.where.partition(".")
    kind = section.removesuffix("s")
    return f"{kind} {name}" if change.field == "code" else f"{change.field} of {kind} {name}"


def _libraries(changes: Iterable[CodeChange]) -> Iterator[ChangeFinding]:
    found: dict[tuple[str, str, str], list[CodeChange]] = {}
    for one in changes:
        for library in one.libraries if one.state == "same" else ():
            found.setdefault(library, []).append(one)
    for (name, old, new), users in sorted(found.items()):
        stored = any(one.where.startswith("stores.") and one.field in _FORMATS for one in users)
        places = first_of(tuple(sorted(map(_place, users))), _MOST)
        yield ChangeFinding(
            LIBRARY,
            "warning" if stored else "info",
            name,
            f"{name} {old} → {new}: the same code calls another {name}, behind {places}; read its release notes for "
            "changes of the format, or start one instance first",
            _SOURCE,
            ("rolling_bounce",) if stored else (),
            data=_COST if stored else "",
        )
