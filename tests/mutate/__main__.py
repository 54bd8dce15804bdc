"""`make mutate`: every change rule dropped, and each of its conditions negated; prints rule → failing test.

Exit codes: 0 every mutant fails a test, 1 at least one survives.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace

from kstreams_runbooks.decide.change.answer import change_plan
from kstreams_runbooks.decide.change.code_findings import code_findings
from kstreams_runbooks.decide.change.library import library_findings, with_cleared_state
from kstreams_runbooks.decide.change.rules import Fired, fired
from kstreams_runbooks.decide.change.settings import settings_of_release
from kstreams_runbooks.decide.comparison.subjects import subjects
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.topology.change import ChangeRule, Subject
from kstreams_runbooks.rules import topology_change_rules, upgrade_path_rules
from world.pairs import catalogue, compared, expected

TEST = "tests/unit/decide/change/test_reading.py::test_exactly_what_follows"
# What no subject has: a condition on a word is negated by asking for another one.
_ANOTHER = "another"

Rules = tuple[ChangeRule, ...]


def mutants(rules: Rules) -> Iterator[tuple[str, Rules]]:
    """What was done to which row, and the rules with it."""
    for at, rule in enumerate(rules):
        name = f"{rule.id} ({rule.on}, row {at + 1})"
        yield f"{name}: dropped", (*rules[:at], *rules[at + 1 :])
        for fact, value in rule.fires_when.items():
            negated = not value if isinstance(value, bool) else _ANOTHER
            changed = replace(rule, fires_when={**rule.fires_when, fact: negated})
            yield f"{name}: {fact} is not {value}", (*rules[:at], changed, *rules[at + 1 :])


def first_failing(parts: Mapping[str, tuple[Subject, ...]], libraries: Mapping[str, Fired], rules: Rules) -> str | None:
    """The first case that no longer comes out as it is expected, None where all do."""
    for case, subjects_of in parts.items():
        row, library = expected()[case], libraries[case]
        found = fired(subjects_of, rules)
        whole = Fired((*found.findings, *library.findings), (*found.undecided, *library.undecided))
        told = {one.id for one in whole.findings if one.covered_by is None}
        plan = change_plan(whole)
        seen = (
            {one.id for one in whole.findings},
            {one.id for one in whole.findings} - told,
            {one.id for one in whole.undecided},
            list(plan.runbooks),
            plan.verdict,
        )
        wanted = (
            set(row["rules"]),
            set(row.get("covered", ())),
            set(row.get("undecided", ())),
            row["runbooks"],
            row["verdict"],
        )
        if seen != wanted:
            return case
    return None


def _of_releases(case: str, versions: UpgradePathRules) -> Fired:
    """What follows from the releases, their settings and the code: no row of the changed rules decides that."""
    found = library_findings(compared(case), versions)
    settings = settings_of_release(with_cleared_state(compared(case), versions), versions, catalogue(case), None)
    of_code = code_findings(compared(case), subjects(compared(case)))
    return Fired((*found.findings, *settings.findings, *of_code), (*found.undecided, *settings.undecided))


def main() -> int:
    """Every mutant, one line each; the survivors again at the end."""
    rules = topology_change_rules()
    versions = upgrade_path_rules()
    parts = {case: subjects(with_cleared_state(compared(case), versions), catalogue(case)) for case in expected()}
    libraries = {case: _of_releases(case, versions) for case in expected()}
    if (broken := first_failing(parts, libraries, rules)) is not None:
        print(f"without a mutant {TEST}[{broken}] fails already; mend that first", file=sys.stderr)
        return 1
    survivors = []
    count = 0
    for name, mutated in mutants(rules):
        count += 1
        case = first_failing(parts, libraries, mutated)
        print(f"{name} -> {f'{TEST}[{case}]' if case else 'SURVIVES'}", flush=True)
        if case is None:
            survivors.append(name)
    print(f"{count} mutants of {len(rules)} rows, {len(survivors)} survive", file=sys.stderr)
    for name in survivors:
        print(f"  {name}", file=sys.stderr)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
