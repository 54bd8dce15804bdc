"""One row a kind of deployer: a pretended one, in the table alone, is in everything that goes by it."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

import pytest
import yaml
from kstreams_runbooks.decide.discovery.readiness import readiness, readiness_facts
from kstreams_runbooks.decide.runbooks import RUNBOOKS
from kstreams_runbooks.deployers import Deployer, make_deployer
from kstreams_runbooks.deployers.command.deployer import CommandDeployer
from kstreams_runbooks.deployers.docker.deployer import DockerDeployer
from kstreams_runbooks.deployers.factory import deployer_class
from kstreams_runbooks.deployers.manual import ManualDeployer
from kstreams_runbooks.deployers.supervisord.deployer import SupervisordDeployer
from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.fleet import load_fleet
from kstreams_runbooks.fleet.deployers import kinds
from kstreams_runbooks.fleet.deployers.base import DeployerDeclaration
from kstreams_runbooks.fleet.deployers.kinds import KINDS, DeployerKind
from kstreams_runbooks.model.abilities import Abilities
from kstreams_runbooks.watch.readiness import read_readiness
from pydantic import Field

DOCS = Path(__file__).resolve().parents[3] / "docs" / "deployers.md"
ABILITIES = Abilities(instances=True, topology=False, clear=False, act=True, clear_directories=False)
# What mypy holds: each of them does all that a deployer does.
OURS: tuple[Callable[..., Deployer], ...] = (SupervisordDeployer, DockerDeployer, CommandDeployer, ManualDeployer)


class PretendedSettings(DeployerDeclaration):
    """Deployer settings of kind `pretended`."""

    kind: Literal["pretended"] = Field(description="which deployer: pretended")
    namespace: str = Field(description="where it pretends")


class PretendedDeployer(ManualDeployer):
    """It sees what is deployed, and can do nothing else."""

    def __init__(
        self, settings: PretendedSettings, *, application_id: str, dry_run: bool = True, aside: str = ""
    ) -> None:
        self.made_with = (settings, application_id, dry_run, aside)

    @property
    def abilities(self) -> Abilities:
        """No topology, no clearing of state."""
        return ABILITIES


PRETENDED = DeployerKind(PretendedSettings, f"{__name__}:PretendedDeployer")
ENTRY = {
    "kind": "pretended",
    "namespace": "here",
    "instances": [{"name": "one", "metrics": "http://127.0.0.1:1/jolokia"}],
    "releases": {"3.4.1": "a", "4.3.1": "b"},
}


@pytest.fixture
def _pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "KINDS", {**KINDS, "pretended": PRETENDED})


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A fleet of one application, deployed by the pretended kind."""
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters" / "lab.yaml").write_text("connection: kafka_lab\n", encoding="utf-8")
    (tmp_path / "applications").mkdir()
    declare(tmp_path)
    return tmp_path


def declare(config: Path, **changes: object) -> None:
    """The application, with other words in its deployer's part."""
    entry = {
        "application_id": "orders",
        "cluster": "lab",
        "inputs": ["clicks"],
        "owner": "team-orders",
        "approvers": ["admin"],
        "deployer": {**ENTRY, **changes},
    }
    (config / "applications" / "orders.yaml").write_text(yaml.safe_dump(entry), encoding="utf-8")


def problem(config: Path) -> str:
    """The one thing that is wrong with it."""
    (found,) = load_fleet(config).disabled["orders"]
    return str(found)


@pytest.mark.usefixtures("_pretended")
def test_a_fleet_file_with_its_kind_loads_and_its_deployer_is_made(config: Path) -> None:
    """By its settings class and its own."""
    entry = load_fleet(config).application("orders")
    assert isinstance(entry.deployer, PretendedSettings)
    assert entry.declared().instances == ("one",)
    made = make_deployer(entry, dry_run=True)
    assert isinstance(made, PretendedDeployer)
    assert made.made_with == (entry.deployer, "orders", True, "")


@pytest.mark.usefixtures("_pretended")
def test_a_mistake_in_its_file_is_worded_by_its_fields(config: Path) -> None:
    """The nearest of its own keys, and what a missing one would say."""
    declare(config, namespac="here")
    assert problem(config).endswith("deployer.namespac is not a known key; did you mean namespace?")
    declare(config, namespace=1)
    assert problem(config).endswith("deployer.namespace: 1 must be text; quote the value")


@pytest.mark.usefixtures("_pretended")
def test_what_lists_the_kinds_lists_it(config: Path) -> None:
    """A kind that there is none of, and none at all."""
    declare(config, kind="person")
    assert problem(config).endswith(
        "deployer has the kind 'person', which is not one of 'supervisord', 'docker', 'command', 'manual', 'pretended'"
    )
    file = config / "applications" / "orders.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("  kind: person\n", ""), encoding="utf-8")
    assert problem(config).endswith(
        "deployer has no `kind`; it names the deployer: supervisord, docker, command, manual or pretended"
    )


@pytest.mark.usefixtures("_pretended")
def test_readiness_goes_by_its_abilities(config: Path) -> None:
    """What it cannot do is missing, without a word about the kind."""
    reading, _ = read_readiness(load_fleet(config).application("orders"), BadInput("no broker"))
    assert reading.abilities == ABILITIES
    missing = {one.runbook: one.missing for one in readiness(readiness_facts(reading), RUNBOOKS)}
    assert missing["plan_change"] == ("no topology command",)
    assert missing["undo"] == ("no clear_state command",)


def test_a_deployer_of_no_kind_is_refused(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that is gone since the entry was loaded: the sentence lists what there is."""
    with monkeypatch.context() as there:
        there.setattr(kinds, "KINDS", {**KINDS, "pretended": PRETENDED})
        entry = load_fleet(config).application("orders")
    with pytest.raises(
        BadInput, match=r"^deployer kind 'pretended' is unknown; known are supervisord, docker, command or manual$"
    ):
        make_deployer(entry)


def test_every_row_is_whole() -> None:
    """Its key is its settings' kind, its deployer can be made, and the page has a section on it."""
    sections = {line.removeprefix("## ") for line in DOCS.read_text(encoding="utf-8").splitlines()}
    for name, kind in KINDS.items():
        assert get_args(kind.settings.model_fields["kind"].annotation) == (name,)
        assert name in sections
    assert {deployer_class(kind) for kind in KINDS.values()} == set(OURS)
