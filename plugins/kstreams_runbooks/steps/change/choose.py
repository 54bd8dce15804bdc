"""Asks a person which runbook to start for a planned change."""

from collections.abc import Sequence
from typing import Any

from kstreams_runbooks.decide.change.unchanged import NAMED
from kstreams_runbooks.decide.runs.approval import Asking
from kstreams_runbooks.decide.runs.choice import NONE, question
from kstreams_runbooks.model.verdicts import Finding
from kstreams_runbooks.present.change.headline import headline, uncovered
from kstreams_runbooks.steps.approval.asking import AskingOperator, answer_fields
from kstreams_runbooks.steps.change.plan import CHOOSE, CHOSEN, offered_by, sides_of, stored_change
from kstreams_runbooks.steps.run.run import Run


def choose_runbook() -> "ChooseRunbook":
    """The task `choose_runbook`."""
    return ChooseRunbook(task_id=CHOOSE, retries=0, params=answer_fields())


class ChooseRunbook(AskingOperator):
    """Asks which runbook to start."""

    begins = "asks a person which runbook is started"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(options=[NONE], **kwargs)

    def nothing_to_ask(self, run: Run) -> str:
        """Why each runbook of the plan is left out, empty if one can be started."""
        _, stored = stored_change(run)
        offered = offered_by(stored)
        return "" if offered.runbooks else "; ".join(offered.left_out)

    def asks(self, run: Run) -> str:
        """Names the release of the change."""
        _, after = sides_of(run)
        return f"choose the runbook for {after.release}"

    def would_ask(self, run: Run) -> str:
        """Names every option."""
        _, stored = stored_change(run)
        return f"choose {', '.join(offered_by(stored).runbooks)} or {NONE}"

    def text(self, run: Run, asking: Asking) -> str:
        """The change, its worst findings, and how each runbook would be started."""
        digest, stored = stored_change(run)
        before, after = sides_of(run)
        found = [
            Finding(one["id"], one["severity"], one["object"], one["message"], "")
            for one in uncovered(stored)
            if one["id"] != NAMED
        ]
        return question(
            asking,
            before=before,
            after=after,
            headline=headline(stored),
            findings=found,
            named="; ".join(one["message"] for one in uncovered(stored) if one["id"] == NAMED),
            options=tuple(self.options),
            left_out=offered_by(stored).left_out,
            dry_run=bool(run.record.params.get("start_dry_run", True)),
            digest=digest,
        )

    def digest(self, run: Run) -> str:
        """The digest of the stored change."""
        digest, _ = stored_change(run)
        return digest

    def automatic(self, run: Run) -> Sequence[str]:
        """The plan's first runbook."""
        _, stored = stored_change(run)
        return offered_by(stored).runbooks[:1]

    def accepted(self, run: Run, options: Sequence[str], by: str) -> str:
        """Keeps the chosen runbook for the step that starts it."""
        (runbook,), digest = options, self.digest(run)
        run.keep("note", CHOSEN, {"runbook": runbook, "by": by, "digest": digest})
        return f"{runbook} chosen by {by} for plan {digest}"

    def offer(self, run: Run) -> None:
        """The runbooks of this plan, and none."""
        _, stored = stored_change(run)
        self.options = [*offered_by(stored).runbooks, NONE]
