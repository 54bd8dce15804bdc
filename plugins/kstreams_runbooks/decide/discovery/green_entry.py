"""The declaration of an application that starts next to another one (blue): the same, but for what is its own."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kstreams_runbooks.decide.runbooks import ADOPT
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.model.address import metrics_url
from kstreams_runbooks.model.discovery.discovery import Draft, Field
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.wording import first_of, pasted

_GREEN, _ID, _SEMANTICS = "green", "application.id", "output_semantics"
_JOLOKIA_PORT = 8778
# Parts of an instance that no instance of the other application may have.
_OWN = ("program", "container", "directory", "state_dir")
# What an entry has of another application, or of its way here.
_NOT_TAKEN = frozenset({"application_id", "outputs", "deployer", "green_of", "green_outputs", "effects_twice"})


@dataclass(frozen=True, slots=True)
class TakenNames:
    """Names that entries of the fleet have: of entries, application.ids of the cluster, and its topics.

    `next_to` are the entries that are declared next to the application already.
    """

    names: Collection[str]
    ids: Collection[str]
    topics: Collection[str]
    next_to: Collection[str] = ()


def green_entry(
    written: Mapping[str, Any], blue: DeclaredApplication, taken: TakenNames, name: str = "", application_id: str = ""
) -> Draft:
    """The draft of green's entry from blue's file as it is `written`, with names that are free.

    Refused if blue has no copier in front of every input, or green is declared already; BadInput for a name that is
    taken.
    """
    _require_possible(blue, taken)
    own_name = _chosen("--name", name, taken.names) or _free(blue.name, taken.names)
    group = _chosen("--application-id", application_id, taken.ids) or _free(blue.application_id, taken.ids)
    pairs = {_free(one, taken.topics): one for one in blue.outputs}
    own, of_blue = {of: topic for topic, of in pairs.items()}, f"the entry of {blue.name}"
    fields = {
        "application_id": Field(group, "given" if application_id else "guessed", "of its own: no entry has it"),
        "green_of": Field(blue.name, "given", "the application next to which it starts"),
        "green_outputs": Field(
            pairs,
            "guessed",
            f"each output with that of {blue.name} which it replaces; the run creates them, the program has to write "
            "them",
        ),
        "outputs": Field(list(pairs), "guessed", "those of green_outputs"),
        **{
            key: Field(_of_outputs(value, own) if key == _SEMANTICS else value, "observed", f"as in {of_blue}")
            for key, value in written.items()
            if key not in _NOT_TAKEN
        },
    }
    return Draft(own_name, fields, _deployer(written["deployer"], blue, own_name))


def _of_outputs(value: Any, own: Mapping[str, str]) -> Any:
    """What blue declares of its outputs, by the names of green's."""
    return {own.get(topic, topic): of for topic, of in value.items()} if isinstance(value, Mapping) else value


def green_release(written: Mapping[str, Any], blue_id: str, draft: Draft) -> dict[str, Any]:
    """What blue declares of one release, for green: with its application.id, and its outputs in place of blue's."""
    replaced = {of: own for own, of in draft.fields["green_outputs"].value.items()}
    found = dict(written)
    if isinstance(config := written.get("config"), Mapping) and config.get(_ID) == blue_id:
        found["config"] = {**config, _ID: draft.fields["application_id"].value}
    if isinstance(topics := written.get("topics"), Mapping):
        found["topics"] = {replaced.get(name, name): topic for name, topic in topics.items()}
    return found


def _require_possible(blue: DeclaredApplication, taken: TakenNames) -> None:
    if taken.next_to:
        raise Refused(
            f"application {blue.name}: {first_of(sorted(taken.next_to))} is declared next to it already (expected "
            "none); start that one, or take it away first"
        )
    if bare := [one for one in blue.inputs if one not in blue.control]:
        words = ("kstreams-runbooks", "trigger", ADOPT, "--application", blue.name, "--param", "copier=COPIER")
        raise Refused(
            f"application {blue.name}: {first_of(bare)} is not a control topic (expected: a copier in front of every "
            f"input): without one no seam is exact; put it there first: {pasted(words)}"
        )
    if not blue.outputs:
        raise Refused(
            f"application {blue.name}: declares no outputs (expected those that others read); declare them first"
        )


def _chosen(option: str, name: str, taken: Collection[str]) -> str:
    if name in taken:
        raise BadInput(f"{option} {name}: an entry of the fleet has it (expected a free one); give another one")
    return name


def _free(name: str, taken: Collection[str]) -> str:
    """A name after this one that nothing has."""
    found, number = f"{name}-{_GREEN}", 1
    while found in taken:
        number += 1
        found = f"{name}-{_GREEN}-{number}"
    return found


def _deployer(written: Mapping[str, Any], blue: DeclaredApplication, name: str) -> dict[str, Field]:
    """Of the same kind, with instances of its own: their names in place of those of blue in every text."""
    renamed = {one: _renamed(one, blue.name, name) for one in blue.instances}
    other = _with_names(written, renamed)
    found = {
        key: Field(value, "observed", f"as in the entry of {blue.name}, with the names of its own instances")
        for key, value in other.items()
        if key != "instances"
    }
    instances = [
        dict(_instance(was, now, number))
        for number, (was, now) in enumerate(zip(written["instances"], other["instances"], strict=True))
    ]
    note = "instances of its own: deploy them, correct each part, and give each its own agent (metrics)"
    return {"kind": found.pop("kind"), "instances": Field(instances, "unknown", note), **found}


def _renamed(instance: str, blue: str, name: str) -> str:
    """`orders-1` of `orders` becomes `orders-green-1`."""
    return f"{name}{instance.removeprefix(blue)}" if instance.startswith(blue) else f"{instance}-{_GREEN}"


def _with_names(value: Any, renamed: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _with_names(of, renamed) for key, of in value.items()}
    if isinstance(value, list):
        return [_with_names(one, renamed) for one in value]
    if not isinstance(value, str):
        return value
    words = "|".join(sorted(map(re.escape, renamed), key=len, reverse=True))
    return re.sub(rf"(?<![\w-])({words})(?![\w-])", lambda found: renamed[found[1]], value)


def _instance(was: Mapping[str, Any], now: Mapping[str, Any], number: int) -> Iterator[tuple[str, Any]]:
    for key, value in now.items():
        if key == "metrics":
            yield key, metrics_url("unknown", _JOLOKIA_PORT + number)
        elif key in _OWN and value == was[key]:
            yield key, f"{value}-{_GREEN}"
        else:
            yield key, value
