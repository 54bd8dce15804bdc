"""The docker deployer on local state, settings in a file, settings of one start, and descriptions."""

import os
from pathlib import Path

import pytest
from kstreams_runbooks.act.instance import restart
from kstreams_runbooks.deployers.copier import CopierDeployer
from kstreams_runbooks.deployers.docker.deployer import DockerDeployer
from kstreams_runbooks.errors import BadInput, NotStarted, Refused, WriteRefused
from kstreams_runbooks.fleet.deployers.copier import CopierDocker
from kstreams_runbooks.fleet.deployers.docker import DockerSettings
from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.target import Target
from lab.engine import OwnEngine
from world.containers import created, deployer, described, differences, inspected, settings, starts, volume

pytestmark = pytest.mark.long

BUMP = Target.of("4.3.1", {"upgrade.from": "3.4"})


def tasks(folder: Path) -> list[str]:
    """Names in the application's directory."""
    return sorted(one.name for one in (folder / "orders").iterdir())


def filled(folder: Path) -> Path:
    """State of two tasks."""
    for task in ("0_0", "1_0", "1_1", "global"):
        (folder / "orders" / task).mkdir(parents=True)
        (folder / "orders" / task / "data").write_bytes(b"x" * 1000)
    return folder


@pytest.mark.parametrize("bind", [False, True], ids=["volume", "bind"])
def test_state_is_cleared_by_task_directory(engine: OwnEngine, tmp_path: Path, *, bind: bool) -> None:
    """In a volume and in a folder; never while it runs, and the rest stays."""
    source = str(tmp_path / "state") if bind else "o1-state"
    created(engine, HostConfig={"Binds": [f"{source}:/state"]})
    folder = filled(tmp_path / "state" if bind else volume(engine, "o1-state"))
    made = settings(engine)
    control = deployer(made)
    control.start("o1")
    assert control.state_sizes("o1") == {"0_0": 1000, "1_0": 1000, "1_1": 1000, "global": 1000}
    times = control.state_times("o1")
    assert isinstance(times, dict)
    assert times.keys() == {"0_0", "1_0", "1_1", "global"}
    with pytest.raises(WriteRefused, match="container o1 is up; its state is not cleared while it runs"):
        control.clear_state("o1")
    restart(
        control,
        "o1",
        BUMP,
        remove_members=None,
        log=lambda _: None,
        clears=TaskDirectories(("1_", "global")),
        must_clear=True,
    )
    assert tasks(folder) == ["0_0"]
    restart(control, "o1", BUMP, remove_members=None, log=lambda _: None, clears=NO_DIRECTORIES, must_clear=True)
    assert tasks(folder) == []
    assert described(made).target == BUMP


def test_a_release_that_ends_at_its_start_is_set_back(engine: OwnEngine) -> None:
    """As a runbook does it: its task directories are as at the stop, and the old container runs again."""
    created(engine, Env=["SECRET=x"], HostConfig={"NetworkMode": "none", "Memory": 2**26, "Binds": ["o1-state:/state"]})
    folder = filled(volume(engine, "o1-state"))
    (folder / "broken").write_text("4.3.1\n")
    made = settings(engine)
    deployer(made).start("o1")
    before, noted = inspected(engine), []
    with pytest.raises(NotStarted) as failed:
        restart(
            deployer(made),
            "o1",
            BUMP,
            remove_members=None,
            log=lambda _: None,
            at_stop=lambda: noted.append(deployer(made).state_times("o1")),
        )
    assert "container o1 ended at once (exit code 2" in failed.value.cause
    assert "no such release: 4.3.1" in failed.value.cause
    assert (described(made).process, described(made).target) == ("failed", BUMP)
    assert noted == [deployer(made).state_times("o1")]
    old = Target("3.4.1")
    restart(deployer(made), "o1", old, remove_members=None, log=lambda _: None, had=old)
    assert (described(made).process, described(made).target, described(made).applied) == ("running", old, True)
    deployer(made).start("o1")
    assert engine.names() == ["o1"]
    assert differences(before, inspected(engine)) == []
    assert noted == [deployer(made).state_times("o1")]


def test_another_folder_is_never_cleared(engine: OwnEngine, tmp_path: Path) -> None:
    """A declared folder that is not the container's, and one that this process may not enter."""
    created(engine)
    filled(volume(engine, "o1-state"))
    other = filled(tmp_path / "other")
    instance = {"name": "o1", "metrics": "http://127.0.0.1:9/o1", "state_dir": str(other)}
    made = settings(engine, instances=[instance])
    for call in (deployer(made).check_clear_state, deployer(made).clear_state):
        with pytest.raises(WriteRefused, match=r"other/orders on this machine is not /state/orders of the container"):
            call("o1")
    assert tasks(other) == ["0_0", "1_0", "1_1", "global"]
    assert isinstance(deployer(made).state_sizes("o1"), Missing)
    assert isinstance(deployer(made).state_times("o1"), Missing)
    # The same folder under another path, as a worker in a container has it.
    (tmp_path / "here").mkdir()
    os.system(f"mount --bind {volume(engine, 'o1-state')} {tmp_path}/here")  # noqa: S605 - a path of this test
    try:
        same = settings(engine, instances=[instance | {"state_dir": str(tmp_path / "here")}])
        deployer(same).clear_state("o1", ("0_0",))
        assert tasks(volume(engine, "o1-state")) == ["1_0", "1_1", "global"]
    finally:
        os.system(f"umount {tmp_path}/here")  # noqa: S605 - a path of this test


