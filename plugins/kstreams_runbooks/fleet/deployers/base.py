"""Fields common to every deployer: instances with their metrics, releases, and the settings a runbook may set."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from string import Formatter
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, field_validator, model_validator

from kstreams_runbooks.fleet.deployers.environment import CommandEnvironment
from kstreams_runbooks.fleet.settable import SettableKeys
from kstreams_runbooks.fleet.values import FleetModel, HttpUrl, ReleaseName, Words
from kstreams_runbooks.model.address import printable
from kstreams_runbooks.model.web_address import web_address

_SHOWN = 60


def placeholders(word: str, known: Sequence[str]) -> set[str]:
    """Names of the placeholders in one word; ValueError for one that is not `known` and for a stray brace."""
    try:
        fields = [(name, form or how) for _, name, form, how in Formatter().parse(word) if name is not None]
    except ValueError as error:
        raise ValueError(f"has a stray brace ({error}); write {{{{ for a literal brace") from None
    names = {name for name, _ in fields}
    if unknown := names - set(known):
        *most, last = (f"{{{name}}}" for name in known)
        listed = f"known are {', '.join(most)} and {last}" if most else f"known is {last}"
        raise ValueError(f"has the placeholder {{{min(unknown)[:_SHOWN]}}}; {listed}")
    # A width such as {release:>1000000000} would fill the memory.
    if formatted := [name for name, form in fields if form]:
        raise ValueError(f"has a format or a conversion in {{{formatted[0]}}}; write the name alone")
    return names


def require(words: Sequence[str], known: Sequence[str], needed: Collection[Collection[str]]) -> None:
    """ValueError unless the words together have at least one placeholder of each group of `needed`."""
    found = {name for word in words for name in placeholders(word, known)}
    for group in needed:
        if not found & set(group):
            raise ValueError(
                f"has no {' or '.join(f'{{{name}}}' for name in group)}, so the command does not get it; add it"
            )


_I = TypeVar("_I", bound="Instance")

StaysStopped = Annotated[
    bool,
    Field(
        description="true if no supervisor, autoscaler or controller starts an instance again that was stopped: the "
        "answer where the instances command does not print autorestart",
    ),
]
KeepsState = Annotated[
    bool | None,
    Field(
        description="whether an instance finds its local state of before at each start: true for a disk or a volume "
        "that stays with it, false for a container or a host that is created again without one (default: not known)",
    ),
]
ArtifactByRelease = dict[ReleaseName, Words]
ARTIFACTS = "release: its name in the deployment (an image, a tag, a folder); no other release can be deployed"
INSTANCES = "every instance, in the order in which they are bounced; the first is the canary"


class Instance(FleetModel):
    """One instance: its name and where its metrics are."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]*$", max_length=249)] = Field(
        description="name of the instance, as plans and logs print it"
    )
    metrics: HttpUrl = Field(
        repr=False,
        description="base URL of the instance's Jolokia agent; `connection=ID@` in front of the host names the Airflow "
        "connection with its login",
    )
    group_instance_id: Words | None = Field(
        default=None,
        description="group.instance.id of the instance under static membership, without the thread's number (default: "
        "its name)",
    )


class DeployerDeclaration(FleetModel):
    """The settings that every kind of deployer shares."""

    kind: str = Field(description="which deployer")
    instances: tuple[Instance, ...] = Field(min_length=1, description=INSTANCES)
    releases: Mapping[ReleaseName, object] = Field(min_length=1, description=ARTIFACTS)
    settable: SettableKeys = Field(
        default=(),
        description="settings that a runbook may set in addition to upgrade.from and processing.guarantee; plans and "
        "evidence show their values, so none of them may be a secret",
    )
    environment: CommandEnvironment = Field(
        default_factory=CommandEnvironment,
        description="variables that its commands get in addition to PATH, HOME and their like; no other variable of "
        "the worker",
    )

    plain_http: bool = Field(
        default=False,
        description="whether a login may travel to an agent or a supervisor on another machine in clear text (http)",
    )

    @model_validator(mode="after")
    def _no_open_login(self) -> Self:
        for field, url in self.addresses():
            if not self.plain_http and url and web_address(url, unix=True).sends_login_openly:
                raise ValueError(
                    f"has a login in {field} that http sends in clear text; give an https address, or declare "
                    "plain_http: true in the deployer"
                )
        return self

    def addresses(self) -> Iterator[tuple[str, str]]:
        """The addresses that it sends requests to, each with its field."""
        yield from ((f"metrics of {one.name}", one.metrics) for one in self.instances)

    @field_validator("releases", mode="before")
    @classmethod
    def _quoted(cls, releases: Any) -> Any:
        # Unquoted, 3.10 is the number 3.1: the wrong release.
        numbers = [key for key in releases if not isinstance(key, str)] if isinstance(releases, dict) else []
        if numbers:
            raise ValueError(f"has the key {numbers[0]!r}, which YAML reads as a number; quote it as a full release")
        return releases


def apart(instances: Sequence[_I], fields: Sequence[str]) -> None:
    """ValueError if two instances share the value of one of `fields`: one's readings would pass for the other's.

    An empty value is that of no instance.
    """
    for field in fields:
        seen: dict[Any, _I] = {}
        for later in instances:
            value = getattr(later, field)
            if value and value in seen:
                # The value has what the environment gave it, such as the password of an agent.
                known = printable(value) if field == "metrics" else value
                raise ValueError(
                    f"has {field} {known} twice ({seen[value].name} and {later.name}); each instance needs its own"
                )
            seen[value] = later
