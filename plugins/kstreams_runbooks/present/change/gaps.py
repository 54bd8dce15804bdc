"""Facts that a plan lacks: one line for each kind of gap, and the commands that print what to fill in."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any, NamedTuple, get_args

from kstreams_runbooks.decide.change.answer import can_be_unchanged
from kstreams_runbooks.model.topology.declaration import OTHER_CODE, Unchanged
from kstreams_runbooks.wording import first_of, pasted

# What a change can declare for all stores at once.
UNCHANGED = get_args(Unchanged)
_CONFIG = "config"
_SECTIONS = {"stores": "store", "topics": "topic", "suppressions": "suppression", "operators": "operator"}
_NAMES, _FIELDS = 10, 3


class Lacking(NamedTuple):
    """Fields that the same `sides` lack of these objects; `what` is the section of a declaration, or words.

    `value`: to know that they are unchanged is not enough.
    """

    what: str
    fields: tuple[str, ...]
    sides: str
    names: tuple[str, ...]
    value: bool = False

    @property
    def is_declarable(self) -> bool:
        """Whether a declaration can hold it: if not, `what` is a sentence about what to do instead."""
        return bool(self.fields or self.sides or self.names)

    def __str__(self) -> str:
        """`kind and key of stores clicks and totals (old, new)`."""
        sides = f" ({self.sides})" if self.sides else ""
        if self.what == _CONFIG:
            return f"all settings in {_CONFIG}, among them {_listed(self.fields)}{sides}"
        if not self.names:
            return f"{_listed(self.fields)}{' of ' if self.fields else ''}{self.what}{sides}"
        of = _SECTIONS[self.what] if len(self.names) == 1 else f"{len(self.names)} {_SECTIONS[self.what]}s:"
        return f"{_listed(self.fields)}{' of ' if self.fields else ''}{of} {first_of(self.names, _NAMES)}{sides}"


def gaps(undecided: Iterable[Mapping[str, Any]]) -> list[Lacking]:
    """The undeclared facts by kind: objects that lack the same fields on the same sides are one gap."""
    places: dict[tuple[str, str, bool, bool], list[str]] = {}
    every = [missing for one in undecided for missing in one["missing"]]
    lacking: dict[str, set[str]] = {}
    for missing in every:
        lacking.setdefault(missing["where"], set()).add(missing["field"])
    for missing in every:
        value = missing.get("value", False)
        shared = not value and can_be_unchanged(missing["where"], missing["field"], lacking[missing["where"]])
        fields = places.setdefault((missing["where"], missing["sides"], shared, value), [])
        if missing["field"] and missing["field"] not in fields:
            fields.append(missing["field"])
    alike: dict[tuple[str, tuple[str, ...], str, bool], list[str]] = {}
    for (where, sides, _, value), fields in places.items():
        section, _, name = where.partition(".")
        known = section in _SECTIONS and bool(name) and ", or " not in name
        names = alike.setdefault((section if known else where, tuple(fields), sides, value), [])
        names += [name] if known else []
    return [Lacking(what, fields, sides, tuple(names), value) for (what, fields, sides, value), names in alike.items()]


def gap_lines(plan: Mapping[str, Any]) -> Iterator[str]:
    """One line for each gap on which the plan depends; what `unchanged` can declare is one line for all."""
    found = gaps(one for one in plan["undecided"] if one["matters"])
    shared = [gap for gap in found if gap.fields and not gap.value and set(gap.fields) <= set(UNCHANGED)]
    yield from (str(gap) for gap in found if gap not in shared)
    if shared:
        fields = [one for one in UNCHANGED if any(one in gap.fields for gap in shared)]
        yield (
            f"{'; '.join(map(str, shared))}. If the change touches none of them{sides_of_join(fields)}, one line in "
            f"the new declaration is enough: unchanged: [{', '.join(fields)}]"
        )
        if OTHER_CODE in fields and not _of_rows(plan["undecided"]):
            yield f"{OTHER_CODE} is read, and not asked for, with the topology facts of both versions (docs/facts.md)"
    yield from _not_read(one for one in plan["undecided"] if one["matters"])


def _of_rows(undecided: Iterable[Mapping[str, Any]]) -> bool:
    """Whether both versions were read, and the code of operators in front of a table's aggregation is asked for."""
    missing = (missing for one in undecided for missing in one["missing"])
    return any(one["field"] == OTHER_CODE and one.get("reason") for one in missing)


