"""Which bytes of a state topic's key are the record's key: by name and declaration, never guessed."""

import pytest
from kstreams_runbooks.decide.fitting.state_kind import state_kind, store_name
from kstreams_runbooks.errors import BadInput, Refused
from kstreams_runbooks.model.readings.partitioning import KeyPair, StateKind
from kstreams_runbooks.model.topology.declaration import StoreKind


def pair(state: str, kind: StateKind | None = None) -> KeyPair:
    return KeyPair("customers", state, kind)


@pytest.mark.parametrize(
    ("state", "given", "declared", "kind"),
    [
        ("orders-a-changelog", None, {"window"}, "window"),
        ("orders-a-changelog", "session", {None}, "session"),
        ("orders-a-changelog", "session", set(), "session"),
        ("orders-a-changelog", "versioned", {"versioned", None}, "versioned"),
        ("orders-a-repartition", None, set(), "repartition"),
        ("orders-a-repartition", "repartition", set(), "repartition"),
    ],
)
def test_the_kind(state: str, given: StateKind | None, declared: set[StoreKind | None], kind: StateKind) -> None:
    assert state_kind(pair(state, given), "orders", declared) == kind


@pytest.mark.parametrize(
    ("state", "given", "declared", "error", "words"),
    [
        ("orders-a-changelog", None, set(), BadInput, "store a: its kind is not declared"),
        ("orders-a-changelog", "window", {"session"}, BadInput, "expected session"),
        ("orders-a-changelog", "repartition", set(), BadInput, "expected the kind of its store"),
        ("orders-a-changelog", None, {"session", "window"}, BadInput, "declared as session and as window"),
        ("orders-a-repartition", "window", set(), BadInput, "expected repartition"),
        ("customers", None, set(), BadInput, "is not an internal topic of orders"),
        ("orders-a", None, set(), BadInput, "is not an internal topic of orders"),
        ("orders-a-changelog", "key_value", {"join"}, Refused, "a join of streams"),
        ("orders-a-changelog", "key_value", {"buffer"}, Refused, "a store of kind buffer"),
        ("orders-KSTREAM-JOINTHIS-0000000004-store-changelog", "window", set(), Refused, "a join of streams"),
        ("orders-x-subscription-store-changelog", "key_value", set(), Refused, "a foreign-key join"),
        ("orders-KTABLE-SUPPRESS-STATE-STORE-0000000004-changelog", "window", set(), Refused, "a suppression"),
    ],
)
def test_what_is_not_known_or_not_read(
    state: str, given: StateKind | None, declared: set[StoreKind | None], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        state_kind(pair(state, given), "orders", declared)


def test_the_store_of_a_changelog() -> None:
    assert store_name(pair("orders-by-customer-changelog"), "orders") == "by-customer"
    assert store_name(pair("orders-by-customer-repartition"), "orders") is None
