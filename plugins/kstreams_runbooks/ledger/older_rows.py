"""Values as older releases kept them, made into values of today, for the same decisions on them.

A plan had `bounces`, each of them a stage of the kind `bounce`. A card was about an instance, and its one flag,
`point_of_no_return`, was that an older release misreads what is written from there on.

Up to the release that merged the two models of lag, a gate's reading had rows with the offsets `committed`,
`log_start`, `stable` and `end`, each a number or `{"missing": reason}`. Such a row has no role, and its group's offsets
were read. What a decision came to then must come out today:

- `records` go from the committed offset, also from one that the log's start has passed; a committed offset past the
  end has 0 to read. Rows of today count from the log's start, and the second is unknown.
- `state` is that of the committed offset alone, also if an end is missing.
"""

from typing import Any

_OFFSETS = frozenset({"committed", "log_start", "stable", "end"})
_PLAN = frozenset({"runbook", "bounces", "facts"})
# A row is at most five levels below the inputs of a decision: reading of a list, its partitions, the row.
_DEEPEST = 8
_NEVER_COMMITTED = "never committed"


def renewed(value: Any, depth: int = _DEEPEST) -> Any:
    """The same JSON with each value of an older release as one of today; the very same object without any."""
    if isinstance(value, dict):
        if _is_older(value):
            return _row(value)
        if _is_older_plan(value):
            return _plan(value)
        changed = {key: new for key, each in value.items() if (new := _below(each, depth)) is not each}
        return {**value, **changed} if changed else value
    if isinstance(value, list):
        rows = [_below(each, depth) for each in value]
        return rows if any(new is not each for new, each in zip(rows, value, strict=True)) else value
    return value


def renewed_card(content: dict[str, Any]) -> dict[str, Any]:
    """The content of an undo card as one of today."""
    if "kind" in content:
        return content
    facts = content.get("facts")
    stage = facts.get("bounce", 0) if isinstance(facts, dict) else 0
    misreads = content.get("point_of_no_return", False)
    return {**content, "point_of_no_return": False, "misreads": misreads, "stage": stage}


def _below(value: Any, depth: int) -> Any:
    return renewed(value, depth - 1) if depth else value


def _is_older(value: dict[str, Any]) -> bool:
    """Whether it is such a row; anything else is left to the check of its type."""
    return value.keys() == _OFFSETS | {"topic", "partition"} and all(
        type(each) is int or (isinstance(each, dict) and isinstance(each.get("missing"), str))
        for each in map(value.get, _OFFSETS)
    )


def _is_older_plan(value: dict[str, Any]) -> bool:
    """Whether it is a plan of bounces alone; anything else is left to the check of its type."""
    return value.keys() >= _PLAN and "stages" not in value and _all_dicts(value["bounces"])


def _all_dicts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _plan(old: dict[str, Any]) -> dict[str, Any]:
    stages = [{**bounce, "kind": "bounce"} for bounce in old["bounces"]]
    return {**{name: value for name, value in old.items() if name != "bounces"}, "stages": stages}


def _row(old: dict[str, Any]) -> dict[str, Any]:
    committed, start, stable, end = (_number(old[name]) for name in ("committed", "log_start", "stable", "end"))
    missing = _reason(old["committed"])
    state = "ok" if not missing else "never_committed" if missing == _NEVER_COMMITTED else "unknown"
    since = start if committed is None else committed
    # Never committed, and its log begins at an unknown offset: the first offset to read is unknown too.
    no_start = f"{_NEVER_COMMITTED}, log start {_reason(old['log_start'])}" if since is None else ""
    return {
        "topic": old["topic"],
        "partition": old["partition"],
        "role": "source",
        "state": state,
        "committed": committed,
        "log_start_offset": start,
        "last_stable_offset": stable,
        "log_end_offset": end,
        "records": None if stable is None or since is None else max(0, stable - since),
        "why": _reason(old["stable"]) or no_start or missing,
    }


def _number(value: Any) -> int | None:
    return None if isinstance(value, dict) else value


def _reason(value: Any) -> str:
    return str(value["missing"]) if isinstance(value, dict) else ""
