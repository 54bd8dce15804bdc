"""The code behind the facts that are kept next to the present code, for the CI of an application.

A part that cannot be proven is as it was if the reason is the same. Digests that do not compare, such as those of
another compiler, are not taken for equal.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kstreams_runbooks.decide.comparison.code import ReviewedCode, code_changes, reviewed_code
from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.model.topology.code import Code


@dataclass(frozen=True, slots=True)
class KeptCode:
    """The lines of both sides that differ, the changed code with the stores that it reaches, and what is not compared.

    A library of another version or content below equal code is a line. `not_compared` has a reason for each part of
    the present program whose digest shows nothing of the kept one.
    """

    old: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    changed: tuple[ReviewedCode, ...] = ()
    not_compared: tuple[str, ...] = ()


def kept_code(compared: Compared) -> KeptCode:
    """The kept code next to the present one; nothing unless both sides have code."""
    old, new = compared.before.declared.code, compared.after.declared.code
    lines: tuple[list[str], list[str]] = [], []
    libraries: dict[str, tuple[str, str]] = {}
    changed, unknown = set[tuple[str, str]](), list[str]()
    for change in code_changes(compared):
        where = f"{change.where}.{change.field}"
        was, now = old.get(where), new[where]
        if change.state == "same":
            libraries |= {name: (f"library {name}: {a}", f"library {name}: {b}") for name, a, b in change.libraries}
        if change.state == "same" or was is None:  # a renamed part is in the description
            continue
        if change.state == "other" or bool(was.digest) != bool(now.digest) or was.not_provable != now.not_provable:
            changed.add((change.where, change.field))
            for side, code in zip(lines, (was, now), strict=True):
                side.append(f"code.{where}: {_shown(code)}")
        elif was.digest:
            unknown.append(change.reason)
    for before, after in libraries.values():
        lines[0].append(before)
        lines[1].append(after)
    reviewed = tuple(one for one in reviewed_code(compared) if (one.change.where, one.change.field) in changed)
    return KeptCode(tuple(lines[0]), tuple(lines[1]), reviewed, tuple(_with_numbers(unknown)))


def _shown(code: Code) -> str:
    return code.digest or f"not provable: {code.not_provable}"


def _with_numbers(reasons: list[str]) -> Iterator[str]:
    for reason in dict.fromkeys(reasons):
        count = reasons.count(reason)
        yield f"{count} {'part' if count == 1 else 'parts'} of the program: {reason}"
