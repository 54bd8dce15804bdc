"""`discover --out` into a folder that no fleet reads: what is found there loads as it stands."""

import json
from pathlib import Path

from click.testing import CliRunner
from kstreams_runbooks.cli import cli
from kstreams_runbooks.fleet import load_fleet
from world.given import Orders


def test_a_folder_of_any_name_takes_the_declarations(orders: Orders, tmp_path: Path) -> None:
    """A new fleet, without a word about the cluster; stderr says what has to be done that one reads it."""
    out, bootstrap = tmp_path / "found", orders.stack.lab.bootstrap
    asked = ["discover", "--bootstrap", bootstrap, "--out", str(out), "--format", "json"]
    ports = [word for number in (1, 2) for word in ("--jolokia-port", str(orders.stack.lab.ports.metrics(number)))]
    result = CliRunner().invoke(cli, [*asked, *ports])
    written = {one["application_id"]: one for one in json.loads(result.stdout)["applications"]}["orders"]
    assert (written["outcome"], written["problems"]) == ("written", [])
    assert written["file"] == str(out / "applications" / "orders.yaml")
    fleet = load_fleet(out)
    assert (fleet.application("orders").application_id, fleet.problems) == ("orders", ())
    assert f"move them to {orders.stack.lab.config.absolute() / 'applications'}" in result.stderr
