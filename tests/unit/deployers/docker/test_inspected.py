"""The engine's answer about a container: its types, its process, its mounts."""

from pathlib import PurePosixPath
from typing import Any

import pytest
from kstreams_runbooks.deployers.docker.inspected import Container, container_of


def answer(**state: Any) -> dict[str, Any]:
    """As the engine reports a container with one volume."""
    return {
        "Id": "a" * 64,
        "Name": "/orders-1",
        "Image": "sha256:" + "b" * 64,
        "State": {
            "Status": "running",
            "StartedAt": "2026-11-24T05:46:42.334142591Z",
            "ExitCode": 0,
            "OOMKilled": False,
            **state,
        },
        "Config": {"Image": "orders:1", "Env": ["A=1", "B=2=3"], "Labels": None, "StopSignal": "SIGINT"},
        "HostConfig": {
            "RestartPolicy": {"Name": ""},
            "NetworkMode": "shop",
            "Binds": ["state:/state", "/conf:/conf:ro"],
        },
        "Mounts": [
            {"Type": "volume", "Name": "state", "Source": "/v/state/_data", "Destination": "/state"},
            {"Type": "bind", "Source": "/conf", "Destination": "/conf"},
            {"Type": "volume", "Name": "f" * 64, "Source": "/v/f/_data", "Destination": "/state/inner"},
            {"Type": "tmpfs", "Source": "", "Destination": "/scratch"},
        ],
        "NetworkSettings": {"Networks": {"shop": {}}},
    }


def found(**state: Any) -> Container:
    return container_of(answer(**state))


def test_a_container_that_runs() -> None:
    """Times are Unix ms, variables are by name, and a policy without a name is `no`."""
    one = found()
    assert (one.name, one.process, one.started_at_ms, one.restart_policy) == (
        "orders-1",
        "running",
        1_795_499_202_334,
        "no",
    )
    assert (one.environment, one.stop_signal, one.labels) == ({"A": "1", "B": "2=3"}, "SIGINT", {})
    assert one.unnamed_volumes == ("/state/inner",)


@pytest.mark.parametrize(
    ("state", "process", "cleanly"),
    [
        ({"Status": "exited", "ExitCode": 0}, "stopped", True),
        ({"Status": "exited", "ExitCode": 143}, "stopped", True),
        ({"Status": "exited", "ExitCode": 137}, "failed", False),
        ({"Status": "exited", "ExitCode": 0, "OOMKilled": True}, "failed", False),
        ({"Status": "exited", "ExitCode": 1}, "failed", False),
        ({"Status": "created", "StartedAt": "0001-01-01T00:00:00Z"}, "stopped", True),
        ({"Status": "restarting"}, "starting", True),
        ({"Status": "paused"}, "running", True),
        ({"Status": "removing"}, "unknown", True),
        ({"Status": "something new"}, "unknown", True),
    ],
)
def test_the_process_of_a_container(state: dict[str, Any], process: str, *, cleanly: bool) -> None:
    """A state that is not known is neither up nor down."""
    one = found(**state)
    assert (one.process, one.ended_cleanly) == (process, cleanly)
    assert (one.started_at_ms is None) == (one.status not in {"running", "paused"})


def test_an_init_process_hides_how_the_program_ended() -> None:
    """143 may be a clean exit code, or that of a signal."""
    raw = answer(Status="exited", ExitCode=143)
    raw["HostConfig"]["Init"] = True
    assert container_of(raw).ended_cleanly is None


@pytest.mark.parametrize(
    ("path", "mount"),
    [
        ("/state/orders", "/state"),
        ("/state", "/state"),
        ("/state/inner/x", "/state/inner"),
        ("/scratch/x", None),
        ("/statement", None),
        ("/", None),
    ],
)
def test_the_mount_of_a_path(path: str, mount: str | None) -> None:
    """The innermost one, if it is a volume or a folder."""
    of = found().mount_of(PurePosixPath(path))
    assert (None if of is None else str(of.destination)) == mount


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"Id": 7}, "Id: Input should be a valid string"),
        ({"State": None}, "State: Input should be"),
        ({"Config": {"Image": "x", "Env": "A=1"}}, r"Config\.Env"),
        ({"Mounts": [{"Type": "bind"}]}, r"Mounts\.0\.Destination"),
        ({"State": {"Status": "running", "StartedAt": "yesterday", "ExitCode": 0}}, "StartedAt: not a time"),
    ],
)
def test_another_shape_is_no_container(change: dict[str, Any], why: str) -> None:
    """The place, and no value."""
    with pytest.raises(ValueError, match=why):
        container_of(answer() | change)
