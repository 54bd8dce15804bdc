"""The stages of an undo in order: the cards of the run from last to first, over all its sides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kstreams_runbooks.decide.plans.undo_cards import TakenBack
from kstreams_runbooks.model.runs.stages import Bounce, Stage, StartAll, StopAll

# Later than every card.
_FIRST = 1 << 62


@dataclass(frozen=True, slots=True)
class UndoPart:
    """One side of an undo: the bounces that take its instances back, and the numbers of their cards.

    `stays`: no instance of it ran before the run, and none runs afterwards.
    """

    role: str
    bounces: tuple[Bounce, ...]
    cards: tuple[int, ...]
    stays: bool = False


def in_order(
    parts: Sequence[UndoPart],
    others: Sequence[TakenBack],
    *,
    at_once: bool,
    must: bool = False,
    begun: Sequence[tuple[int, Stage]] = (),
) -> tuple[Stage, ...]:
    """The stages that take everything back, numbered; `at_once` if the run had all instances down together.

    Then everything else happened while they were down: they are stopped first, and started once all that came after
    their stop is taken back. Instances that were rolled go back in the place of their last card. With `must` an
    instance that cannot be set back is not started at all. `begun` are stages that follow those of a card.
    """
    back = [*((one.seq, one.stage) for one in others if one.stage is not None), *begun]
    if not back and len(parts) == 1 and not parts[0].stays:
        return parts[0].bounces
    placed: list[tuple[int, Stage]] = back
    for part in parts:
        placed += _bracketed(part, must=must) if at_once else _rolled(part)
    # Stages of one card, or of one side, keep their order.
    stages = [stage for _, stage in sorted(placed, key=lambda one: -one[0])]
    return tuple(replace(stage, number=number) for number, stage in enumerate(stages, 1))


def _bracketed(part: UndoPart, *, must: bool) -> Iterator[tuple[int, Stage]]:
    for bounce in part.bounces:
        yield _FIRST, StopAll(0, bounce.instances, part.role, stays=bounce.target if part.stays else None)
        if part.stays:
            continue
        start = StartAll(
            0,
            bounce.release,
            bounce.settings,
            bounce.library,
            bounce.instances,
            clear_state=bounce.clear_state,
            deletes=bounce.deletes,
            must_clear=must,
            side=part.role,
        )
        yield min(part.cards, default=0), start


def _rolled(part: UndoPart) -> Iterator[tuple[int, Stage]]:
    for bounce in part.bounces:
        yield max(part.cards, default=0), replace(bounce, side=part.role)
