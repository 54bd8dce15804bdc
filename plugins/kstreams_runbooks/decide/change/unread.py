"""Why a fact on which a plan depends was not read from the program, next to the field to declare."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.model.topology.change import Undecided, Undeclared

# What a reader has in place of a declared field.
_READ_AS = {"key": "key_of"}
_OLD, _NEW = "old", "new"


def with_reasons(undecided: Iterable[Undecided], compared: Compared) -> tuple[Undecided, ...]:
    """The same with the reason of the reader at each field that it did not read; a side without facts has none."""
    renamed = {new: old for found in (compared.stores, compared.topics) for old, new in found.pairs}
    return tuple(
        replace(one, asked=tuple(_with_reason(missing, compared, renamed) for missing in one.asked))
        for one in undecided
    )


def _with_reason(missing: Undeclared, compared: Compared, renamed: dict[str, str]) -> Undeclared:
    section, _, name = missing.where.partition(".")
    before = f"{section}.{renamed.get(name, name)}" if name else section
    lacking = missing.sides.split(", ")
    for side, label, where in ((compared.after, _NEW, missing.where), (compared.before, _OLD, before)):
        if label in lacking or not missing.sides:
            for reason in _reasons(side, where, missing.field):
                return replace(missing, reason=reason)
    return missing


def _reasons(side: Side, where: str, field: str) -> Iterator[str]:
    """The reasons for a field, a part of it, or its whole object; without the advice at their end."""
    path = f"{where}.{_READ_AS.get(field, field)}"
    for unread, reason in side.declared.not_read.items():
        if unread in {path, where} or unread.startswith(f"{path}."):
            yield reason.partition("; ")[0]
