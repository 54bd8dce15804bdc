"""Addresses that are not of an agent: refused where they are declared, missing where they are read."""

import pytest
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.deployers.base import Instance
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.observe.application.metrics import read_streams
from kstreams_runbooks.terminal.airflow.connect import airflow_at
from kstreams_runbooks.wire.limits import ExchangeLimits
from pydantic import ValidationError

# The same as the real ones in everything but the time, so that the cases are quick.
QUICK = ExchangeLimits(connect_s=0.3, silence_s=0.3, answer_s=0.6)

BAD_URLS = [
    "",
    "orders",
    "http://",
    "http:///jolokia",
    "//127.0.0.1/jolokia",
    "file:///etc/passwd",
    "ftp://127.0.0.1/jolokia",
    "gopher://127.0.0.1/",
    "javascript:alert(1)",
    "unix:///var/run/docker.sock",
    "http://127.0.0.1:99999/jolokia",
    "http://127.0.0.1:0/jolokia",
    "http://127.0.0.1:-1/jolokia",
    "http://127.0.0.1:8778x/jolokia",
    "http://127.0.0.1:8778:1/jolokia",
    "http://[::1/jolokia",
    "http://[hello]/jolokia",
    "http://[fe80::1%25eth0]/jolokia",
    "http://127.0.0.1 /jolokia",
    "http://127.0.0.1\r\nX-Injected: 1/jolokia",
    "http://127.0.0.1/jolokia\r\nX-Injected: 1",
    "http://127.0.0.1/\x00",
    "http://127.0.0.1/\x1b[2J",
    "http://127.0.0.1/?command=x",
    "http://127.0.0.1/#fragment",
    "http://bücher.example/jolokia",
    "http://xn--\u2028/jolokia",
    "http://" + "a" * 64 + ".example/jolokia",
    "http://a..b/jolokia",
    "http://-a-/jolokia",
    "http://\ud800/jolokia",
    "http://user:pass word@127.0.0.1/jolokia",
    "http://127.0.0.1/" + "a" * 3_000,
    "http://127.0.0.1\\@evil.example/",
    "http://$(id)/jolokia",
]


@pytest.mark.parametrize("url", BAD_URLS, ids=ascii)
def test_a_url_that_is_none_is_missing_with_the_reason(url: str) -> None:
    """Nothing is connected to, and what may be a login is not repeated."""
    reading = read_streams(url, limits=QUICK)
    assert isinstance(reading, Missing)
    assert "correct `metrics` in the fleet entry" in reading.missing
    assert "pass word" not in reading.missing


def test_a_name_that_does_not_resolve_is_missing() -> None:
    """It has a reason of its own."""
    reading = read_streams("http://no-such-host.invalid:8778/jolokia", limits=QUICK)
    assert isinstance(reading, Missing)
    assert "host name" in reading.missing


@pytest.mark.parametrize("url", [url for url in BAD_URLS if "\ud800" not in url], ids=ascii)
def test_a_url_that_is_none_is_refused_when_it_is_declared(url: str) -> None:
    """The same rule as where it is used; the sentence has no login in it."""
    with pytest.raises(ValidationError) as raised:
        Instance.model_validate({"name": "orders-1", "metrics": url})
    said = [each["msg"] for each in raised.value.errors(include_input=False)]
    assert len(said) == 1
    assert "pass word" not in said[0]
    with pytest.raises(BadInput, match=r"^(address of Airflow: |no address of Airflow)") as refused:
        airflow_at(url, "oncall", {})
    assert "pass word" not in str(refused.value)


def test_a_url_with_a_login_and_one_of_a_host_alone_are_urls() -> None:
    """What is common stays possible."""
    for url in ("http://orders-1:8778/jolokia", "https://me:pass@host/jolokia", "http://[::1]:8778", "http://a_b.c-d/"):
        assert Instance.model_validate({"name": "orders-1", "metrics": url}).metrics == url
