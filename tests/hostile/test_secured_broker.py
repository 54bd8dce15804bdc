"""The secured broker itself: no right without an ACL, and an ACL gives what it says."""

from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AclOperation, AdminClient, NewTopic  # type: ignore[attr-defined]
from kstreams_runbooks.observe.kafka.clients import connect_python
from lab.logins import TOPIC, Login
from lab.secured import Secured

_QUIET: dict[str, Any] = {"log_level": 0, "error_cb": lambda _: None}


@pytest.fixture(scope="module")
def login(secured: Secured) -> Login:
    """A login without any right, next to one topic."""
    secured.admin().create_topics([NewTopic("guarded", 1)])["guarded"].result()
    return secured.login("visitor")


def _topics(secured: Secured, login: Login) -> set[str]:
    client = AdminClient(secured.settings(login) | _QUIET)
    return {name for name in client.list_topics(timeout=10).topics if not name.startswith("__")}


def test_a_login_sees_a_topic_when_and_only_when_it_may_describe_it(secured: Secured, login: Login) -> None:
    assert "guarded" not in _topics(secured, login)
    secured.grant(login, TOPIC, "guard", AclOperation.DESCRIBE, prefixed=True)
    assert "guarded" in _topics(secured, login)
    secured.revoke(login, TOPIC, "guard")
    assert "guarded" not in _topics(secured, login)
    assert secured.acls(login) == []


def test_kafka_python_sees_the_same(secured: Secured, login: Login) -> None:
    client = connect_python(secured.settings(login))
    try:
        assert "guarded" not in client.list_topics()
        secured.grant(login, TOPIC, "guarded", AclOperation.DESCRIBE)
        assert "guarded" in client.list_topics()
    finally:
        client.close()
        secured.revoke(login)
    assert secured.acls(login) == []


def test_another_password_is_refused(secured: Secured, login: Login) -> None:
    wrong = AdminClient(secured.settings(Login(login.name, "wrong")) | _QUIET)
    with pytest.raises(KafkaException):
        wrong.list_topics(timeout=2)