def _not_read(undecided: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """One line with the reasons of the reader of the program, if it was read."""
    every = (missing.get("reason") for one in undecided for missing in one["missing"])
    if reasons := list(dict.fromkeys(reason for reason in every if reason)):
        yield f"not read from the program: {first_of(reasons, _FIELDS, '; ')}"


def sides_of_join(fields: Iterable[str]) -> str:
    """What `unchanged` does not answer: a left join whose tables change sides is another join."""
    return " and no join gets its tables in another order" if "join" in fields else ""


def left_open(plan: Mapping[str, Any]) -> Iterator[str]:
    """What is not declared and does not change the plan."""
    yield from map(str, gaps(one for one in plan["undecided"] if not one["matters"]))


def asked_in_short(plan: Mapping[str, Any]) -> str:
    """The gaps in a few words, for a headline: what to declare first, or why no declaration is enough."""
    found = gaps(one for one in plan["undecided"] if one["matters"])
    first, *others = sorted(found, key=lambda gap: not gap.is_declarable)
    fields = first_of(first.fields, _FIELDS)
    what = f"{len(first.names)} {first.what}" if len(first.names) > 1 else ""
    short = f"{fields} of {what}" if what else str(first._replace(fields=(fields,) if fields else ()))
    words = f"declare {short}" if first.is_declarable else first.what.partition(";")[0]
    return f"{words}; and {len(others)} more" if others else words


def declare_commands(given: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[str]:
    """The commands for the files that were given: a skeleton for each side that lacks a fact, and the plan again."""
    sides = {side for gap in gaps(one for one in plan["undecided"] if one["matters"]) for side in gap.sides.split(", ")}
    topologies = ("--from-topology", _file(given, "from"), "--to-topology", _file(given, "to"))
    if plan.get("same_program_is_enough"):
        yield "if both versions are one build, such as one image, plan again:"
        yield pasted(("kstreams-runbooks", "plan", *topologies, *_options(given), *_stated(given, same=True)))
    enough = plan.get("unchanged_is_enough")
    if enough:
        yield "if the code of these did not change, plan again:"
        yield pasted(("kstreams-runbooks", "plan", *topologies, *_options(given), *_stated(given, enough)))
    if enough or plan.get("same_program_is_enough"):
        yield "otherwise:"
    known: list[str] = []
    again: list[str] = []
    shared = _file(given, "from") == _file(given, "to")
    for option in ("from", "to"):
        declared = given.get(f"{option}_declaration")
        known += [f"--{option}-declaration", str(declared)] if declared else []
    for side, option in (("old", "from"), ("new", "to")):
        declared = given.get(f"{option}_declaration")
        target = str(declared or _declaration_of(_file(given, option), side if shared else ""))
        if side in sides:
            command = pasted(("kstreams-runbooks", "declare", *topologies, *known, *_words(given), "--side", side))
            yield from (f"add the lines that this prints to {target}:", command) if declared else ()
            yield from () if declared else (f"{command} > {pasted((target,))}",)
        if declared or side in sides:
            again += [f"--{option}-declaration", target]
        again += _options(given, (option,), ("config", "version"))
    yield "replace or delete every null, then plan again:" if sides - {""} else "change the program, then plan again:"
    yield pasted(("kstreams-runbooks", "plan", *topologies, *again, *_stated(given)))


def _options(
    given: Mapping[str, Any],
    sides: Iterable[str] = ("from", "to"),
    names: Iterable[str] = ("declaration", "config", "version"),
) -> list[str]:
    """The options of these sides as they were given."""
    values = {f"--{side}-{name}": given.get(f"{side}_{name}") for side in sides for name in names}
    return [word for option, value in values.items() if value for word in (option, str(value))]


def _words(given: Mapping[str, Any], unchanged: Iterable[str] = (), *, same: bool = False) -> list[str]:
    """What a person states of the change, as it was given, and more of it."""
    fields = {one.strip() for part in given.get("unchanged") or () for one in part.split(",")} | set(unchanged)
    listed = ",".join(field for field in UNCHANGED if field in fields)
    return [
        *(["--unchanged", listed] if listed else []),
        *(["--same-program"] if same or given.get("same_program") else []),
    ]


def _stated(given: Mapping[str, Any], unchanged: Iterable[str] = (), *, same: bool = False) -> list[str]:
    """The options of `plan` that belong to neither side."""
    application = given.get("application")
    return [*_words(given, unchanged, same=same), *(["--application", str(application)] if application else [])]


def _file(given: Mapping[str, Any], option: str) -> str:
    """The path of a description; a name in place of stdin."""
    path = str(given[f"{option}_topology"])
    return path if path != "-" else {"from": "before.txt", "to": "after.txt"}[option]


def _declaration_of(topology: str, side: str) -> PurePath:
    """A name for the declaration next to a description, or next to facts, which are YAML as well.

    With the name of the side if both have one description.
    """
    path = PurePath(topology)
    suffix = ".declaration.yaml" if path.suffix in {".yaml", ".yml"} else ".yaml"
    return path.with_suffix(f".{side}{suffix}" if side else suffix)


def _listed(fields: Iterable[str]) -> str:
    *first, last = list(fields) or [""]
    return f"{', '.join(first)} and {last}" if first else last
