"""Which texts are addresses of brokers."""

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.model.address import concealed, kafka_servers, without_logins


@pytest.mark.parametrize(
    ("given", "servers"),
    [
        ("b:9092", ("b:9092",)),
        (" kafka_1.example.org:1 ,b:65535,, ", ("kafka_1.example.org:1", "b:65535")),
        ("b", ("b",)),
        ("[::1]:9092,[fe80::1%eth0]", ("[::1]:9092", "[fe80::1%eth0]")),
        ("SASL_SSL://b:9092,plaintext://[::1]:9", ("SASL_SSL://b:9092", "plaintext://[::1]:9")),
    ],
)
def test_what_both_clients_connect_to_is_an_address(given: str, servers: tuple[str, ...]) -> None:
    """With and without a port, a protocol before it, and spaces between."""
    assert kafka_servers(given, "here") == servers


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("foo:bar", "'foo:bar'"),
        ("b:9092,c:0", "'c:0'"),
        ("b:65536", "'b:65536'"),
        ("b:", "'b:'"),
        ("[::1", "'[::1'"),
        ("[b]:9092", "'[b]:9092'"),
        ("::1:9092", "'::1:9092'"),
        ("b 9092", "'b 9092'"),
        ("http://b:9092/", "'http://b:9092/'"),
        (["b:9092"], "\"['b:9092']\""),
        ("http://user:secret@b:9092", "'b:9092'"),
    ],
)
def test_what_is_no_address_is_named_without_credentials(given: object, shown: str) -> None:
    """Which one of several it is, and what is expected."""
    with pytest.raises(BadInput) as told:
        kafka_servers(given, "here")
    assert str(told.value).startswith(
        f"here: {shown} is not a bootstrap server (expected HOST:PORT with a port from 1 to"
    )
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("given", ["", " ", " , "])
def test_nothing_between_commas_is_no_address(given: str) -> None:
    """There is none to wait for."""
    with pytest.raises(BadInput, match=r"here: names no bootstrap server \(expected HOST:PORT"):
        kafka_servers(given, "here")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("https://h:1/jolokia", "https://h:1/jolokia"),
        ("https://a:b@c@h:1/jolokia", "https://(hidden)@h:1/jolokia"),
        ("https:///a:b@h//x@y", "https://(hidden)@y"),
        ("ada:secret@h", "(hidden)@h"),
        ("https://h/x?y#z", "https://h/x?(hidden)"),
        ("ada@example.org", "ada@example.org"),
        ("registry:5000/orders:1@sha256:abc", "registry:5000/orders:1@sha256:abc"),
        ("why? {release}", "why? {release}"),
    ],
)
def test_a_value_is_concealed_as_far_as_it_may_be_a_login(value: str, shown: str) -> None:
    """A person's mail address, an image with its digest and an argument of a command stay whole."""
    assert concealed(value) == shown


def test_each_login_of_a_sentence_is_hidden() -> None:
    """And only that: the sentence goes on."""
    text = "https://a:b@h/x and http://c@g: not a mail to ada@example.org"
    assert without_logins(text) == "https://(hidden)@h/x and http://(hidden)@g: not a mail to ada@example.org"
