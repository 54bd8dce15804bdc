"""The image that the others are built from: a public one, or one that debootstrap makes where none can be pulled."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import docker.errors
import requests.exceptions

from lab.engine import NoDocker

PUBLIC = "debian:bookworm-slim"
MADE = "kstreams-runbooks-base:bookworm"
_PULL_S = 300
_MAKE_S = 900


def base_image(api: Any, say: Callable[[str], None]) -> str:
    """The image of BASE, the public one, or one that is made here; NoDocker if none of them is possible."""
    if given := os.environ.get("BASE"):
        return given
    for name in (PUBLIC, MADE):
        try:
            api.inspect_image(name)
        except docker.errors.ImageNotFound:
            continue
        return name
    try:
        api.pull(*PUBLIC.split(":"))
        api.inspect_image(PUBLIC)
    except (docker.errors.APIError, requests.exceptions.RequestException) as error:
        say(f"{PUBLIC} cannot be pulled ({error}); debootstrap makes a base")
        _make(api)
        return MADE
    return PUBLIC


def _make(api: Any) -> None:
    program = shutil.which("debootstrap") or "/usr/sbin/debootstrap"
    if os.geteuid() != 0 or not Path(program).exists():
        raise NoDocker(
            f"docker: {PUBLIC} cannot be pulled, and no base can be made without debootstrap as root; set BASE to an "
            "image with apt and Python 3.11, or install debootstrap (Debian: apt-get install debootstrap)"
        )
    with TemporaryDirectory(prefix="base-") as made, TemporaryFile() as archive:
        command = [program, "--variant=minbase", "--include=ca-certificates", "bookworm", made]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_MAKE_S, check=False)
        if done.returncode:
            raise NoDocker(f"debootstrap: exit {done.returncode}: {done.stdout.strip().splitlines()[-1:]}")
        shutil.rmtree(Path(made, "var/cache/apt/archives"), ignore_errors=True)
        with tarfile.open(fileobj=archive, mode="w") as whole:
            whole.add(made, arcname=".")
        archive.seek(0)
        api.import_image_from_data(archive, repository=MADE.partition(":")[0], tag=MADE.partition(":")[2])
