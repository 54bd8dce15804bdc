"""Buffers of suppressions that keep their names: whether the table before them is the one that they have records of."""

from kstreams_runbooks.decide.comparison.compared import Compared, Side
from kstreams_runbooks.decide.comparison.state.held_tables import held_back, table_change
from kstreams_runbooks.decide.topology.text import parse_topology
from kstreams_runbooks.model.topology.change import Undeclared
from kstreams_runbooks.model.topology.declaration import Declaration, DeclaredStore, DeclaredSuppression, Serde

_COUNT, _REDUCE = ("KSTREAM-AGGREGATE", "KSTREAM-REDUCE")
_TEXT = """Topologies:
   Sub-topology: 0
    Source: clicks-source (topics: [clicks])
      --> {kind}-0000000002
    Processor: {kind}-0000000002 (stores: [{kind}-STATE-STORE-0000000001])
      --> KTABLE-SUPPRESS-0000000003
      <-- clicks-source
    Processor: KTABLE-SUPPRESS-0000000003 (stores: [KTABLE-SUPPRESS-STATE-STORE-0000000004])
      --> none
      <-- {kind}-0000000002
"""
_SUPPRESS = "KTABLE-SUPPRESS-0000000003"


def _store(kind: str) -> str:
    return f"{kind}-STATE-STORE-0000000001"


def _side(kind: str, declared: DeclaredStore | None) -> Side:
    stores = {} if declared is None else {_store(kind): declared}
    return Side(parse_topology(_TEXT.format(kind=kind)), Declaration(stores=stores))


def _declared(key: str = "user", value: str = "long") -> DeclaredStore:
    return DeclaredStore(kind="key_value", key=key, key_serde=Serde("string"), value_serde=Serde(value))


def _change(old: DeclaredStore | None, new: DeclaredStore | None, now: str = _REDUCE) -> Compared:
    return Compared(_side(_COUNT, old), _side(now, new))


def test_the_table_before_a_buffer_is_the_nearest_store() -> None:
    assert held_back(_side(_COUNT, None)) == {
        "KTABLE-SUPPRESS-STATE-STORE-0000000004": frozenset({_store(_COUNT)}),
    }


def test_another_key_in_another_table_is_found() -> None:
    found, asked, words = table_change(_change(_declared(), _declared("country")), _SUPPRESS, None, None)
    assert (found, asked) == (True, ())
    assert words == (
        "KSTREAM-AGGREGATE-STATE-STORE-0000000001 (key-value, key user, values long) → "
        "KSTREAM-REDUCE-STATE-STORE-0000000001 (key-value, key country, values long)"
    )


def test_another_format_of_values_is_found_unless_the_suppression_has_its_own() -> None:
    change = _change(_declared(), _declared(value="string"))
    assert table_change(change, _SUPPRESS, None, None)[0] is True
    own = DeclaredSuppression("until_time_limit", 1000, value_serde=Serde("json"))
    assert table_change(change, _SUPPRESS, own, own)[0] is False


def test_an_equal_table_in_its_place_is_no_finding() -> None:
    """The buffer forwards results that are still right."""
    assert table_change(_change(_declared(), _declared()), _SUPPRESS, None, None)[0] is False


def test_a_table_that_stays_has_its_own_findings() -> None:
    assert table_change(_change(_declared(), _declared("country"), _COUNT), _SUPPRESS, None, None) == (False, (), "")


def test_what_is_not_declared_is_asked_for() -> None:
    found, asked, _ = table_change(_change(_declared(), None), _SUPPRESS, None, None)
    assert found is None
    assert asked == tuple(
        Undeclared(f"stores.{_store(_REDUCE)}", field, "new") for field in ("key", "kind", "key_serde", "value_serde")
    )
