"""Whether an application reads other topics than its fleet entry declares: a run has changed them."""

from collections.abc import Collection

from kstreams_runbooks.decide.status.status import Status
from kstreams_runbooks.model.readings.lag import ApplicationLag
from kstreams_runbooks.wording import first_of

# Statuses without a fault.
_WELL = frozenset({"healthy", "behind"})


def with_inputs(found: Status, lag: ApplicationLag, named: Collection[str], declared: Collection[str]) -> Status:
    """The status, or that the application reads another topic in place of one that a setting of it names.

    `named` are the topics of `input_settings`, `declared` all topics of the entry. A topic that is not read proves
    nothing alone: a global store reads through no group.
    """
    read = {one.topic for one in lag.read if one.role == "source"}
    others, unread = sorted(read - set(declared)), sorted(set(named) - read)
    if found.word not in _WELL or not others or not unread:
        return found
    return Status(
        "misdeclared",
        f"reads {first_of(others)}, and not {first_of(unread)} as its fleet entry declares; correct `inputs`, "
        "`control` and `input_settings` (the log of `plan` of adopt_control_topic has the changes)",
    )
