"""The environment of a demo that is up: lets the terminal command find its fleet, its ledger and its broker."""

import os
from pathlib import Path

import click

from kstreams_runbooks import CHECKOUT
from kstreams_runbooks.documents.text import Absent, read_text
from kstreams_runbooks.errors import BadInput


def load_demo_environment() -> None:
    """Set the variables of `RUN_DIR/env` (default `.run/env` of the checkout), unless the fleet's folder is set.

    `make demo` writes that file and `make demo-down` removes it; without a demo nothing happens.
    """
    if "KSTREAMS_RUNBOOKS_CONFIG" in os.environ:
        return
    file = Path(os.environ.get("RUN_DIR", CHECKOUT / ".run")) / "env"
    try:
        text = read_text(file)
    except Absent:
        return
    except BadInput as error:
        raise BadInput(f"{file}: {error}, or set KSTREAMS_RUNBOOKS_CONFIG") from None
    for line in text.splitlines():
        name, separator, value = line.strip().removeprefix("export ").partition("=")
        if separator and name and not name.startswith("#"):
            os.environ.setdefault(name, value.strip("'\""))
    click.echo(f"using the demo of {file.parent}", err=True)
