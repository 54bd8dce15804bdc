"""Values that people and scripts give to options, forms and files: bad input is one sentence, and never a traceback."""

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result
from kstreams_runbooks.cli import cli
from kstreams_runbooks.deployers.supervisord.deployment_file import read_declared
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet.limits import Limits
from kstreams_runbooks.fleet.notifications import NotificationSettings
from kstreams_runbooks.ledger import Ledger
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.runs.ledger import RunRecord
from kstreams_runbooks.properties import dump, parse
from kstreams_runbooks.steps.run.fields import target_release
from kstreams_runbooks.steps.run.form import given_limits, runbook
from kstreams_runbooks.steps.run.run import Run, new_record, record_of
from kstreams_runbooks.terminal.airflow.form import filled, pairs_of
from kstreams_runbooks.watch.settings import CheckSettings
from pydantic import BaseModel, ValidationError

DUE = datetime(2026, 1, 1, tzinfo=UTC)

HUGE = str(10**20)
HALF = "\ud83d"
BYTES = "\udcff"
TRAFFIC = ["--bootstrap", "127.0.0.1:9"]
NUMBERS = {
    ("prune-ledger",): ("--older-than",),
    ("drain", "orders"): ("--readings",),
    ("drain", "orders", "--watch"): ("--interval", "--ceiling"),
    ("trigger", "undo", "--wait"): ("--timeout",),
    ("verify-traffic", *TRAFFIC): ("--window-size-ms", "--grace-ms", "--settle", "--timeout"),
    ("generate-traffic", *TRAFFIC): (
        "--rate",
        "--seed",
        "--customers",
        "--customer-every",
        "--disorder-ms",
        "--start-ms",
        "--seconds",
        "--records",
    ),
    ("discover", *TRAFFIC): ("--jolokia-port",),
    ("compare-topics", "orders", "customers"): ("--examples", "--max-records", "--max-bytes", "--max-seconds"),
    ("compare-outputs", "orders", "orders-green"): ("--dropped", "--max-records", "--max-bytes", "--max-seconds"),
    ("forecast-partitions", "orders", "--partitions", "12"): ("--partitions", "--max-records"),
    ("partitioning", "orders", "--input", "orders", "--state", "orders-s-changelog"): ("--sample",),
}
OPTIONS = [(command, option) for command, options in NUMBERS.items() for option in options]
REASONS = [".", "  ", "", "---", "12", "a.", "stop\nped", "copier\x1b[2Jstopped", HALF, BYTES, "x" * 501]


def ran(*words: str) -> Result:
    """One command in this process."""
    return CliRunner().invoke(cli, list(words))


def bad(done: Result) -> str:
    """The one sentence of bad input; anything else fails the test."""
    if isinstance(done.exception, BadInput):
        sentence = str(done.exception)
    else:
        assert isinstance(done.exception, SystemExit), repr(done.exception)
        assert done.exit_code == 2, done.output
        sentence = done.output.strip().splitlines()[-1]
    assert "Traceback" not in done.output
    assert done.stdout == "" or isinstance(done.exception, SystemExit)
    sentence.encode()
    assert len(sentence) < 700
    return sentence


@pytest.mark.parametrize("value", [HUGE, f"-{HUGE}", "nan", "inf", "-inf", "1e400", "0x10", "", "9" * 400, "１０" * 20])
@pytest.mark.parametrize(("command", "option"), OPTIONS, ids=[f"{one[0]} {option}" for one, option in OPTIONS])
def test_a_number_that_nothing_counts_to(command: tuple[str, ...], option: str, value: str) -> None:
    """Refused by the option, before anything is connected to."""
    assert option in bad(ran(*command, f"{option}={value}"))


def test_every_numeric_option_is_among_them() -> None:
    """One that is added later is tried as well."""
    numeric = {
        (name, option)
        for name, command in cli.commands.items()
        for one in command.params
        if one.type.name in {"integer", "integer range", "float", "float range"}
        for option in one.opts
    }
    assert numeric == {(command[0], option) for command, option in OPTIONS}


