"""The undo cards of one stage: written before its first write, found again by a rerun."""

from dataclasses import dataclass
from typing import TypeVar

from kstreams_runbooks.decide.plans.manually import manually
from kstreams_runbooks.ledger.card_facts import card_facts
from kstreams_runbooks.ledger.codec import encode
from kstreams_runbooks.model.runs.cards import OtherFacts
from kstreams_runbooks.model.runs.ledger import Card
from kstreams_runbooks.model.runs.stages import OtherStage
from kstreams_runbooks.steps.run.run import Run, now_ms

_Facts = TypeVar("_Facts", bound=OtherFacts)


@dataclass(frozen=True, slots=True)
class Announced:
    """The cards of one stage of a run, by the name of their object."""

    run: Run
    stage: OtherStage
    no_way_back: bool = False

    def cards(self) -> dict[str, Card]:
        """What this run has announced for the stage already."""
        own = [card for card in self.run.ledger.cards(self.run.key) if card.stage == self.stage.number]
        return {card.object: card for card in own if (card.cluster, card.application) == self.run.about}

    def facts(self, of: type[_Facts]) -> dict[str, _Facts]:
        """The facts of these cards of one kind, by their object."""
        found = {name: card_facts(card) for name, card in self.cards().items()}
        return {name: facts for name, facts in found.items() if isinstance(facts, of)}

    def write(self, name: str, facts: OtherFacts, what: str, cost: str = "") -> None:
        """Announce the change of one object, unless it has been announced; from here on the run has written."""
        if name in self.cards():
            return
        cluster, application = self.run.about
        self.run.ledger.write_card(
            Card(
                run_key=self.run.key,
                seq=len(self.run.ledger.cards(self.run.key)) + 1,
                task_id=self.run.task_id,
                step=f"stage {self.stage.number}",
                object=name,
                what=what,
                undo=manually(facts).undo,
                cost=cost or self.stage.costs,
                data_affected=self.no_way_back,
                point_of_no_return=self.no_way_back,
                facts=encode(facts),
                at_ms=now_ms(),
                kind=facts.kind,
                application=application,
                cluster=cluster,
                stage=self.stage.number,
            )
        )
        self.run.ledger.mark_written(self.run.key, now_ms())

    def learn(self, name: str, facts: OtherFacts) -> None:
        """Keep what only the change could show."""
        self.run.ledger.know_card(self.run.key, self.cards()[name].seq, encode(facts))
