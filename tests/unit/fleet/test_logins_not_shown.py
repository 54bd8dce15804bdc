"""A login in an address of a fleet's file is in no sentence about that file, whatever is wrong with the address."""

from collections.abc import Callable
from pathlib import Path

import pytest
from kstreams_runbooks.connections import kafka_config
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import load_fleet

Write = Callable[..., Path]
ID = ("application_id: orders", "application_id: other")
AGENT, SUPERVISOR = "metrics: ${DEMO_METRICS_1}", "url: ${DEMO_SUPERVISOR}"
WORD = "PASS-WORD"


def refusal(config: Path) -> str:
    """What a run of the application reports: the same as its log and its messages."""
    with pytest.raises(BadInput) as error:
        load_fleet(config).application("other")
    (problem,) = load_fleet(config).disabled["other"]
    assert WORD not in repr(problem)
    assert WORD not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (f"https://watch:{WORD}@h1:99999/jolokia", '"https[:]//(hidden)@h1:99999/jolokia" has a host or a port'),
        (f"https://watch:{WORD}@h1/x?token={WORD}", '"https[:]//(hidden)@h1/x?(hidden)" must not have a query'),
        (f"https://h1/x#{WORD}", '"https[:]//h1/x#(hidden)" must not have a query'),
        (f"watch:{WORD}@h1:8778/jolokia", '"(hidden)@h1:8778/jolokia" must begin with'),
        (f"https://watch:a/{WORD}@h1/jolokia", '"https[:]//(hidden)@h1/jolokia" has a host or a port'),
        (f"https://watch:{WORD}{'x' * 200}@h1/a b", '"https[:]//(hidden)@h1/a b" has a space'),
        (f"https://watch:{WORD}@h1/${{DEMO_UNSET}}", '"https[:]//(hidden)@h1/${DEMO_UNSET}" needs DEMO_UNSET'),
    ],
)
@pytest.mark.parametrize("field", [AGENT, SUPERVISOR])
def test_a_wrong_address_is_shown_without_its_login(
    config: Path, write: Write, field: str, address: str, shown: str
) -> None:
    """As the file has it, also if it is no address, and if its login is longer than what is shown."""
    write("other", ID, (field, f"{field.partition(' ')[0]} '{address}'"))
    assert shown in refusal(config)


def test_an_address_that_two_instances_share_is_shown_without_its_login(
    config: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The login came from the environment, and is compared with the rest."""
    for name in ("DEMO_METRICS_1", "DEMO_METRICS_2"):
        monkeypatch.setenv(name, f"https://watch:{WORD}@h1:8778/jolokia")
    write("other", ID)
    assert "has metrics https://h1:8778/jolokia twice (orders-1 and orders-2)" in refusal(config)


def test_a_value_in_a_reason_is_shown_without_its_login(
    config: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reason may quote what the environment gave, in any field."""
    monkeypatch.setenv("DEMO_WORD", WORD)
    twice = ", ".join(["'https://a:${DEMO_WORD}@h'"] * 2)
    write("other", ID, ("approvers: [approver, admin]", f"approvers: [{twice}]"))
    assert "approvers names https://(hidden)@h twice" in refusal(config)


def test_a_loaded_entry_prints_no_login(config: Path, write: Write) -> None:
    """An entry may be part of a traceback."""
    write("other", ID, (AGENT, f"metrics: https://watch:{WORD}@h1/jolokia"))
    assert WORD not in repr(load_fleet(config).application("other"))


def test_an_uri_in_place_of_a_connection_is_shown_without_its_login() -> None:
    """Airflow's variables have such URIs, so one is easily pasted."""
    with pytest.raises(BadInput) as error:
        kafka_config(f"kafka://ada:{WORD}@h:9092")
    assert str(error.value).startswith("Airflow connection kafka://(hidden)@h:9092: not found")
    assert error.value.__cause__ is None
