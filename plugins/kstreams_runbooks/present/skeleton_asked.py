"""The declaration that one change needs: only the fields on which its plan depends, as a file to fill in."""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.decide.change.answer import open_questions
from kstreams_runbooks.decide.change.reading import ChangeReading
from kstreams_runbooks.decide.change.rules import Fired
from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.model.topology.change import Undeclared
from kstreams_runbooks.model.topology.declaration import OTHER_CODE
from kstreams_runbooks.present.change.gaps import UNCHANGED, sides_of_join
from kstreams_runbooks.present.skeleton import FIELDS, first_stores, key_of
from kstreams_runbooks.wording import sentence

_HEAD = """\
# Facts of the {side} version on which the plan of this change depends, and no others. A null value is unknown: fill in
# the known values and delete the rest (docs/declaration.md)."""
_NOTHING = "# The plan of this change depends on no undeclared fact of the {side} version."
_OR = ", or stores."
_TABLE = "source_table of "

_Asked = dict[str, dict[str, list[str]]]


def asked_of(reading: ChangeReading, compared: Compared, side: str) -> str:
    """YAML with the undeclared fields of one side, `old` or `new`, on which the plan depends."""
    open_ = open_questions(Fired(reading.findings, reading.undecided))
    missing = list(dict.fromkeys(one for rule in open_ for one in rule.asked if side in one.sides.split(", ")))
    return "\n".join(_lines(missing, compared, side)) + "\n"


def _lines(missing: list[Undeclared], compared: Compared, side: str) -> Iterator[str]:
    if not missing:
        yield _NOTHING.format(side=side)
        return
    own = compared.before if side == "old" else compared.after
    # A finding has the new name of a store that both versions keep.
    names = {new: old for old, new in compared.stores.pairs} if side == "old" else {}
    asked, others = _by_section(missing, own, names)
    yield _HEAD.format(side=side)
    yield from others
    fields = [field for field in UNCHANGED if any(one.field == field and not one.value for one in missing)]
    if fields and side == "new":
        yield f"# If the change touches none of these{sides_of_join(fields)},"
        yield "# this line declares them for every store and topic:"
        yield f"# unchanged: [{', '.join(fields)}]"
    for section, objects in asked.items():
        yield f"{section}:"
        for name, found in objects.items():
            yield f"  {key_of(name)}:"
            yield from (f"    {field}: null   {FIELDS[section].get(field, '')}".rstrip() for field in found)


def _by_section(missing: list[Undeclared], side: Side, names: Mapping[str, str]) -> tuple[_Asked, list[str]]:
    """The fields by section and object, and the lines for all facts of the application as a whole."""
    asked: _Asked = {}
    others: list[str] = []
    for one in missing:
        section, _, name = one.where.partition(".")
        if section == "suppressions":
            name, _, _ = name.partition(_OR)
            others.append(sentence(f"# {name}: if it suppresses, add `suppressions: {{{name}: {{mode: …}}}}`"))
            if _OR in one.where:
                asked.setdefault("stores", {}).setdefault(f"{name}-store", []).append("kind")
        elif section in FIELDS and name:
            own = names.get(name, name) if section == "stores" else name
            found = asked.setdefault(section, {}).setdefault(own, [])
            found += [one.field] if one.field and one.field not in found else []
            found += [] if one.field or found else ["kind", "key"]
        elif one.where.startswith(_TABLE):
            for store in sorted(first_stores(side)):
                asked.setdefault("stores", {}).setdefault(store, []).append("source_table")
        elif one.field == OTHER_CODE:
            continue
        elif section == "library":
            others.append("library: null   # Kafka Streams release, such as 4.3.1")
        else:
            setting = f", among them {one.field}" if one.field else ""
            others.append(sentence(f"config: null   # every setting that is set{setting}"))
    return asked, _once(others)


def _once(lines: list[str]) -> list[str]:
    """Each line once, and one line of settings."""
    config = [line for line in lines if line.startswith("config: ")]
    return list(dict.fromkeys([line for line in lines if line not in config[1:]]))
