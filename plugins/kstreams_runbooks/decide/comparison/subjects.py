"""The fate of every part of an application between two versions: the subjects of the rows."""

from kstreams_runbooks.decide.comparison.boundary import sinks, sources
from kstreams_runbooks.decide.comparison.compared import Compared
from kstreams_runbooks.decide.comparison.operators import operators
from kstreams_runbooks.decide.comparison.settings import NOTHING_KNOWN, library, optimizations, settings
from kstreams_runbooks.decide.comparison.state.persistent import internal_topics, stores
from kstreams_runbooks.decide.comparison.state.suppressions import suppressions
from kstreams_runbooks.decide.comparison.whole import application, kept_topics, subtopologies
from kstreams_runbooks.model.releases.settings import SettingCatalogue
from kstreams_runbooks.model.topology.change import Subject


def subjects(compared: Compared, catalogue: SettingCatalogue = NOTHING_KNOWN) -> tuple[Subject, ...]:
    """Every part of either version, with the facts that rows use; parts that stay as they are included."""
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
        *settings(compared, catalogue),
        *optimizations(compared),
        *library(compared),
    )
