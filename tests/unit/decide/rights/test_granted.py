"""Missing is never OK, and what is not known is never missing nor OK.

The answers have the command that grants a right: decide/rights/commands
"""

from dataclasses import replace

import pytest
from kstreams_runbooks.decide.registry import DECISIONS
from kstreams_runbooks.decide.rights.granted import compared_rights, has_rights
from kstreams_runbooks.decide.rights.needed import CLUSTER
from kstreams_runbooks.ledger.codec import call_again, encode, encode_call
from kstreams_runbooks.model.readings.acls import (
    Acl,
    GrantedAcl,
    GrantedReading,
    NeededAcls,
    Operations,
    RightsAnswer,
)
from kstreams_runbooks.model.readings.readings import Missing, Taken
from kstreams_runbooks.model.verdicts import Outcome

ME, APPLICATION = "User:runbooks", "User:orders"
READ = Acl(ME, "Read", "Topic", "in")
CONFIGS = Acl(ME, "DescribeConfigs", "Cluster", CLUSTER)
GROUP = Acl(ME, "Describe", "Group", "app")
IDS = Acl(ME, "Describe", "TransactionalId", "app-", "prefixed")
OWN = Acl(APPLICATION, "Write", "Topic", "out")
NEEDED = NeededAcls("certify_drain", "orders", (READ, CONFIGS, GROUP, IDS, OWN))


def row(principal: str, operation: str, resource: str, name: str, **changes: str) -> GrantedAcl:
    return replace(GrantedAcl(principal, "*", operation, resource, name, "LITERAL", "ALLOW"), **changes)


ALL = GrantedReading(
    Taken(0, "test"),
    ME,
    ("DESCRIBE", "DESCRIBE_CONFIGS"),
    (("in", ("DESCRIBE", "READ")),),
    (("app", ("DESCRIBE", "READ")),),
    (
        row(ME, "DESCRIBE", "TRANSACTIONAL_ID", "app-", pattern="PREFIXED"),
        row(APPLICATION, "WRITE", "TOPIC", "o", pattern="PREFIXED"),
    ),
)


def test_with_every_right_a_run_goes_on() -> None:
    answer = compared_rights(NEEDED, ALL)
    assert (answer.missing, answer.unknown) == ((), ())
    verdict = has_rights(NEEDED, ALL)
    assert (verdict.outcome, verdict.sentence) == (
        Outcome.PROCEED,
        "proceed: login User:runbooks has the 5 rights that this run needs first",
    )


@pytest.mark.parametrize(
    ("lost", "acl", "command"),
    [
        ({"topics": (("in", ("DESCRIBE",)),)}, READ, "--operation Read --topic in"),
        ({"topics": (("in", ()),)}, READ, "--operation Read --topic in"),
        ({"cluster": ("DESCRIBE",)}, CONFIGS, "--operation DescribeConfigs --cluster"),
        ({"groups": (("app", ()),)}, GROUP, "--operation Describe --group app"),
        (
            {"acls": ALL.acls[1:] if isinstance(ALL.acls, tuple) else ()},
            IDS,
            "--operation Describe --transactional-id app- --resource-pattern-type prefixed",
        ),
        (
            {"acls": (*(ALL.acls[:1] if isinstance(ALL.acls, tuple) else ()), row(APPLICATION, "READ", "TOPIC", "in"))},
            OWN,
            "--operation Write --topic out",
        ),
    ],
    ids=["Read", "hidden topic", "DescribeConfigs", "hidden group", "ids", "another login"],
)
def test_each_right_that_is_missing_is_named(lost: dict[str, object], acl: Acl, command: str) -> None:
    """The resource, the login, the right, and the command that grants it."""
    reading = replace(ALL, **lost)  # type: ignore[arg-type]
    assert compared_rights(NEEDED, reading).missing == (acl,)
    verdict = has_rights(NEEDED, reading, "broker:9092")
    assert verdict.outcome is Outcome.REFUSE
    assert verdict.reasons == (
        f"{acl.resource} {acl.name}: login {acl.principal} lacks {acl.words}; grant it: kafka-acls.sh "
        f"--bootstrap-server broker:9092 --command-config ADMIN.properties --add --allow-principal {acl.principal} "
        f"{command}",
    )


@pytest.mark.parametrize("part", ["cluster", "topics", "groups"])
def test_a_right_that_is_not_known_is_inconclusive(part: str) -> None:
    """Neither granted nor missing; also one that was never read."""
    why = Missing("the broker does not report it")
    given = {"cluster": why, "topics": (("in", why),), "groups": ()}[part]
    reading = replace(ALL, **{part: given})  # type: ignore[arg-type]
    answer = compared_rights(NEEDED, reading)
    assert answer.missing == ()
    [(acl, reason)] = answer.unknown
    assert reason == (why.missing if part != "groups" else "group app was not read")
    verdict = has_rights(NEEDED, reading)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reasons == (
        f"{acl.resource} {acl.name}: whether login {ME} has {acl.words} is not known ({reason})",
    )


