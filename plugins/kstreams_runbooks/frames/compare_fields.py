"""Values that are JSON, without ignored paths: whether they differ, and in which fields.

A path is $.event, $.customer.email, $.lines[*].card or $.lines[0]. Spark evaluates expressions alone. A value is a
variant: its names are sorted, 1 is 1.0 and not "1". A value that is not JSON, has a name twice or a number that a
variant rounds, or is not UTF-8 has no fields: it is compared as a whole, and no path is left out of it.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.compare_rows import CompareQuestion
from kstreams_runbooks.model.json_paths import PATH, STEP
from kstreams_runbooks.wording import outside

if TYPE_CHECKING:
    from pyspark.sql import Column

# A value as a whole.
WHOLE: Final = "$"
_ANY: Final = "*"
# In place of an ignored element of an array; the length of the array is compared. No element is this text: those of
# JSON are quoted, numbers, true, false, null, or begin with a bracket.
_LEFT_OUT: Final = "ignored"

# Numbers that a variant keeps as doubles and rounds, or that are too large or too small for one. In a text such digits
# only cost the fields.
_ROUNDED: Final = r"(^|[:\[,])\s*-?([0-9.]{39,}|[0-9.]{18,}[eE]|[0-9.]+[eE][+-]?[0-9]{3,})"

# By the next step of a path (`.name`, `[*]` or `[0]`) the paths behind it; empty at the end of one.
_Tree = dict[str, "_Tree"]


def require_paths(question: CompareQuestion) -> None:
    """BadInput for a path that cannot be ignored, or in a mode that has none."""
    for path in question.ignored_paths:
        if not PATH.fullmatch(path):
            raise BadInput(
                f"ignored path {outside(path, 80)}: is not a path such as $.event or $.lines[*].card; give one"
            )
    if question.ignored_paths and question.mode not in {"latest", "windows"}:
        raise BadInput(f"ignored paths: mode {question.mode} compares whole values; use mode latest or windows")


def unlike_fields(first: "Column", second: "Column", ignored: Sequence[str]) -> "Column":
    """The names of the fields in which two values differ ($.amount), `$` for values without fields.

    Both are binary and not null. Empty if all that differs is ignored; without ignored paths equal documents that are
    written differently differ as a whole.
    """
    from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark program gives it

    tree = _tree(ignored)
    texts = [_json(value) for value in (first, second)]
    one, other = (_fields(text, tree) for text in texts)
    names = F.array_union(F.map_keys(one), F.map_keys(other))
    unlike = F.filter(names, lambda name: ~F.try_element_at(one, name).eqNullSafe(F.try_element_at(other, name)))
    whole = F.array(F.lit(WHOLE))
    none = F.array().cast("array<string>")
    are_objects = texts[0].startswith("{") & texts[1].startswith("{")
    spelled = none if ignored else whole
    return (
        F.when(F.isnull(texts[0]) | F.isnull(texts[1]), whole)
        .when(
            are_objects,
            F.when(F.size(unlike) == 0, spelled).otherwise(
                F.transform(unlike, lambda name: F.concat(F.lit("$."), name))
            ),
        )
        .when(_rest(texts[0], tree) == _rest(texts[1], tree), spelled)
        .otherwise(whole)
    )


def _tree(paths: Iterable[str]) -> _Tree:
    tree: _Tree = {}
    for path in paths:
        at, is_covered = tree, False
        steps = [f".{name}" if name else f"[{place}]" for name, place in STEP.findall(path)]
        for number, step in enumerate(steps):
            # Empty: a path ends here already, and covers this one.
            is_covered = is_covered or (step in at and not at[step])
            if is_covered:
                break
            at = at.setdefault(step, {})
            if number == len(steps) - 1:
                at.clear()
    return tree


def _json(value: "Column") -> "Column":
    """The text of a value with sorted names, null if it has no fields."""
    from pyspark.sql import functions as F  # noqa: N812

    text = value.cast("string")
    return F.when(F.is_valid_utf8(text) & ~text.rlike(_ROUNDED), F.to_json(F.try_parse_json(text)))


def _fields(text: "Column", tree: _Tree) -> "Column":
    """The fields of an object as texts, by name, without what the tree leaves out; null of anything else."""
    from pyspark.sql import functions as F  # noqa: N812

    below = {step[1:]: rest for step, rest in tree.items() if step.startswith(".")}
    left_out = [name for name, rest in below.items() if not rest]
    pairs = F.from_json(F.when(text.startswith("{"), text), "map<string,variant>")
    if left_out:
        pairs = F.map_filter(pairs, lambda name, _: ~name.isin(left_out))
    inner = {name: rest for name, rest in below.items() if rest}

    def shown(name: "Column", value: "Column") -> "Column":
        whole = F.to_json(value)
        return reduce(
            lambda left, one: F.when(name == one[0], _rest(whole, one[1])).otherwise(left), inner.items(), whole
        )

    return F.transform_values(pairs, shown)


def _rest(text: "Column", tree: _Tree) -> "Column":
    """A value as text without what the tree leaves out: two are equal if nothing else differs."""
    from pyspark.sql import functions as F  # noqa: N812

    rest = text
    if any(step.startswith(".") for step in tree):
        rest = F.when(text.startswith("{"), F.to_json(_fields(text, tree))).otherwise(rest)
    places = {step[1:-1]: below for step, below in tree.items() if step.startswith("[")}
    if places:
        elements = F.from_json(F.when(text.startswith("["), text), "array<variant>")

        def shown(value: "Column", place: "Column") -> "Column":
            found = F.to_json(value)
            # Every element has what `*` names left out, and then what its own place names.
            for at in sorted(places, key=lambda one: one != _ANY):
                below = places[at]
                left = _rest(found, below) if below else F.lit(_LEFT_OUT)
                found = left if at == _ANY else F.when(place == int(at), left).otherwise(found)
            return found

        rest = F.when(text.startswith("["), F.to_json(F.transform(elements, shown))).otherwise(rest)
    return rest
