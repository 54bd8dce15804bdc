"""Whether an older release may take over what a newer one leaves: the same topology, and stores that it can read."""

from collections.abc import Iterator

from kstreams_runbooks.decide.change.without_topology import may_stay_unread, unread_release
from kstreams_runbooks.decide.topology.described import ParsedDescription, parsed
from kstreams_runbooks.model.fleet_entry import DeclaredApplication
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.topology.declaration import STORE_FORMAT, DeclaredStore, Described
from kstreams_runbooks.model.topology.topology import Topology
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of

# Stores of the DSL with headers exist from this release on. Source: KIP-1271, KIP-1285.
_HEADERS_SINCE = Release("4.3.0")
_MOST = 3


def may_take_over(
    before: tuple[Described, ...], after: Described | Missing, application: DeclaredApplication, accepted: str | None
) -> Verdict:
    """Whether release `after` may continue with the changelogs of every running version, from before a downgrade.

    Refuses another topology, and a store whose serdes need the headers of records, which older releases do not give
    them. Inconclusive if it is not declared whether they need them, or if a release cannot be described and no person
    has accepted that (`accepted`).
    """
    if isinstance(after, Missing):
        return may_stay_unread((unread_release(after),), application, accepted)
    wanted, running = parsed(after), [parsed(one) for one in before]
    for one in running:
        if one.topology != wanted.topology:
            what = _differences(one.topology, wanted.topology)
            return Verdict(
                Outcome.REFUSE,
                (
                    f"{_named(after)} has another topology than {_named(one.described)} ({what}); bring a build of "
                    f"{_named(after)} with the same topology, or use the runbook that plan_change names",
                ),
            )
    if after.library and Release.parse(after.library) >= _HEADERS_SINCE:
        return Verdict(Outcome.PROCEED, (f"{_named(after)} has the same topology",))
    needing = [name for one in running for name, needs in _with_headers(one) if needs]
    if needing:
        return Verdict(
            Outcome.REFUSE,
            (
                f"{_stores(needing)}: the serdes need the headers of records, and {_named(after)} restores values "
                "without them; stay, or move to serdes without headers first",
            ),
        )
    open_ = [name for one in running for name, needs in _with_headers(one) if needs is None]
    if open_:
        return Verdict(
            Outcome.INCONCLUSIVE,
            (
                f"{_stores(open_)}: may keep headers, which {_named(after)} does not read; declare {STORE_FORMAT} in "
                "config, or needs_headers of the store (whether its serdes need them)",
            ),
        )
    return Verdict(Outcome.PROCEED, (f"{_named(after)} has the same topology",))


def _with_headers(one: ParsedDescription) -> Iterator[tuple[str, bool | None]]:
    """Every store that keeps headers, and whether its serdes need them; open too if it may keep them."""
    if one.described.library and Release.parse(one.described.library) < _HEADERS_SINCE:
        return
    for name, store in _stores_of(one):
        keeps = one.described.declaration.keeps_headers(store)
        if keeps:
            yield name, store.needs_headers
        elif keeps is None and store.needs_headers is not False:
            yield name, None


def _stores_of(one: ParsedDescription) -> Iterator[tuple[str, DeclaredStore]]:
    declared = one.described.declaration.stores
    for name in sorted({*one.topology.stores, *declared}):
        yield name, declared.get(name, DeclaredStore())


def _differences(running: Topology, wanted: Topology) -> str:
    """What one of them has and the other has not."""
    found = [
        f"{what} {first_of(sorted(names), _MOST)} {where}"
        for what, now, then in (
            ("operators", running.operators, wanted.operators),
            ("stores", running.stores, wanted.stores),
        )
        for names, where in ((now - then, "only now"), (then - now, "only then"))
        if names
    ]
    return first_of(found, _MOST, "; ") or "the same operators, connected otherwise"


def _named(one: Described) -> str:
    return f"release {one.release}" if one.release else one.source


def _stores(names: list[str]) -> str:
    return f"store {first_of(sorted(set(names)), _MOST)}"
