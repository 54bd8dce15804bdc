"""Whether a verdict still counts for a write, after what the run has changed since it was reached."""

from collections.abc import Iterable

from kstreams_runbooks.decide.instances.members import every_member_runs, group_is_empty
from kstreams_runbooks.model.runs.ledger import INSTANCE, Card

# Verdicts about members alone: a created topic, or an offset that was set, takes nothing away from them.
_ABOUT_MEMBERS = frozenset({group_is_empty.__name__, every_member_runs.__name__})
# Reached at the end of a stop, for the start that is perhaps the same stage of the plan.
_IN_ITS_STAGE = frozenset({group_is_empty.__name__})


def outdated_by(cards: Iterable[Card], decision: str, entry: int, stage: int | None) -> Card | None:
    """The newest change that a verdict of `decision`, reached at `entry`, had to come after and did not; None if none.

    `cards` are those of the run about one application. Changes by `stage` itself, for which the verdict was reached,
    leave it as it is, and so do those past the point from which older releases misread what is written. Without a
    stage every other change counts.
    """
    kinds = frozenset({INSTANCE}) if decision in _ABOUT_MEMBERS else None
    own = decision in _IN_ITS_STAGE
    newest = max(
        (
            card
            for card in cards
            if (kinds is None or card.kind in kinds)
            and not card.misreads
            and (stage is None or card.stage < stage or (own and card.stage == stage))
        ),
        key=lambda card: card.entry,
        default=None,
    )
    return newest if newest is not None and newest.entry > entry else None
