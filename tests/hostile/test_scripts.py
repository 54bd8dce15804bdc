"""Whatever a team's script prints, and however long it takes, costs a stated time and size and is one sentence."""

import gc
import json
import os
import signal
import sys
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from kstreams_runbooks.deployers import bounded_process
from kstreams_runbooks.deployers.command.deployer import CommandDeployer
from kstreams_runbooks.deployers.scripts import run_script
from kstreams_runbooks.deployers.supervisord.deployer import SupervisordDeployer
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, Unreachable
from kstreams_runbooks.fleet.deployers.command import Command, CommandSettings
from kstreams_runbooks.fleet.deployers.environment import CommandEnvironment
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.target import Target
from pydantic import ValidationError

NONE = CommandEnvironment()
MIB = 2**20
ONE: dict[str, Any] = {
    "instance": "o1",
    "process": "running",
    "started_at_ms": 1_763_724_000_123,
    "pid": 4711,
    "release": "4.3.1",
    "settings": {},
    "applied": True,
}


def python(text: str, timeout_s: float = 10.0) -> Command:
    """A command that runs this text."""
    return Command.model_construct(run=(sys.executable, "-c", text), timeout_s=timeout_s)


def described(text: str, timeout_s: float = 10.0) -> str:
    """What an instances command prints."""
    return run_script("orders", "instances", python(text, timeout_s), {}, NONE)


def prints(document: object, place: Path) -> CommandDeployer:
    """A deployer whose instances command prints this, as bytes or as JSON."""
    printed = place / "printed"
    printed.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    look = {"run": ["cat", str(printed)], "timeout_s": 10}
    act = {verb: {"run": ["true", "{instance}"]} for verb in ("stop", "start")}
    set_ = {"run": ["true", "{instance}", "{release}", "{settings}"]}
    settings = CommandSettings.model_validate(
        {
            "kind": "command",
            "instances": [{"name": "o1", "metrics": "http://127.0.0.1:9/jolokia"}],
            "releases": {"4.3.1": "orders:18"},
            "commands": {"instances": look, "apply": set_, **act},
        }
    )
    return CommandDeployer(settings, application_id="orders")


def describes(*words: str, **more: object) -> SupervisordDeployer:
    """A supervisord deployer with this topology command."""
    one = {"name": "o1", "program": "o1", "directory": "/srv/o1", "metrics": "http://127.0.0.1:9/jolokia"}
    settings = {"kind": "supervisord", "url": "http://127.0.0.1:9", "instances": [one], "topology": words, **more}
    return SupervisordDeployer(
        SupervisordSettings.model_validate(settings | {"releases": {"4.3.1": "/opt/orders"}}), application_id="orders"
    )


def gone(pid: int, within_s: float = 5.0) -> bool:
    """Whether a process ends within this time."""
    until = time.monotonic() + within_s
    while psutil.pid_exists(pid):
        with suppress(psutil.Error):
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def test_what_floods_stdout_is_ended_at_4_mib(tmp_path: Path) -> None:
    """While it is read: neither memory nor a disk fills up. What it started goes with it."""
    pids = tmp_path / "pids"
    flood = (
        f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(pids)!r}, 'w').write(str(child.pid))\n"
        "while True: sys.stdout.buffer.write(b'[' * 65536)"
    )
    tracemalloc.start()
    try:
        with pytest.raises(Inconclusive, match=r"^orders: .*: more than 4,194,304 bytes on stdout; it was ended"):
            described(flood)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * MIB
    assert gone(int(pids.read_text()))


def test_what_floods_stderr_is_read_and_thrown_away() -> None:
    """A chatty script is no error; of 64 MiB the last line is kept."""
    loud = "import sys\nfor _ in range(1024): sys.stderr.write('x' * 65536)\nsys.exit('\\nthe last line')"
    tracemalloc.start()
    try:
        with pytest.raises(Refused, match=r"exit 1: the last line\)$"):
            described(loud)
        assert tracemalloc.get_traced_memory()[1] < 4 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        "import time; time.sleep(60)",
        "import time\nwhile True: print('[', flush=True); time.sleep(0.05)",
        "import os, time; os.close(1); os.close(2); time.sleep(60)",
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])",
    ],
    ids=["silent", "drips", "closes its output", "waits for a child"],
)
def test_what_never_ends_is_ended_at_its_limit(text: str) -> None:
    """Unreachable, by the declared seconds."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with pytest.raises(Unreachable, match=r"^orders: instances .*: not done after 0\.5 s \(limit timeout_s"):
        described(text, 0.5)
    left = {child.pid for child in psutil.Process().children(recursive=True)} - before
    assert all(gone(pid) for pid in left), "a look leaves no process behind"


def test_what_ignores_sigterm_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its limit, and then the time that a clean end may take."""
    monkeypatch.setattr(bounded_process, "_TO_END_S", 0.3)
    with pytest.raises(Unreachable):
        described("import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)", 0.5)


