"""The environment of a team's command: a fixed base and the declared variables, never the worker's own."""

import os
from collections.abc import Mapping

from kstreams_runbooks.fleet.deployers.environment import ALWAYS, CommandEnvironment


def script_environment(declared: CommandEnvironment, own: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Variables of this process that may be passed on, by name; declared values override them."""
    return {name: own[name] for name in (*ALWAYS, *declared.inherit) if name in own} | declared.values
