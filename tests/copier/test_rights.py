"""The rights of the copier's login: exactly these, and without each of them one line before anything is copied."""

from typing import NamedTuple

import pytest
from confluent_kafka.admin import AclOperation, ResourceType  # type: ignore[attr-defined]
from lab.logins import GROUP, TOPIC, TRANSACTIONAL_ID, Login
from lab.topic_copier import REFUSED, TERMINATED, TopicCopier
from world.copied import Begin, Copy, OwnBroker

pytestmark = pytest.mark.long


class Right(NamedTuple):
    """One right, by the part of the copy that it is about."""

    kind: ResourceType
    part: str
    operation: AclOperation
    sentence: str


RIGHTS = (
    Right(TOPIC, "source", AclOperation.READ, "no right Read on topic"),
    Right(TOPIC, "source", AclOperation.DESCRIBE_CONFIGS, "no right DescribeConfigs on topic"),
    Right(TOPIC, "target", AclOperation.READ, "no right Read on topic"),
    Right(TOPIC, "target", AclOperation.WRITE, "no right Write on topic"),
    Right(TOPIC, "target", AclOperation.DESCRIBE_CONFIGS, "no right DescribeConfigs on topic"),
    Right(GROUP, "name", AclOperation.READ, "no right Read on group"),
    Right(TRANSACTIONAL_ID, "name", AclOperation.WRITE, "Grant the copier's login Write on the transactional ids"),
)


def login(copy: Copy, own_broker: OwnBroker, without: Right | None = None) -> Login:
    """A login with all of them but one; what is left still allows to see the topic or the group."""
    made = own_broker.logins.login(copy.name)
    for right in RIGHTS:
        operations = (AclOperation.DESCRIBE,) if right is without else (right.operation,)
        prefixed = right.kind == TRANSACTIONAL_ID
        own_broker.logins.grant(made, right.kind, getattr(copy, right.part), *operations, prefixed=prefixed)
    return made


def secured(copy: Copy, own_broker: OwnBroker, made: Login) -> TopicCopier:
    """Its copier, by this login."""
    copier = copy.copier()
    copier.settings |= own_broker.logins.of_java(made) | {"bootstrap.servers": own_broker.logins.bootstrap}
    return copier


def test_these_rights_are_enough(begin_there: Begin, own_broker: OwnBroker) -> None:
    """To copy, to end and to start again."""
    copy = begin_there().create().seed()
    copy.send(20)
    copier = secured(copy, own_broker, login(copy, own_broker))
    for _ in range(2):
        copier.start().wait_running()
        copy.wait_copied()
        assert copier.terminate() == TERMINATED
    assert copy.require_equal() == 20


@pytest.mark.parametrize("missing", RIGHTS, ids=lambda right: f"{right.operation.name} {right.kind.name} {right.part}")
def test_a_right_that_is_missing_is_named_before_anything_is_copied(
    begin_there: Begin, own_broker: OwnBroker, missing: Right
) -> None:
    """In the last line, with the object where the broker names it."""
    copy = begin_there().create().seed()
    copy.send(20)
    copier = secured(copy, own_broker, login(copy, own_broker, without=missing))
    assert copier.start().end() == REFUSED
    assert missing.sentence in copier.last_line
    if missing.kind != TRANSACTIONAL_ID:
        assert f"{getattr(copy, missing.part)}; grant it." in copier.last_line
    copy.require_nothing_copied()


def test_a_topic_that_the_login_may_not_see_is_named_with_the_rights(begin_there: Begin, own_broker: OwnBroker) -> None:
    """Hidden is not absent."""
    copy = begin_there().create().seed()
    copier = secured(copy, own_broker, own_broker.logins.login(copy.name))
    assert copier.start().end() == REFUSED
    assert f"The copier's login may not see topic {copy.source}, nor whether it exists; grant" in copier.last_line


def test_a_wrong_password_is_named(begin_there: Begin, own_broker: OwnBroker) -> None:
    """And is not shown."""
    copy = begin_there().create().seed()
    made = login(copy, own_broker)
    copier = secured(copy, own_broker, Login(made.name, "of another time", made.mechanism))
    assert copier.start().end() == REFUSED
    assert "Correct the login in the settings." in copier.last_line
    assert "of another time" not in copier.log.read_text(encoding="utf-8")
