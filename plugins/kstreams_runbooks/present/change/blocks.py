"""The findings of a plan, those of one rule as one block: a sentence, its objects, its meaning for the data."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kstreams_runbooks.decide.change.library import LIBRARY_CHANGED
from kstreams_runbooks.present.change.headline import uncovered
from kstreams_runbooks.present.change.sections import second
from kstreams_runbooks.wording import first_of, sentence

# Objects listed in a block; more are counted.
_MOST = 20
_MOST_OF_INFO = 3
# A common end of several sentences begins at one of these.
_CLAUSE = re.compile(r", |: |; ")
# Findings of one release each, and their source.
_API = "api-changes-"
_API_SOURCE = 'Kafka Streams Upgrade Guide, "Streams API changes", https://kafka.apache.org/43/streams/upgrade-guide/'
_KINDS = {
    "store ": "stores",
    "internal topic ": "internal topics",
    "topic ": "topics",
    "operator ": "operators",
    "subtopology ": "subtopologies",
}


class Meaning(NamedTuple):
    """Findings with one meaning: `says` has all of it, or the part that its `objects` share."""

    says: str
    objects: tuple[str, ...]
    data: str


class Block(NamedTuple):
    """One rule, with the numbers of its sources."""

    severity: str
    rule: str
    parts: tuple[Meaning, ...]
    numbers: str


def blocks(plan: Mapping[str, Any]) -> Iterator[Block]:
    """Findings that no stronger one covers, from the worst; an upgrade that comes second is among the steps."""
    numbers = {source: str(number) for number, source in enumerate(sources(plan), 1)}
    api: list[str] = []
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in uncovered(plan):
        if _is_api(one):
            api.append(one["object"])
        elif not (one["id"] == LIBRARY_CHANGED and second(plan)):
            found.setdefault((one["severity"], one["id"]), []).append(one)
    for (severity, rule), alike in found.items():
        named = dict.fromkeys(numbers[one["source"]] for one in alike)
        yield Block(severity, rule, tuple(_parts(severity, alike)), ", ".join(named))
    if api:
        says = f"{', '.join(api)} change the API and settings: `plan --explain {_API}{api[-1]}` shows one of them"
        yield Block("info", _API.rstrip("-"), (Meaning(says, (), ""),), numbers[_API_SOURCE])


def sources(plan: Mapping[str, Any]) -> list[str]:
    """Every source of the findings and procedures, once; changes of the API have one for all releases."""
    named = [_API_SOURCE if _is_api(one) else one["source"] for one in (*uncovered(plan), *plan["procedures"])]
    return list(dict.fromkeys(named))


def _is_api(finding: Mapping[str, Any]) -> bool:
    """Whether it is about the API of one release, and not about the application."""
    return finding.get("severity") == "info" and str(finding.get("id", "")).startswith(_API)


def covered(plan: Mapping[str, Any]) -> str:
    """How many findings a stronger one covers, in words; empty if none."""
    count = len(plan["findings"]) - len(uncovered(plan))
    return (
        f"({count} finding{'' if count == 1 else 's'} more that a stronger one covers: --format json)" if count else ""
    )


def _parts(severity: str, alike: list[dict[str, Any]]) -> Iterator[Meaning]:
    """The findings of one rule by their meaning."""
    meanings: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in alike:
        meanings.setdefault((one["data"] or "", one["source"]), []).append(one)
    for (data, _), same in meanings.items():
        says, objects = _joined(same, _MOST_OF_INFO if severity == "info" else _MOST)
        yield Meaning(sentence(says), tuple(map(sentence, objects)), sentence(data))


def _joined(alike: list[dict[str, Any]], most: int) -> tuple[str, list[str]]:
    """One sentence for findings of one meaning, and a line for each object if their sentences differ in more."""
    messages = list(dict.fromkeys(one["message"] for one in alike))
    if len(messages) == 1:
        return messages[0], []
    if len({one["message"].replace(one["object"], "") for one in alike}) == 1:
        others = list(dict.fromkeys(one["object"] for one in alike))[1:]
        return f"{messages[0]}; the same for {first_of(others, most)}", []
    shared = _shared_end(messages)
    objects = [message.removesuffix(shared) for message in messages]
    kind = next((one for one in _KINDS if all(each.startswith(one) for each in objects)), "")
    objects = [one.removeprefix(kind) for one in objects]
    more = [f"{len(objects) - most:,} more: --format json"] if len(objects) > most else []
    return f"{len(objects)} {_KINDS.get(kind, 'objects')}{shared}", [*objects[:most], *more]


def _shared_end(messages: list[str]) -> str:
    """The longest clause at the end of all sentences, with the sign that begins it; empty if they share none."""
    first = messages[0]
    ends = (first[found.start() :] for found in _CLAUSE.finditer(first))
    return next((end for end in ends if all(message.endswith(end) for message in messages)), "")
