"""One run directory and one port base decide where everything is."""

import json
from pathlib import Path

import pytest
from kstreams_runbooks.errors import BadInput
from lab.settings import CHECKOUT, Lab, Ports
from lab.supervise import Program, configuration, inherited


def test_defaults_lie_in_the_checkout() -> None:
    """Nothing in the home directory, nothing outside of what git ignores."""
    lab = Lab.of({})
    assert (lab.run_dir, lab.ports.broker) == (CHECKOUT / ".run", 19_000)
    assert ".run/" in (CHECKOUT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_two_stacks_share_no_port(tmp_path: Path) -> None:
    """Everything counts from PORT_BASE."""
    lab = Lab.of({"RUN_DIR": str(tmp_path), "PORT_BASE": "23000"})
    ports = lab.ports
    numbers = [ports.broker, ports.controller, ports.supervisor, ports.api]
    assert [*numbers, ports.metrics(1), ports.metrics(2)] == [*range(23_000, 23_004), 23_011, 23_012]
    assert lab.fleet_environment()["DEMO_METRICS_2"] == "http://127.0.0.1:23012/jolokia"
    assert str(lab.airflow_home).startswith(str(tmp_path))


@pytest.mark.parametrize("text", ["80", "nineteen", "65530", "-1", "19000.5"])
def test_a_port_base_that_cannot_be_used_is_bad_input(text: str) -> None:
    """Before anything is started; the sentence names the setting."""
    with pytest.raises(BadInput, match=f"PORT_BASE={text}: not a number from 1024 to"):
        Ports.parse(text)


def test_the_connection_is_one_that_airflow_reads() -> None:
    """JSON with the type and librdkafka's settings in the extra field."""
    connection = json.loads(Lab.of({}).fleet_environment()["AIRFLOW_CONN_KAFKA_DEMO"])
    assert connection == {"conn_type": "kafka", "extra": {"bootstrap.servers": "127.0.0.1:19000"}}


def test_supervisord_starts_nothing_by_itself_and_takes_paths_as_they_are(tmp_path: Path) -> None:
    """A dead program stays dead, so that a run sees it; % is supervisord's own sign; blanks stay in one argument."""
    lab = Lab(tmp_path / "100% mine", Ports(23_000))
    text = configuration(lab, [Program("broker", ("/my apps/run-broker", "23000"), stop_wait_s=7, kill_group=True)])
    program = text.partition("[program:broker]")[2].splitlines()
    assert "command='/my apps/run-broker' 23000" in program
    assert "autostart=false" in program
    assert "autorestart=false" in program
    assert "stopwaitsecs=7" in program
    assert "killasgroup=true" in program
    assert f"stdout_logfile={tmp_path}/100%% mine/logs/broker.log" in program
    assert "port=127.0.0.1:23002" in text


def test_nothing_from_outside_steers_a_stack() -> None:
    """Another Airflow's settings, another fleet, a Python path, a proxy for addresses of this machine."""
    outside = {
        "PATH": "/bin",
        "HOME": "/home/x",
        "AIRFLOW_HOME": "/elsewhere",
        "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor",
        "KSTREAMS_RUNBOOKS_CONFIG": "/elsewhere",
        "DEMO_DIR": "/elsewhere",
        "PYTHONPATH": "/elsewhere",
        "NO_PROXY": "example.org",
    }
    assert inherited(outside) == {
        "PATH": "/bin",
        "HOME": "/home/x",
        "NO_PROXY": "example.org,127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "PYTHONUNBUFFERED": "1",
    }
