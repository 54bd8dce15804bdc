"""What the version rules refuse, the release refuses too: a real start of it with a value that it does not accept."""

import subprocess
from pathlib import Path

import pytest
from kstreams_runbooks.decide.releases.path import upgrade_path
from kstreams_runbooks.decide.releases.rules import accepted_upgrade_from
from kstreams_runbooks.model.releases.path import PathQuestion
from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.properties import dump
from kstreams_runbooks.rules import upgrade_path_rules
from lab.application import TO_RELEASE, Deployed, base_properties
from lab.stack import Stack

_OLD = "2.3"
_START_S = 60


@pytest.fixture
def files(stack: Stack, tmp_path: Path) -> list[str]:
    """Settings of an instance of its own that would otherwise start, with `upgrade.from=2.3` over them."""
    base = base_properties(stack.lab, Deployed(application_id="refused"), 9, "refused-1")
    base["state.dir"] = str(tmp_path / "state")
    (tmp_path / "base.properties").write_text(dump(base), encoding="latin-1")
    deployment = {"release": TO_RELEASE, "upgrade.from": _OLD}
    (tmp_path / "deployment.properties").write_text(dump(deployment), encoding="latin-1")
    return [str(tmp_path / "base.properties"), str(tmp_path / "deployment.properties")]


def test_a_value_that_the_target_does_not_accept_never_starts(stack: Stack, files: list[str]) -> None:
    """From 2.3 the way to 4.3 leads over a bridge; who sets the value all the same sees the start fail at once."""
    rules = upgrade_path_rules()
    question = PathQuestion(
        Release("2.3.1"), Release(TO_RELEASE), Release(TO_RELEASE), "at_least_once", group_protocol="classic"
    )
    path = upgrade_path(question, rules)
    assert path.bridge is not None
    assert (path.bridge.startswith("3."), path.bounces[0].upgrade_from) == (True, _OLD)
    assert _OLD not in accepted_upgrade_from(Release(TO_RELEASE), rules)
    started = subprocess.run(
        ["java", "-Xmx128m", "-cp", f"{stack.lab.releases / TO_RELEASE}/*", "orders.OrdersApplication", *files],
        capture_output=True,
        text=True,
        timeout=_START_S,
        check=False,
    )
    assert started.returncode == 2, started.stderr[-2000:]
    assert f"Invalid value {_OLD} for configuration upgrade.from" in started.stderr
