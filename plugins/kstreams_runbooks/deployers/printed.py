"""What a topology command prints: a description, or the facts of the built topology, which have the description too."""

import re
from dataclasses import dataclass

from kstreams_runbooks.errors import BadInput, Inconclusive
from kstreams_runbooks.fleet.topology_facts import read_facts
from kstreams_runbooks.model.topology.declaration import Declaration

# A program may print lines of a log before it. The description in a document of facts is indented.
_DESCRIPTION = re.compile(r"Topologies:")
_FACTS = re.compile(r"^facts *:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PrintedTopology:
    """The text of `Topology#describe`, and the facts that were read from the program (None: it printed none)."""

    text: str
    read: Declaration | None = None


def printed_topology(output: str, who: str) -> PrintedTopology | None:
    """What `who` printed, from its first line on; None if there is neither.

    Inconclusive, with the reason, for facts that cannot be used: a broken document, another format, no description.
    """
    description, facts = _DESCRIPTION.search(output), _FACTS.search(output)
    if facts is None or (description is not None and description.start() < facts.start()):
        return None if description is None else PrintedTopology(_ended(output[description.start() :]))
    try:
        found = read_facts(output[facts.start() :], f"{who}: its document of topology facts")
    except BadInput as error:
        raise Inconclusive(str(error)) from None
    if found.text is None:
        why = found.read.not_read.get("topology", "no reason is given, print the facts again with topology-facts.jar")
        raise Inconclusive(f"{who}: its document of topology facts has no description: {why}")
    return PrintedTopology(_ended(found.text), found.read)


def _ended(text: str) -> str:
    return f"{text.rstrip()}\n"