def test_acls_that_are_hidden_leave_transactional_ids_and_other_logins_not_known() -> None:
    """A run goes on with a note about the ids: the drain that needs them sees whether they are hidden."""
    reading = replace(ALL, acls=Missing("its ACLs are not visible"))
    assert [acl for acl, _ in compared_rights(NEEDED, reading).unknown] == [IDS, OWN]
    verdict = has_rights(replace(NEEDED, acls=NEEDED.acls[:4]), reading)
    assert verdict.outcome is Outcome.PROCEED
    assert "whether login User:runbooks has Describe on TransactionalId names that begin with app-" in verdict.sentence


@pytest.mark.parametrize(
    ("acls", "granted"),
    [
        ((row(ME, "ALL", "TRANSACTIONAL_ID", "*"),), True),
        ((row("User:*", "WRITE", "TRANSACTIONAL_ID", "ap", pattern="PREFIXED"),), True),
        # A literal ACL on the prefix as a name allows that name alone.
        ((row(ME, "DESCRIBE", "TRANSACTIONAL_ID", "app-"),), False),
        ((row(ME, "DESCRIBE", "TRANSACTIONAL_ID", "app-1", pattern="PREFIXED"),), False),
        ((row(ME, "DESCRIBE", "TOPIC", "*"),), False),
        ((row(ME, "DESCRIBE", "TRANSACTIONAL_ID", "*", host="10.0.0.1"),), False),
        ((row(APPLICATION, "DESCRIBE", "TRANSACTIONAL_ID", "*"),), False),
        (
            (
                row(ME, "DESCRIBE", "TRANSACTIONAL_ID", "*"),
                row("User:*", "DESCRIBE", "TRANSACTIONAL_ID", "*", permission="DENY"),
            ),
            False,
        ),
    ],
)
def test_acls_are_matched_as_brokers_match_them(acls: tuple[GrantedAcl, ...], granted: bool) -> None:
    needed = replace(NEEDED, acls=(IDS,))
    assert (compared_rights(needed, replace(ALL, acls=acls)).missing == ()) is granted


def test_a_super_user_and_a_broker_without_authorizer_lack_nothing() -> None:
    """A super user has no ACL, and may do everything on the cluster."""
    own = replace(NEEDED, acls=NEEDED.acls[:4])
    every = ("ALTER", "ALTER_CONFIGS", "CLUSTER_ACTION", "DESCRIBE", "DESCRIBE_CONFIGS")
    assert compared_rights(own, replace(ALL, cluster=every, acls=())).missing == ()
    assert compared_rights(NEEDED, replace(ALL, acls=(), unsecured=True)).missing == ()


def test_a_super_user_lacks_nothing_although_everybody_has_an_acl_of_a_topic() -> None:
    """Only an ACL on the cluster may be what the broker reports of the cluster."""
    every = ("ALTER", "ALTER_CONFIGS", "CLUSTER_ACTION", "DESCRIBE", "DESCRIBE_CONFIGS")
    reading = replace(ALL, cluster=every, acls=(row("User:*", "DESCRIBE", "TOPIC", "*"),))
    needed = replace(NEEDED, acls=(IDS,))
    assert compared_rights(needed, reading) == RightsAnswer(NEEDED.runbook)
    reading = replace(reading, acls=(row("User:*", "ALL", "CLUSTER", CLUSTER),))
    answer = compared_rights(needed, reading)
    assert (answer.missing, [acl for acl, _ in answer.unknown]) == ((), [IDS])


@pytest.mark.parametrize(
    "acls",
    [
        (),
        (row(ME, "ALL", "TOPIC", "*"),),
        # To a super user this says nothing either.
        (row("User:*", "WRITE", "TOPIC", "*", permission="DENY"),),
    ],
)
def test_another_login_without_an_acl_may_be_a_super_user(acls: tuple[GrantedAcl, ...]) -> None:
    """Of another login brokers report nothing: its rights are neither granted nor missing."""
    needed = replace(NEEDED, acls=(OWN,))
    answer = compared_rights(needed, replace(ALL, acls=acls))
    assert answer.missing == ()
    [(acl, why)] = answer.unknown
    assert acl == OWN
    assert why.startswith("no ACL names User:orders: it is a super user, or has no right of its own; look")
    everybody = replace(ALL, acls=(row("User:*", "WRITE", "TOPIC", "*"),))
    assert compared_rights(needed, everybody) == RightsAnswer(NEEDED.runbook)


