"""Why a fact on which a plan depends was not read from the program, next to the field to declare."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.model.topology.change import Undecided, Undeclared

# What a reader has in place of a declared field.
_READ_AS = {"key": "key_of"}
_OLD, _NEW = "old", "new"


def with_reasons(undecided: Iterable[Undecided], compared: Compared) -> tuple[Undecided, ...]:
    """The same with the reason of the reader at each field that it did not read; a side without facts has none."""
    if not (compared.before.declared.not_read or compared.after.declared.not_read):
        return tuple(undecided)
    unread = {_OLD: _by_path(compared.before), _NEW: _by_path(compared.after)}
    renamed = {new: old for found in (compared.stores, compared.topics) for old, new in found.pairs}
    return tuple(
        replace(one, asked=tuple(_with_reason(missing, unread, renamed) for missing in one.asked)) for one in undecided
    )


def _with_reason(
    missing: Undeclared, unread: Mapping[str, Mapping[str, str]], renamed: Mapping[str, str]
) -> Undeclared:
    if missing.reason:
        return missing  # the code of both versions gave it
    section, _, name = missing.where.partition(".")
    before = f"{section}.{renamed.get(name, name)}" if name else section
    lacking = missing.sides.split(", ")
    field = _READ_AS.get(missing.field, missing.field)
    for label, where in ((_NEW, missing.where), (_OLD, before)):
        if label in lacking or not missing.sides:
            # Of a field or a part of it, else of its whole object.
            for path in (f"{where}.{field}", f"{where}:"):
                if reason := unread[label].get(path):
                    return replace(missing, reason=reason)
    return missing


def _by_path(side: Side) -> dict[str, str]:
    """The reasons, without the advice at their end, by each path that leads to one; `path:` is the fact itself."""
    found: dict[str, str] = {}
    for unread, reason in side.declared.not_read.items():
        cause = reason.partition("; ")[0]
        found.setdefault(f"{unread}:", cause)
        for place in (*(place for place, mark in enumerate(unread) if mark == "."), len(unread)):
            found.setdefault(unread[:place], cause)
    return found
