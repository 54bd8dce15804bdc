"""Whether an older release may take over: the same topology, and no value that only headers make readable."""

from typing import Any

import pytest
from kstreams_runbooks.decide.plans.same_topology import may_take_over
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, Described
from kstreams_runbooks.model.verdicts import Outcome
from world.samples import declared

TEXT = """\
Topologies:
   Sub-topology: 0
    Source: in (topics: [orders])
      --> count
    Processor: count (stores: [counts])
      --> none
      <-- in
"""
HEADERS = {"dsl.store.format": "headers"}


def release(library: str, text: str = TEXT, **declared: Any) -> Described:
    return Described(library, library, f"topology command of {library}", text, Declaration(**declared))


def judged(before: Described, after: Described | Missing) -> tuple[Outcome, str, tuple[str, ...]]:
    verdict = may_take_over((before,), after, declared(), None)
    return verdict.outcome, " ".join(verdict.reasons), tuple(one.id for one in verdict.findings)


def test_the_same_topology_may_take_over() -> None:
    """Nothing keeps headers, by its settings."""
    assert judged(release("4.3.1", config={}), release("3.9.1"))[::2] == (Outcome.PROCEED, ())


def test_another_topology_is_refused_with_what_differs() -> None:
    """A downgrade brings no other change."""
    outcome, why, _ = judged(release("4.3.1", config={}), release("3.9.1", TEXT.replace("counts", "sums")))
    assert outcome is Outcome.REFUSE
    assert "stores counts only now; stores sums only then" in why


def test_a_release_that_cannot_be_described_is_inconclusive() -> None:
    """It may have any topology."""
    outcome, why, _ = judged(release("4.3.1"), Missing("no topology command"))
    assert (outcome, "no topology command; correct that" in why) == (Outcome.INCONCLUSIVE, True)


def test_a_person_may_accept_that_the_older_release_is_not_described() -> None:
    """Another topology is still refused."""
    accepted = may_take_over((release("4.3.1"),), Missing("no topology command"), declared(), "the registry is down")
    assert (accepted.outcome, [one.id for one in accepted.findings]) == (Outcome.PROCEED, ["topology-not-compared"])
    other = may_take_over((release("4.3.1"),), release("3.9.1", TEXT.replace("counts", "sums")), declared(), "down")
    assert other.outcome is Outcome.REFUSE


@pytest.mark.parametrize(
    ("needs", "outcome", "said"),
    [
        (True, Outcome.REFUSE, "store counts: the serdes need the headers of records"),
        (None, Outcome.INCONCLUSIVE, "needs_headers of the store"),
        (False, Outcome.PROCEED, "has the same topology"),
    ],
)
def test_stores_with_headers(needs: bool | None, outcome: Outcome, said: str) -> None:
    """An older release restores the value without them."""
    before = release("4.3.1", config=HEADERS, stores={"counts": DeclaredStore(needs_headers=needs)})
    found = judged(before, release("3.9.1"))
    assert (found[0], said in found[1]) == (outcome, True)


def test_serdes_that_need_headers_ask_for_the_format_of_the_store() -> None:
    """Settings that are not declared may have it."""
    before = release("4.3.1", stores={"counts": DeclaredStore(needs_headers=True)})
    outcome, why, _ = judged(before, release("3.9.1"))
    assert (outcome, "dsl.store.format in config" in why) == (Outcome.INCONCLUSIVE, True)


def test_a_store_that_was_read_with_headers_counts_without_the_setting() -> None:
    """The program may build it so."""
    before = release("4.3.1", config={}, stores={"counts": DeclaredStore(headers=True)})
    assert judged(before, release("3.9.1"))[0] is Outcome.INCONCLUSIVE


def test_a_release_with_headers_reads_them() -> None:
    """From 4.3 on."""
    assert judged(release("4.3.1", config=HEADERS), release("4.3.0"))[0] is Outcome.PROCEED


@pytest.mark.parametrize(
    ("library", "declares", "outcome"),
    [
        ("4.3.1", {}, Outcome.INCONCLUSIVE),
        ("", {}, Outcome.INCONCLUSIVE),
        ("4.3.1", {"config": {}, "not_read": {"config.dsl.store.format": "a provider"}}, Outcome.INCONCLUSIVE),
        ("4.3.1", {"config": {}}, Outcome.PROCEED),
        ("4.3.1", {"stores": {"counts": DeclaredStore(needs_headers=False)}}, Outcome.PROCEED),
        ("4.3.1", {"stores": {"counts": DeclaredStore(headers=False)}}, Outcome.PROCEED),
        ("4.2.1", {}, Outcome.PROCEED),
    ],
)
def test_a_format_that_is_not_known_is_not_known(library: str, declares: dict[str, Any], outcome: Outcome) -> None:
    """Only from 4.3 on there is such a setting; serdes that need no header read either format."""
    found, why, findings = judged(release(library, **declares), release("3.9.1"))
    assert (found, findings) == (outcome, ())
    assert ("declare dsl.store.format in config, or needs_headers" in why) == (outcome is Outcome.INCONCLUSIVE)
