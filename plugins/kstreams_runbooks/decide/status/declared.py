"""The status of applications that cannot be checked: a broken declaration, or a fleet in which none is declared."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from kstreams_runbooks.model.readings.status import KeptStatus

BROKEN = "declaration broken"
NONE_DECLARED = "none declared"
DECLARED = "declared"
# Statuses that `kstreams-runbooks fleet` explains.
ABOUT_FILES = frozenset({BROKEN, NONE_DECLARED, DECLARED})
# The fleet as a whole, in place of an application: no name of one has brackets.
FLEET = "(fleet)"
_UNKNOWN = "unknown"
_AGAIN = {BROKEN: "the fleet is checked again", NONE_DECLARED: "applications are declared again"}


def declaration_statuses(
    broken: Mapping[str, str],
    none_declared: str,
    before: Collection[KeptStatus],
    at_ms: int,
    *,
    unchecked: str = "",
) -> tuple[KeptStatus, ...]:
    """The statuses of `broken` declarations, each with its fault, and of the fleet if that changed.

    `none_declared` is the sentence for a fleet without any declaration, empty if it has one; `unchecked` is the fault
    that keeps the whole fleet from being checked. A fleet that was never judged is not news: it has just been
    installed.
    """
    found = [_kept(name, BROKEN, fault, tuple(_of(name, before)), at_ms) for name, fault in broken.items()]
    whole = tuple(_of(FLEET, before))
    if unchecked:
        found.append(_kept(FLEET, BROKEN, unchecked, whole, at_ms, told=DECLARED))
    elif none_declared:
        first = not before
        kept = _kept(FLEET, NONE_DECLARED, none_declared, whole, at_ms, told=NONE_DECLARED if first else DECLARED)
        found.append(kept)
    elif whole:
        found.append(_kept(FLEET, DECLARED, _AGAIN.get(whole[0].word, whole[0].sentence), whole, at_ms))
    return tuple(found)


def _of(name: str, before: Iterable[KeptStatus]) -> Iterator[KeptStatus]:
    """The newest status of that name, on any cluster: a file that cannot be read names none."""
    yield from sorted((one for one in before if one.application == name), key=lambda one: one.at_ms)[-1:]


def _kept(
    name: str, word: str, sentence: str, before: tuple[KeptStatus, ...], at_ms: int, told: str | None = None
) -> KeptStatus:
    last = before[0] if before else None
    return KeptStatus(
        cluster=last.cluster if last else _UNKNOWN,
        application=name,
        word=word,
        sentence=sentence,
        since_ms=last.since_ms if last and last.word == word else at_ms,
        at_ms=at_ms,
        read=True,
        told=last.told if last else told,
        told_read=True,
    )
