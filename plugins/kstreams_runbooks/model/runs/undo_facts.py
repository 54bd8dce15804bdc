"""What an undo card knows of the instance that it leads back."""

from dataclasses import dataclass

from kstreams_runbooks.model.readings.readings import MemberReading, Start
from kstreams_runbooks.model.runs.plan import DeployedInstance


@dataclass(frozen=True, slots=True)
class UndoFacts:
    """One instance before and after one bounce; a card of an older release may lack any of it.

    `previous` is the start that ran when the card was written (None where none did), `members` what the instance had in
    the group then. `by_hand` are the commands with which a person goes back. `bounce` is 0 where the card does not say.
    """

    bounce: int = 0
    before: DeployedInstance | None = None
    after: DeployedInstance | None = None
    previous: Start | None = None
    members: tuple[MemberReading, ...] = ()
    by_hand: tuple[str, ...] = ()