@pytest.mark.parametrize("reason", REASONS)
def test_inputs_that_are_paused_for_no_reason(reason: str) -> None:
    """`.` is nobody and nothing that keeps records away."""
    assert "argument" in (said := bad(ran("drain", "orders", "--inputs-paused", reason))) or "--inputs-paused" in said


def _no_run(_: str) -> RunRecord:
    raise AssertionError


@pytest.mark.parametrize("name", ["reason", "inputs_paused"])
@pytest.mark.parametrize("reason", REASONS)
def test_a_form_that_gives_no_reason(reason: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By Airflow's page or its API: the first step refuses, and nothing is kept; blank is none given."""
    monkeypatch.setenv("KSTREAMS_RUNBOOKS_CONFIG", str(tmp_path))
    params = {"application": "orders", name: reason}
    ti = SimpleNamespace(dag_id="certify_drain", run_id="r")
    found = record_of({"ti": ti, "dag_run": SimpleNamespace(conf={}, run_after=DUE), "params": params})
    with pytest.raises(BadInput) as raised:
        new_record(found, _no_run)
    said = str(raised.value)
    said.encode()
    assert said.startswith(f"{name}:") if reason.strip() else "application orders" in said


@pytest.mark.parametrize("reason", REASONS)
def test_a_run_that_is_triggered_for_no_reason(reason: str) -> None:
    """Before Airflow hears of it."""
    with pytest.raises(BadInput, match="reason"):
        filled("undo", {}, {}, application=None, execute=False, reason=reason)


@pytest.mark.parametrize("value", [HALF, BYTES, f'{{"a": "{HALF}"}}', r'{"a": "\ud83d"}', r'{"\udc00": 1}'])
def test_half_characters_in_a_field(value: str) -> None:
    """As bytes of an argument and as JSON."""
    form = {"settings": {"value": None, "schema": {"type": ["null", "object"] if "{" in value else ["null", "string"]}}}
    with pytest.raises(BadInput, match="--param settings: has half a"):
        filled("x", form, pairs_of([f"settings={value}"]), application=None, execute=False, reason=None)


@pytest.mark.parametrize("words", [("evidence", BYTES), ("lag", HALF), ("discover", "--owner", BYTES), (BYTES,)])
def test_arguments_that_are_no_text(words: tuple[str, ...]) -> None:
    """Bytes that are not UTF-8, to any command."""
    assert "bytes that are not UTF-8" in bad(ran(*words))


@pytest.mark.parametrize("name", ["max_lag", "gate_good_readings", "gate_interval_s", "bake_s", "drain_ceiling_s"])
@pytest.mark.parametrize("value", [10**400, 10**20, 1e308, float("nan"), float("inf"), -1, True, "5", [], {}])
def test_limits_of_a_form(name: str, value: Any) -> None:
    """What the API lets through is refused by the step, whatever JSON can hold."""
    entry = Limits()

    def limited() -> Limits:
        return Limits.model_validate({**entry.model_dump(), **given_limits({name: value})})

    with pytest.raises((BadInput, ValidationError)) as raised:
        limited()
    assert name in str(raised.value)


def test_a_number_that_python_does_not_print() -> None:
    """It has more digits than Python makes a text of."""
    with pytest.raises(BadInput, match="max_lag: has more than 300 digits"):
        given_limits({"max_lag": 10**10_000})


def test_the_form_takes_what_the_fleet_takes() -> None:
    """The most that each field of the form takes is the limit of the fleet entry."""
    limits = ("max_lag", "gate_good_readings")
    dag = runbook("library_bump", doc="x", params={"target": target_release()}, tags=(), limits=limits)
    for name, wrong in (("max_lag", 2**53), ("gate_good_readings", 1_001)):
        field = dag.params.get_param(name)
        field.resolve(wrong - 1)
        with pytest.raises(Exception, match="maximum"):
            field.resolve(wrong)
        Limits.model_validate({name: wrong - 1, "gate_ceiling_s": 300_000_000})
        with pytest.raises(ValidationError):
            Limits.model_validate({name: wrong, "gate_ceiling_s": 300_000_000})


@pytest.mark.parametrize("field", sorted(Limits.model_fields))
@pytest.mark.parametrize("value", [10**20, 1e300, 10**400, -1, float("nan")])
def test_limits_of_a_fleet_entry(field: str, value: float) -> None:
    """A time of the year 30,000 cannot be shown, and a column takes 64 bits."""
    with pytest.raises(ValidationError):
        Limits.model_validate({field: value})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"a=\uD83D\uDE00", "😀"),
        (r"a=x\uD83D\uDE00y", "x😀y"),
        (r"a=\uD83D\uDE00\uD83D\uDE01", "😀😁"),
        ("a=é", "é"),
        (r"a=\u00e9", "é"),
        (r"a=\\uD83D", r"\uD83D"),
    ],
)
def test_characters_beyond_the_basic_plane_are_read_as_java_reads_them(text: str, value: str) -> None:
    """Two escapes make one character, and it is written as two again."""
    assert parse(text) == {"a": value}
    written = dump({"a": value, value: "a"})
    assert written.isascii()
    assert parse(written) == {"a": value, value: "a"}
    if "😀" in value:
        assert r"\ud83d\ude00" in written


