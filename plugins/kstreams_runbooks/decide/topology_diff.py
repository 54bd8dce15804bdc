"""What becomes of every part of an application between two versions: what the rows are asked about."""

from kstreams_runbooks.decide.boundary_subjects import sinks, sources
from kstreams_runbooks.decide.compared import Compared
from kstreams_runbooks.decide.config_subjects import library, optimizations, settings
from kstreams_runbooks.decide.kept_topic_subjects import kept_topics
from kstreams_runbooks.decide.operator_subjects import operators
from kstreams_runbooks.decide.persistent_subjects import internal_topics, stores
from kstreams_runbooks.decide.suppression_subjects import suppressions
from kstreams_runbooks.decide.whole_subjects import application, subtopologies
from kstreams_runbooks.model.topology_change import Subject


def subjects(compared: Compared) -> tuple[Subject, ...]:
    """Every part of either version, with the facts that rows ask for; parts that stay as they are included."""
    return (
        *stores(compared),
        *internal_topics(compared),
        *kept_topics(compared),
        *operators(compared),
        *sources(compared),
        *sinks(compared),
        *subtopologies(compared),
        application(compared),
        *suppressions(compared),
        *settings(compared),
        *optimizations(compared),
        *library(compared),
    )