def test_a_grandchild_that_keeps_the_output_open_costs_nothing(tmp_path: Path) -> None:
    """The command has ended when it has ended; what it started goes on, and may go on printing."""
    state = tmp_path / "state"
    background = (
        "import sys, time\n"
        "for n in range(100):\n"
        "    print('x' * 10_000, flush=True)\n"
        f"    open({str(state)!r}, 'w').write(str(n))\n"
        "    time.sleep(0.02)\n"
    )
    text = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {background!r}]).pid, flush=True)"
    printed = run_script("o1", "start", python(text), {}, NONE)
    pid = int(printed.split("\n")[0])
    try:
        seen = set()
        for _ in range(30):
            seen.add(state.read_text() if state.exists() else "")
            time.sleep(0.05)
        assert len(seen) > 5, "it prints into nothing, and lives"
        assert psutil.pid_exists(pid)
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_what_acts_is_ended_alone(tmp_path: Path) -> None:
    """What `start` has started may be the instance: it stays at a limit."""
    pids = tmp_path / "pids"
    text = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(pids)!r}, 'w').write(str(child.pid)); time.sleep(60)"
    )
    with pytest.raises(Unreachable, match="its effect is unknown"):
        run_script("o1", "start", python(text, 1.0), {}, NONE)
    pid = int(pids.read_text())
    assert psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    os.kill(pid, signal.SIGKILL)


NOT_THE_CONTRACT: dict[str, object] = {
    "nothing": b"",
    "a line of log": b"deploying\n" + json.dumps({"schema_version": 1, "instances": [ONE]}).encode(),
    "two documents": json.dumps({"schema_version": 1, "instances": []}).encode() * 2,
    "not UTF-8": json.dumps({"schema_version": 1, "instances": [ONE]}).encode().replace(b"4.3.1", b"4.3\xff"),
    "UTF-16": json.dumps({"schema_version": 1, "instances": [ONE]}).encode("utf-16"),
    "NUL bytes": b"\0" * 100,
    "deep": b"[" * 100_000,
    "a name twice": b'{"schema_version": 1, "schema_version": 1, "instances": []}',
    "a process twice": json.dumps({"schema_version": 1, "instances": [ONE]})
    .replace('"process": "running"', '"process": "stopped", "process": "running"')
    .encode(),
    "NaN": b'{"schema_version": NaN, "instances": []}',
    "1e400": b'{"schema_version": 1e400, "instances": []}',
    "5,000 digits": b'{"schema_version": 1' + b"0" * 5_000 + b', "instances": []}',
    "half a surrogate pair": b'{"schema_version": 1, "instances": [{"instance": "\\ud800"}]}',
    "many values": b'{"schema_version": 1, "instances": [' + b"[]," * 300_000 + b"[]]}",
    **{
        f"{name} as {value!r:.20}": {"schema_version": 1, "instances": [ONE | {name: value}]}
        for name, value in [
            ("pid", True),
            ("pid", "4711"),
            ("pid", -1),
            ("pid", 2**40),
            ("pid", 4711.0),
            ("started_at_ms", 10**30),
            ("started_at_ms", "now"),
            ("process", "RUNNING"),
            ("process", None),
            ("applied", "yes"),
            ("applied", 1),
            ("release", 4.3),
            ("release", "4.3.1\n4.4"),
            ("release", "x" * 1_000),
            ("settings", []),
            ("settings", {"a": 1}),
            ("settings", {"a": "b\x1b[2J"}),
            ("settings", {"a\nb": "c"}),
            ("obstacles", ["x"] * 1_000),
            ("missing", "x" * 20_000),
            ("instance", "o1\u202e"),
        ]
    },
}


@pytest.mark.parametrize("case", NOT_THE_CONTRACT)
def test_what_is_not_the_contract_is_inconclusive_and_one_short_line(case: str, tmp_path: Path) -> None:
    """With the place and the reason; the value is not repeated."""
    with pytest.raises(Inconclusive) as raised:
        prints(NOT_THE_CONTRACT[case], tmp_path).instances()
    said = str(raised.value)
    assert said.startswith("orders: instances (")
    assert len(said) < 700
    assert said.isprintable()


def test_sentences_of_a_script_are_one_line_each(tmp_path: Path) -> None:
    """`missing` and `obstacles` are shown to people."""
    odd = ONE | {"release": None, "missing": "no\nDRAINED \x1b[2J", "obstacles": ["freeze\r\n| a | b |"]}
    [found] = prints({"schema_version": 1, "instances": [odd]}, tmp_path).instances()
    assert found.release == Missing("its release: no DRAINED \\x1b[2J")
    assert found.obstacles == ("freeze | a | b |",)


