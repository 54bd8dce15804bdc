"""Runs the command of a fleet entry that prints a release's topology, with the settings of a runbook in a file."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kstreams_runbooks.deployers.bounded_process import MOST_OUTPUT, NotDone, TooMuch, run_bounded
from kstreams_runbooks.deployers.printed import PrintedTopology, printed_topology
from kstreams_runbooks.deployers.script_environment import script_environment
from kstreams_runbooks.deployers.scripts import tail_of, why_not_run
from kstreams_runbooks.deployers.settable import require_shown
from kstreams_runbooks.errors import BadInput, Refused, Unreachable
from kstreams_runbooks.fleet.deployers.supervisord import SupervisordSettings
from kstreams_runbooks.model.target import Target
from kstreams_runbooks.properties import dump
from kstreams_runbooks.wording import outside

_TIMEOUT_S = 60


def print_topology(settings: SupervisordSettings, target: Target, directory: Path) -> PrintedTopology:
    """The topology that the command prints for a release with these settings; `directory` has its jars.

    BadInput if the command cannot be run, Inconclusive for a hidden setting, Refused for a command that fails,
    Unreachable for one that does not end.
    """
    release = target.release
    with _settings_file(target) as file:
        command = [part.format(release=release, directory=directory, settings_file=file) for part in settings.topology]
        if not command:
            raise BadInput(f"no topology command is declared, so the topology of {release} cannot be read")
        who = f"{outside(command[0], 200)}: topology of {release}"
        try:
            done = run_bounded(command, script_environment(settings.environment), _TIMEOUT_S, only_looks=True)
        except NotDone:
            raise Unreachable(f"{who} not printed within {_TIMEOUT_S} s") from None
        except TooMuch:
            raise Refused(f"{who}: more than {MOST_OUTPUT:,} bytes on stdout, cut off there; print it alone") from None
        except (OSError, ValueError) as error:
            raise BadInput(
                f"{outside(command[0], 200)}: cannot be run ({why_not_run(error)}); correct the topology command"
            ) from None
    printed = None if done.code else printed_topology(done.out.decode("utf-8", "replace"), who)
    if printed is None:
        last = tail_of(done.err.decode("utf-8", "replace")) or "nothing on stderr"
        raise Refused(f"{who} not printed (exit {done.code}: {last})")
    return printed


@contextmanager
def _settings_file(target: Target) -> Iterator[str]:
    """Path of a properties file with the settings of a target, which exists while the body runs."""
    require_shown(target)
    with tempfile.NamedTemporaryFile("w", suffix=".properties", encoding="latin-1") as file:
        file.write(dump(dict(target.settings), "settings that a runbook sets"))
        file.flush()
        yield file.name
