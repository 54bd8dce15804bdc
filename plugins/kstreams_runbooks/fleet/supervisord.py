"""Declaration of an application whose instances run under supervisord, reached over XML-RPC."""

from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator

from kstreams_runbooks.fleet.values import AbsolutePath, Amount, Declaration, HttpUrl, ReleaseName, StatePath, Words

_PLACEHOLDERS = {"release", "directory"}


class SupervisordInstance(Declaration):
    """One instance: the program that supervisord knows, its folder on disk, its metrics."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]*$")] = Field(
        description="name of the instance, as plans and logs print it"
    )
    program: Words = Field(description="program (or group:program) in supervisord's configuration")
    directory: AbsolutePath = Field(description="folder with base.properties and deployment.properties")
    metrics: HttpUrl = Field(description="base URL of the instance's Jolokia agent")
    state_dir: StatePath = Field(
        default_factory=lambda given: given.get("directory", Path("/")) / "state",
        validate_default=True,
        description="state.dir of the instance; nothing outside of it is ever deleted (default: <directory>/state)",
    )


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _known_placeholders(part: str) -> str:
    try:
        names = {name for _, name, _, _ in Formatter().parse(part) if name is not None}
    except ValueError as error:
        raise ValueError(f"has a stray brace ({error}); write {{{{ for a brace that is meant") from None
    if unknown := names - _PLACEHOLDERS:
        raise ValueError(f"has the placeholder {{{min(unknown)}}}; known are {{release}} and {{directory}}")
    return part


class SupervisordSettings(Declaration):
    """Deployer settings of kind `supervisord`."""

    kind: Literal["supervisord"] = Field(description="which deployer: supervisord")
    url: Annotated[str, Field(pattern=r"^(https?|unix)://\S+")] = Field(
        repr=False, description="supervisord's XML-RPC address, http://host:port or unix:///path/to/socket"
    )
    instances: tuple[SupervisordInstance, ...] = Field(
        min_length=1, description="every instance, in the order in which they are bounced; the first is the canary"
    )
    releases: dict[ReleaseName, AbsolutePath] = Field(
        min_length=1, description="release: folder with its jars; what is not here cannot be deployed"
    )
    describe: tuple[Annotated[Words, AfterValidator(_known_placeholders)], ...] = Field(
        min_length=1,
        description="command that prints a release's topology description and exits; {release} and {directory} are "
        "replaced by the release and its folder",
    )
    stop_timeout_s: Amount = Field(
        default=120.0, gt=0, description="seconds that a clean stop may take; Streams flushes and commits in them"
    )
    start_timeout_s: Amount = Field(
        default=120.0, gt=0, description="seconds until a started process has to be running (not until it is RUNNING)"
    )

    @field_validator("releases", mode="before")
    @classmethod
    def _quoted(cls, releases: Any) -> Any:
        # Unquoted, 3.10 is the number 3.1: the wrong release.
        numbers = [key for key in releases if not isinstance(key, str)] if isinstance(releases, dict) else []
        if numbers:
            raise ValueError(f"has the key {numbers[0]!r}, which YAML reads as a number; quote it as a full release")
        return releases

    @field_validator("instances")
    @classmethod
    def _apart(cls, instances: tuple[SupervisordInstance, ...]) -> tuple[SupervisordInstance, ...]:
        """Instances share nothing: what is read or deleted for one is not another's."""
        for number, later in enumerate(instances):
            for earlier in instances[:number]:
                for field in ("name", "program", "directory", "metrics"):
                    if getattr(earlier, field) == getattr(later, field):
                        raise ValueError(
                            f"has {field} {getattr(later, field)} twice ({earlier.name} and {later.name}); each "
                            "instance needs its own"
                        )
                if _overlap(earlier.state_dir, later.state_dir):
                    raise ValueError(
                        f"has overlapping state_dir {earlier.state_dir} ({earlier.name}) and {later.state_dir} "
                        f"({later.name}); clearing one would clear the other"
                    )
        return instances

    def instance(self, name: str) -> SupervisordInstance | None:
        """The declared instance of that name, None where there is none."""
        return next((instance for instance in self.instances if instance.name == name), None)
