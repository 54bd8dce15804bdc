"""Sentences about a login that a broker refuses."""

from kstreams_runbooks.observe.login.attempt import _login


def test_a_token_that_is_refused_may_have_a_clock_as_its_cause() -> None:
    """A broker with a wrong clock takes a new token for an expired one, and does not report that."""
    said = _login("OAUTHBEARER", 1, {}, None)
    assert "the broker does not accept the token of sasl.oauthbearer.client.id" in said
    assert "or the clock of the endpoint or of the broker, by which the token may have expired" in said
