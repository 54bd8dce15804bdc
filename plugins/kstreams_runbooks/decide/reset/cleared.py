"""Whether the local state of instances is gone: with new changelogs, kept state would go on with old results."""

from kstreams_runbooks.model.local_state import Directories, is_in
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.model.readings.reset import LocalSize
from kstreams_runbooks.model.verdicts import Outcome, Verdict
from kstreams_runbooks.wording import first_of


def state_is_gone(local: tuple[LocalSize, ...], directories: Directories = ()) -> Verdict:
    """Whether no instance has one of these task directories, none for any of them; inconclusive if it is not seen."""
    refused, unknown = [], []
    for one in local:
        if isinstance(one.directories, Missing):
            unknown.append(f"{one.instance}: whether its local state is gone is not known: {one.directories.missing}")
        elif left := sorted(name for name in one.directories if not directories or is_in(name, directories)):
            refused.append(
                f"{one.instance}: still has {first_of(left)} (expected: deleted); delete them manually, then clear "
                "clear_state and what follows it"
            )
    if refused:
        return Verdict(Outcome.REFUSE, (*refused, *unknown))
    if unknown or not local:
        return Verdict(Outcome.INCONCLUSIVE, tuple(unknown) or ("no instance was looked at",))
    return Verdict(Outcome.PROCEED, (f"local state is gone on {first_of([one.instance for one in local])}",))