OURS = {
    "AIRFLOW_CONN_KAFKA": "kafka://me:hunter2@host",
    "AIRFLOW__CORE__FERNET_KEY": "hunter2",
    "_AIRFLOW_WWW_USER_PASSWORD": "hunter2",
    "__AIRFLOW_SUPERVISOR_FD": "5",
    "KSTREAMS_RUNBOOKS_LEDGER": "postgresql://me:hunter2@host/ledger",
    "KSTREAMS_RUNBOOKS_AIRFLOW_PASSWORD": "hunter2",
    "KSTREAMS_RUNBOOKS_AIRFLOW_TOKEN": "hunter2",
    "KSTREAMS_RUNBOOKS_CONFIG": "/config",
    "SPARK_REMOTE": "sc://host/;token=hunter2",
    "SPARK_CONNECT_AUTHENTICATE_TOKEN": "hunter2",
    "AWS_SECRET_ACCESS_KEY": "hunter2",
    "PGPASSWORD": "hunter2",
    "PYTHONPATH": "/elsewhere",
    "LD_PRELOAD": "",
    "KUBECONFIG": "/kube",
}
SHOW = "import json, os; print(json.dumps(dict(os.environ)))"


def test_a_script_gets_what_is_declared_and_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """PATH, HOME and their like, the names that the entry passes on, the values that it gives."""
    for name, value in OURS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TZ", "Europe/Berlin")
    found = json.loads(described(SHOW))
    assert "hunter2" not in json.dumps(found)
    assert found.keys() & OURS.keys() == set()
    assert (found["PATH"], found["TZ"]) == (os.environ["PATH"], "Europe/Berlin")
    more = CommandEnvironment(inherit=("KUBECONFIG", "NOT_THERE"), values={"STAGE": "production", "TZ": "UTC"})
    again = json.loads(run_script("orders", "instances", python(SHOW), {}, more))
    assert again == {**found, "KUBECONFIG": "/kube", "STAGE": "production", "TZ": "UTC"}


def test_the_describe_command_of_supervisord_gets_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program that is started here is started so."""
    for name, value in OURS.items():
        monkeypatch.setenv(name, value)
    text = "import os; print('Topologies:'); print(sorted(os.environ))"
    printed = describes(sys.executable, "-c", text, environment={"inherit": ["KUBECONFIG"]}).topology(Target("4.3.1"))
    assert "'KUBECONFIG'" in printed
    assert not [name for name in OURS if f"'{name}'" in printed and name != "KUBECONFIG"]


@pytest.mark.parametrize(
    "name", [*[one for one in OURS if "AIRFLOW" in one], "SPARK_REMOTE", "airflow_home", "A B", ""]
)
def test_what_is_ours_cannot_be_declared(name: str) -> None:
    """Neither passed on nor given; nor is a name that is none."""
    for declared in ({"inherit": [name]}, {"values": {name: "x"}}):
        with pytest.raises(ValidationError):
            CommandEnvironment.model_validate(declared)


def test_a_secret_is_not_given_in_the_file() -> None:
    """It is passed on from the worker's environment by its name."""
    with pytest.raises(ValidationError, match="is a secret by its name"):
        CommandEnvironment.model_validate({"values": {"DEPLOY_TOKEN": "x"}})
    assert CommandEnvironment.model_validate({"inherit": ["DEPLOY_TOKEN"]}).inherit == ("DEPLOY_TOKEN",)


@pytest.mark.parametrize("word", ["/no/such/program", "/etc/passwd", "/tmp", "a\0b", "\ud800"], ids=ascii)  # noqa: S108
def test_what_cannot_be_run_is_bad_input(word: str) -> None:
    """One printable sentence that names the command."""
    with pytest.raises(BadInput, match="cannot be run") as raised:
        run_script("orders", "instances", Command.model_construct(run=(word,), timeout_s=5.0), {}, NONE)
    assert str(raised.value).isprintable()


def test_a_topology_that_floods_is_cut_as_well() -> None:
    """Supervisord's topology command is no other program."""
    with pytest.raises(Refused, match=r"^yes: topology of 4\.3\.1: more than 4,194,304 bytes on stdout, cut off there"):
        describes("yes").topology(Target("4.3.1"))


def test_many_readings_leave_no_process_and_no_descriptor() -> None:
    """What is called at every reading of a gate must not add up."""

    def held() -> tuple[int, int]:
        # What an earlier test left to the collector is not of these calls.
        gc.collect()
        return len(list(Path("/proc/self/fd").iterdir())), len(psutil.Process().children())

    described("print(1)")
    before = held()
    for _ in range(5):
        described("print(1)")
        with pytest.raises(Unreachable):
            described("import time; time.sleep(60)", 0.05)
    assert held() == before
