"""The part `code` of a document of topology facts: digests, and the methods and libraries behind each of them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.problems import shown
from kstreams_runbooks.model.topology.code import Code
from kstreams_runbooks.wording import outside

_T = TypeVar("_T")
_LONGEST_NAME: Final = 300
_LONGEST_REASON: Final = 400
_RANGE: Final = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
_METHOD: Final = re.compile(r"(.+) ([0-9a-f]{8})")
_LIBRARY: Final = re.compile(r"(.+) (\S+) ([0-9a-f]{16})")

# Of several parts of the program in their order, such as the operators that make a key.
_Hexes = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}( [0-9a-f]{16})*$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Digest(_Part):
    methods: str
    libraries: str = ""


class CodePart(_Part):
    """Digests by fact, or the reason why there is none; methods and libraries once, by their places in the digests."""

    facts: dict[str, _Hexes] = Field(default_factory=dict)
    not_provable: dict[str, str] = Field(default_factory=dict)
    digests: dict[_Hexes, _Digest] = Field(default_factory=dict)
    methods: dict[str, str] = Field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    java: frozenset[int] = frozenset()
    rules: int = 0
    jvm: int = 0

    def read(self) -> dict[str, Code]:
        """The code behind each fact; BadInput for a document that contradicts itself, which the jar never writes."""
        methods = [name for owner, all_of_it in self.methods.items() for name in _methods(owner, all_of_it)]
        libraries = [_library(one) for one in self.libraries]
        if both := self.facts.keys() & self.not_provable.keys():
            raise BadInput(f"code: {shown(min(both))} has a digest and is not provable (expected: one of them)")
        known = {
            digest: Code(
                digest,
                frozenset(_placed(one.methods, methods, digest)),
                frozenset(_placed(one.libraries, libraries, digest)),
                self.java,
                rules=self.rules,
                jvm=self.jvm,
            )
            for digests, one in self.digests.items()
            for digest in digests.split()
        }
        if lacking := {one for of_it in self.facts.values() for one in of_it.split() if one not in known}:
            raise BadInput(
                f"code: digest {min(lacking)} is not among `digests` (expected: its methods); print it again"
            )
        reasons = {
            where: Code(not_provable=outside(reason, _LONGEST_REASON)) for where, reason in self.not_provable.items()
        }
        proven = {where: _together(digests, known) for where, digests in self.facts.items()}
        return proven | reasons


def _together(digests: str, known: Mapping[str, Code]) -> Code:
    parts = [known[digest] for digest in digests.split()]
    methods = frozenset(one for part in parts for one in part.methods)
    libraries = frozenset(one for part in parts for one in part.libraries)
    return replace(parts[0], digest=digests, methods=methods, libraries=libraries)


def _methods(owner: str, all_of_it: str) -> list[str]:
    names = all_of_it.split(", ")
    if strange := [one for one in names if not _METHOD.fullmatch(one)]:
        raise BadInput(f"code: method {shown(strange[0])} of {shown(owner)} has no digest; print the facts again")
    return [outside(f"{owner}.{one}", _LONGEST_NAME) for one in names]


def _library(text: str) -> tuple[str, str, str]:
    found = _LIBRARY.fullmatch(text)
    if found is None:
        raise BadInput(f"code: library {shown(text)} is not a name, a version and a digest; print the facts again")
    return outside(found[1], _LONGEST_NAME), outside(found[2], _LONGEST_NAME), found[3]


def _placed(places: str, all_of_it: list[_T], digest: str) -> list[_T]:
    found: list[_T] = []
    for one in places.split():
        part = _RANGE.fullmatch(one)
        first, last = (0, -1) if part is None else (int(part[1]), int(part[2] or part[1]))
        if not first <= last < len(all_of_it):
            raise BadInput(f"code: {shown(one)} of digest {digest} is no place in its list; print the facts again")
        found += all_of_it[first : last + 1]
    return found
