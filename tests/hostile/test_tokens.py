"""OAUTHBEARER with client credentials on a real broker; the token endpoint is a fake, over https with the test's CA.

The broker accepts unsecured tokens on one listener: what is proven is that each client gets a token, sends it and keeps
its rights, not what a broker checks of one.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AclOperation, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.observe import ClusterReader
from lab.fake_tokens import FakeTokenEndpoint, fake_token_endpoint
from lab.logins import GROUP, TOPIC, Login
from lab.secured import Secured

NAME = "token-client"


@pytest.fixture
def endpoint(secured: Secured) -> Iterator[FakeTokenEndpoint]:
    with fake_token_endpoint(NAME, secured.certificates.server) as made:
        yield made


def settings(secured: Secured, endpoint: FakeTokenEndpoint) -> dict[str, Any]:
    return {
        "bootstrap.servers": f"127.0.0.1:{secured.ports.tokens}",
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(secured.certificates.ca),
        "https.ca.location": str(secured.certificates.ca),
        **endpoint.settings(),
    }


def test_both_clients_log_in_by_token_and_have_the_rights_of_its_subject(
    secured: Secured, endpoint: FakeTokenEndpoint
) -> None:
    secured.admin().create_topics([NewTopic("by-token", 1)])["by-token"].result()
    subject = Login(NAME, "")
    with ClusterReader(settings(secured, endpoint)) as reader:
        assert "by-token" not in reader.topic_names()
        secured.grant(subject, TOPIC, "by-token", AclOperation.DESCRIBE)
        secured.grant(subject, GROUP, "any", AclOperation.DESCRIBE)
        try:
            assert "by-token" in reader.topic_names()
            [group] = reader.librdkafka.describe_consumer_groups(["any"], request_timeout=8).values()
            assert group.result(8).group_id == "any"
        finally:
            secured.revoke(subject)
    # kafka-python's connections share one token; librdkafka has one of its own.
    assert len(endpoint.tokens) == 2


def refused(config: dict[str, Any]) -> str:
    with pytest.raises(RunbookError) as error, ClusterReader(config):
        pass
    assert error.value.exit_code == 4
    said = str(error.value)
    assert "\n" not in said
    assert config["sasl.oauthbearer.client.secret"] not in said
    return said


def test_each_cause_is_one_sentence(secured: Secured, endpoint: FakeTokenEndpoint) -> None:
    """A wrong secret, a CA that did not sign the endpoint's certificate, a token that the broker does not accept."""
    good = settings(secured, endpoint)
    wrong = good | {"sasl.oauthbearer.client.secret": "not-this-one"}
    assert "does not accept client token-client (invalid_client)" in refused(wrong)
    other = good | {"https.ca.location": str(secured.certificates.other_ca)}
    assert "no TLS connection: its certificate is not accepted" in refused(other)
    endpoint.lifetime_s = -60
    assert "the broker does not accept the token of sasl.oauthbearer.client.id" in refused(good)
