"""Records survive being written and read, and what is not a record is refused with its reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kstreams_runbooks.demo.traffic.records import (
    Customer,
    Enriched,
    MalformedRecord,
    Order,
    PerCustomer,
    Record,
    Running,
    Windowed,
)

WORDS = st.text(max_size=20)
WHOLE = st.integers(min_value=-(2**63), max_value=2**63 - 1)
RECORDS = st.one_of(
    st.builds(Order, WORDS, WORDS, WORDS, WHOLE, WHOLE),
    st.builds(Customer, WORDS, WORDS, WHOLE, WHOLE),
    st.builds(Running, WORDS, WHOLE, WHOLE, WORDS, WHOLE),
    st.builds(Windowed, WORDS, WHOLE, WHOLE, WHOLE),
    st.builds(Enriched, WORDS, WORDS, WORDS, WHOLE, WORDS, WHOLE),
    st.builds(PerCustomer, WORDS, WHOLE),
)


@given(RECORDS)
def test_a_record_reads_back_as_it_was_written(record: Record) -> None:
    """Encode and decode are each other's inverse for every kind."""
    assert type(record).decode(record.encode()) == record


def test_an_order_is_compact_json_with_its_version_first() -> None:
    """The bytes are those that the Java application expects."""
    order = Order(event="a-1", order="o-a-0", customer="c-17", amount=123, ts=1_700_000_000_000)
    assert order.encode() == (
        b'{"v":1,"event":"a-1","order":"o-a-0","customer":"c-17","amount":123,"ts":1700000000000}'
    )
    assert (order.key, Windowed("c-17", 10, 20, 1).key) == ("o-a-0", "c-17@10")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[1]", "version 1"),
        (b'{"v":2,"customer":"c-1","count":1}', "version 1"),
        (b'{"v":1,"customer":"c-1","count":1} x', "version 1"),
        (b'{"v":1,"customer":"c-1"}', "field count is None"),
        (b'{"v":1,"customer":"c-1","count":true}', "field count is True, not int"),
        (b'{"v":1,"customer":"c-1","count":1.0}', "field count is 1.0, not int"),
        (b'{"v":1,"customer":7,"count":1}', "field customer is 7, not str"),
    ],
)
def test_what_is_not_a_record_is_refused_with_its_reason(value: bytes, reason: str) -> None:
    """Another version, a missing field, another type, trailing text: each names itself."""
    with pytest.raises(MalformedRecord, match=reason):
        PerCustomer.decode(value)


def test_a_field_beyond_the_known_ones_is_ignored() -> None:
    """A writer may add fields without a new version."""
    assert PerCustomer.decode(json.dumps({"v": 1, "customer": "c", "count": 1, "new": 2}).encode()).count == 1


def test_a_value_under_another_key_is_refused() -> None:
    """Key and value of a record belong together; a tombstone has no value at all."""
    with pytest.raises(MalformedRecord, match="for the key c-1, not c-2"):
        PerCustomer.read("c-2", PerCustomer("c-1", 1).encode())
    with pytest.raises(MalformedRecord, match="tombstone"):
        PerCustomer.read("c-2", None)
