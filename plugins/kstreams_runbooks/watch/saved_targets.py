"""Offsets that an earlier run saved, as targets: from its undo cards in the ledger, or from a file."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kstreams_runbooks.documents.text import read_text
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.ledger.card_facts import card_facts
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.offset_targets import OffsetTarget
from kstreams_runbooks.model.readings.readings import Missing, TopicReading
from kstreams_runbooks.model.runs.cards import GroupDeleted, OffsetsDeleted, OffsetsSet
from kstreams_runbooks.observe.kafka.offsets import Place
from kstreams_runbooks.wording import outside

_LINE = re.compile(r"([^,\s]+),([0-9]{1,9}),([0-9]{1,19})")


@dataclass(frozen=True, slots=True)
class Saved:
    """Offsets that were saved, by partition, and the ids that their topics had then, as far as a card has them."""

    offsets: dict[Place, int]
    ids: dict[str, str] = field(default_factory=dict)


def saved_offsets(entry: DeclaredApplication, target: OffsetTarget) -> Saved:
    """The offsets of a target `run:RUN` or `file:PATH`; BadInput if there are none of this application.

    Of a run the first card counts: what was committed before it changed anything.
    """
    scheme, _, rest = target.saved.partition(":")
    return Saved(_of_file(Path(rest))) if scheme == "file" else _of_run(entry, rest)


def saved_by_topic(
    entry: DeclaredApplication, targets: Mapping[str, OffsetTarget], topics: Iterable[TopicReading]
) -> dict[str, dict[Place, int] | Missing]:
    """The saved offsets of each topic with such a target; Missing if the topic was created again since.

    `topics` are they as they are now. A file has no ids.
    """
    read: dict[str, Saved] = {}
    now = {one.name: one.topic_id for one in topics}
    found: dict[str, dict[Place, int] | Missing] = {}
    for topic, target in targets.items():
        if not target.saved:
            continue
        if target.saved not in read:
            read[target.saved] = saved_offsets(entry, target)
        saved = read[target.saved]
        then = saved.ids.get(topic)
        if then is not None and topic in now and now[topic] != then:
            found[topic] = Missing(
                f"{target.given} has offsets of an earlier topic of that name (id {then}, now {now[topic]}); give "
                "another target"
            )
        else:
            found[topic] = saved.offsets
    return found


def _of_run(entry: DeclaredApplication, name: str) -> Saved:
    ledger = Ledger.existing()
    if ledger is None:
        raise BadInput(
            f"target run:{outside(name)}: the ledger was not found; set KSTREAMS_RUNBOOKS_LEDGER, or give the file "
            "that the run saved"
        )
    run = ledger.find_run(name)
    offsets: dict[Place, int] | None = None
    ids: dict[str, str] = {}
    for card in ledger.cards(run.run_key):
        facts = card_facts(card)
        if (
            not isinstance(facts, OffsetsSet | OffsetsDeleted | GroupDeleted)
            or (card.cluster or run.cluster) != entry.cluster
            or facts.before.group_id != entry.application_id
        ):
            continue
        if offsets is None:
            offsets = {one.place: one.offset for one in facts.before.offsets}
        if isinstance(facts, OffsetsSet):
            # A card has the ids of the topics that it sets, and the first one may set others.
            ids = {**dict(facts.ids), **ids}
    if offsets is not None:
        return Saved(offsets, ids)
    raise BadInput(
        f"target run:{outside(name)}: that run saved no offsets of group {entry.application_id} on {entry.cluster}; "
        "give another run (`kstreams-runbooks evidence` shows its cards)"
    )


def _of_file(path: Path) -> dict[Place, int]:
    try:
        lines = read_text(path).splitlines()
    except BadInput as error:
        raise BadInput(f"target file:{outside(path)}: {error}") from None
    found: dict[Place, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        part = _LINE.fullmatch(line.strip())
        if part is None:
            raise BadInput(
                f"target file:{outside(path)}: line {number} is {outside(line, 80)} (expected topic,partition,offset, "
                "as runs save them); correct it"
            )
        place = part[1], int(part[2])
        if place in found:
            raise BadInput(f"target file:{outside(path)}: line {number} names {part[1]}-{part[2]} again; keep one line")
        found[place] = int(part[3])
    if not found:
        raise BadInput(f"target file:{outside(path)}: has no offset (expected topic,partition,offset); give another")
    return found
