"""Kinds of field values that several declarations share, each checked where it is read."""

import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from kstreams_runbooks.model.web_address import web_address

_SHALLOWEST_PATH = 3
_NAMED = 3
# A class path is the longest declared value; Linux also limits paths to this length.
_LONGEST = 4096


class FleetModel(BaseModel):
    """Base of the models of a declaration: an unknown key is an error, a loaded value does not change."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, str_strip_whitespace=True)


def _known_zone(zone: str) -> str:
    try:
        ZoneInfo(zone)
    except (KeyError, OSError, ValueError):
        # ZoneInfoNotFoundError is a KeyError, a folder such as "Europe" an OSError.
        raise ValueError("is not an IANA time zone; give one such as Europe/Berlin or UTC") from None
    return zone


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("has a line break or another character that does not print; remove it")
    return text


def _lines_printable(text: str) -> str:
    # A script given to `bash -c` is a block of several lines.
    if not all(one.isprintable() for one in re.split(r"[\n\t]", text)):
        raise ValueError("has a character that does not print; remove it")
    return text


def _program_printable(words: tuple[str, ...]) -> tuple[str, ...]:
    for program in words[:1]:
        _printable(program)
    return words


def _web_address(url: str) -> str:
    web_address(url)
    return url


def _supervisor(url: str) -> str:
    web_address(url, unix=True)
    return url


def _absolute(path: Path) -> Path:
    _printable(str(path))
    if not path.is_absolute():
        raise ValueError("must be an absolute path: it is used by another process, in another folder")
    if ".." in path.parts:
        raise ValueError("must not contain '..': the path of a deletion must be explicit")
    return path


def _deep(path: Path) -> Path:
    if len(path.parts) < _SHALLOWEST_PATH:
        raise ValueError(
            "is too close to the root of the disk: local state is deleted under it; give a folder of its own"
        )
    return path


def _not_a_flag(value: Any) -> Any:
    # YAML's `yes` is true, and true would pass for 1.
    if isinstance(value, bool):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic reports a ValueError, a TypeError escapes it
    return value


def _flag_as_word(value: Any) -> Any:
    # YAML 1.1 reads an unquoted yes or no as a boolean.
    return {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value


def distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    """The values as they are; ValueError if one occurs twice."""
    twice = sorted(value for value, times in Counter(values).items() if times > 1)
    if twice:
        more = f" and {len(twice) - _NAMED} more" if len(twice) > _NAMED else ""
        raise ValueError(f"names {', '.join(twice[:_NAMED])}{more} twice; remove one")
    return values


def _release(text: str) -> str:
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9}){2,3}", text, re.ASCII):
        raise ValueError("is not a release; give one such as 4.3.1")
    return text


Words = Annotated[str, Field(min_length=1, max_length=_LONGEST), AfterValidator(_printable)]
# A login as a cluster's authorizer names it.
Principal = Annotated[Words, Field(pattern=r"^[^:\s]+:\S.*$")]
# An argument of a command may have line breaks and tabs, its program may not.
Argument = Annotated[str, Field(min_length=1, max_length=_LONGEST), AfterValidator(_lines_printable)]
CommandLine = Annotated[tuple[Argument, ...], AfterValidator(_program_printable)]
# Kafka's own rule for topics; an application.id becomes part of topic names.
KafkaName = Annotated[str, Field(min_length=1, max_length=249, pattern=r"^[a-zA-Z0-9._-]+$")]
Topics = Annotated[tuple[KafkaName, ...], AfterValidator(distinct)]
People = Annotated[tuple[Words, ...], AfterValidator(distinct)]
Zone = Annotated[str, AfterValidator(_known_zone)]
AbsolutePath = Annotated[Path, AfterValidator(_absolute)]
StatePath = Annotated[Path, AfterValidator(_absolute), AfterValidator(_deep)]
ReleaseName = Annotated[str, AfterValidator(_release)]
WholeNumber = Annotated[int, BeforeValidator(_not_a_flag)]
Amount = Annotated[float, BeforeValidator(_not_a_flag)]
YesNoUnknownField = Annotated[Literal["yes", "no", "unknown"], BeforeValidator(_flag_as_word)]
HttpUrl = Annotated[str, AfterValidator(_web_address)]
SupervisorUrl = Annotated[str, AfterValidator(_supervisor)]
