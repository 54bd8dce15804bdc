"""A stack on a secured cluster: the runbooks and the application have logins, and each may do what it was granted.

The tests' own clients use a listener without logins, whose user may do everything.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.rules import rights
from lab.afresh import afresh
from lab.application import Deployed
from lab.logins import Login, Logins, drawn
from lab.second_listener import SecondListener
from lab.settings import Ports
from lab.stack import Parts, Stack

from world.own_stack import own_stack
from world.ports import SECURED_STACK, port

# A release between the oldest and the newest, from which one bounce is enough.
BETWEEN = "3.9.1"
RUNBOOKS, APPLICATION, SPARK = "runbooks", "orders-application", "spark"
_LEDGER = "KSTREAMS_RUNBOOKS_LEDGER"
_ALLOWED = re.compile(
    r"Principal = User:(?P<user>\S+) is (?P<decision>\w+) operation = (?P<operation>\w+) from host = \S+ on resource = "
    r"(?P<resource>\w+):LITERAL:(?P<name>\S+) for request = (?P<request>\w+)"
)
_WORDS = {
    "ALTER": "Alter",
    "CREATE": "Create",
    "DELETE": "Delete",
    "DESCRIBE": "Describe",
    "DESCRIBE_CONFIGS": "DescribeConfigs",
    "READ": "Read",
    "WRITE": "Write",
}


@dataclass(frozen=True)
class Asked:
    """One right that the broker's authorizer was asked for."""

    operation: str
    resource: str
    name: str
    allowed: bool
    request: str

    def needs(self, acl: Mapping[str, str]) -> bool:
        """Whether this ACL allows it by its own operation."""
        if (self.operation, self.resource) != (acl["operation"], acl["resource"]):
            return False
        return self.name.startswith(acl["name"]) if acl["pattern"] == "prefixed" else acl["name"] in {"*", self.name}


class SecuredStack:
    """The stack, its logins, and the log of its authorizer."""

    def __init__(self, stack: Stack, logins: Logins, runbooks: Login, application: Login, spark: Login) -> None:
        self.stack = stack
        self.logins = logins
        self.runbooks = runbooks
        self.application = application
        self.spark = spark
        self._begin = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The instances of the application."""
        return Deployed().names

    def printed(self, runbook: str, *words: str) -> list[dict[str, str]]:
        """The ACLs of a runbook, as an administrator has them printed; Spark has a login of its own."""
        ledger = self.stack.environment().get(_LEDGER, "") if self.stack.parts.airflow else ""
        return _printed(runbook, {"bootstrap.servers": self.stack.lab.bootstrap}, *words, ledger=ledger)

    def allow(self, runbook: str, *words: str) -> list[dict[str, str]]:
        """Grant both logins exactly what is printed; returns the ACLs of the runbooks' login.

        A runbook that changes no application prints nothing for it, which keeps what it has.
        """
        acls = self.printed(runbook, *words)
        for login in (self.application, self.runbooks, self.spark):
            if own := of(acls, login.name):
                self.logins.allow(login, own)
        return of(acls, self.runbooks.name)

    def begin_with(self, release: str) -> None:
        """The application from nothing with this release, and with what is printed for its start."""
        acls = self.printed("stop_and_restart", "--release", release)
        self.logins.allow(self.application, of(acls, self.application.name))
        afresh(self.stack, _deployed(self.logins, self.application, release))

    @contextmanager
    def audited(self) -> Iterator[dict[str, set[Asked]]]:
        """Gives at its end what each login was asked for while the body ran."""
        found: dict[str, set[Asked]] = {}
        begin = self._log.stat().st_size
        self._begin = begin
        yield found
        found |= self._asked_since(begin)

    def asked_so_far(self) -> set[Asked]:
        """The same for the application, in the body."""
        return self._asked_since(self._begin)[self.application.name]

    @staticmethod
    def unused(acls: list[dict[str, str]], asked: set[Asked], seldom: Collection[str] = ()) -> list[str]:
        """Rights that no request needed, but for those of calls that are seldom alone."""
        operations = {row.id: row.operation for row in rights()}
        return [
            f"{one['operation']} on {one['resource']} {one['name']} ({', '.join(one['calls'])})"
            for one in acls
            if not any(each.needs(one) for each in asked)
            and not {call for call in one["calls"] if operations[call] == one["operation"]} <= {*seldom}
        ]

    @property
    def _log(self) -> Path:
        return self.stack.lab.logs / "broker.log"

    def _asked_since(self, begin: int) -> dict[str, set[Asked]]:
        found: dict[str, set[Asked]] = {one.name: set() for one in (self.runbooks, self.application, self.spark)}
        with self._log.open("rb") as file:
            file.seek(begin)
            for line in file:
                row = _ALLOWED.search(line.decode("utf-8", "replace"))
                if row and row["user"] in found:
                    word = _WORDS.get(row["operation"], row["operation"])
                    allowed = row["decision"] == "Allowed"
                    found[row["user"]].add(Asked(word, row["resource"], row["name"], allowed, row["request"]))
        return found


def of(acls: list[dict[str, str]], name: str) -> list[dict[str, str]]:
    """The ACLs of one login."""
    return [one for one in acls if one["principal"] == f"User:{name}"]


def _printed(runbook: str, connection: Mapping[str, Any], *more: str, ledger: str = "") -> list[dict[str, str]]:
    words = ["rights", runbook, "--application", "orders", "--format", "json", *more, "--principal", f"User:{RUNBOOKS}"]
    for role, name in (("application", APPLICATION), ("spark", SPARK)):
        words += ["--principal", f"{role}=User:{name}"]
    given = json.dumps({"conn_type": "kafka", "extra": dict(connection)})
    environment = {"AIRFLOW_CONN_KAFKA_DEMO": given, **({_LEDGER: ledger} if ledger else {})}
    found = CliRunner().invoke(cli, words, env=environment)
    assert found.exit_code == 0, found.output
    acls: list[dict[str, str]] = json.loads(found.stdout)["acls"]
    return acls


def _deployed(logins: Logins, login: Login, release: str) -> Deployed:
    settings = {"bootstrap.servers": logins.bootstrap, **logins.of_java(login)}
    # A window writes its result once it has closed, by default after two minutes: a test waits for the first one.
    return Deployed(release=release, settings=settings | {"window.grace.ms": "20000"})


@contextmanager
def secured_stack(directories: pytest.TempPathFactory, parts: Parts, release: str) -> Iterator[SecuredStack]:
    """Up while the body runs; the application is granted what `rights` prints before it runs, the runbooks nothing."""
    listener = SecondListener(directories.mktemp("logins"), Ports(port(SECURED_STACK)))
    runbooks, application, spark = drawn(RUNBOOKS), drawn(APPLICATION), drawn(SPARK)

    def prepared() -> None:
        listener.connect()
        for login in (runbooks, application, spark):
            listener.enroll(login)
        first = _printed("stop_and_restart", {"bootstrap.servers": f"127.0.0.1:{listener.ports.broker}"})
        listener.allow(application, of(first, application.name))

    with pytest.MonkeyPatch.context() as patched:
        # Inherited by the broker, whose log has what its authorizer was asked then.
        patched.setenv("AUTHORIZER_LOG", "debug")
        made = replace(
            parts, deployed=_deployed(listener, application, release), broker=listener.broker(), prepared=prepared
        )
        with own_stack(directories, made, SECURED_STACK, connection=listener.settings(runbooks)) as stack:
            yield SecuredStack(stack, listener, runbooks, application, spark)
