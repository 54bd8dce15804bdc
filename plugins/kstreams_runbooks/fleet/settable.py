"""Settings of an application that a runbook may set: neither secrets nor an instance's identity."""

from typing import Annotated

from pydantic import AfterValidator, Field

from kstreams_runbooks.fleet.values import distinct
from kstreams_runbooks.model.releases.settings import is_secret

# Identities of an instance, its group and its state in Kafka and Streams; another value is another application.
_IDENTITY = (
    "application.id",
    "application.server",
    "bootstrap.servers",
    "client.id",
    "group.id",
    "group.instance.id",
    "state.dir",
)
# The key under which a deployer keeps the release.
_RELEASE = "release"


def _may_be_set(key: str) -> str:
    name = key.lower()
    if is_secret(name):
        raise ValueError("is a secret by its name: plans and evidence show what a runbook sets; leave it out")
    # Streams passes main.consumer.client.id and similar settings on to its clients.
    if any(name == known or name.endswith(f".{known}") for known in _IDENTITY):
        raise ValueError(
            "identifies the application or instance: another value is another application, not a change of this one; "
            "leave it out"
        )
    if name == _RELEASE:
        raise ValueError("is the key of the release in a deployer; leave it out, a runbook sets it")
    return key


SettableKey = Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]+$"), AfterValidator(_may_be_set)]
SettableKeys = Annotated[tuple[SettableKey, ...], AfterValidator(distinct)]
