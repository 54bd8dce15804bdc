"""What keeps a login out of a real broker: one sentence per cause, with the remedy, within three seconds."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.observe import ClusterReader
from lab.certificates import KEY_PASSWORD
from lab.logins import Login
from lab.secured import Secured

Settings = dict[str, Any]


@pytest.fixture(scope="module")
def login(secured: Secured) -> Login:
    return secured.login("operator")


def _password(secured: Secured, login: Login) -> Settings:
    return secured.settings(Login(login.name, "wrong"))


def _plain_password(secured: Secured, _: Login) -> Settings:
    return secured.settings(Login("admin", "wrong", "PLAIN"))


def _user(secured: Secured, login: Login) -> Settings:
    return secured.settings(Login("stranger", login.password))


def _mechanism(secured: Secured, login: Login) -> Settings:
    return secured.settings(Login(login.name, login.password, "SCRAM-SHA-256"))


def _ca(secured: Secured, login: Login) -> Settings:
    return secured.settings(login) | {"ssl.ca.location": str(secured.certificates.other_ca)}


def _no_ca(secured: Secured, login: Login) -> Settings:
    return {name: value for name, value in secured.settings(login).items() if name != "ssl.ca.location"}


def _no_file(secured: Secured, login: Login) -> Settings:
    return secured.settings(login) | {"ssl.ca.location": "/nowhere/ca.pem"}


def _host(secured: Secured, login: Login) -> Settings:
    return secured.settings(login, secured.ports.elsewhere)


def _expired(secured: Secured, login: Login) -> Settings:
    return secured.settings(login, secured.ports.expired)


def _tls_to_plain(secured: Secured, login: Login) -> Settings:
    return secured.settings(login, secured.ports.plain)


def _plain_to_tls(secured: Secured, _: Login) -> Settings:
    return {"bootstrap.servers": secured.bootstrap}


def _no_login(secured: Secured, login: Login) -> Settings:
    return secured.settings(login) | {"security.protocol": "SSL"}


def _login_where_there_is_none(secured: Secured, login: Login) -> Settings:
    return secured.settings(login, secured.ports.plain) | {"security.protocol": "SASL_PLAINTEXT"}


def _nothing(secured: Secured, login: Login) -> Settings:
    return secured.settings(login, 9)


def _name(secured: Secured, login: Login) -> Settings:
    return secured.settings(login) | {"bootstrap.servers": "no-such-host.invalid:9092"}


def _controller(secured: Secured, _: Login) -> Settings:
    return secured.settings(secured.admin_login, secured.ports.controller) | {"security.protocol": "SASL_PLAINTEXT"}


def _no_client_certificate(secured: Secured, _: Login) -> Settings:
    return {
        "bootstrap.servers": f"127.0.0.1:{secured.ports.mutual}",
        "security.protocol": "SSL",
        "ssl.ca.location": str(secured.certificates.ca),
    }


def _key_password(secured: Secured, login: Login) -> Settings:
    made = secured.certificates
    given = {"ssl.certificate.location": str(made.client), "ssl.key.location": str(made.client_key)}
    return _no_client_certificate(secured, login) | given | {"ssl.key.password": "wrong"}


CASES: dict[str, tuple[Callable[[Secured, Login], Settings], int, str]] = {
    "wrong password": (_password, 4, "the password of login operator is wrong (SCRAM-SHA-512); correct sasl.password"),
    "wrong password, PLAIN": (_plain_password, 4, "does not accept login admin: the user or the password is wrong"),
    "unknown user": (_user, 4, "the broker has no login stranger for SCRAM-SHA-512; correct sasl.username"),
    "mechanism": (
        _mechanism,
        4,
        "SCRAM-SHA-256 is not enabled on this port; set sasl.mechanism to one that is (PLAIN,",
    ),
    "wrong CA": (_ca, 4, "the broker's certificate is not signed by the CA of ssl.ca.location ("),
    "no CA": (_no_ca, 4, "not signed by a CA that this machine trusts; set ssl.ca.location to the CA that signed it"),
    "no file": (_no_file, 2, "ssl.ca.location: /nowhere/ca.pem does not exist; correct it in the cluster's connection"),
    "another host": (_host, 4, "the broker's certificate is for broker.example.org, not for 127.0.0.1; give a host"),
    "expired": (_expired, 4, "the broker's certificate has expired; renew it on the broker"),
    "TLS to a plain port": (_tls_to_plain, 4, "the port speaks PLAINTEXT, but security.protocol is SASL_SSL; set it"),
    "plain to a TLS port": (
        _plain_to_tls,
        4,
        "the port speaks SASL_SSL, but security.protocol is PLAINTEXT; set it to",
    ),
    "no login": (_no_login, 4, "the port speaks SASL_SSL, but security.protocol is SSL; set it to SASL_SSL and"),
    "a login where there is none": (
        _login_where_there_is_none,
        4,
        "PLAINTEXT, but security.protocol is SASL_PLAINTEXT",
    ),
    "nothing listens": (_nothing, 4, "nothing listens on this port (connection refused); start the broker, or correct"),
    "unknown host": (_name, 4, "the host name cannot be resolved ("),
    "controller": (_controller, 4, "this is the port of a controller, which serves no clients; give that of a broker"),
    "no client certificate": (_no_client_certificate, 4, "does not accept the client's certificate, or asks for one"),
    "password of a key": (_key_password, 2, "(ssl.key.password is not its password, or the file has no key)"),
}


@pytest.mark.parametrize("name", CASES)
def test_each_cause_is_its_own_sentence(
    secured: Secured, login: Login, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    make, code, said = CASES[name]
    settings = make(secured, login)
    with pytest.raises(RunbookError) as told, ClusterReader(settings):
        pass
    assert said in str(told.value)
    assert "\n" not in str(told.value)
    assert told.value.exit_code == code
    assert login.password not in str(told.value)
    assert capfd.readouterr() == ("", ""), "a library printed lines around the sentence"


def test_who_may_come_in_comes_in(secured: Secured, login: Login) -> None:
    made = secured.certificates
    by_certificate = _no_client_certificate(secured, login) | {
        "ssl.certificate.location": str(made.client),
        "ssl.key.location": str(made.client_key),
        "ssl.key.password": KEY_PASSWORD,
    }
    for settings in (secured.settings(login), secured.settings(secured.admin_login), by_certificate):
        with ClusterReader(settings) as reader:
            assert len(reader.librdkafka.describe_consumer_groups(["any"])) == 1


def _discover(secured: Secured, config: Path, fleet: Path) -> tuple[int, str]:
    words = ("--bootstrap", secured.bootstrap, "--command-config", config, "--out", fleet, "--cluster", "secured")
    done = subprocess.run(
        [sys.executable, "-m", "kstreams_runbooks.cli", "discover", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_a_command_prints_the_sentence_and_nothing_around_it(secured: Secured, login: Login, tmp_path: Path) -> None:
    wrong, fleet = secured.command_config(Login(login.name, "wrong")), tmp_path / "fleet" / "applications"
    code, printed = _discover(secured, wrong, fleet)
    assert (code, printed.count("\n")) == (4, 1), printed
    assert f"Kafka at {secured.bootstrap}: the password of login operator is wrong" in printed
    gone = tmp_path / "gone.properties"
    gone.write_text(wrong.read_text().replace(str(secured.certificates.ca), "/nowhere/ca.pem"))
    code, printed = _discover(secured, gone, fleet)
    assert (code, printed.count("\n")) == (2, 1), printed
    assert f"{gone}: ssl.truststore.location: /nowhere/ca.pem does not exist; correct it in {gone}" in printed
