"""Static members of a streams group (KIP-1071), by the releases of client and brokers.

A client before 4.4 refuses them itself, which a row shows; here is what only both releases together show.
"""

from collections.abc import Iterator, Mapping

from kstreams_runbooks.model.releases.release import Release
from kstreams_runbooks.model.releases.settings import MAIN_CONSUMER, SettingFinding

_ID, _PROTOCOL = "group.instance.id", "group.protocol"
_NAMES = tuple(f"{prefix}{_ID}" for prefix in MAIN_CONSUMER)
_FROM = Release("4.4")
_SOURCE = (
    "KAFKA-20169; Apache Kafka documentation of 4.4, Streams Rebalance Protocol, Static Membership "
    "(apache/kafka PR #23486)"
)


def static_streams_members(
    config: Mapping[str, str], library: Release, broker: Release | None, *, has_stores: bool | None = None
) -> Iterator[SettingFinding]:
    """Findings about `group.instance.id` under `group.protocol=streams`.

    `broker` is the lowest release of the brokers, None if it is not known. `has_stores`: whether the application has a
    store on disk, None if that is not known.
    """
    name = next((one for one in _NAMES if config.get(one)), None)
    if name is None or config.get(_PROTOCOL, "").lower() != "streams" or library < _FROM:
        return
    if broker is None:
        message = (
            f"{name} with {_PROTOCOL}=streams needs brokers of 4.4 or later, and their release is not known: an older "
            "one refuses each member, which ends in ERROR; plan with --application, which reads it"
        )
        yield SettingFinding("static-members-of-streams-group", "warning", name, message, source=_SOURCE)
    elif broker < _FROM:
        message = (
            f"{name} with {_PROTOCOL}=streams needs brokers of 4.4 or later, and the brokers are {broker}: they refuse "
            f"each member (InvalidRequestException), which ends in ERROR. Remove {name}, or set {_PROTOCOL}=classic"
        )
        yield SettingFinding("static-members-of-streams-group", "danger", name, message, refuse=True, source=_SOURCE)
    if has_stores is False:
        message = (
            f"{name}: the application has no store on disk, so each start has a new process id, and the brokers assign "
            "all tasks again: a static member saves no rebalance here"
        )
        yield SettingFinding("static-member-without-store", "warning", name, message, source=_SOURCE)