def test_this_login_without_an_acl_is_no_super_user_if_its_broker_says_so() -> None:
    """Without what the broker says it is not known."""
    needed = replace(NEEDED, acls=(IDS,))
    assert compared_rights(needed, replace(ALL, acls=())).missing == (IDS,)
    answer = compared_rights(needed, replace(ALL, acls=(), cluster=Missing("not reported")))
    assert (answer.missing, [acl for acl, _ in answer.unknown]) == ((), [IDS])


CREATE = Acl(ME, "Create", "Topic", "empty")
NONE = Missing("not reported")


@pytest.mark.parametrize(
    ("topic", "cluster", "granted"),
    [
        ((), ("CREATE", "DESCRIBE"), True),
        (("CREATE",), ("DESCRIBE",), True),
        (("CREATE",), NONE, True),
        (NONE, ("CREATE",), True),
        ((), ("DESCRIBE",), False),
        ((), NONE, None),
        (NONE, ("DESCRIBE",), None),
    ],
)
def test_create_on_the_cluster_is_enough_to_create_a_topic(
    topic: Operations, cluster: Operations, granted: bool | None
) -> None:
    """On either of both; if one is not known and the other one lacks it, the right is not known."""
    reading = replace(ALL, cluster=cluster, topics=(("empty", topic),))
    answer = compared_rights(replace(NEEDED, acls=(CREATE,)), reading)
    assert (bool(answer.missing), bool(answer.unknown)) == (granted is False, granted is None)
    read = replace(CREATE, operation="Read")
    assert compared_rights(replace(NEEDED, acls=(read,)), replace(reading, topics=(("empty", ()),))).missing == (read,)


OF_CLUSTER = row(APPLICATION, "CREATE", "CLUSTER", CLUSTER)
OF_TOPICS = row(APPLICATION, "CREATE", "TOPIC", "app-", pattern="PREFIXED")


@pytest.mark.parametrize(
    ("acls", "granted"),
    [
        ((OF_CLUSTER,), True),
        ((row(APPLICATION, "ALL", "CLUSTER", "*"),), True),
        ((row("User:*", "CREATE", "CLUSTER", CLUSTER), row(APPLICATION, "READ", "TOPIC", "in")), True),
        ((row(APPLICATION, "DESCRIBE", "CLUSTER", CLUSTER),), False),
        ((replace(OF_CLUSTER, host="10.0.0.1"),), False),
        # The broker asks for the right on the cluster first: a DENY of the topics is not asked for any more.
        ((OF_CLUSTER, replace(OF_TOPICS, permission="DENY")), True),
        ((OF_TOPICS, replace(OF_CLUSTER, permission="DENY")), True),
        ((OF_CLUSTER, replace(OF_CLUSTER, permission="DENY", principal="User:*")), False),
        ((OF_CLUSTER, OF_TOPICS, *(replace(one, permission="DENY") for one in (OF_CLUSTER, OF_TOPICS))), False),
    ],
)
def test_an_acl_of_the_cluster_lets_another_login_create_topics(acls: tuple[GrantedAcl, ...], granted: bool) -> None:
    """Next to those of the topics, each with its own DENY."""
    creates = Acl(APPLICATION, "Create", "Topic", "app-", "prefixed")
    answer = compared_rights(replace(NEEDED, acls=(creates,)), replace(ALL, acls=acls))
    assert (answer.missing == (), answer.unknown) == (granted, ())


def test_a_login_that_is_not_known_is_named_as_such() -> None:
    """By certificate or token: brokers still report what it may do."""
    needed = replace(NEEDED, acls=tuple(replace(one, principal="") for one in NEEDED.acls[:4]))
    reading = replace(ALL, principal="", cluster=())
    verdict = has_rights(needed, reading)
    assert verdict.reasons[0].startswith(f"Cluster {CLUSTER}: this login lacks DescribeConfigs on Cluster")
    assert "--allow-principal User:PRINCIPAL" in verdict.reasons[0]
    assert [why for _, why in compared_rights(needed, reading).unknown] == ["its login is not known"]


def test_the_decision_can_be_made_again_from_its_evidence() -> None:
    given = {"needed": NEEDED, "reading": ALL, "bootstrap": "b:1"}
    kept = encode_call(has_rights, given, has_rights(NEEDED, ALL, "b:1"))
    assert call_again(DECISIONS["has_rights"], kept) == encode(has_rights(NEEDED, ALL, "b:1"))