@pytest.mark.parametrize(
    "text", [r"a=\uD83D", r"a=\uDE00", r"a=\uDE00\uD83D", r"a=\uD83Dx", r"\uD83D=a", r"a=\u12", r"a=\u", r"a=\uXYZW"]
)
def test_half_a_character_in_a_properties_file(tmp_path: Path, text: str) -> None:
    """One sentence without the value, also where a runbook reads the file of an instance."""
    with pytest.raises(BadInput) as raised:
        parse(text)
    str(raised.value).encode()
    (tmp_path / "deployment.properties").write_text(f"release=4.3.1\n{text}\n", encoding="latin-1")
    declared = read_declared(tmp_path, frozenset({"a"}))
    assert isinstance(declared.release, Missing)
    assert declared.obstacles[0].startswith(f"{tmp_path}/deployment.properties: ")


@pytest.mark.parametrize("values", [{"a": HALF}, {HALF: "a"}, {"a": f"x{HALF}y"}, {"a": "\udc00\ud800"}])
def test_half_a_character_is_never_written(values: dict[str, str]) -> None:
    """It would be another character for Java, or none."""
    with pytest.raises(BadInput, match="half a character"):
        dump(values)


def test_a_pair_that_json_brought_apart_is_one_character() -> None:
    """Escapes in JSON are joined by its parser; text that was joined by hand is not."""
    assert parse(dump(json.loads(r'{"a": "\ud83d\ude00"}'))) == {"a": "😀"}
    assert parse(dump({"a": "\ud83d" + "\ude00"})) == {"a": "😀"}


def test_a_run_of_a_bad_form_leaves_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal comes before the ledger is written."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    monkeypatch.setattr(Ledger, "open", classmethod(lambda *_: ledger))
    context = {
        "ti": SimpleNamespace(dag_id="undo", run_id="r", task_id="read_cards", try_number=1),
        "dag": SimpleNamespace(dag_id="undo", params={"application": None, "run": None}),
        "dag_run": SimpleNamespace(conf=None, run_after=DUE),
        "params": {"application": "orders", "run": f"x{HALF}"},
    }
    with pytest.raises(BadInput, match="run: has half a character"):
        Run.begin(context)
    assert ledger.runs() == ()


@pytest.mark.parametrize("settings", [CheckSettings, NotificationSettings])
@pytest.mark.parametrize("value", [10**20, 1e300, float("inf")])
def test_settings_of_the_fleet(settings: type[BaseModel], value: float) -> None:
    """Every number that the two settings files take has an end."""
    numbers = [name for name, field in settings.model_fields.items() if isinstance(field.default, int | float)]
    assert numbers
    for name in numbers:
        with pytest.raises(ValidationError):
            settings.model_validate({name: value})
