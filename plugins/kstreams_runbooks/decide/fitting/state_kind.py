"""How the keys of a state topic begin: by its name, by the declaration of its store, or as given; never guessed."""

from collections.abc import Collection, Mapping
from typing import Final

from kstreams_runbooks.decide.topology.names import (
    is_changelog,
    is_join_window,
    is_repartition,
    is_subscription_store,
    is_suppress_buffer,
    store_of,
)
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.model.readings.partitioning import KeyPair, StateKind
from kstreams_runbooks.model.topology.declaration import StoreKind
from kstreams_runbooks.wording import outside

# The kinds of a declaration whose changelogs have the record's key first. That of a join has it in one of its stores,
# and behind a timestamp in the one that outer joins share; a buffer has it behind a timestamp.
_READ: Final[Mapping[StoreKind, StateKind]] = {
    "key_value": "key_value",
    "window": "window",
    "session": "session",
    "versioned": "versioned",
}


def store_name(pair: KeyPair, application_id: str) -> str | None:
    """The store of the pair's changelog, None for a repartition topic.

    BadInput if the state topic is neither of the application.
    """
    rest = pair.state.removeprefix(f"{application_id}-")
    if rest == pair.state or not (is_changelog(rest) or is_repartition(rest)):
        raise BadInput(
            f"state topic {outside(pair.state)}: is not an internal topic of {application_id} (expected "
            f"{application_id}-…-changelog or {application_id}-…-repartition); give its full name"
        )
    return store_of(rest) if is_changelog(rest) else None


def state_kind(pair: KeyPair, application_id: str, declared: Collection[StoreKind | None]) -> StateKind:
    """How the keys of the pair's state topic begin; `declared` are the kinds that releases declare for its store.

    BadInput if it is not known, or given otherwise than declared; Refused for a kind that is not read.
    """
    store = store_name(pair, application_id)
    if store is None:
        if pair.kind not in {None, "repartition"}:
            raise BadInput(
                f"kind {pair.kind}: {pair.state} is a repartition topic (expected repartition); leave it out"
            )
        return "repartition"
    known = frozenset(kind for kind in declared if kind is not None)
    if keeps := _keeps(store, known):
        raise _not_read(pair, keeps)
    found = {_READ[kind] for kind in known}
    if len(found) > 1:
        raise BadInput(
            f"store {store}: is declared as {' and as '.join(sorted(found))} (expected one kind); compare it while one "
            "release is declared"
        )
    kind = pair.kind or next(iter(found), None)
    if kind is None:
        raise BadInput(
            f"store {store}: its kind is not declared (expected one of {', '.join(_READ)}); give --kind, or declare "
            f"stores.{store}.kind"
        )
    if kind == "repartition" or found - {kind}:
        wanted = next(iter(found), "the kind of its store")
        raise BadInput(f"kind {kind}: {pair.state} is the changelog of {store} (expected {wanted}); correct it")
    return kind


def _keeps(store: str, declared: Collection[StoreKind]) -> str:
    """What a store keeps under keys that are not read here, empty for one whose keys are."""
    if is_subscription_store(store):
        return "the subscriptions of a foreign-key join, under combined keys"
    if is_suppress_buffer(store):
        return "the buffer of a suppression, under keys of its own"
    if is_join_window(store) or "join" in declared:
        return "records of a join of streams, under keys of its own"
    other = sorted(kind for kind in declared if kind not in _READ)
    return f"a store of kind {other[0]}" if other else ""


def _not_read(pair: KeyPair, keeps: str) -> Refused:
    return Refused(
        f"state topic {pair.state}: has {keeps} (expected a key-value, window, session or versioned store): its keys "
        "cannot be compared; keep the repartition, or compare with its repartition topic"
    )
