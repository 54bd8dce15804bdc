"""supervisord's answer about one process, with the types that it must have.

supervisord documentation, "XML-RPC API Documentation": getProcessInfo.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from kstreams_runbooks.wording import outside

# Seconds up to the year 5138, and the largest process id of any system that supervisord runs on.
_LAST_S = 100_000_000_000
_LAST_PID = 2**31 - 1

_Text = Annotated[str, Field(max_length=10_000), AfterValidator(lambda text: outside(text, 300))]
_Time = Annotated[int, Field(ge=0, lt=_LAST_S)]


class ProcessInfo(BaseModel):
    """One process: times are Unix seconds, `pid` is 0 if there is no process; other fields are ignored.

    `exitstatus` is that of its last end, -1 if a signal ended it (supervisor/options.py, decode_wait_status).
    """

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    group: _Text
    name: _Text
    state: Annotated[int, Field(ge=0, le=10_000)]
    statename: _Text
    start: _Time
    now: _Time
    pid: Annotated[int, Field(ge=0, le=_LAST_PID)]
    spawnerr: _Text
    description: _Text
    exitstatus: Annotated[int, Field(ge=-10_000, le=10_000)] = 0


_ALL = TypeAdapter(list[ProcessInfo])


def process_infos(answer: object) -> list[ProcessInfo]:
    """Every process of an answer; ValueError, with the place and no value, if one has another shape."""
    try:
        return _ALL.validate_python(answer)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(outside(part, 40) for part in first["loc"][:3]) or "the list of processes"
        raise ValueError(f"{where}: {outside(first['msg'], 100)}") from None