def with_file(engine: OwnEngine, tmp_path: Path, **given: object) -> DockerSettings:
    """o1 with its settings in a file of a mounted folder."""
    (tmp_path / "conf").mkdir()
    created(engine, HostConfig={"Binds": ["o1-state:/state", f"{tmp_path}/conf:/conf"]})
    instances = [{"name": "o1", "metrics": "http://127.0.0.1:9/o1"}]
    return settings(
        engine, instances=instances, settings_file="/conf/deployment.properties", once_file="once.properties", **given
    )


def test_settings_in_a_file(engine: OwnEngine, tmp_path: Path) -> None:
    """They take its place at the start, and not before; the container differs in its image alone."""
    made = with_file(engine, tmp_path)
    control, file = deployer(made), tmp_path / "conf" / "deployment.properties"
    control.start("o1")
    before = inspected(engine)
    control.apply("o1", BUMP)
    assert not file.exists()
    assert (described(made).target, described(made).applied) == (BUMP, False)
    control.apply("o1", Target("3.4.1"))
    assert (described(made).target, described(made).applied, engine.names()) == (Target("3.4.1"), True, ["o1"])
    assert list((tmp_path / "conf").iterdir()) == []
    restart(control, "o1", BUMP, remove_members=None, log=lambda _: None)
    assert (described(made).target, described(made).applied) == (BUMP, True)
    assert starts(engine)[-1] == "4.3.1 upgrade.from=3.4"
    assert differences(before, inspected(engine)) == ["/Config/Env/RELEASE: 3.4.1 → 4.3.1"]
    file.write_text("upgrade.from=3.4\n")
    assert described(made).applied is False, "written after the start"
    file.write_text("upgrade.from=3.4\nmax.poll.records=1\n")
    assert dict(described(made).settings) == {"max.poll.records": "(hidden)", "upgrade.from": "3.4"}
    with pytest.raises(WriteRefused, match=r"holds max\.poll\.records, which no runbook sets and a write would drop"):
        control.check_apply("o1", Target("3.4.1"))


def test_settings_of_one_start(engine: OwnEngine, tmp_path: Path) -> None:
    """The application reads and deletes them; the next start does not have them."""
    made = with_file(engine, tmp_path)
    control = deployer(made)
    control.start("o1")
    once = (("num.stream.threads", "1"),)
    restart(control, "o1", BUMP, remove_members=None, log=lambda _: None, once=once)
    assert starts(engine)[-1] == "4.3.1 upgrade.from=3.4  then num.stream.threads=1"
    assert described(made).target == BUMP
    control.stop("o1")
    control.start("o1")
    assert starts(engine)[-1] == "4.3.1 upgrade.from=3.4"
    with pytest.raises(BadInput, match="no once_file is declared"):
        deployer(settings(engine)).check_start("o1", once)


def test_descriptions(engine: OwnEngine) -> None:
    """Printed in a container of its own, with the settings of a target; nothing is left of it."""
    created(engine, Env=["SECRET=x"])
    made = settings(engine)
    control = deployer(made)
    text = control.topology(Target.of("4.3.1", {"upgrade.from": "3.4", "num.stream.threads": "2"}))
    assert text == "Topologies:\n   Sub-topology: 0 of 4.3.1  num.stream.threads=2\n"
    assert control.topology(Target("3.4.1")) == "Topologies:\n   Sub-topology: 0 of 3.4.1\n"
    assert engine.names() == ["o1"]
    failing = settings(engine, topology=["/bin/describe", "fail"])
    with pytest.raises(Refused, match=r"topology of 4\.3\.1 not printed \(exit 3: no database here\)"):
        deployer(failing).topology(Target("4.3.1"))
    with pytest.raises(Refused, match=r"image orders:9 of release 9\.9\.9 is not on the docker engine"):
        deployer(settings(engine, releases={"9.9.9": "9"})).topology(Target("9.9.9"))
    with pytest.raises(Refused, match="no such file"):
        deployer(settings(engine, topology=["/bin/nothing"])).topology(Target("4.3.1"))
    assert engine.names() == ["o1"]
    with pytest.raises(BadInput, match=r"no topology command is declared; declare deployer\.topology"):
        deployer(settings(engine, topology=[])).topology(Target("4.3.1"))


def test_a_copier_in_a_container_is_stopped_and_started_again(engine: OwnEngine) -> None:
    """The same container, as its team has created it: nothing of it is set, and no state is looked for."""
    created(engine, HostConfig={"Binds": []})
    made = CopierDocker.model_validate(
        {"kind": "docker", "url": engine.url, "instances": [{"name": "o1", "client_id": "copier-1"}]}
    )
    control = CopierDeployer(DockerDeployer(made, application_id="copier", dry_run=False), "copier")
    control.start("o1")
    before = inspected(engine)
    assert [(one.process, one.applied) for one in control.instances()] == [("running", True)]
    control.stop("o1")
    [stopped] = control.instances()
    assert (stopped.process, stopped.ended_cleanly, stopped.autorestart) == ("stopped", True, False)
    control.start("o1")
    assert inspected(engine)["Id"] == before["Id"]
    assert engine.names() == ["o1"]
    with pytest.raises(ValueError, match="has no meaning for a copier"):
        CopierDocker.model_validate(made.model_dump(exclude_unset=True) | {"state": "/state"})
