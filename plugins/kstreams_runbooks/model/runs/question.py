"""The present text of a question that a run asks: Airflow shows the first one as long as the run exists."""

from dataclasses import dataclass

# The XCom key under which the task that asks leaves it.
QUESTION = "question"
# The ledger's entries for an answer that did not count, and for the reason that came with one.
UNCOUNTED, WITH_REASON = "an answer did not count", "reason of an answer"


@dataclass(frozen=True, slots=True)
class PresentQuestion:
    """What is asked now, in Markdown, who may answer, and until when; `why` an earlier answer did not count, or empty.

    `digest` is that of the plan that an answer is for, empty if the question is about none. `asked_at_ms` is 0 where
    Airflow's own question has the time: a request that no answer ends, but what is observed, has no such question.
    """

    subject: str
    body: str
    may_answer: str
    until: str
    digest: str
    why: str
    asked_at_ms: int = 0
