"""The fate of every part of an application between two versions: the subjects of the rows."""

from dataclasses import replace

from kstreams_runbooks.decide.comparison.boundary import sinks, sources
from kstreams_runbooks.decide.comparison.code import with_code
from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.operators import operators
from kstreams_runbooks.decide.comparison.settings import NOTHING_KNOWN, library, optimizations, settings
from kstreams_runbooks.decide.comparison.state.persistent import internal_topics, stores
from kstreams_runbooks.decide.comparison.state.suppressions import suppressions
from kstreams_runbooks.decide.comparison.whole import application, kept_topics, subtopologies
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.topology.change import Subject

# Parts of the program, and the ends of their facts that compare two programs.
_OF_CODE = {"store", "internal_topic", "operator", "source_topic", "sink", "application", "suppression"}
_DIFFERENCES = ("_changed", "_short", "becomes_plain", "added", "removed", "declared_same", "kinds_known")


def subjects(compared: Compared, catalogue: SettingCatalogue = NOTHING_KNOWN) -> tuple[Subject, ...]:
    """Every part of either version, with the facts that rows use; parts that stay as they are included."""
    found = (
        *stores(compared),
        *internal_topics(compared),
        *kept_topics(compared),
        *operators(compared),
        *sources(compared),
        *sinks(compared),
        *subtopologies(compared),
        application(compared),
        *suppressions(compared),
        *settings(compared, catalogue),
        *optimizations(compared),
        *library(compared),
    )
    proven = with_code(compared, found)
    return tuple(map(_of_one_program, proven)) if compared.same_program else proven


def _of_one_program(subject: Subject) -> Subject:
    """The subject without differences that only another program can have; what is known to differ stays.

    Partitions are those of the cluster, and settings have values of their own.
    """
    if subject.kind not in _OF_CODE:
        return subject
    facts = {
        name: False if fact is None and name != "partitions_changed" and name.endswith(_DIFFERENCES) else fact
        for name, fact in subject.facts.items()
    }
    return replace(subject, facts=facts)
