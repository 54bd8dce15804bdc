"""The upgrade path from one Kafka Streams release to another."""

from collections.abc import Iterator
from dataclasses import replace

from kstreams_runbooks.decide.releases.answers import about_target
from kstreams_runbooks.decide.releases.defects import defect_findings
from kstreams_runbooks.decide.releases.downgrade import downward
from kstreams_runbooks.decide.releases.rules import changes_between, check_question
from kstreams_runbooks.decide.releases.unknowns import one_answer, possible_questions
from kstreams_runbooks.decide.releases.upgrade import upward
from kstreams_runbooks.model.releases.path import PathFinding, PathQuestion, UpgradePath
from kstreams_runbooks.model.releases.rules import UpgradePathRules
from kstreams_runbooks.model.verdicts import Outcome


def upgrade_path(question: PathQuestion, rules: UpgradePathRules) -> UpgradePath:
    """The path for an application, or why there is none; a pair without a row is never guessed.

    Unknown facts (broker, guarantee, protocol) are tried with every value that the running release can have: if all of
    them lead to one answer, it is the answer; otherwise inconclusive, with the answer for each value. BadInput if the
    question itself is wrong. Source: the rows in `rules`; Kafka Streams Upgrade Guide and API Changes.
    """
    check_question(question, rules)
    move = upward if question.running < question.target else downward
    answers = [(full, move(full, rules)) for full in possible_questions(question, rules)]
    found = one_answer(question, answers, rules)
    shown = {finding.id for finding in found.findings}
    target = () if found.verdict is Outcome.PROCEED else tuple(about_target(question, rules))
    refused = {finding.id for finding in (*found.findings, *target)}
    around = (
        *(finding for finding in target if finding.id not in shown),
        *(one for one in path_defects(question, rules) if one.id not in refused),
        *changes_between(question, rules),
    )
    return replace(found, findings=tuple(dict.fromkeys((*found.findings, *around))))


def path_defects(question: PathQuestion, rules: UpgradePathRules) -> Iterator[PathFinding]:
    """The known defects of both releases that bite the application of a question."""
    return defect_findings(question.running, question.target, question.known, rules, question.broker)
