"""Facts in an undo card about its instance."""

from dataclasses import dataclass

from kstreams_runbooks.model.local_state import NO_DIRECTORIES, TaskDirectories
from kstreams_runbooks.model.readings.readings import MemberReading, Start
from kstreams_runbooks.model.runs.plan import DeployedInstance


@dataclass(frozen=True, slots=True)
class UndoFacts:
    """One instance before and after one bounce; a card of an older release may lack any of these facts.

    `previous` is the start that ran when the card was written (None if none did), `members` are those of the instance
    in the group at that time. `by_hand` are the commands for a manual undo, `deletes` the task directories that
    an undo deletes. `bounce` is 0 if the card does not have it.
    """

    bounce: int = 0
    before: DeployedInstance | None = None
    after: DeployedInstance | None = None
    previous: Start | None = None
    members: tuple[MemberReading, ...] = ()
    by_hand: tuple[str, ...] = ()
    deletes: TaskDirectories = NO_DIRECTORIES
