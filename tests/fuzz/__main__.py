"""`make fuzz-plan`: random changes of random programs; the planner may ask for too much, never for too little.

    python -m fuzz

`COUNT` changes (3,000) of `SEED` (printed; a new one if it is not set), each judged three times: with the declarations
of a team, with the partitions that a cluster reports, and with both. `ONLY=n` prints change n of a seed: both
descriptions, the truth, and every finding. `OUT=file` keeps the table as Markdown, `FORMAT=json` prints the document.
stdout has the result alone. Exit codes: 0 no answer is unsafe or short, 1 one is, 2 bad input.
"""

import json
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from kill.__main__ import entry, number, tell
from kstreams_runbooks.decide.change.described import without_counts_of_old
from kstreams_runbooks.decide.change.reading import ChangeReading, read_change
from kstreams_runbooks.decide.comparison.compared import Side
from kstreams_runbooks.decide.comparison.contradictions import check_declaration
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.topology.declaration import Declaration
from kstreams_runbooks.model.verdicts import Outcome
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules

from fuzz.changes import Change, Known, build, drawn
from fuzz.grading import Answer, grade
from fuzz.table import Row, document, markdown, passed

_SEEDS = 1_000_000
_COUNT = 3_000


def run(environ: Mapping[str, str]) -> int:
    """Everything; returns the exit code."""
    count, seed, only = (number(environ, name) for name in ("COUNT", "SEED", "ONLY"))
    form = environ.get("FORMAT") or "table"
    if form not in {"table", "json"}:
        raise BadInput(f"FORMAT={form}: unknown; leave it out for a table, or set FORMAT=json")
    count = _COUNT if count is None else count
    if count < 1:
        raise BadInput(f"COUNT={count}: nothing to do; set it from 1")
    if only is not None and seed is None:
        raise BadInput(f"ONLY={only}: of no seed; set SEED to the one that drew it")
    seed = secrets.randbelow(_SEEDS) if seed is None else seed
    tell(f"SEED={seed} COUNT={count}")
    build()
    if only is not None:
        both = list(drawn(seed, only, 1))
        print("\n".join(line for one in both for line in shown(one)))
        return 0 if passed([row for one in both for row in graded(one)]) else 1
    rows = [row for one in drawn(seed, 0, count) for row in graded(one)]
    if environ.get("OUT"):
        Path(environ["OUT"]).write_text(markdown(seed, rows), encoding="utf-8")
    print(json.dumps(document(seed, rows), indent=2) if form == "json" else markdown(seed, rows))
    return 0 if passed(rows) else 1


def graded(one: Change) -> list[Row]:
    """The answers to a change, one for each of what the planner may have, with their grades."""
    rows = []
    for known in Known:
        try:
            answer = Answer.of(read(one, known))
        except BadInput as error:
            answer = Answer(Outcome.INCONCLUSIVE, rejected=str(error))
        old, new = one.known(known)
        visible = one.before != one.after or old != new
        length = len(one.before) + len(one.after)
        made = grade(one.truth, answer)
        rows.append(Row(one.number, one.kinds, one.edits, known, one.truth, answer, made, length, visible=visible))
    return rows


def read(one: Change, known: Known) -> ChangeReading:
    """The change as the planner reads it; BadInput if a declaration contradicts its description."""
    old, new = (
        Side(parse_topology(text), declaration)
        for text, declaration in zip((one.before, one.after), one.known(known), strict=True)
    )
    check_declaration(old)
    check_declaration(new)
    new = without_counts_of_old(old, new, Declaration())
    return read_change(old, new, topology_change_rules(), upgrade_path_rules())


def shown(one: Change) -> Iterator[str]:
    """Both descriptions, the edits, the truth, and what the planner finds."""
    yield from (one.before, one.after, *one.edits)
    yield f"truth: {one.truth.answer}, needs {', '.join(sorted(one.truth.needs)) or 'nothing'}"
    yield from (f"  {name}: {why}" for name, why in one.truth.facts.items())
    yield from (f"  {name}: needs a warning" for name in sorted(one.truth.warned))
    yield f"  kept: {', '.join(sorted(one.truth.kept)) or 'no store'}"
    for row in graded(one):
        yield f"with {row.known}: {row.grade}; {row.answer}"
        if row.answer.rejected:
            continue
        found = read(one, row.known)
        yield from (f"  {each.severity}, {each.id}, {each.object}: {each.message}" for each in found.uncovered)
        yield from (f"  not known, {each.id}: {', '.join(map(str, each.asked))}" for each in found.undecided)
        yield from (f"  {reason}" for reason in found.plan.reasons)


if __name__ == "__main__":
    sys.exit(entry(run))
