"""A fleet entry answers for what its deployer cannot report: whether anything else starts a stopped instance."""

from typing import Any

import pytest
from kstreams_runbooks.deployers.command.deployer import CommandDeployer
from kstreams_runbooks.deployers.manual import ManualDeployer
from kstreams_runbooks.deployers.protocol import Deployer
from kstreams_runbooks.fleet.deployers.command import CommandSettings
from kstreams_runbooks.fleet.deployers.manual import ManualSettings
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings
from pydantic import ValidationError

ENTRY: dict[str, Any] = {"instances": [{"name": "o1", "metrics": "http://o1:1"}], "releases": {"3.4.1": "v1"}}
ONE = {"run": ["deploy", "{instance}"]}
APPLY = {"run": ["deploy", "{instance}", "{release}", "{settings}"]}
COMMANDS = {"commands": {"instances": {"run": ["deploy"]}, "apply": APPLY, "stop": ONE, "start": ONE}}


def by_command(**declared: bool) -> Deployer:
    """A team's own scripts."""
    entry = {"kind": "command", **ENTRY, **COMMANDS, **declared}
    return CommandDeployer(CommandSettings.model_validate(entry), application_id="orders")


def by_hand(**declared: bool) -> Deployer:
    """A person."""
    return ManualDeployer(ManualSettings.model_validate({"kind": "manual", **ENTRY, **declared}), application_id="x")


@pytest.mark.parametrize("deployer", [by_command, by_hand])
def test_it_is_declared_or_unknown(deployer: Any) -> None:
    """Nothing is taken for granted."""
    assert not deployer().abilities.stays_stopped
    assert deployer(stays_stopped=True).abilities.stays_stopped


def test_supervisord_reports_it_and_cannot_declare_it() -> None:
    """A declaration could only contradict what is observed."""
    with pytest.raises(ValidationError, match="stays_stopped"):
        SupervisordSettings.model_validate({"kind": "supervisord", **ENTRY, "stays_stopped": True})
